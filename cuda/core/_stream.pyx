# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work that a device executes in order."""

from __future__ import annotations

from libc.stdint cimport intptr_t, uintptr_t

from cpython.object cimport PyObject

from cuda.core._context cimport Context, Context_current, Context_find, Context_ordinal, Context_wrap
from cuda.core._device_resources cimport DeviceResources, DeviceResources_of_context
from cuda.core._event cimport Event, Event_create_handle, Event_flags, Event_pin, Event_wrap
from cuda.core._native._completion cimport StreamCallback, await_stream, call_after_stream, reject_capture
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    DriverObject,
    EventHandle,
    EventPin,
    PinnedHandle,
    StreamHandle,
    StreamPin,
    address,
    bindings_object,
    note_other_library,
    pin_as,
    stream_captures,
)
from cuda.core._native._device_wait cimport wait_for_stream
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

from cuda.core._event import EventOptions
from cuda.core._memory_operations import MemoryOperation, packed_operations
from cuda.core._native._cuda_core import explain_other_names
from cuda.core._utils import slots
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import address_argument, shown
from cuda.core.typing import IsStreamType  # no-cython-lint (programs import it from here)

__all__ = ["LEGACY_DEFAULT_STREAM", "PER_THREAD_DEFAULT_STREAM", "Stream", "StreamOptions", "StreamTimer"]


cdef class StreamSource(DriverObject):
    """Base class of objects on which work can be enqueued: streams and graph builders."""

    cdef Stream _stream_to_use(self):
        raise TypeError(f"{type(self).__name__} has no stream")


cdef class Stream(StreamSource):
    """A CUDA stream: a queue of work that executes in order, concurrently with the work of other streams.

    A stream cannot be constructed directly: :meth:`Device.create_stream`, :meth:`Context.create_stream` and
    :meth:`Stream.from_handle` return one. ``with stream:`` closes the stream when the block exits. To make a stream the
    default in a block, as ``with`` does in CuPy, write ``with stream.use():``.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> stream.sync()
    >>> stream.is_done
    True
    >>> stream.close()
    """

    _made_by = "Device.create_stream() or Stream.from_handle()"

    def __repr__(self):
        context = 0 if self.is_closed else address(self._h_context)
        return f"<{type(self).__name__} handle={self._address():#x} context={context:#x}>"

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``, by version 0 of the protocol through which libraries exchange streams."""
        cdef StreamPin stream
        Stream_pin(self, &stream)
        note_other_library()  # of work that another library enqueues
        return (0, <intptr_t>stream.get())

    @staticmethod
    def from_handle(handle: int) -> Stream:
        """Wrap an existing ``CUstream`` or ``cudaStream_t`` without taking ownership.

        Parameters
        ----------
        handle : int
            The address of the stream, where 0 is the NULL stream. Do not destroy the stream while it is in use here.

        Returns
        -------
        :class:`Stream`
            The stream. Closing it does not destroy the ``CUstream``, unless this library created it and it has no other
            references.

        Raises
        ------
        TypeError
            If ``handle`` is not an integer.
        ValueError
            If ``handle`` is negative or exceeds 2**64 - 1.

        Examples
        --------
        >>> from cuda.core import Device, Stream
        >>> device = Device()
        >>> device.set_current()
        >>> owner = device.create_stream()  # for example a stream of another library
        >>> stream = Stream.from_handle(int(owner.handle))
        >>> stream == owner
        True
        """
        raw = address_argument("handle", handle)
        try:
            return Stream_wrap(<cydriver.CUstream><uintptr_t>raw, None)
        except OverflowError as error:
            raise ValueError(f"handle must be an address, from 0 to 2**64 - 1, not {shown(raw)}") from error

    def sync(self) -> None:
        """Block until all work in the stream has completed (``cuStreamSynchronize``).

        On the main thread, Ctrl-C or another signal handler that raises an exception interrupts the wait.

        Raises
        ------
        CUDAError
            If work in the stream failed.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(16, stream=stream)
        >>> host = bytearray(16)
        >>> buffer.fill(7, stream=stream)
        >>> _ = buffer.copy_to(host, stream=stream)
        >>> stream.sync()
        >>> host[0]
        7
        """
        cdef StreamPin stream
        Stream_pin(self, &stream)
        with nogil:
            wait_for_stream(stream.get())

    def record(
        self,
        event: Event | None = None,
        options: EventOptions | dict[str, Any] | None = None,
        *,
        is_external: bool = False,
    ) -> Event:
        """Record an event, which completes once the pending work in the stream has completed (``cuEventRecord``).

        Parameters
        ----------
        event : :class:`Event`, optional
            The event to record. Defaults to a new event.
        options : :class:`EventOptions` | dict, optional
            Options of the new event, ignored if ``event`` is given. Defaults to an event without timing.
        is_external : bool, optional
            In a capture, whether the graph records the event each time it runs, so that other streams can wait for
            that, instead of the event being a point of the capture (``cuEventRecordWithFlags``). Default is False.

        Returns
        -------
        :class:`Event`
            The recorded event: ``event``, or the new one.

        Raises
        ------
        TypeError
            If ``event`` is not an :class:`Event` or is shared between processes, or ``options`` has the wrong type.
        RuntimeError
            If the stream or ``event`` is closed.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> event = stream.record()
        >>> event.sync()
        """
        cdef StreamPin stream_pin
        cdef EventPin event_pin
        cdef unsigned int c_flags = cydriver.CU_EVENT_RECORD_EXTERNAL if is_external else 0
        if event is None and c_flags:
            raise TypeError("event must be an Event if is_external is True")
        if event is None:
            return Stream_record_new(self, Event_flags(options))
        if not isinstance(event, Event):
            raise TypeError(f"event must be an Event or None, not {type(event).__name__}")
        if (<Event>event)._flags & cydriver.CU_EVENT_INTERPROCESS:
            raise TypeError("an event shared between processes can be recorded only once, when it is made")
        # Enqueueing blocks while the device's queue is full, and a host callback in that queue might wait for the GIL.
        # So every call that enqueues releases it.
        Stream_pin(self, &stream_pin)
        Event_pin(<Event>event, &event_pin)
        if c_flags:
            keep_in_capture(stream_pin.handle(), event_pin.handle())
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuEventRecordWithFlags(event_pin.get(), stream_pin.get(), c_flags),
                    b"cuEventRecordWithFlags",
                )
            return event
        with nogil:
            HANDLE_RETURN(cydriver.cuEventRecord(event_pin.get(), stream_pin.get()), b"cuEventRecord")
        return event

    def wait(
        self, event_or_stream: Event | Stream | ExternalSemaphore, value: int = 0, *, is_external: bool = False
    ) -> None:
        """Make later work in this stream wait for an event, for pending work in another stream, or for a semaphore.

        The host does not wait (``cuStreamWaitEvent``, ``cuWaitExternalSemaphoresAsync``). To wait for a stream, an
        event is recorded on it first.

        Parameters
        ----------
        event_or_stream : :class:`Event` | :class:`Stream` | :class:`ExternalSemaphore`
            The event, stream or semaphore to wait for. An object with ``__cuda_stream__``
            (:obj:`~cuda.core.typing.IsStreamType`) counts as a stream.
        value : int, optional
            The value that a timeline semaphore must reach; ignored for others. Defaults to 0.
        is_external : bool, optional
            In a capture, whether the graph waits for the event each time it runs, and not only for a point of the
            capture (``CU_EVENT_WAIT_EXTERNAL``). Only for an event. Default is False.

        Raises
        ------
        TypeError
            If ``value`` is not an int.
        ValueError
            If ``event_or_stream`` is none of these, or ``value`` is not from 0 to 2**64 - 1.
        RuntimeError
            If one of them is closed.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> left, right = device.create_stream(), device.create_stream()
        >>> left.wait(right)  # later work in left runs after the present work in right
        """
        cdef StreamPin stream_pin
        cdef EventPin event_pin
        cdef unsigned int c_flags
        Stream_pin(self, &stream_pin)
        if isinstance(event_or_stream, Event):
            Event_pin(<Event>event_or_stream, &event_pin)
            c_flags = cydriver.CU_EVENT_WAIT_EXTERNAL if is_external else 0
            if c_flags:
                keep_in_capture(stream_pin.handle(), event_pin.handle())
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuStreamWaitEvent(stream_pin.get(), event_pin.get(), c_flags), b"cuStreamWaitEvent"
                )
            return
        try:
            other = Stream_accept(event_or_stream, True)
        except TypeError as error:
            if is_semaphore(event_or_stream):
                event_or_stream._enqueue(self, value, False)
                return
            raise ValueError(
                f"event_or_stream must be an Event or a Stream, not {type(event_or_stream).__name__}"
            ) from error
        Stream_wait_stream(stream_pin, other)

    def signal(self, semaphore: ExternalSemaphore, value: int = 0) -> None:
        """Signal an external semaphore once the pending work in the stream has completed
        (``cuSignalExternalSemaphoresAsync``).

        Parameters
        ----------
        semaphore : :class:`ExternalSemaphore`
            The semaphore.
        value : int, optional
            The value that a timeline semaphore gets; ignored for binary ones. Defaults to 0.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If ``value`` is not from 0 to 2**64 - 1.
        RuntimeError
            If the stream or the semaphore is closed.
        """
        self._check_open()
        if not is_semaphore(semaphore):
            raise TypeError(f"semaphore must be an ExternalSemaphore, not {type(semaphore).__name__}")
        semaphore._enqueue(self, value, True)

    def __await__(self):
        """Wait in an asyncio event loop until the pending work in the stream has completed (``cuStreamAddCallback``).

        Other tasks run in the meantime. No thread polls: the driver wakes the loop. Canceling the task ends its wait,
        and the work continues. :attr:`is_done` can still be False for a moment afterwards, because the driver's call
        that wakes the loop is itself work in the stream.

        Raises
        ------
        RuntimeError
            If the stream is closed or capturing, or this thread runs no event loop.
        CUDAError
            If work in the stream failed.

        Examples
        --------
        >>> import asyncio
        >>> import numpy as np
        >>> from cuda.core import Device, LegacyPinnedMemoryResource
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> async def fill(buffer):
        ...     buffer.fill(1, stream=stream)
        ...     await stream
        ...     return np.asarray(buffer).tolist()
        >>> asyncio.run(fill(LegacyPinnedMemoryResource().allocate(4)))
        [1, 1, 1, 1]
        """
        cdef StreamPin stream
        Stream_pin(self, &stream)
        reject_capture(stream.handle(), "await")
        return iter(()) if self.is_done else await_stream(stream.handle())

    async def __aenter__(self):
        return self

    async def __aexit__(self, exc_type, exc_value, traceback):
        """Wait for the pending work, even after an exception, then close the stream."""
        try:
            if not self.is_closed:
                await self
        finally:
            self.close()

    def add_callback(self, function: Callable[[CUDAError | None], object]) -> StreamCallback:
        """Call a function once the pending work in the stream has completed (``cuStreamAddCallback``).

        Later work in the stream does not wait for the function, which can use CUDA. The function runs in the event loop
        of the calling thread, if that thread runs one. Otherwise it runs on a thread of this library, one function at a
        time; functions that are pending when the process exits are not called.

        Parameters
        ----------
        function : callable
            Called with None, or with the :class:`CUDAError` if work in the stream failed. An exception that it raises
            is passed to :func:`sys.unraisablehook`.

        Returns
        -------
        StreamCallback
            The pending call, with a method ``cancel()``.

        Raises
        ------
        TypeError
            If ``function`` is not callable.
        RuntimeError
            If the stream is closed or capturing. For a capture, use :meth:`~cuda.core.graph.GraphBuilder.callback`.

        Examples
        --------
        >>> import queue
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> results = queue.Queue()
        >>> callback = stream.add_callback(lambda error: results.put("failed" if error else "finished"))
        >>> results.get(timeout=10)
        'finished'
        """
        cdef StreamPin stream
        Stream_pin(self, &stream)
        reject_capture(stream.handle(), "the callback")
        return call_after_stream(stream.handle(), function)

    def timed(self) -> StreamTimer:
        """Return a context manager that measures the time the device takes for the work of a ``with`` block.

        Returns
        -------
        StreamTimer
            The timer, which records an event on this stream at the start and at the end of the block.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(4096, stream=stream)
        >>> with stream.timed() as timer:
        ...     buffer.fill(0, stream=stream)
        >>> 0 <= timer.ms < 1000
        True
        """
        self._check_open()
        return StreamTimer(self)

    def use(self):
        """Return a context manager that makes this stream the default in its block.

        In the block, launches such as ``kernel[grid, block](...)``, :meth:`Device.empty`, :meth:`Device.zeros`,
        :meth:`Device.to_device` and the methods of their arrays behave as with ``stream=stream``, unless they are given
        another one. Arrays of other devices are not affected, and neither are calls that require a stream. The block
        does not wait for the work, and does not close the stream, as ``with stream:`` would.

        The setting is a :class:`contextvars.ContextVar`: it applies to the code of the block and to ``asyncio`` tasks
        started in it, but not to other threads, unless they inherit the context (``sys.flags.thread_inherit_context``,
        the default on free-threaded Python). Blocks nest.

        Returns
        -------
        context manager
            The context manager, whose ``as`` target is the stream. It can also be used as a decorator.

        Raises
        ------
        RuntimeError
            If the stream is closed.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> with stream.use():
        ...     x = device.to_device(np.arange(4))
        ...     x[::2].fill(7)
        ...     x.to_host()
        array([7, 1, 7, 3])
        """
        self._check_open()
        return _use_stream(self)

    def write_value(self, target, value: int, *, bits: int | None = None) -> None:
        """Write an int to memory, in stream order (``cuStreamBatchMemOp``).

        Parameters
        ----------
        target : :class:`Buffer` | :class:`~cuda.core.utils.StridedMemoryView` | int
            The memory: a buffer, a view whose first element is meant, or an address. Drivers reject memory of pools,
            which is what :meth:`Device.allocate` returns; use page-locked or virtual memory.
        value : int
            The value, signed or unsigned.
        bits : int, optional
            32 or 64. Defaults to the size of the elements of a view, and to 32 for other memory.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If an argument has the wrong type or value, as for :meth:`MemoryOperation.write`.
        RuntimeError
            If the stream or the buffer is closed.
        NotSupportedError
            If the device does not support memory operations.
        CUDAError
            If the memory belongs to a pool.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> producer, consumer = device.create_stream(), device.create_stream()
        >>> flag = device.zeros((), np.int32, pinned=True)
        >>> producer.write_value(flag, 1)
        >>> consumer.wait_value(flag, 1)
        >>> consumer.sync()
        >>> np.asarray(flag)
        array(1, dtype=int32)
        """
        self.run_operations(MemoryOperation.write(target, value, bits=bits))

    def wait_value(
        self, target, value: int, condition: str = ">=", *, bits: int | None = None, flush: bool = False
    ) -> None:
        """Make later work wait until memory has a value (``cuStreamBatchMemOp``).

        The host does not wait. Only the value ends the wait, so another stream, device or the host must write it.

        Parameters
        ----------
        target, value, bits
            As for :meth:`write_value`.
        condition, flush
            As for :meth:`MemoryOperation.wait`.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If an argument has the wrong type or value, as for :meth:`MemoryOperation.wait`.
        RuntimeError
            If the stream or the buffer is closed.
        NotSupportedError
            If the device does not support memory operations, or ``flush``.
        """
        self.run_operations(MemoryOperation.wait(target, value, condition, bits=bits, flush=flush))

    def run_operations(self, *operations: MemoryOperation) -> None:
        """Enqueue memory operations, which run in their order, with one call (``cuStreamBatchMemOp``).

        Parameters
        ----------
        *operations : :class:`MemoryOperation`
            The operations.

        Raises
        ------
        TypeError
            If an argument is not a :class:`MemoryOperation`.
        ValueError
            If there are none.
        RuntimeError
            If the stream is closed.
        NotSupportedError
            If the device does not support one of the operations.
        """
        cdef unsigned int c_count = <unsigned int>len(operations)
        cdef cydriver.CUstreamBatchMemOpParams* c_operations
        cdef StreamPin pin
        Stream_pin(self, &pin)
        content = packed_operations(operations)
        c_operations = <cydriver.CUstreamBatchMemOpParams*><char*><bytes>content
        if is_captured(pin.handle()):
            captured_operands().keep(pin.handle(), Anchor.of_object(<PyObject*>operations))
        with nogil:
            HANDLE_RETURN(
                cydriver.cuStreamBatchMemOp(pin.get(), c_count, c_operations, 0), b"cuStreamBatchMemOp"
            )

    def create_graph_builder(self) -> GraphBuilder:
        """Create a graph builder that captures the work of this stream into a graph.

        Work enqueued on the stream between ``begin_building`` and ``end_building`` is captured, not executed.

        Returns
        -------
        :class:`~cuda.core.graph.GraphBuilder`
            The builder, which keeps the stream alive.

        Raises
        ------
        RuntimeError
            If the stream is closed.
        """
        return slots.get("graph builder")(self)

    @property
    def handle(self):
        """The ``CUstream`` of the bindings, or null if closed."""
        note_other_library()  # of work that another library enqueues
        return bindings_object("CUstream", self._address())

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_stream

    @property
    def is_nonblocking(self) -> bool:
        """Whether the stream does not synchronize implicitly with the legacy default stream (``cuStreamGetFlags``)."""
        cdef StreamPin stream
        cdef unsigned int c_flags = 0
        Stream_pin(self, &stream)
        HANDLE_RETURN(cydriver.cuStreamGetFlags(stream.get(), &c_flags), b"cuStreamGetFlags")
        return bool(c_flags & cydriver.CU_STREAM_NON_BLOCKING)

    @property
    def is_done(self) -> bool:
        """Whether all work in the stream has completed (``cuStreamQuery``)."""
        cdef StreamPin stream
        cdef cydriver.CUresult err
        Stream_pin(self, &stream)
        # Without the GIL, because this waits for a thread that is blocked in a launch on the same stream.
        with nogil:
            err = cydriver.cuStreamQuery(stream.get())
        return bool(ALLOW_RETURN(err, cydriver.CUresult.CUDA_ERROR_NOT_READY, b"cuStreamQuery"))

    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """How the L2 cache treats accesses of later kernels to a range of memory, or None
        (``cuStreamGetAttribute``, ``cuStreamSetAttribute``).

        Assigning an :class:`~cuda.core.graph.AccessPolicyWindow` does not keep the memory alive, and None removes the
        window. ``max_access_policy_window_size`` of the device's properties limits it.

        Examples
        --------
        >>> from cuda.core import Device
        >>> from cuda.core.graph import AccessPolicyWindow
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(4096, stream=stream)
        >>> stream.access_policy_window = AccessPolicyWindow(int(buffer.handle), buffer.size)
        >>> stream.access_policy_window.num_bytes
        4096
        """
        return get_attribute(self, "access_policy_window")

    @access_policy_window.setter
    def access_policy_window(self, value: AccessPolicyWindow | None):
        set_attribute(self, "access_policy_window", value)

    @property
    def mem_sync_domain(self) -> str:
        """The memory synchronization domain of later kernels, ``"default"`` or ``"remote"`` (``cuStreamGetAttribute``,
        ``cuStreamSetAttribute``).

        A fence in one domain does not wait for the memory accesses of the others.
        """
        return get_attribute(self, "mem_sync_domain")

    @mem_sync_domain.setter
    def mem_sync_domain(self, value: str):
        set_attribute(self, "mem_sync_domain", value)

    @property
    def mem_sync_domain_map(self) -> tuple[int, int]:
        """The numbers of the domains ``"default"`` and ``"remote"`` on the device (``cuStreamGetAttribute``,
        ``cuStreamSetAttribute``), below ``mem_sync_domain_count`` of its properties.
        """
        return get_attribute(self, "mem_sync_domain_map")

    @mem_sync_domain_map.setter
    def mem_sync_domain_map(self, value: tuple[int, int]):
        set_attribute(self, "mem_sync_domain_map", value)

    @property
    def nvlink_util_centric_scheduling(self) -> bool:
        """Whether later kernels are scheduled for the best use of NVLink (``cuStreamGetAttribute``,
        ``cuStreamSetAttribute``).
        """
        return get_attribute(self, "nvlink_util_centric_scheduling")

    @nvlink_util_centric_scheduling.setter
    def nvlink_util_centric_scheduling(self, value: bool):
        set_attribute(self, "nvlink_util_centric_scheduling", value)

    @property
    def sync_policy(self) -> str:
        """How the driver waits for the stream: ``"auto"``, ``"spin"``, ``"yield"`` or ``"blocking_sync"``
        (``cuStreamGetAttribute``, ``cuStreamSetAttribute``).

        :meth:`sync` waits in its own way, so that Ctrl-C can interrupt it; the policy is for other libraries' calls.
        """
        return get_attribute(self, "sync_policy")

    @sync_policy.setter
    def sync_policy(self, value: str):
        set_attribute(self, "sync_policy", value)

    def copy_attributes(self, source: Stream) -> None:
        """Give this stream the attributes of another one (``cuStreamCopyAttributes``).

        Parameters
        ----------
        source : :class:`Stream`
            A stream of the same context.

        Raises
        ------
        TypeError
            If ``source`` is not a :class:`Stream`.
        RuntimeError
            If one of the streams is closed.
        CUDAError
            If the streams belong to different contexts.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> one, two = device.create_stream(), device.create_stream()
        >>> one.sync_policy = "yield"
        >>> two.copy_attributes(one)
        >>> two.sync_policy
        'yield'
        """
        cdef StreamPin target, other
        if not isinstance(source, Stream):
            raise TypeError(f"source must be a Stream, not {type(source).__name__}")
        Stream_pin(self, &target)
        Stream_pin(<Stream>source, &other)
        with nogil:
            HANDLE_RETURN(cydriver.cuStreamCopyAttributes(target.get(), other.get()), b"cuStreamCopyAttributes")

    @property
    def priority(self) -> int:
        """The priority of the stream (``cuStreamGetPriority``). A lower number is a higher priority.

        Assigning changes that of later work (``cuStreamSetAttribute``).
        """
        cdef StreamPin stream
        cdef int c_priority = 0
        Stream_pin(self, &stream)
        HANDLE_RETURN(cydriver.cuStreamGetPriority(stream.get(), &c_priority), b"cuStreamGetPriority")
        return c_priority

    @priority.setter
    def priority(self, value: int):
        set_attribute(self, "priority", value)

    @property
    def device(self):
        """The :class:`Device` of the stream's context. For ``LEGACY_DEFAULT_STREAM`` and
        ``PER_THREAD_DEFAULT_STREAM``, of the current context.
        """
        cdef ContextHandle h_context
        cdef int device_id = self._device_id
        if not self._is_default_of_device:
            Stream_context(self, &h_context, &device_id)
        return slots.get("Device")(device_id)

    @property
    def context(self) -> Context:
        """The :class:`Context` of the stream, or for a default stream, the current one (``cuStreamGetCtx``)."""
        cdef ContextHandle h_context
        cdef int device_id = -1
        Stream_context(self, &h_context, &device_id)
        return Context_wrap(h_context, device_id)

    @property
    def resources(self) -> DeviceResources:
        """The resources of the stream's context, as :attr:`Context.resources` returns them."""
        cdef ContextHandle h_context
        cdef int device_id = -1
        Stream_context(self, &h_context, &device_id)
        return DeviceResources_of_context(h_context, device_id)

    @classmethod
    def _legacy_default(cls):
        return Stream_constant(cls, <cydriver.CUstream><uintptr_t>1)

    @classmethod
    def _per_thread_default(cls):
        return Stream_constant(cls, <cydriver.CUstream><uintptr_t>2)

    @classmethod
    def _init(cls, obj=None, options=None, device_id=None, ctx=None):
        """Create a stream of the class ``cls``, as :meth:`Device.create_stream` does."""
        cdef ContextHandle h_context
        cdef Stream self = cls.__new__(cls)
        cdef Stream source
        if obj is not None and options is not None:
            raise ValueError("obj and options exclude each other: obj wraps a stream, options create one")
        if obj is not None:
            source = Stream_from_protocol(obj)
        else:
            if ctx is not None:
                h_context = (<Context?>ctx)._h_context.copy()
            else:
                Context_current(&h_context)
            source = Stream_create(h_context, -1 if device_id is None else device_id, options)
        self._h_stream.set(source._h_stream.copy())
        self._h_context.set(source._h_context.copy())
        self._device_id = source._device_id
        return self

    cdef Stream _stream_to_use(self):
        self._check_open()
        return self

    def _pin(self) -> PinnedHandle:
        cdef StreamPin pin
        Stream_pin(self, &pin)
        return pin_as("CUstream", <intptr_t>pin.get(), pin.anchor())

    cdef intptr_t _address(self) noexcept:
        return address(self._h_stream)

    cdef void _release(self) noexcept:
        # All code of the process shares the default streams, so `with device.default_stream:` must not close them.
        if self._is_default_of_device or self is LEGACY_DEFAULT_STREAM or self is PER_THREAD_DEFAULT_STREAM:
            return
        self._h_join.reset()
        self._h_stream.reset()

    cdef int _check_open(self) except -1:
        # The NULL stream, of address 0, is open.
        return 0 if self._h_stream else refuse_closed(self)


class StreamTimer:
    """Measures the time between two points of a stream, and is returned by :meth:`Stream.timed`."""

    _stream = _start = _end = None

    def __init__(self, stream):
        self._stream = stream

    def __enter__(self):
        self._end = None
        self._start = self._stream.record(options=_TIMED)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type is None:  # otherwise, an error of the stream would hide the exception
            self._end = self._stream.record(options=_TIMED)

    @property
    def ms(self) -> float:
        """The time that the device took for the block, in milliseconds (``cuEventElapsedTime``).

        Reading it waits for the work.

        Raises
        ------
        RuntimeError
            If the block has not ended, or ended with an exception.
        CUDAError
            If work in the stream failed.
        """
        if self._end is None:
            raise RuntimeError("the timed block has not ended, or raised an exception; read ms after the with block")
        self._end.sync()
        return self._end - self._start


@options
class StreamOptions(Options):
    """Options of a new stream.

    Attributes
    ----------
    nonblocking : bool, optional
        Whether the stream runs without implicit synchronization with the legacy default stream
        (``CU_STREAM_NON_BLOCKING``). Default is True.
    priority : int, optional
        The priority. A lower number is a higher priority. Defaults to the lowest priority, 0.

    Examples
    --------
    >>> from cuda.core import Device, StreamOptions
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream(options=StreamOptions(nonblocking=False))
    >>> stream.is_nonblocking
    False
    """

    nonblocking: bool = True
    priority: int | None = None

    def _check(self):
        if self.priority is not None and not isinstance(self.priority, int):
            raise TypeError(f"priority must be an int or None, not {type(self.priority).__name__}")


cpdef Stream Stream_accept(object arg, bint allow_stream_protocol=False):
    """Return the stream of an argument.

    Parameters
    ----------
    arg : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
        The stream to enqueue work on.
    allow_stream_protocol : bool, optional
        Whether to also accept an object with ``__cuda_stream__``. Default is False.

    Returns
    -------
    :class:`Stream`
        ``arg`` itself, the capturing stream of a graph builder, or a wrapper of an external stream.

    Raises
    ------
    TypeError
        If ``arg`` is none of these. None is not a stream.
    RuntimeError
        If ``arg`` is closed.
    """
    if isinstance(arg, StreamSource):
        return (<StreamSource>arg)._stream_to_use()
    if allow_stream_protocol and hasattr(arg, "__cuda_stream__"):
        return Stream_from_protocol(arg)
    raise TypeError(f"stream must be a Stream or a GraphBuilder, not {type(arg).__name__}")


# An external event belongs to each run of the graph.
cdef int keep_in_capture(const StreamHandle& h_stream, const EventHandle& h_event) except -1:
    if is_captured(h_stream):
        captured_operands().keep(h_stream, h_event.anchor())
    return 0


cdef bint is_semaphore(object thing) except -1:
    return isinstance(thing, slots.get("external semaphore"))


cdef int Stream_context(Stream self, ContextHandle* h_context, int* device_id) except -1:
    cdef StreamPin stream
    cdef cydriver.CUcontext c_context = NULL
    Stream_pin(self, &stream)
    h_context[0] = self._h_context.copy()
    if not h_context[0]:
        if is_default(stream.handle()):
            # A default stream belongs to the context that is current at the time of the call.
            Context_current(h_context)
            if not h_context[0]:
                raise RuntimeError("a default stream needs a current context; call Device.set_current() first")
            device_id[0] = Context_ordinal(h_context[0])
            return 0
        init_driver()
        HANDLE_RETURN(cydriver.cuStreamGetCtx(stream.get(), &c_context), b"cuStreamGetCtx")
        Context_find(c_context, h_context)
        self._h_context.set(h_context[0])
    if self._device_id < 0:
        self._device_id = Context_ordinal(h_context[0])
    device_id[0] = self._device_id
    return 0


cdef bint is_captured(const StreamHandle& h_stream) except -1:
    return <uintptr_t>h_stream.get() > 1 and stream_captures(h_stream.get())


cdef class CapturedOperands:

    cdef int keep(self, const StreamHandle& h_stream, Anchor thing) except -1:
        raise NotImplementedError


cdef CapturedOperands captured_operands():
    return slots.get("captured operands")


cdef Event Stream_record_new(Stream self, unsigned int c_flags):
    cdef StreamPin stream
    cdef ContextHandle h_context
    cdef EventHandle h_event
    cdef int device_id = -1
    Stream_pin(self, &stream)
    Stream_context(self, &h_context, &device_id)
    with nogil:
        Event_create_handle(h_context, c_flags, &h_event)
        HANDLE_RETURN(cydriver.cuEventRecord(h_event.get(), stream.get()), b"cuEventRecord")
    return Event_wrap(h_event, h_context, device_id, c_flags)


cdef int Stream_wait_stream(const StreamPin& waiting, Stream other) except -1:
    cdef StreamPin awaited
    cdef ContextHandle h_context
    cdef EventHandle h_event
    cdef int device_id = -1
    Stream_pin(other, &awaited)
    h_event = other._h_join.copy()
    if not h_event:
        Stream_context(other, &h_context, &device_id)
        with nogil:
            Event_create_handle(h_context, cydriver.CU_EVENT_DISABLE_TIMING, &h_event)
        if other._h_context:
            # cuStreamWaitEvent refers to the latest record at the time of the call, so all waits can share one event.
            other._h_join.set(h_event)
    with nogil:
        HANDLE_RETURN(cydriver.cuEventRecord(h_event.get(), awaited.get()), b"cuEventRecord")
        HANDLE_RETURN(cydriver.cuStreamWaitEvent(waiting.get(), h_event.get(), 0), b"cuStreamWaitEvent")
    return 0


include "_stream_creation.pxi"
include "_stream_attributes.pxi"
include "_default_streams.pxi"


_TIMED = EventOptions(timing_enabled=True)
LEGACY_DEFAULT_STREAM = Stream._legacy_default()
PER_THREAD_DEFAULT_STREAM = Stream._per_thread_default()
slots.register("green stream", _create_green_stream)
explain_other_names(Stream)
check_self_in_methods(globals())
