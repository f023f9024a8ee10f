# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML event sets, and the events of a device."""

from __future__ import annotations

import os
import time

from cuda.core._utils.host_wait import wait_in_steps
from cuda.core.system._attributes import DeviceView, check_int, nvml_property
from cuda.core.system._mappings import _EVENT_TYPE_MAPPING, choose, inverse, member_of
from cuda.core.system._support import nvml
from cuda.core.system.typing import EventType

__all__ = ["DeviceEvents", "EventData", "EventSet", "mask_of"]

_EVENT_TYPE_INV_MAPPING = inverse(_EVENT_TYPE_MAPPING)


class DeviceEvents(DeviceView):
    """A registration for events of a device, from :meth:`Device.register_events`.

    It is removed when this object is destroyed (``nvml.event_set_free``).
    """

    __slots__ = ("_events", "_mask")

    def __init__(self, device, events: EventType | str | list[EventType | str]):
        super().__init__(device)
        self._mask = mask_of(events, _EVENT_TYPE_INV_MAPPING)
        self._events = EventSet(nvml.event_set_create, nvml.event_set_free)
        if self._mask:
            nvml.device_register_events(self._handle, self._mask, self._events.handle)

    def wait(self, timeout_ms: int = 0) -> EventData:
        """Wait for the next event (``nvml.event_set_wait_v2``).

        Other threads run during the wait, and Ctrl-C interrupts it.

        Parameters
        ----------
        timeout_ms : int, optional
            The longest time to wait, in milliseconds. Default is 0, which means no limit.

        Raises
        ------
        TimeoutError
            :class:`cuda.core.system.TimeoutError`, if no event came in this time.
        GpuIsLostError
            If the device has fallen off the bus or is otherwise inaccessible.
        TypeError
            If ``timeout_ms`` is not an int.
        ValueError
            If ``timeout_ms`` is negative or needs more than 32 bits.
        """
        return EventData(
            self._device, self._events.wait(nvml.event_set_wait_v2 if self._mask else _time_out, timeout_ms)
        )


class EventData:
    """An event of a device."""

    __slots__ = ("__weakref__", "_device", "_record")

    def __init__(self, device, record):
        self._device = device
        self._record = record

    def __repr__(self):
        code = _EVENT_TYPE_MAPPING.get(self._record.event_type)
        what = hex(self._record.event_type) if code is None else repr(code.value)
        xid = f" {self.event_data}" if code is EventType.XID_CRITICAL_ERROR else ""
        return f"<EventData {what}{xid} of {self.device!r}>"

    def _xid_field(self, name: str) -> int:
        if self.event_type is not EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"only an event of type 'xid_critical_error' has {name}, not {self.event_type.value!r}")
        return int(getattr(self._record, name))

    @nvml_property
    def device(self) -> Device:  # noqa: F821
        """The device of the event."""
        return self._device._of_handle(self._record.device_)

    @nvml_property
    def event_type(self) -> EventType:
        """The event type. Raises ValueError if NVML reports an event that has no name here."""
        return member_of(self._record.event_type, _EVENT_TYPE_MAPPING, "an event")

    @nvml_property
    def event_data(self) -> int:
        """The code of an Xid error. Raises ValueError for other events."""
        return self._xid_field("event_data")

    @nvml_property
    def gpu_instance_id(self) -> int:
        """The ID of an Xid error's GPU instance, ``0xFFFFFFFF`` without MIG. Raises ValueError for other events."""
        return self._xid_field("gpu_instance_id")

    @nvml_property
    def compute_instance_id(self) -> int:
        """The ID of an Xid error's compute instance, ``0xFFFFFFFF`` without MIG. Raises ValueError for other events."""
        return self._xid_field("compute_instance_id")


def _time_out(handle: int, milliseconds: int):
    """Wait as NVML would with an event set for no event, which NVML rejects."""
    time.sleep(milliseconds / 1000)
    raise nvml.TimeoutError(nvml.Return.ERROR_TIMEOUT)


class EventSet:
    """An NVML event set, freed with this object.

    Parameters
    ----------
    create, free : callable
        NVML's functions that create the set and free it.
    """

    __slots__ = ("__weakref__", "_free", "_pid", "handle")

    def __init__(self, create, free):
        self.handle = create()
        self._free = free
        self._pid = os.getpid()

    def __del__(self):
        # A forked child must not free its parent's set. At exit, NVML might already be shut down.
        if getattr(self, "_pid", None) == os.getpid():
            try:
                self._free(self.handle)
            except nvml.NvmlError:
                pass

    def wait(self, wait, timeout_ms: int):
        """Call ``wait(handle, milliseconds)`` in short steps until it returns a result, and return that.

        Parameters
        ----------
        wait : callable
            Releases the GIL, and raises NVML's TimeoutError when its time has passed.
        timeout_ms : int
            The longest time to wait, in milliseconds; 0 means no limit.

        Raises
        ------
        TimeoutError
            NVML's, if there is no result in this time.
        """
        timeout_ms = check_int("timeout_ms", timeout_ms, 1 << 32)
        timeout = None

        def step(seconds):
            nonlocal timeout
            try:
                return (wait(self.handle, max(round(seconds * 1000), 1)),)
            except nvml.TimeoutError as error:
                timeout = error
            return None

        try:
            found = wait_in_steps(step, timeout_ms / 1000 if timeout_ms else None)
            if found is not None:
                return found[0]
            raise timeout
        finally:
            timeout = None  # its traceback refers to this frame: a reference cycle


def mask_of(events, flags: dict) -> int:
    """Return the bit mask of one event type or a list of them.

    ``flags`` maps event types to bits of NVML.

    Raises
    ------
    TypeError
        If ``events`` is neither a string nor a list.
    ValueError
        If an entry is not one of the event types.
    """
    if isinstance(events, str):
        events = [events]
    if not isinstance(events, list):
        raise TypeError(f"events must be a str or a list of them, not {type(events).__name__}")
    mask = 0
    for event in events:
        mask |= int(choose(event, flags, "event"))
    return mask
