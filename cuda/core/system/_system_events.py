# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events of the system: devices that are bound to, and released by, the driver."""

from __future__ import annotations

from cuda.core._utils.initialised import needs_init
from cuda.core.system import _nvml_context
from cuda.core.system._attributes import Items, Snapshot, answering, check_int, field, shown_field
from cuda.core.system._device import Device
from cuda.core.system._mappings import _SYSTEM_EVENT_TYPE_MAPPING, inverse, member_of
from cuda.core.system._support import nvml
from cuda.core.system._waiting import EventSet, mask_of
from cuda.core.system.typing import SystemEventType

__all__ = ["RegisteredSystemEvents", "SystemEvent", "SystemEvents", "register_events"]

_SYSTEM_EVENT_TYPE_INV_MAPPING = inverse(_SYSTEM_EVENT_TYPE_MAPPING)


@needs_init("_events")
class RegisteredSystemEvents:
    """Events that are registered on the system, from :func:`register_events`.

    The registration ends with this object.
    """

    __slots__ = ("__weakref__", "_events")

    def __repr__(self):
        return f"<RegisteredSystemEvents handle={int(self._events.handle):#x}>"

    def __init__(self, events: SystemEventType | str | list[SystemEventType | str]):
        mask = mask_of(events, _SYSTEM_EVENT_TYPE_INV_MAPPING)
        self._events = EventSet(nvml.system_event_set_create, nvml.system_event_set_free)
        nvml.system_register_events(mask, self._events.handle)

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """Wait for the next events (``nvml.system_event_set_wait``).

        Other threads run meanwhile, and Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int, optional
            The limit in milliseconds. Default is 0: none.
        buffer_size : int, optional
            How many events to take at most. Default is 1.

        Raises
        ------
        TimeoutError
            :class:`cuda.core.system.TimeoutError`, when the limit has passed.
        ValueError
            If ``timeout_ms`` is negative or has more than 32 bits, or ``buffer_size`` is not from 1 to 65535.
        """
        if check_int("buffer_size", buffer_size, 1 << 16) == 0:
            raise ValueError("buffer_size must be at least 1, not 0")
        return SystemEvents(
            self._events.wait(
                lambda handle, slice_ms: nvml.system_event_set_wait(handle, slice_ms, buffer_size), timeout_ms
            )
        )


@answering
class SystemEvent(Snapshot):
    """An event of the system."""

    __slots__ = ()

    event_type = field(
        "event_type",
        "What happened, a :class:`~cuda.core.system.typing.SystemEventType`.",
        lambda code: member_of(code, _SYSTEM_EVENT_TYPE_MAPPING, "an event"),
    )
    gpu_id = field("gpu_id", "The PCI address of the device in one int: domain, bus and device of 16, 8 and 8 bits.")

    @property
    def device(self) -> Device:
        """The device. A device that the driver has released is not found: NvmlError."""
        address = self.gpu_id
        return Device(pci_bus_id=f"{address >> 16:08X}:{address >> 8 & 0xFF:02X}:{address & 0xFF:02X}.0")

    def __repr__(self):
        return f"SystemEvent(event_type={shown_field(self, 'event_type')}, gpu_id={self.gpu_id:#010x})"


class SystemEvents(Items):
    """Events of the system, a sequence of :class:`SystemEvent`."""

    __slots__ = ()

    def __init__(self, records):
        super().__init__(records, SystemEvent)


def register_events(events: SystemEventType | str | list[SystemEventType | str]) -> RegisteredSystemEvents:
    """Register for events of the system (``nvml.system_register_events``).

    Events from before are not seen. Some drivers allow one registration per process.

    Parameters
    ----------
    events : :class:`~cuda.core.system.typing.SystemEventType` | str | list
        The events.

    Raises
    ------
    TypeError
        If ``events`` is neither a string nor a list.
    ValueError
        If an event is none of the choices.
    NvmlError
        If the system has no such events, or does not allow another registration.
    """
    _nvml_context.initialize()
    return RegisteredSystemEvents(events)
