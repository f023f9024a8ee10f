# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waits for the device, and long driver calls, that Ctrl-C interrupts (reasons: docs/design/waiting.md)."""

from __future__ import annotations

from libc.stdint cimport intptr_t, uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cpython.exc cimport PyErr_CheckSignals

from cuda.core._native._cuda_core cimport (
    Anchor,
    CaptureModeScope,
    ContextHandle,
    EventHandle,
    Handle,
    InContext,
    Retired,
    SOME_WORK,
    StreamHandle,
    capture_lock,
    context_registry,
    destroy_batch,
    destroy_event,
    destroy_idle,
    find_work,
    is_context_capturing,
    note_unexpected,
    relax_capture_mode,
    retire,
    retire_entry,
    stream_registry,
    waits_need_driver,
    work_in_current_context,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, check_self_in_methods, is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport (
    HANDLE_RETURN,
    LEAVE_RETURN,
    WARN_RETURN,
    c_driver_version,
    show_unraisable,
    warn_driver_error,
)

import atexit

from cuda.core._utils import device_choice

__all__ = ["CancelFlag"]


cdef extern from "Python.h":
    int Py_AddPendingCall(int (*function)(void*) except -1, void* argument) noexcept


cdef extern from *:
    ctypedef int volatile_int "volatile int"


cdef extern from "native.hpp" namespace "cuda_core" nogil:
    atomic[cpp_bool] has_work_at_exit
    atomic[void*] idle_context
    cpp_bool is_main_thread() noexcept


cdef extern from "wait.hpp" namespace "cuda_core" nogil:
    cppclass Pauses:
        Pauses() noexcept
        cpp_bool pause(cpp_bool can_spin) noexcept

    cppclass BlockingCall:
        @staticmethod
        shared_ptr[BlockingCall] start(int (*function)(void*) noexcept, void* argument, Anchor anchor) noexcept
        cpp_bool is_done() noexcept
        int result() noexcept
        cpp_bool wait() noexcept


ctypedef cydriver.CUresult (*Query)(void* what) noexcept nogil


# --- Waits for the device -------------------------------------------------------------------------

# A query that finds the work complete is a whole wait unless waits need the driver's own: it would take as long again.
cdef int wait_for_stream(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUresult query_err = cydriver.CUresult.CUDA_SUCCESS
    cdef EventHandle event
    cdef bint is_main = is_main_thread()
    if is_main:
        query_err = wait_for_work(c_stream, &event)
        if event and query_err == cydriver.CUresult.CUDA_SUCCESS:
            # The driver's own wait for the stream would include newer work, and could not be interrupted.
            HANDLE_RETURN(cydriver.cuEventSynchronize(event.get()), b"cuEventSynchronize")
            destroy_idle()
            return 0
        if query_err == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            # The query invalidated the capture, which cuStreamSynchronize would report instead.
            return HANDLE_RETURN(query_err, b"cuStreamSynchronize")
    # Other libraries also use the default streams.
    if (
        query_err != cydriver.CUresult.CUDA_SUCCESS
        or not is_main
        or waits_need_driver.load()
        or <uintptr_t>c_stream <= 2
    ):
        HANDLE_RETURN(cydriver.cuStreamSynchronize(c_stream), b"cuStreamSynchronize")
    destroy_idle()
    # If the driver reports an error only once, the query received it.
    return HANDLE_RETURN(query_err, b"cuStreamQuery")


cdef int wait_before_copy(
    cydriver.CUstream c_stream, cydriver.CUdeviceptr c_host
) except -1 nogil:
    cdef cydriver.CUmemorytype c_type = <cydriver.CUmemorytype>0
    cdef cydriver.CUresult query_err
    cdef EventHandle event
    if not is_main_thread() or work_in_current_context(c_stream, NULL) != SOME_WORK:
        return 0
    # Page-locked memory is copied asynchronously, so there is nothing to wait for.
    if cydriver.cuPointerGetAttribute(
        &c_type, cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, c_host
    ) == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    query_err = wait_for_work(c_stream, &event)
    return HANDLE_RETURN(query_err, b"cuStreamQuery")


# Waits until a stream is idle, or longer for an event after its work, which is stored in `event`. Other threads might
# keep the stream busy forever.
cdef inline cydriver.CUresult wait_for_work(
    cydriver.CUstream c_stream, EventHandle* event
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = stream_state(c_stream)
    return err if err != cydriver.CUresult.CUDA_ERROR_NOT_READY else wait_for_busy_stream(c_stream, event)


cdef cydriver.CUresult wait_for_busy_stream(
    cydriver.CUstream c_stream, EventHandle* event
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_NOT_READY
    cdef Pauses pauses
    while err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        if pauses.pause(True):
            with gil:
                check_signals(&stream_state, c_stream)
            record_stream_event(c_stream, event)
            return wait_while_busy(&event_state, event.get(), False)
        err = stream_state(c_stream)
    return err


# Records an event after the work of a stream, in the stream's context.
cdef int record_stream_event(cydriver.CUstream c_stream, EventHandle* event) except -1 nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUevent c_event = NULL
    cdef cydriver.CUresult err, left
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    HANDLE_RETURN(cydriver.cuStreamGetCtx(c_stream, &c_context), b"cuStreamGetCtx")
    HANDLE_RETURN(cydriver.cuCtxPushCurrent(c_context), b"cuCtxPushCurrent")
    err = cydriver.cuEventCreate(&c_event, cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
    left = cydriver.cuCtxPopCurrent(&c_context)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        event[0] = EventHandle.own(c_event, &destroy_event, Anchor())
    LEAVE_RETURN(err, b"cuEventCreate", left)
    HANDLE_RETURN(cydriver.cuEventRecord(c_event, c_stream), b"cuEventRecord")
    return 0


cdef int wait_for_event(cydriver.CUevent c_event, bint can_spin) except -1 nogil:
    cdef cydriver.CUresult query_err = cydriver.CUresult.CUDA_SUCCESS
    cdef bint is_main = is_main_thread()
    if is_main:
        query_err = wait_until_done(&event_state, c_event, can_spin)
    if query_err != cydriver.CUresult.CUDA_SUCCESS or not is_main or waits_need_driver.load():
        HANDLE_RETURN(cydriver.cuEventSynchronize(c_event), b"cuEventSynchronize")
    destroy_idle()
    return HANDLE_RETURN(query_err, b"cuEventQuery")


cdef int wait_for_context(const ContextHandle& h_context) except -1 nogil:
    cdef ContextHandle h_kept = h_context
    cdef EventHandle event
    cdef bint is_idle = False
    if idle_context.load() == <void*>h_kept.get() and is_main_thread() and not waits_need_driver.load():
        return HANDLE_RETURN(reach_all_streams(h_kept.get(), NULL), b"cuCtxSynchronize")
    idle_context.store(<void*>h_kept.get())
    try:
        record_context_event(h_kept, &event)
        if event:
            wait_for_event(event.get(), True)
        else:
            synchronize_by_thread(h_kept)
        is_idle = True
    finally:
        if not is_idle:
            idle_context.store(NULL)
    destroy_batch()
    return 0


# Records an event after all work of the current context. `event` stays empty on drivers older than CUDA 12.5.
cdef int record_context_event(const ContextHandle& h_context, EventHandle* event) except -1 nogil:
    global _records_contexts
    cdef cydriver.CUevent c_event = NULL
    cdef cydriver.CUresult err
    cdef unsigned int c_flags = 0
    cdef unsigned int c_event_flags = cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    if _records_contexts < 0:
        with gil:
            _records_contexts = c_driver_version() >= 12050
    if _records_contexts == 0:
        return 0
    HANDLE_RETURN(cydriver.cuCtxGetFlags(&c_flags), b"cuCtxGetFlags")
    if c_flags & cydriver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC:
        c_event_flags |= cydriver.CUevent_flags.CU_EVENT_BLOCKING_SYNC
    HANDLE_RETURN(cydriver.cuEventCreate(&c_event, c_event_flags), b"cuEventCreate")
    event[0] = EventHandle.own(c_event, &destroy_event, h_context.anchor())
    err = reach_all_streams(h_context.get(), c_event)
    if err == cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED:
        event.reset()
        return 0
    return HANDLE_RETURN(err, b"cuCtxRecordEvent")


# Records an event after all work of the current context, or synchronizes it if there is no event. During a capture, the
# driver invalidates the capture, fails, and crashes if the capture ends meanwhile; so it is not asked then.
cdef cydriver.CUresult reach_all_streams(cydriver.CUcontext c_context, cydriver.CUevent c_event) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    capture_lock().lock()
    if not is_context_capturing(c_context):
        err = cydriver.cuCtxSynchronize() if c_event == NULL else cydriver.cuCtxRecordEvent(c_context, c_event)
    capture_lock().unlock()
    return err


cdef int _records_contexts = -1  # unknown until the first call


# A context cannot be queried, and waiting for its known streams would miss external ones.
cdef int synchronize_by_thread(const ContextHandle& h_context) except -1 nogil:
    cdef shared_ptr[BlockingCall] call
    cdef bint is_capturing
    capture_lock().lock()
    is_capturing = is_context_capturing(h_context.get())
    capture_lock().unlock()
    if is_capturing:
        return HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, b"cuCtxSynchronize")
    if is_main_thread():
        call = BlockingCall.start(&synchronize_context, h_context.get(), h_context.anchor())
    if not call:
        HANDLE_RETURN(cydriver.cuCtxSynchronize(), b"cuCtxSynchronize")
        destroy_idle()
        return 0
    while not call.get().is_done():
        if call.get().wait():
            with gil:
                check_signals(&call_state, call.get())
    if call.get().result() < 0:
        return HANDLE_RETURN(<cydriver.CUresult>-call.get().result(), b"cuCtxPushCurrent")
    HANDLE_RETURN(<cydriver.CUresult>call.get().result(), b"cuCtxSynchronize")
    destroy_idle()
    return 0


# Returns a negative result if the context could not be made current on the thread.
cdef int synchronize_context(void* what) noexcept nogil:
    cdef cydriver.CUcontext c_context = <cydriver.CUcontext>what
    cdef cydriver.CUresult err = cydriver.cuCtxPushCurrent(c_context)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return -<int>err
    err = cydriver.cuCtxSynchronize()
    WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", what)
    return <int>err


cdef inline cydriver.CUresult wait_until_done(
    Query query, void* what, bint can_spin
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = query(what)
    return err if err != cydriver.CUresult.CUDA_ERROR_NOT_READY else wait_while_busy(query, what, can_spin)


cdef cydriver.CUresult wait_while_busy(
    Query query, void* what, bint can_spin
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_NOT_READY
    cdef Pauses pauses
    while err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        if pauses.pause(can_spin):
            with gil:
                check_signals(query, what)
        err = query(what)
    return err


cdef int check_signals(Query query, void* what) except -1:
    try:
        PyErr_CheckSignals()
    except BaseException:
        # The software device reports once that it has ended the kernels, which this exception already reports.
        if device_choice.has_dropped_work():
            with nogil:
                consume_error(query, what)
        raise
    return 0


cdef void consume_error(Query query, void* what) noexcept nogil:
    cdef Pauses pauses
    cdef int _time
    for _time in range(MAX_QUERIES):
        if query(what) != cydriver.CUresult.CUDA_ERROR_NOT_READY:
            return
        pauses.pause(False)


cdef bint recover_device() except -1:
    return device_choice.recover()


# About half a second at most, with pauses of at least 50 µs.
cdef int MAX_QUERIES = 600


cdef cydriver.CUresult stream_state(void* what) noexcept nogil:
    return cydriver.cuStreamQuery(<cydriver.CUstream>what)


cdef cydriver.CUresult event_state(void* what) noexcept nogil:
    return cydriver.cuEventQuery(<cydriver.CUevent>what)


cdef cydriver.CUresult call_state(void* what) noexcept nogil:
    cdef BlockingCall* call = <BlockingCall*>what
    return <cydriver.CUresult>call.result() if call.is_done() else cydriver.CUresult.CUDA_ERROR_NOT_READY


# --- Long calls on a helper thread ----------------------------------------------------------------

cdef int call_interruptibly(Blocking function, void* argument, Anchor anchor) except? -1 nogil:
    cdef shared_ptr[BlockingCall] call
    if is_main_thread():
        call = start_in_context(function, argument, anchor)
    if not call:
        return function(argument)
    while not call.get().is_done():
        if call.get().wait():
            with gil:
                check_signals(&call_state, call.get())
    return call.get().result()


# The current context, or empty if there is none.
cdef ContextHandle current_context() noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef ContextHandle h_context
    if cydriver.cuCtxGetCurrent(&c_context) == cydriver.CUresult.CUDA_SUCCESS and c_context != NULL:
        h_context = context_registry().find(c_context)
        if not h_context:
            h_context = ContextHandle.borrow(c_context, Anchor())
    return h_context


cdef struct DriverCall:
    Blocking function
    void* argument


# Starts a call on the helper thread, with this thread's context current there.
cdef shared_ptr[BlockingCall] start_in_context(Blocking function, void* argument, Anchor anchor) noexcept nogil:
    cdef InContext[DriverCall] value
    cdef Handle[InContext[DriverCall]] h_call
    value.raw.function, value.raw.argument = function, argument
    value.h_context = current_context()
    h_call = Handle[InContext[DriverCall]].borrow(value, anchor)
    return BlockingCall.start(&call_in_context, &h_call.value(), h_call.anchor())


cdef int call_in_context(void* what) noexcept nogil:
    cdef InContext[DriverCall]* call = <InContext[DriverCall]*>what
    cdef cydriver.CUcontext c_context = call.h_context.get()
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_SUCCESS
    cdef int result
    # The calling thread may be capturing, and has relaxed its own mode.
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    if c_context != NULL:
        err = cydriver.cuCtxPushCurrent(c_context)
        WARN_RETURN(err, b"cuCtxPushCurrent", c_context)
    result = call.raw.function(call.raw.argument)
    if c_context != NULL and err == cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", call.h_context.get())
    return result


cdef class CancelFlag:
    """A flag to stop a compiler: the callback of ``nvrtcSetFlowCallback`` and its argument, as addresses."""

    cdef int _is_set

    def set(self) -> None:
        """Stop the compilation when the compiler next calls the callback."""
        self._is_set = 1

    @property
    def callback(self) -> int:
        """The address of the C function that the compiler calls. The function takes no lock."""
        return <intptr_t>&is_canceled

    @property
    def argument(self) -> int:
        """The address that the compiler passes to the callback. This object must outlive the compilation."""
        return <intptr_t>&self._is_set


cdef int is_canceled(void* argument, void* reserved) noexcept nogil:
    return (<volatile_int*>argument)[0]


# --- Releases -------------------------------------------------------------------------------------

# A call that waits inside the driver can hold a driver lock that another thread needs to launch the awaited work. So
# every thread waits for work in flight by queries. It does not wait for capturing streams.
cdef int release_interruptibly(Blocking function, void* argument, const char* api) noexcept nogil:
    cdef Retired pending
    cdef AbandonedRelease release
    cdef CaptureModeScope mode
    if not is_interpreter_exiting() and find_work(&pending) and not wait_for_events(pending):
        release.function, release.argument, release.api = function, argument, api
        release.h_context = current_context()
        pending.resource = Handle[AbandonedRelease].own(release, &make_abandoned_release, Anchor()).anchor()
        retire_entry(pending)
        return cydriver.CUresult.CUDA_SUCCESS
    relax_capture_mode(mode)
    return function(argument)


# Returns false if a signal handler raised.
cdef bint wait_for_events(const Retired& pending) noexcept nogil:
    cdef bint is_interrupted = False
    cdef Pauses pauses
    cdef size_t i
    cdef cydriver.CUresult err
    for i in range(pending.events.size()):
        err = cydriver.cuEventQuery(pending.events[i].get())
        while err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
            if pauses.pause(True) and is_main_thread():
                call_with_interpreter(&check_signals_later, is_interrupted)
                if is_interrupted:
                    return False
            err = cydriver.cuEventQuery(pending.events[i].get())
        note_unexpected(err, b"cuEventQuery", NULL)
    return True


# A release whose wait a signal handler interrupted. It is made once the work has completed.
cdef cppclass AbandonedRelease:
    Blocking function
    void* argument
    const char* api
    ContextHandle h_context


cdef void make_abandoned_release(AbandonedRelease release) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    # The driver would also wait for newer work.
    if retire(release, &make_abandoned_release, Anchor()):
        return
    err = cydriver.cuCtxPushCurrent(release.h_context.get())
    relax_capture_mode(mode)
    warn_of_failed_release(release.function(release.argument), release.api)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", release.h_context.get())


cdef void warn_of_failed_release(int result, const char* api) noexcept nogil:
    if api != NULL and result != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(<cydriver.CUresult>result, api, NULL)


# --- Exceptions that a destructor cannot raise ----------------------------------------------------

# A destructor cannot raise, so an exception of a signal handler is raised at the next bytecode of the main thread.
cdef void check_signals_later(bint& is_interrupted) noexcept:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        device_choice.has_dropped_work()
        raise_later(error)
        (&is_interrupted)[0] = True


cdef void raise_later(object error) noexcept:
    _to_raise.append(error)
    if Py_AddPendingCall(&raise_next, NULL) != 0:
        show_unraisable(_to_raise.pop(), None)


cdef bint raise_later_if_from_handler(object error) noexcept:
    if error is not _raised and not isinstance(error, KeyboardInterrupt):
        return False
    raise_later(error)
    return True


cdef list _to_raise = []
cdef object _raised = None  # the latest exception of a signal handler


cdef int raise_next(void* nothing) except -1:
    global _raised
    _raised = _to_raise.pop(0)
    raise _raised


# --- Exit -----------------------------------------------------------------------------------------

# Releasing a resource can wait for the device, and signals cannot interrupt that at exit.
@atexit.register
def _note_work_left():
    cdef vector[StreamHandle] streams = stream_registry().living()
    cdef bint is_work_left
    with nogil:
        is_work_left = not become_idle(streams)
    if is_work_left:
        has_work_at_exit.store(True)


# Returns true if the streams are idle, now or within about 100 ms.
cdef bint become_idle(const vector[StreamHandle]& streams) noexcept nogil:
    cdef Pauses pauses
    cdef int _time
    for _time in range(MAX_QUERIES_AT_EXIT):
        if not is_any_busy(streams):
            return True
        pauses.pause(False)
    return False


cdef bint is_any_busy(const vector[StreamHandle]& streams) noexcept nogil:
    cdef size_t i
    for i in range(streams.size()):
        if work_in_current_context(streams[i].get(), NULL) == SOME_WORK:
            return True
    return False


cdef int MAX_QUERIES_AT_EXIT = 200

check_self_in_methods(globals())
