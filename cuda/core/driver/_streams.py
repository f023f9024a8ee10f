# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Streams, events, which processes can share (IPC), and the profiler."""

from __future__ import annotations

import ctypes
from collections import deque

from cuda import core
from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, EventOptions, StreamOptions
from cuda.core._classic import IPCEventDescriptor, shown
from cuda.core.driver._checks import checked_int
from cuda.core.driver._constants import event_flags, stream_flags
from cuda.core.driver._context import context_for
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, call, logic_error, translated

__all__ = ["Event", "Stream", "initialize_profiler", "start_profiler", "stop_profiler"]


def ipc_handle_argument(handle, api: str) -> bytes:
    """Return the 64 bytes of an IPC handle, or raise LogicError for another number of bytes."""
    try:
        content = bytes(memoryview(handle))
    except TypeError:
        raise TypeError(f"handle must be bytes, not {type(handle).__name__}") from None
    if len(content) != 64:
        raise logic_error(api, INVALID_VALUE, f"handle must have 64 bytes, not {len(content)}")
    return content


def handle_bytes(native) -> bytearray:
    """Return the 64 bytes of a driver IPC handle."""
    return bytearray(ctypes.string_at(native.getPtr(), 64))


class Stream:
    """A stream (``cuStreamCreate``), destroyed once nothing refers to it.

    Parameters
    ----------
    flags : stream_flags | int, optional
        ``NON_BLOCKING`` (1) for a stream that does not synchronize with the NULL stream. Defaults to 0.

    Raises
    ------
    LogicError
        If no context is current, or the flags are unknown.
    """

    def __init__(self, flags: int = 0):
        flags = checked_int("flags", flags, 0, 1, "cuStreamCreate")
        context = context_for("cuStreamCreate")
        options = StreamOptions(nonblocking=flags == stream_flags.NON_BLOCKING)
        self._stream = _make_stream(options, context)
        self._context = context
        context._objects.add(self)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``, as specified by the CUDA stream protocol."""
        return self._stream.__cuda_stream__()

    def __repr__(self):
        state = "closed" if self._stream.is_closed else f"{int(self._stream.handle):#x}"
        return f"<cuda.core.driver.Stream {state}>"

    @translated
    def synchronize(self) -> None:
        """Wait for all work in the stream (``cuStreamSynchronize``).

        Raises
        ------
        LogicError
            If the stream's context is detached.
        LaunchError
            If a kernel failed.
        """
        stream = core_stream(self)
        stream.sync()
        self._context._kept.pop(int(stream.handle), None)

    @translated
    def is_done(self) -> bool:
        """Return whether all work in the stream has completed (``cuStreamQuery``)."""
        return core_stream(self).is_done

    @translated
    def wait_for_event(self, event: Event) -> None:
        """Make later work in the stream wait for an event (``cuStreamWaitEvent``).

        Parameters
        ----------
        event : :class:`Event`
            The event.

        Raises
        ------
        TypeError
            If ``event`` is not an Event.
        LogicError
            If the context of the stream or the event is detached.
        """
        core_stream(self).wait(event_of(event))

    @property
    def handle(self) -> int:
        """The ``CUstream`` as an int.

        Raises
        ------
        LogicError
            If the stream's context is detached.
        """
        return int(core_stream(self).handle)

    def _invalidate(self) -> None:
        self._stream.close()


@translated
def _make_stream(options, context):
    return core.Stream._init(None, options, context._device._ordinal, context._core)


def core_stream(stream) -> core.Stream:
    """Return the :mod:`cuda.core` stream for an argument, where None is the NULL stream.

    Raises
    ------
    LogicError
        If the stream's context is detached.
    TypeError
        If the argument is not a stream.
    """
    if stream is None:
        return LEGACY_DEFAULT_STREAM
    if isinstance(stream, Stream):
        inner = stream._stream
        if inner.is_closed:
            raise logic_error("the stream", INVALID_HANDLE, "its context is detached")
        return inner
    if isinstance(stream, core.Stream):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return core.Stream._init(stream)
    raise TypeError(f"stream must be a Stream or None, not {type(stream).__name__}")


class Event:
    """An event, which marks a point in a stream's work (``cuEventCreate``).

    Parameters
    ----------
    flags : event_flags | int, optional
        A combination of ``BLOCKING_SYNC``, ``DISABLE_TIMING`` and ``INTERPROCESS``, which requires ``DISABLE_TIMING``.
        Defaults to 0, which enables timing.

    Raises
    ------
    LogicError
        If no context is current, or the flags are unknown.
    """

    def __init__(self, flags: int = 0):
        context = context_for("cuEventCreate")
        flags = checked_int("flags", flags)
        if not 0 <= flags <= 7:
            raise logic_error("cuEventCreate", INVALID_VALUE, f"flags must combine event_flags, not {shown(flags)}")
        self._adopt(_make_event(context, flags), context)

    def __repr__(self):
        state = "closed" if self._event.is_closed else f"{int(self._event.handle):#x}"
        return f"<cuda.core.driver.Event {state}>"

    def _adopt(self, event, context) -> None:
        self._event = event
        self._context = context
        self._kept = None
        context._objects.add(self)

    @translated
    def record(self, stream: Stream | None = None) -> Event:
        """Record the event after the pending work of a stream, and return the event (``cuEventRecord``).

        Parameters
        ----------
        stream : :class:`Stream`, optional
            The stream. Defaults to the NULL stream.

        Raises
        ------
        LogicError
            If the context of the event or the stream is detached.
        TypeError
            If ``stream`` is not a stream.
        """
        inner, target = event_of(self), core_stream(stream)
        # The operands of the pending work can be released once the event has completed.
        kept = self._context._kept and self._context._kept.get(int(target.handle))
        self._kept = (kept, kept.count) if kept else None
        if inner.is_ipc_enabled:  # because Stream.record() does not record shared events again
            call("cuEventRecord", inner, target)
        else:
            target.record(inner)
        return self

    def _release_kept(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            kept[0].release(kept[1])

    @translated
    def synchronize(self) -> Event:
        """Wait for the recorded work, and return the event (``cuEventSynchronize``)."""
        event_of(self).sync()
        self._release_kept()
        return self

    @translated
    def query(self) -> bool:
        """Return whether the recorded work has completed (``cuEventQuery``)."""
        is_done = event_of(self).is_done
        if is_done:
            self._release_kept()
        return is_done

    def time_since(self, start_event: Event) -> float:
        """Return the time from ``start_event`` to this event in milliseconds (``cuEventElapsedTime``).

        Parameters
        ----------
        start_event : :class:`Event`
            The earlier event.

        Raises
        ------
        RuntimeError
            If either event has not completed.
        LogicError
            If either event was not recorded, or was created without timing.
        """
        return float(call("cuEventElapsedTime", event_of(start_event), event_of(self)))

    def time_till(self, end_event: Event) -> float:
        """Return the time from this event to ``end_event`` in milliseconds. See :meth:`time_since`."""
        return float(call("cuEventElapsedTime", event_of(self), event_of(end_event)))

    def ipc_handle(self) -> bytearray:
        """Return 64 bytes that let another process open the event (``cuIpcGetEventHandle``).

        Raises
        ------
        LogicError
            If the event was created without ``INTERPROCESS``.
        """
        inner = event_of(self)
        if not inner.is_ipc_enabled:
            raise logic_error("cuIpcGetEventHandle", INVALID_HANDLE, "the event must be created with INTERPROCESS")
        _, (payload, _) = inner.ipc_descriptor.__reduce__()
        return bytearray(payload)

    @staticmethod
    @translated
    def from_ipc_handle(handle) -> Event:
        """Open another process's event (``cuIpcOpenEventHandle``).

        Parameters
        ----------
        handle : bytes-like
            The 64 bytes returned by :meth:`ipc_handle` in the other process.

        Raises
        ------
        LogicError
            If the handle does not have 64 bytes, the event does not exist, or no context is current.
        TypeError
            If ``handle`` is not bytes-like.
        """
        context = context_for("cuIpcOpenEventHandle")
        descriptor = IPCEventDescriptor._init(ipc_handle_argument(handle, "cuIpcOpenEventHandle"), False)
        event = Event.__new__(Event)
        event._adopt(core.Event.from_ipc_descriptor(descriptor), context)
        return event

    @property
    def handle(self) -> int:
        """The ``CUevent`` as an int.

        Raises
        ------
        LogicError
            If the event's context is detached.
        """
        return int(event_of(self).handle)

    def _invalidate(self) -> None:
        self._event.close()


@translated
def _make_event(context, flags: int):
    context._make_current()
    is_timed, is_shared = not flags & event_flags.DISABLE_TIMING, bool(flags & event_flags.INTERPROCESS)
    if is_timed and is_shared:
        raise logic_error("cuEventCreate", INVALID_VALUE, "INTERPROCESS requires DISABLE_TIMING")
    options = EventOptions(is_timed, bool(flags & event_flags.BLOCKING_SYNC), is_shared)
    if not is_shared:
        return context._device._core.create_event(options)
    # Recording creates a shared event. On an idle stream, it is already complete, like an event that was not recorded.
    with _make_stream(StreamOptions(), context) as idle:
        return idle.record(options=options)


def event_of(event: Event):
    """Return the inner event of an :class:`Event`.

    Raises
    ------
    TypeError
        If ``event`` is not an Event.
    LogicError
        If the event's context is detached.
    """
    if not isinstance(event, Event):
        raise TypeError(f"event must be an Event, not {type(event).__name__}")
    inner = event._event
    if inner.is_closed:
        raise logic_error("the event", INVALID_HANDLE, "its context is detached")
    return inner


class Kept:
    """References to the operands of asynchronous work in a stream, dropped once the work has completed."""

    LIMIT = 64

    def __init__(self):
        self.objects = deque()  # (number, objects) for each operation
        self.count = 0  # the number of operations until now
        self._event = None
        self._marked = 0  # the count when `_event` was recorded

    def add(self, stream: core.Stream, *objects) -> None:
        """Keep the operands of work already enqueued on the stream."""
        self.objects.append((self.count, objects))
        self.count += 1
        if self.count - self._marked < self.LIMIT:
            return
        try:
            if self._event is None or self._event.is_done:
                self.release(self._marked)
                self._event = stream.record()
                self._marked = self.count
        except CUDAError:
            pass  # the stream is capturing or in an error state, so keep the objects

    def release(self, count: int) -> None:
        """Release the objects of the first ``count`` operations."""
        try:
            while self.objects[0][0] < count:
                self.objects.popleft()
        except IndexError:
            pass  # there are no objects, or another thread has released them


def keep_in(context, handle: int, stream: core.Stream, *objects) -> None:
    """Keep objects alive at least until the work currently enqueued on a stream has completed.

    Parameters
    ----------
    context : Context
        The current context.
    handle : int
        The stream handle.
    stream : Stream
        The :mod:`cuda.core` stream.
    """
    mine = context._kept.get(handle)
    if mine is None:
        mine = context._kept.setdefault(handle, Kept())
    mine.add(stream, *objects)


def keep_until_done(stream: core.Stream, api: str, *objects) -> None:
    """Keep objects alive in the current context. See :func:`keep_in`."""
    keep_in(context_for(api), int(stream.handle), stream, *objects)


def start_profiler() -> None:
    """Start profiling (``cuProfilerStart``), or raise LogicError if no context is current."""
    context_for("cuProfilerStart")
    call("cuProfilerStart")


def stop_profiler() -> None:
    """Stop profiling (``cuProfilerStop``), or raise LogicError if no context is current."""
    context_for("cuProfilerStop")
    call("cuProfilerStop")


def initialize_profiler(config_file, output_file, output_mode) -> None:
    """Raise NotSupportedError, because CUDA 13 has no ``cuProfilerInitialize``.

    Parameters
    ----------
    config_file, output_file, output_mode : object
        Ignored.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise logic_error(
        "cuProfilerInitialize", NOT_SUPPORTED, "CUDA 13 has no built-in profiler; run the program with nsys"
    )
