# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The native core: registries, retirement of resources, stream queries, and the base of all resources.

The driver frees pool memory in stream order. It destroys textures and arrays immediately, although kernels refer to
them by number, and it waits for the device before it unloads code or frees page-locked memory. The device might in
turn wait for the thread that dropped the last reference. So no thread waits: an event is recorded after the pending
work of each busy stream, and the resource is destroyed after these events.
"""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t, uintptr_t
from libc.stdlib cimport calloc
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cpython.object cimport PyTypeObject
from posix.unistd cimport usleep

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods, type_namespace
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

import atexit
import importlib

from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.signatures import ConstructorSignature

__all__ = [
    "DriverObject",
    "PinnedHandle",
    "WeakHandle",
    "count_streams",
    "has_pending_destructions",
    "wait_for_pending_destructions",
    "weak_handle",
]


cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    Work work_of_result(cydriver.CUresult err) noexcept

    enum Until:
        IDLE "cuda_core::Until::IDLE"
        QUERY "cuda_core::Until::QUERY"
        CAPTURE "cuda_core::Until::CAPTURE"

    cppclass RetirementList:
        @staticmethod
        RetirementList& current()
        @staticmethod
        cpp_bool has_any() noexcept
        size_t count(Until until) noexcept
        void add(Retired entry) except +
        void add(Retired entry, Until until) except +
        void take(Until until, vector[Retired]& taken) except +
        cpp_bool has_tails() noexcept
        void add_tail(unsigned long long stream, EventHandle& event) except +
        void add_tails_to(
            Retired& entry, cpp_bool (*is_done)(cydriver.CUevent, UnexpectedError*) noexcept,
            vector[EventHandle]& done, UnexpectedError* error
        ) except +
        void take_idle(
            cpp_bool (*is_done)(cydriver.CUevent, UnexpectedError*) noexcept,
            Work (*mark_work)(const QueriedStream&, EventHandle&, UnexpectedError*) noexcept,
            vector[Retired]& idle, vector[EventHandle]& done, UnexpectedError* error
        ) except +

    cppclass ThreadState:
        cpp_bool is_destroying
        cpp_bool are_streams_idle

        @staticmethod
        ThreadState& current() noexcept


cdef extern from "Python.h":
    ctypedef struct PyMemberDef:
        const char* name
        int type
        Py_ssize_t offset
        int flags
        const char* doc

    object PyDescr_NewMember(PyTypeObject* cls, PyMemberDef* member)
    void PyType_Modified(PyTypeObject* cls)
    const char* PyUnicode_AsUTF8(object text) except NULL


cdef extern from *:
    """
    #include <structmember.h>
    #ifndef Py_T_OBJECT_EX
    #define Py_T_OBJECT_EX T_OBJECT_EX
    #define Py_READONLY READONLY
    #endif
    """
    int Py_T_OBJECT_EX
    int Py_READONLY


# --- The base of all resources --------------------------------------------------------------------

cdef class DriverObject:
    """Base class of all resources: they close, compare by handle, and cannot be constructed directly."""

    _made_by = "a factory method"
    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError, which names the factory methods."""
        raise RuntimeError(f"{type(self).__name__} cannot be constructed directly; use {self._made_by}")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, DriverObject) or not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return NotImplemented
        return self._identity() == (<DriverObject>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        return f"<{type(self).__name__} handle={self._address():#x}>"

    def __reduce__(self):
        refuse_pickle(self)

    def close(self) -> None:
        """Release this object's reference to the resource.

        The resource is destroyed when its last reference is dropped. Closing an object again does nothing.
        """
        # A method that reads a field in a critical section of its object can use the value until the section ends.
        with cython.critical_section(self):
            self._release()
        if main_thread_inbox().is_stuck():
            main_thread_inbox().resume()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._address() == 0

    def _pin(self) -> PinnedHandle:
        """Return the handle as the bindings take it, with a reference to the resource."""
        raise TypeError(f"a {type(self).__name__} cannot be passed to this driver call")

    cdef intptr_t _address(self) noexcept:
        return 0

    cdef void _release(self) noexcept:
        pass

    cdef object _identity(self):
        return self._address()

    cdef int _check_open(self) except -1:
        if self._address() == 0:
            refuse_closed(self)
        return 0


cdef int refuse_closed(object thing) except -1:
    raise UnavailableError(f"this {type(thing).__name__} is closed")


cdef int refuse_pickle(object thing) except -1:
    raise TypeError(f"{type(thing).__name__} objects cannot be pickled or copied: they belong to this process")


cdef object _driver = None


cdef object bindings_object(str name, intptr_t value):
    global _driver
    if _driver is None:
        _driver = importlib.import_module("cuda.bindings.driver")
    return getattr(_driver, name)(init_value=value)


cdef class PinnedHandle:
    """The handle of a resource as the bindings take it, and a reference that keeps the resource open during a call."""


cdef PinnedHandle pin_as(str name, intptr_t value, Anchor anchor):
    cdef PinnedHandle self = PinnedHandle.__new__(PinnedHandle)
    self._anchor = anchor
    self.handle = bindings_object(name, value)
    return self


cdef list _member_texts = []  # referenced by the definitions of members


cdef int add_member(type cls, str name, Py_ssize_t offset) except -1:
    # The interpreter reads a member without a call. The definition must outlive the class, so it is never freed.
    cdef PyMemberDef* member = <PyMemberDef*>calloc(1, sizeof(PyMemberDef))
    cdef dict namespace = <dict>type_namespace(<PyTypeObject*>cls)
    cdef str text = getattr(namespace[name], "__doc__", None) or ""
    _member_texts.append((name, text))
    member.name = PyUnicode_AsUTF8(name)
    member.doc = PyUnicode_AsUTF8(text)
    member.type = Py_T_OBJECT_EX
    member.flags = Py_READONLY
    member.offset = offset
    namespace[name] = PyDescr_NewMember(<PyTypeObject*>cls, member)
    PyType_Modified(<PyTypeObject*>cls)
    return 0


# --- Weak handles ---------------------------------------------------------------------------------

cdef class WeakHandle:
    """A weak reference to a resource, from :func:`weak_handle`, which is true while the resource is alive."""

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use weak_handle()."""
        raise RuntimeError("WeakHandle cannot be constructed directly; use weak_handle()")

    def __bool__(self):
        return self.cell.use_count() != 0

    def expired(self) -> bool:
        """Return whether nothing owns the resource any longer."""
        return self.cell.use_count() == 0

    def use_count(self) -> int:
        """Return the number of references: from objects, slices, graph nodes, executables and launches in progress."""
        return self.cell.use_count()


def weak_handle(obj) -> WeakHandle:
    """Return a :class:`WeakHandle` of a buffer's allocation or a definition's graph.

    Parameters
    ----------
    obj : :class:`~cuda.core.Buffer` | :class:`~cuda.core.graph.GraphDefinition`
        The object whose resource is observed. A slice of a buffer has its own handle, which keeps the buffer's alive.

    Raises
    ------
    TypeError
        If ``obj`` is something else.
    ValueError
        If it is a closed buffer.
    """
    # The classes are in higher layers, so each has a method that returns its weak handle.
    observe = getattr(type(obj), "_weak_handle", None)
    if observe is None:
        raise TypeError(f"obj must be a Buffer or a GraphDefinition, not {type(obj).__name__}")
    return observe(obj)


# --- Captures and counts --------------------------------------------------------------------------

cdef atomic[int]* captures_in_progress = new atomic[int](0)
cdef vector[cydriver.CUstream]* _capturing = new vector[cydriver.CUstream]()


cdef void note_capture(cydriver.CUstream c_stream) noexcept nogil:
    _capturing.push_back(c_stream)
    captures_in_progress.fetch_add(1)


cdef void forget_capture(cydriver.CUstream c_stream) noexcept nogil:
    cdef size_t i
    for i in range(_capturing.size()):
        if _capturing[0][i] == c_stream:
            _capturing[0][i] = _capturing.back()
            _capturing.pop_back()
            break
    captures_in_progress.fetch_sub(1)


cdef bint is_context_capturing(cydriver.CUcontext c_context) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUcontext c_own = NULL
    cdef cydriver.CUstream c_stream
    cdef bint has_green = green_registry().size() != 0
    cdef size_t i
    for i in range(_capturing.size()):
        c_stream = _capturing[0][i]
        if cydriver.cuStreamGetCtx(c_stream, &c_own) != cydriver.CUresult.CUDA_SUCCESS:
            continue
        cydriver.cuStreamIsCapturing(c_stream, &c_status)
        if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE and (
            c_own == c_context or has_green
        ):
            return True
    return False


def capture_count() -> int:
    """Return the number of captures that this library has begun and not ended."""
    return captures_in_progress.load()


def registry_sizes():
    """Return the number of entries of each registry, for tests that detect leaks."""
    return {
        "context": context_registry().size(),
        "green": green_registry().size(),
        "stream": stream_registry().size(),
        "kernel": kernel_registry().size(),
    }


def inbox_size():
    """Return the number of releases that wait for the main thread, for tests that detect leaks."""
    return main_thread_inbox().size()


# --- Streams and their work -----------------------------------------------------------------------

# CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, the default streams of the current context.
cdef uintptr_t LEGACY = 1
cdef uintptr_t PER_THREAD = 2


def count_streams() -> int:
    """Return how many streams the library queries before it destroys a resource."""
    cdef vector[QueriedStream] streams
    find_streams(streams)
    return streams.size()


cdef void find_streams(vector[QueriedStream]& streams) noexcept nogil:
    cdef vector[StreamHandle] own = stream_registry().living()
    cdef vector[ContextHandle] contexts = context_registry().living()
    cdef cydriver.CUcontext c_current = NULL
    cdef QueriedStream stream
    cdef bint is_known = False
    cdef size_t i
    for i in range(own.size()):
        if <uintptr_t>own[i].get() > PER_THREAD:
            stream.h_stream = own[i]
            streams.push_back(stream)
    if not is_driver_loaded():
        return  # nor are there contexts
    WARN_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
    for i in range(contexts.size()):
        is_known = is_known or contexts[i].get() == c_current
    if c_current != NULL and not is_known:
        contexts.push_back(ContextHandle.borrow(c_current, Anchor()))
    for i in range(contexts.size()):
        stream.h_context = contexts[i]
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>LEGACY, Anchor())
        streams.push_back(stream)
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>PER_THREAD, Anchor())
        streams.push_back(stream)


cdef void query_streams() noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef CaptureModeScope mode
    cdef cydriver.CUresult err
    cdef bint is_entered
    cdef size_t i
    relax_capture_mode(mode)
    find_streams(streams)
    for i in range(streams.size()):
        is_entered = False
        if enter_context(streams[i], &is_entered, NULL):
            capture_lock().lock()
            err = query_stream(streams[i].h_stream.get())
            if err == cydriver.CUresult.CUDA_SUCCESS:
                # Returns immediately, because the stream is idle.
                err = cydriver.cuStreamSynchronize(streams[i].h_stream.get())
            capture_lock().unlock()
            note_unexpected(err, b"cuStreamSynchronize", NULL)
            leave_context(is_entered, NULL)


cdef Work work_of(const QueriedStream& stream, UnexpectedError* error) noexcept nogil:
    cdef Work work
    cdef bint is_entered = False
    if not enter_context(stream, &is_entered, error):
        return NO_WORK  # its context was destroyed
    work = work_in_current_context(stream.h_stream.get(), error)
    leave_context(is_entered, error)
    return work


# The work of a stream, and an event after it if there is some. Otherwise `event` becomes empty. An error is returned,
# because a warning runs Python code, which might need the lock.
cdef Work mark_work(const QueriedStream& stream, EventHandle& event, UnexpectedError* error) noexcept nogil:
    cdef Work work
    event.reset()
    capture_lock().lock()
    work = work_of(stream, error)
    if work == SOME_WORK:
        (&event)[0] = record_event(stream, error)
    capture_lock().unlock()
    return work


# The result of cuStreamQuery, or CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for a capturing stream. That is not queried,
# because the query would invalidate its capture.
cdef cydriver.CUresult query_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err
    capture_lock().lock()
    err = cydriver.cuStreamIsCapturing(c_stream, &c_status)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        if c_status == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
            err = cydriver.cuStreamQuery(c_stream)
        else:
            err = cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    capture_lock().unlock()
    return err


cdef Work work_in_current_context(cydriver.CUstream c_stream, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUresult err = query_stream(c_stream)
    note_unexpected(err, b"cuStreamQuery", error)
    return work_of_result(err)


# Makes the context of a default stream current. Returns false if that fails. leave_context() undoes it.
cdef bint enter_context(const QueriedStream& stream, bint* is_entered, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUcontext c_context = stream.h_context.get()
    cdef cydriver.CUresult err
    if c_context == NULL:
        return True
    err = cydriver.cuCtxGetCurrent(&c_current)
    note_unexpected(err, b"cuCtxGetCurrent", error)
    if err == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return True
    err = cydriver.cuCtxPushCurrent(c_context)
    note_unexpected(err, b"cuCtxPushCurrent", error)
    is_entered[0] = err == cydriver.CUresult.CUDA_SUCCESS
    return is_entered[0]


cdef void leave_context(bint is_entered, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    if is_entered:
        note_unexpected(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", error)


cdef void note_unexpected(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil:
    if not is_unexpected(err):
        return
    if error != NULL:
        error.code, error.api = err, api
    else:
        warn_driver_error(err, api, NULL)


# --- Retirement -----------------------------------------------------------------------------------

# The number of retired resources above which the creation of another one waits for them, and the number of queries of
# that wait, which take about 200 ms.
cdef size_t BACKLOG_LIMIT = 256
cdef int MAX_QUERIES = 2000
# The number of small resources that share one query of the streams.
cdef size_t BATCH_SIZE = 32


def has_pending_destructions() -> bool:
    """Return whether a retired resource waits for work."""
    return is_any_pending()


def wait_for_pending_destructions() -> bool:
    """Wait up to 200 ms for retired resources, and return False if there were none."""
    cdef bint is_waiting = is_any_pending()
    with nogil:
        wait_until_at_most(0)  # and for the work of destroyed streams
    return is_waiting


cdef bint is_any_pending() noexcept nogil:
    return RetirementList.current().count(Until.IDLE) + RetirementList.current().count(Until.QUERY) != 0


cdef public int cuda_core_find_work(Retired* entry) noexcept nogil:
    return find_work(entry)


cdef bint find_work(Retired* pending) noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef vector[Retired] batch
    cdef vector[EventHandle] done
    cdef EventHandle event
    cdef UnexpectedError error
    cdef Work work
    cdef CaptureModeScope mode
    cdef size_t i
    destroy_idle()
    if RetirementList.current().count(Until.QUERY) != 0:
        RetirementList.current().take(Until.QUERY, batch)
    find_streams(streams)
    relax_capture_mode(mode)
    for i in range(streams.size()):
        work = mark_work(streams[i], event, &error)
        if event:
            pending.events.push_back(event)
        elif work != NO_WORK:
            pending.unrecorded.push_back(streams[i])
    RetirementList.current().add_tails_to(pending[0], &is_done, done, &error)
    mode.end()
    warn_of(error)
    if batch.size() != 0:
        destroy_or_retire(batch, pending[0])
    return pending.events.size() + pending.unrecorded.size() != 0


# Destroys a batch now, or after the events that `other` waits for.
cdef void destroy_or_retire(vector[Retired]& batch, const Retired& other) noexcept nogil:
    cdef Retired pending
    cdef bint were_idle = ThreadState.current().are_streams_idle
    if other.events.size() + other.unrecorded.size() == 0:
        (&ThreadState.current()).are_streams_idle = True
        batch.clear()
        (&ThreadState.current()).are_streams_idle = were_idle
        return
    while not batch.empty():
        pending = other
        pending.resource = move(batch.back().resource)
        batch.pop_back()
        retire_entry(pending)


cdef bint can_batch(bint is_small, const ContextHandle& h_context) noexcept nogil:
    cdef ContextHandle h_found
    # Primary contexts stay. A user's other contexts are destroyed with the last reference, external ones at any time.
    if not is_small or h_context.is_owner():
        return False
    h_found = context_registry().find(h_context.get())
    return True if h_found else False


cdef public void cuda_core_retire_small(Anchor& resource) noexcept nogil:
    cdef Retired entry
    entry.resource = move(resource)
    RetirementList.current().add(move(entry), Until.QUERY)
    if RetirementList.current().count(Until.QUERY) >= BATCH_SIZE:
        destroy_batch()


cdef void destroy_batch() noexcept nogil:
    cdef Retired pending
    if RetirementList.current().count(Until.QUERY) != 0:
        find_work(&pending)


cdef bint are_streams_idle() noexcept nogil:
    return ThreadState.current().are_streams_idle


cdef void retire_entry(Retired& pending) noexcept nogil:
    RetirementList.current().add(move(pending))


cdef void destroy_idle() noexcept nogil:
    if RetirementList.has_any() and not ThreadState.current().is_destroying:
        process_list()


cdef void process_list() noexcept nogil:
    cdef vector[Retired] idle
    cdef vector[EventHandle] done
    cdef UnexpectedError error
    cdef CaptureModeScope mode
    (&ThreadState.current()).is_destroying = True
    relax_capture_mode(mode)
    RetirementList.current().take_idle(&is_done, &mark_work, idle, done, &error)
    idle.clear()
    done.clear()
    mode.end()
    (&ThreadState.current()).is_destroying = False
    warn_of(error)


cdef bint wait_for_retired() noexcept nogil:
    if not is_any_pending():
        return False
    wait_until_at_most(0)
    return True


cdef void limit_backlog() noexcept nogil:
    if RetirementList.current().count(Until.IDLE) > BACKLOG_LIMIT:
        wait_until_at_most(BACKLOG_LIMIT)


cdef void wait_until_at_most(size_t count) noexcept nogil:
    cdef int _time
    for _time in range(MAX_QUERIES):
        destroy_idle()
        if count == 0:
            destroy_batch()
        if RetirementList.current().count(Until.IDLE) <= count and (
            count != 0 or RetirementList.current().count(Until.QUERY) == 0 and not RetirementList.current().has_tails()
        ):
            return
        usleep(100)


cdef void record_tail(cydriver.CUstream c_stream) noexcept nogil:
    cdef EventHandle event
    record_tail_event(c_stream, &event)


cdef bint has_pending_streams() noexcept nogil:
    return _pending_streams.load() != 0


cdef atomic[int]* _pending_streams = new atomic[int](0)


cdef void retire_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef Retired pending
    cdef EventHandle event
    _pending_streams.fetch_add(1)
    if not record_tail_event(c_stream, &event):
        destroy_stream(c_stream)
        return
    pending.resource = StreamHandle.own(c_stream, &destroy_retired_stream, event.anchor()).anchor()
    pending.events.push_back(move(event))
    retire_entry(pending)


# Only after a query does the driver know that frees on the stream were executed.
cdef void destroy_retired_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    work_in_current_context(c_stream, NULL)
    destroy_stream(c_stream)


cdef void destroy_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    WARN_RETURN(cydriver.cuStreamDestroy(c_stream), b"cuStreamDestroy", c_stream)
    _pending_streams.fetch_sub(1)


# Returns true if the stream has work. An event after that work is then stored as its tail and in `event`.
cdef bint record_tail_event(cydriver.CUstream c_stream, EventHandle* event) noexcept nogil:
    cdef QueriedStream stream
    cdef EventHandle previous
    cdef UnexpectedError error
    cdef unsigned long long number = 0
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    destroy_idle()
    stream.h_stream = StreamHandle.borrow(c_stream, Anchor())
    mark_work(stream, event[0], &error)
    warn_of(error)
    if not event[0] or not has_succeeded(cydriver.cuStreamGetId(c_stream, &number), b"cuStreamGetId", NULL):
        return False
    previous = event[0]
    RetirementList.current().add_tail(number, previous)
    return True


cdef bint retire_until_capture_ends(const Allocation& value, void (*free)(Allocation) noexcept nogil) noexcept nogil:
    cdef Retired entry
    entry.resource = AllocationHandle.own(value, free, Anchor()).anchor()
    RetirementList.current().add(move(entry), Until.CAPTURE)
    return True


cdef void free_after_captures() noexcept nogil:
    cdef vector[Retired] entries
    if RetirementList.current().count(Until.CAPTURE) != 0:
        RetirementList.current().take(Until.CAPTURE, entries)


# An event after the pending work of a stream, recorded in the stream's context, or empty if none can be recorded.
cdef EventHandle record_event(const QueriedStream& stream, UnexpectedError* error) noexcept nogil:
    cdef QueriedStream where = stream
    cdef cydriver.CUcontext c_context = NULL
    cdef EventHandle event
    cdef bint is_entered = False
    if not where.h_context:
        if not has_succeeded(cydriver.cuStreamGetCtx(stream.h_stream.get(), &c_context), b"cuStreamGetCtx", error):
            return event
        where.h_context = context_registry().find(c_context)
        if not where.h_context:
            where.h_context = ContextHandle.borrow(c_context, Anchor())
    if enter_context(where, &is_entered, error):
        event = record_event_here(stream.h_stream.get(), where.h_context.anchor(), error)
        leave_context(is_entered, error)
    return event


# Like record_event() if the stream's context is current. The event anchors the context, which would destroy it.
cdef EventHandle record_event_here(cydriver.CUstream c_stream, Anchor context, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef EventHandle event
    cdef unsigned int flags = cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    if not has_succeeded(cydriver.cuEventCreate(&c_event, flags), b"cuEventCreate", error):
        return event
    if not has_succeeded(cydriver.cuEventRecord(c_event, c_stream), b"cuEventRecord", error):
        cydriver.cuEventDestroy(c_event)
        return event
    return EventHandle.own(c_event, &destroy_event, context)


cdef void warn_of(const UnexpectedError& error) noexcept nogil:
    if error.code != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(error.code, error.api, NULL)


cdef bint has_succeeded(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil:
    note_unexpected(err, api, error)
    return err == cydriver.CUresult.CUDA_SUCCESS


# A lost context has no work that anyone could wait for.
cdef cpp_bool is_done(cydriver.CUevent c_event, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.cuEventQuery(c_event)
    note_unexpected(err, b"cuEventQuery", error)
    return err != cydriver.CUresult.CUDA_ERROR_NOT_READY


@atexit.register
def _destroy_idle_at_exit():
    with nogil:
        destroy_idle()
        destroy_batch()


check_self_in_methods(globals())
