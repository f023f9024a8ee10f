# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events: markers in a stream that can be waited for, queried and timed."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t
from libc.string cimport memcpy, memset

from cuda.core._context cimport Context_enter, Context_green, Context_leave, Context_require, Context_wrap
from cuda.core._native._completion cimport await_stream
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    DriverObject,
    EventHandle,
    EventPin,
    GreenHandle,
    Handle,
    PinnedHandle,
    StreamHandle,
    address,
    bindings_object,
    note_other_library,
    pin_as,
    retire_stream,
)
from cuda.core._native._device_wait cimport call_interruptibly, wait_for_event
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    LEAVE_RETURN,
    check_or_create_options,
    init_driver,
)

import weakref

from cuda.core._native._cuda_core import explain_other_names
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.helpers import check_multiprocessing_start_method
from cuda.core._utils.ipc import register_reducer
from cuda.core._utils.options import Options, options

__all__ = ["Event", "EventOptions"]


cdef class Event(DriverObject):
    """A CUDA event: a marker in a stream, which completes when all work before it has completed.

    An event cannot be constructed directly: :meth:`Stream.record`, :meth:`Device.create_event` and
    :meth:`from_ipc_descriptor` return one. ``later - earlier`` is the time between two events in milliseconds.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> start = stream.record(options={"timing_enabled": True})
    >>> buffer = device.allocate(4096, stream=stream)
    >>> buffer.fill(0, stream=stream)
    >>> end = stream.record(options={"timing_enabled": True})
    >>> end.sync()
    >>> end - start >= 0  # milliseconds
    True
    """

    _made_by = "Stream.record() or Device.create_event()"

    def __sub__(self, other: Event) -> float:
        """Return the time from ``other`` to this event in milliseconds (``cuEventElapsedTime``).

        Returns
        -------
        float
            The time, with a resolution of about half a microsecond.

        Raises
        ------
        RuntimeError
            If one of the events is closed, was created without timing, was not recorded, or has not completed, or the
            events are of different devices or contexts.
        CUDAError
            If the driver call fails for another reason.
        """
        if not (isinstance(self, Event) and isinstance(other, Event)):
            return NotImplemented
        return Event_elapsed(other, self)

    def __isub__(self, other):
        return NotImplemented

    def sync(self) -> None:
        """Block until the work recorded by the event has completed (``cuEventSynchronize``).

        Returns immediately if the event was not recorded. On the main thread, Ctrl-C or another signal handler that
        raises an exception interrupts the wait.

        Raises
        ------
        RuntimeError
            If the event is closed.
        CUDAError
            If work in the event's context failed.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> event = device.create_stream().record()
        >>> event.sync()
        >>> event.is_done
        True
        """
        cdef EventPin event
        Event_pin(self, &event)
        with nogil:
            wait_for_event(event.get(), not self._flags & cydriver.CU_EVENT_BLOCKING_SYNC)

    def __await__(self):
        """Wait in an asyncio event loop until the work recorded by the event has completed (``cuStreamAddCallback``).

        Other tasks run in the meantime. No thread polls: the driver wakes the loop. Later work in the stream is not
        waited for. Canceling the task ends its wait.

        Raises
        ------
        RuntimeError
            If the event is closed, or this thread runs no event loop.
        CUDAError
            If work in the event's context failed.

        Examples
        --------
        >>> import asyncio
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> async def wait_for_first(buffer):
        ...     buffer.fill(1, stream=stream)
        ...     event = stream.record()
        ...     buffer.fill(2, stream=stream)
        ...     await event
        ...     return event.is_done
        >>> asyncio.run(wait_for_first(device.allocate(64, stream=stream)))
        True
        """
        return iter(()) if Event_is_done(self) else Event_await(self)

    @property
    def handle(self):
        """The ``CUevent`` of the bindings, or null if closed."""
        note_other_library()  # of work that another library records
        return bindings_object("CUevent", self._address())

    @property
    def is_timing_enabled(self) -> bool:
        """Whether the event records a timestamp, so it can be subtracted."""
        return not self._flags & cydriver.CU_EVENT_DISABLE_TIMING

    @property
    def is_blocking_sync(self) -> bool:
        """Whether :meth:`sync` blocks the host thread instead of spinning (``CU_EVENT_BLOCKING_SYNC``)."""
        return bool(self._flags & cydriver.CU_EVENT_BLOCKING_SYNC)

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open the event (``CU_EVENT_INTERPROCESS``)."""
        return bool(self._flags & cydriver.CU_EVENT_INTERPROCESS)

    @property
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """The descriptor from which another process opens the event (``cuIpcGetEventHandle``).

        Raises
        ------
        RuntimeError
            If the event is closed, or was created without ``ipc_enabled``.
        """
        self._check_open()
        if not self._flags & cydriver.CU_EVENT_INTERPROCESS:
            raise UnavailableError("this Event is not shared between processes; record it with ipc_enabled=True")
        if self._ipc_descriptor is None:
            descriptor = Event_export(self)
            with cython.critical_section(self):
                if self._ipc_descriptor is None:
                    self._ipc_descriptor = descriptor
        return self._ipc_descriptor

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor: IPCEventDescriptor) -> Event:
        """Open an event of another process (``cuIpcOpenEventHandle``).

        Parameters
        ----------
        ipc_descriptor : IPCEventDescriptor
            The :attr:`ipc_descriptor` of the event in the process that created it.

        Returns
        -------
        :class:`Event`
            The event. It can be waited for and queried, but not recorded again.

        Raises
        ------
        TypeError
            If ``ipc_descriptor`` is not an IPCEventDescriptor.
        ValueError
            If its payload has the wrong length.
        CUDAError
            If no context is current, or the driver does not recognize the event.
        """
        if not isinstance(ipc_descriptor, IPCEventDescriptor):
            raise TypeError(f"ipc_descriptor must be an IPCEventDescriptor, not {type(ipc_descriptor).__name__}")
        return Event_open(<type>cls, ipc_descriptor)

    @property
    def is_done(self) -> bool:
        """Whether the recorded work has completed, or nothing was recorded yet (``cuEventQuery``)."""
        return Event_is_done(self)

    @property
    def device(self):
        """The :class:`Device` of the event, or None for another process's event."""
        return None if self._device_id < 0 else slots.get("Device")(self._device_id)

    @property
    def context(self):
        """The :class:`Context` of the event, or None for another process's event."""
        cdef ContextHandle h_context = self._h_context.copy()
        return Context_wrap(h_context, self._device_id) if h_context else None

    def _pin(self) -> PinnedHandle:
        cdef EventPin pin
        Event_pin(self, &pin)
        return pin_as("CUevent", <intptr_t>pin.get(), pin.anchor())

    cdef intptr_t _address(self) noexcept:
        return address(self._h_event)

    cdef void _release(self) noexcept:
        self._h_event.reset()


# A function, because cloudpickle cannot pickle a class method of an extension class.
def rebuild_event_descriptor(payload: bytes, is_blocking_sync: bool) -> IPCEventDescriptor:
    """Create a descriptor from its pickled fields."""
    return IPCEventDescriptor._init(payload, is_blocking_sync)


cdef class IPCEventDescriptor:
    """The descriptor from which another process opens an :class:`Event`. It can be pickled."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCEventDescriptor cannot be constructed directly; use Event.ipc_descriptor")

    def __eq__(self, other):
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self._payload == (<IPCEventDescriptor>other)._payload

    __hash__ = None

    def __repr__(self):
        return f"<IPCEventDescriptor {(self._payload or b'')[:8].hex() or 'without an event'}>"

    def __reduce__(self):
        return rebuild_event_descriptor, (self._payload, self._is_blocking_sync)

    @classmethod
    def _init(cls, reserved: bytes, is_blocking_sync: bool) -> IPCEventDescriptor:
        """Create a descriptor from a pickled payload."""
        cdef IPCEventDescriptor self = IPCEventDescriptor.__new__(IPCEventDescriptor)
        self._payload = reserved
        self._is_blocking_sync = is_blocking_sync
        return self


@options
class EventOptions(Options):
    """Options of a new event.

    Attributes
    ----------
    timing_enabled : bool, optional
        Whether the event records a timestamp. Default is False (``CU_EVENT_DISABLE_TIMING``).
    blocking_sync : bool, optional
        Whether :meth:`Event.sync` blocks the host thread instead of spinning (``CU_EVENT_BLOCKING_SYNC``). Default is
        False.
    ipc_enabled : bool, optional
        Whether other processes can open the event (``CU_EVENT_INTERPROCESS``). Default is False. Creating an event
        with both ``ipc_enabled`` and ``timing_enabled`` raises TypeError.

    Examples
    --------
    >>> from cuda.core import Device, EventOptions
    >>> device = Device()
    >>> device.set_current()
    >>> event = device.create_event(EventOptions(timing_enabled=True))
    >>> event.is_timing_enabled
    True
    """

    timing_enabled: bool | None = False
    blocking_sync: bool | None = False
    ipc_enabled: bool | None = False


cdef Event Event_create(const ContextHandle& h_context, int device_id, unsigned int c_flags):
    cdef EventHandle h_event
    with nogil:
        Event_create_handle(h_context, c_flags, &h_event)
    return Event_wrap(h_event, h_context, device_id, c_flags)


cdef Event Event_wrap(
    const EventHandle& h_event, const ContextHandle& h_context, int device_id, unsigned int c_flags
):
    cdef Event self = Event.__new__(Event)
    self._h_event.set(h_event)
    self._h_context.set(h_context)
    self._device_id = device_id
    self._flags = c_flags
    return self


cdef int Event_create_handle(
    const ContextHandle& h_context, unsigned int c_flags, EventHandle* h_event
) except -1 nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef int is_entered = Context_enter(h_context.get())
    cdef cydriver.CUresult err = cydriver.cuEventCreate(&c_event, c_flags)
    cdef cydriver.CUresult left = Context_leave(is_entered)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        h_event[0] = EventHandle.own(c_event, &Event_destroy, h_context.anchor())
    return LEAVE_RETURN(err, b"cuEventCreate", left)


cdef unsigned int Event_flags(object options) except? 0xffffffff:
    cdef unsigned int c_flags = 0
    if options is None:
        return cydriver.CU_EVENT_DISABLE_TIMING
    options = check_or_create_options(EventOptions, options, "event options")
    if options.ipc_enabled and options.timing_enabled:
        raise TypeError("ipc_enabled and timing_enabled exclude each other: a shared event has no timing")
    if not options.timing_enabled:
        c_flags |= cydriver.CU_EVENT_DISABLE_TIMING
    if options.blocking_sync:
        c_flags |= cydriver.CU_EVENT_BLOCKING_SYNC
    if options.ipc_enabled:
        c_flags |= cydriver.CU_EVENT_INTERPROCESS
        register_reducer(Event, _reduce_event)
    return c_flags


# Exported events by payload, because the driver cannot open an event in the process that exported it.
_exported = weakref.WeakValueDictionary()


cdef IPCEventDescriptor Event_export(Event self):
    cdef IPCEventDescriptor descriptor
    cdef cydriver.CUipcEventHandle handle
    cdef EventPin event
    cdef ContextHandle h_context = self._h_context.copy()
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    memset(&handle, 0, sizeof(handle))
    Event_pin(self, &event)
    # Queues of multiprocessing pickle on their own threads, where no context is current.
    with nogil:
        is_entered = Context_enter(h_context.get())
        err = cydriver.cuIpcGetEventHandle(&handle, event.get())
        LEAVE_RETURN(err, b"cuIpcGetEventHandle", Context_leave(is_entered))
    descriptor = IPCEventDescriptor._init((<char*>&handle)[:sizeof(handle)], self.is_blocking_sync)
    _exported[descriptor._payload] = self
    return descriptor


cdef Event Event_open(type cls, IPCEventDescriptor descriptor):
    cdef Event self = cls.__new__(cls)
    cdef Event mine
    cdef EventHandle h_mine
    cdef Opening opening
    cdef Handle[Opening] h_opening
    cdef cydriver.CUevent c_event = NULL
    if len(descriptor._payload) != sizeof(opening.handle):
        raise ValueError(
            f"ipc_descriptor must have a payload of {sizeof(opening.handle)} bytes, not {len(descriptor._payload)}"
        )
    # The same payload also opens the event in other processes.
    self._ipc_descriptor = descriptor
    mine = _exported.get(descriptor._payload)
    if mine is not None:
        h_mine = mine._h_event.copy()
    if h_mine:
        self._h_event.set(h_mine)
        self._h_context.set(mine._h_context.copy())
        self._device_id = mine._device_id
        self._flags = mine._flags
        return self
    memcpy(&opening.handle, <char*>descriptor._payload, sizeof(opening.handle))
    opening.c_event = NULL
    init_driver()
    h_opening = Handle[Opening].own(opening, &destroy_opened, Anchor())
    with nogil:
        HANDLE_RETURN(
            <cydriver.CUresult>call_interruptibly(&open_handle, &h_opening.value(), h_opening.anchor()),
            b"cuIpcOpenEventHandle",
        )
    c_event = h_opening.value().c_event
    (&h_opening.value()).c_event = NULL
    self._h_event.set(EventHandle.own(c_event, &Event_destroy, Anchor()))
    self._device_id = -1
    self._flags = cydriver.CU_EVENT_DISABLE_TIMING | cydriver.CU_EVENT_INTERPROCESS
    if descriptor._is_blocking_sync:
        self._flags |= cydriver.CU_EVENT_BLOCKING_SYNC
    register_reducer(Event, _reduce_event)
    return self


# Argument and result of cuIpcOpenEventHandle on another thread. If a signal handler abandons the call, the opened event
# is destroyed with this struct.
cdef struct Opening:
    cydriver.CUipcEventHandle handle
    cydriver.CUevent c_event


cdef int open_handle(void* what) noexcept nogil:
    cdef Opening* opening = <Opening*>what
    return <int>cydriver.cuIpcOpenEventHandle(&opening.c_event, opening.handle)


cdef void destroy_opened(Opening opening) noexcept nogil:
    if opening.c_event != NULL:
        Event_destroy(opening.c_event)


def _reduce_event(Event event):
    check_multiprocessing_start_method()
    # The queue might pickle after the event was closed here, and the event might come from another process. Then only
    # the stored descriptor is left.
    return _rebuild_event, (event._ipc_descriptor or event.ipc_descriptor,)


def _rebuild_event(descriptor):
    # If an event arrives before the first set_current() of the process, any context will do.
    Context_require(0)
    return Event.from_ipc_descriptor(descriptor)


cdef inline bint Event_is_done(Event self) except -1:
    cdef EventPin event
    Event_pin(self, &event)
    return ALLOW_RETURN(
        cydriver.cuEventQuery(event.get()), cydriver.CUresult.CUDA_ERROR_NOT_READY, b"cuEventQuery"
    )


# A callback belongs to a stream, and the event's stream may have later work. So a new stream waits for the event, and
# is destroyed afterwards.
cdef object Event_await(Event self):
    cdef EventPin event
    cdef ContextHandle h_context = self._h_context.copy()
    cdef GreenHandle h_green
    cdef StreamHandle h_stream
    cdef cydriver.CUstream c_stream = NULL
    cdef unsigned int c_flags = cydriver.CU_STREAM_NON_BLOCKING
    cdef const char* api = b"cuStreamCreate"
    cdef cydriver.CUresult err, left
    cdef int is_entered = 0
    Event_pin(self, &event)
    if h_context:
        h_green = Context_green(h_context)
    with nogil:
        is_entered = Context_enter(h_context.get())
        if h_green:
            api = b"cuGreenCtxStreamCreate"
            err = cydriver.cuGreenCtxStreamCreate(&c_stream, h_green.get().green, c_flags, 0)
        else:
            err = cydriver.cuStreamCreate(&c_stream, c_flags)
        left = Context_leave(is_entered)
        if err == cydriver.CUresult.CUDA_SUCCESS:
            h_stream = StreamHandle.own(c_stream, &destroy_waiting_stream, h_context.anchor())
        LEAVE_RETURN(err, api, left)
        HANDLE_RETURN(cydriver.cuStreamWaitEvent(c_stream, event.get(), 0), b"cuStreamWaitEvent")
    return await_stream(h_stream)


cdef void destroy_waiting_stream(cydriver.CUstream c_stream) noexcept nogil:
    retire_stream(c_stream)


cdef object Event_elapsed(Event start, Event end):
    cdef float c_milliseconds = 0
    cdef cydriver.CUresult err
    cdef EventPin start_pin
    cdef EventPin end_pin
    Event_pin(start, &start_pin)
    Event_pin(end, &end_pin)
    if not (start.is_timing_enabled and end.is_timing_enabled):
        raise RuntimeError("events need timing to be subtracted; create them with EventOptions(timing_enabled=True)")
    with nogil:
        err = cydriver.cuEventElapsedTime(&c_milliseconds, start_pin.get(), end_pin.get())
    if err == cydriver.CUresult.CUDA_ERROR_INVALID_HANDLE:
        check_same_context(start, end)
        raise RuntimeError("both events must have been recorded to be subtracted")
    if not ALLOW_RETURN(err, cydriver.CUresult.CUDA_ERROR_NOT_READY, b"cuEventElapsedTime"):
        raise RuntimeError("both events must have completed to be subtracted; call sync() on the later one first")
    return c_milliseconds


# Events of other processes have no context here.
cdef int check_same_context(Event start, Event end) except -1:
    cdef ContextHandle h_start = start._h_context.copy()
    cdef ContextHandle h_end = end._h_context.copy()
    if not h_start or not h_end or h_start.get() == h_end.get():
        return 0
    if start._device_id != end._device_id:
        where = f"the same device, not of device {end._device_id} and device {start._device_id}"
    else:
        where = f"the same context, not of {address(h_end):#x} and {address(h_start):#x}"
    raise RuntimeError(f"events can be subtracted only if they are of {where}")


slots.register("Event", Event)
explain_other_names(Event)
check_self_in_methods(globals())
