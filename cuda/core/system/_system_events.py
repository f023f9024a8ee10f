# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""System events: the driver is bound to a device, or unbound from it."""

from __future__ import annotations

from cuda.core.system import _nvml_context
from cuda.core.system._attributes import Items, Snapshot, check_int, field, nvml_property, shown_field
from cuda.core.system._device import Device
from cuda.core.system._events import EventSet, mask_of
from cuda.core.system._mappings import _SYSTEM_EVENT_TYPE_MAPPING, inverse, member_of
from cuda.core.system._support import nvml
from cuda.core.system.typing import SystemEventType

__all__ = ["RegisteredSystemEvents", "SystemEvent", "SystemEvents", "register_events"]

_SYSTEM_EVENT_TYPE_INV_MAPPING = inverse(_SYSTEM_EVENT_TYPE_MAPPING)


class RegisteredSystemEvents:
    """A registration for system events, from :func:`register_events`.

    It is removed when this object is destroyed (``nvml.system_event_set_free``).
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

        Other threads run during the wait, and Ctrl-C interrupts it.

        Parameters
        ----------
        timeout_ms : int, optional
            The longest time to wait, in milliseconds. Default is 0, which means no limit.
        buffer_size : int, optional
            The maximum number of events to return. Default is 1.

        Raises
        ------
        TimeoutError
            :class:`cuda.core.system.TimeoutError`, if no event came in this time.
        TypeError
            If ``timeout_ms`` or ``buffer_size`` is not an int.
        ValueError
            If ``timeout_ms`` is negative or needs more than 32 bits, or ``buffer_size`` is not from 1 to 65535.
        """
        if check_int("buffer_size", buffer_size, 1 << 16) == 0:
            raise ValueError("buffer_size must be at least 1, not 0")
        return SystemEvents(
            self._events.wait(
                lambda handle, slice_ms: nvml.system_event_set_wait(handle, slice_ms, buffer_size), timeout_ms
            )
        )


class SystemEvent(Snapshot):
    """A system event."""

    __slots__ = ()

    event_type = field(
        "event_type",
        "The type, a :class:`~cuda.core.system.typing.SystemEventType`; ValueError if it has no name here.",
        lambda code: member_of(code, _SYSTEM_EVENT_TYPE_MAPPING, "an event"),
    )
    gpu_id = field(
        "gpu_id", "The PCI address of the device: 16 bits for the domain, then 8 bits each for bus and device."
    )

    @nvml_property
    def device(self) -> Device:
        """The device. Raises NvmlError if the driver is no longer bound to it."""
        address = self.gpu_id
        return Device(pci_bus_id=f"{address >> 16:08X}:{address >> 8 & 0xFF:02X}:{address & 0xFF:02X}.0")

    def __repr__(self):
        return f"SystemEvent(event_type={shown_field(self, 'event_type')}, gpu_id={self.gpu_id:#010x})"


class SystemEvents(Items):
    """System events, a sequence of :class:`SystemEvent`."""

    __slots__ = ()

    def __init__(self, records):
        super().__init__(records, SystemEvent)


def register_events(events: SystemEventType | str | list[SystemEventType | str]) -> RegisteredSystemEvents:
    """Register for system events (``nvml.system_register_events``).

    Earlier events are not reported. Some drivers allow one registration per process only.

    Parameters
    ----------
    events : :class:`~cuda.core.system.typing.SystemEventType` | str | list
        One or several event types.

    Raises
    ------
    TypeError
        If ``events`` is neither a string nor a list.
    ValueError
        If an entry is not one of the event types.
    NvmlError
        If the system does not support these events, or does not allow another registration.
    """
    _nvml_context.initialize()
    return RegisteredSystemEvents(events)
