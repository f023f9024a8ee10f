# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waits for the device, and long driver calls, that Ctrl-C interrupts (reasons: docs/design/waiting.md)."""

from __future__ import annotations

from libc.stdint cimport INT64_MAX, int64_t, uintptr_t
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
    QueriedStream,
    Retired,
    SOME_WORK,
    StreamHandle,
    capture_lock,
    context_handle,
    destroy_event,
    destroy_idle,
    event_after,
    find_work,
    is_context_capturing,
    note_unexpected,
    relax_capture_mode,
    stream_registry,
    work_in_current_context,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport (
    HANDLE_RETURN,
    WARN_RETURN,
    c_driver_version,
    show_unraisable,
)

import atexit

from cuda.core._utils import device_choice


cdef extern from "Python.h":
    int Py_AddPendingCall(int (*function)(void*) except -1, void* argument) noexcept


cdef extern from "native.hpp" namespace "cuda_core" nogil:
    atomic[cpp_bool] has_work_at_exit
    atomic[cpp_bool] needs_driver_waits
    atomic[void*] idle_context
    cpp_bool is_main_thread() noexcept


ctypedef cydriver.CUresult (*Query)(void* what) noexcept nogil


cdef extern from "wait.hpp" namespace "cuda_core" nogil:
    # CUDA_ERROR_NOT_READY if the time is over, or with an exception of `on_signal`.
    cydriver.CUresult poll(
        Query query, void* what, cpp_bool can_spin, int64_t longest, int (*on_signal)(Query, void*) except -1
    ) except? cydriver.CUDA_ERROR_NOT_READY

    # Looks at no exception: for destructors.
    cydriver.CUresult poll_silently "cuda_core::poll"(
        Query query, void* what, cpp_bool can_spin, int64_t longest, int (*on_signal)(Query, void*) noexcept
    ) noexcept

    cppclass BlockingCall:
        @staticmethod
        shared_ptr[BlockingCall] start(int (*function)(void*) noexcept, void* argument, Anchor anchor) noexcept
        cpp_bool is_done() noexcept
        int result() noexcept


cdef int64_t FOREVER = INT64_MAX
cdef int64_t MILLISECOND = 1_000_000


# --- Waits for the device -------------------------------------------------------------------------

# A query that finds the work complete is a whole wait unless waits need the driver's own: it would take as long again.
cdef int wait_for_stream(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_SUCCESS
    cdef bint is_main = is_main_thread()
    cdef QueriedStream stream
    cdef EventHandle event
    if is_main:
        err = poll(&stream_state, c_stream, True, 50 * MILLISECOND, &check_signals)
        if err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
            # Other threads might keep the stream busy forever.
            stream.h_stream = StreamHandle.borrow(c_stream, Anchor())
            event = event_after(stream)
            if event:
                return wait_for_event(event.get(), False)
        if err == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            # The query invalidated the capture, which cuStreamSynchronize would report instead.
            return HANDLE_RETURN(err, b"cuStreamSynchronize")
    # Other libraries also use the default streams.
    if err != cydriver.CUresult.CUDA_SUCCESS or not is_main or needs_driver_waits.load() or <uintptr_t>c_stream <= 2:
        HANDLE_RETURN(cydriver.cuStreamSynchronize(c_stream), b"cuStreamSynchronize")
    destroy_idle()
    # If the driver reports an error only once, the query received it.
    return 0 if err == cydriver.CUresult.CUDA_ERROR_NOT_READY else HANDLE_RETURN(err, b"cuStreamQuery")


cdef int wait_before_copy(
    cydriver.CUstream c_stream, cydriver.CUdeviceptr c_host
) except -1 nogil:
    cdef cydriver.CUmemorytype c_type = <cydriver.CUmemorytype>0
    if not is_main_thread() or work_in_current_context(c_stream) != SOME_WORK:
        return 0
    # Page-locked memory is copied asynchronously, so there is nothing to wait for.
    if cydriver.cuPointerGetAttribute(
        &c_type, cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, c_host
    ) == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    return wait_for_stream(c_stream)


cdef int wait_for_event(cydriver.CUevent c_event, bint can_spin) except -1 nogil:
    cdef cydriver.CUresult query_err = cydriver.CUresult.CUDA_SUCCESS
    cdef bint is_main = is_main_thread()
    if is_main:
        query_err = poll(&event_state, c_event, can_spin, FOREVER, &check_signals)
    if query_err != cydriver.CUresult.CUDA_SUCCESS or not is_main or needs_driver_waits.load():
        HANDLE_RETURN(cydriver.cuEventSynchronize(c_event), b"cuEventSynchronize")
    destroy_idle()
    return HANDLE_RETURN(query_err, b"cuEventQuery")


cdef int wait_for_context(const ContextHandle& h_context) except -1 nogil:
    cdef ContextHandle h_kept = h_context
    cdef EventHandle event
    cdef bint is_idle = False
    if idle_context.load() == <void*>h_kept.get() and is_main_thread() and not needs_driver_waits.load():
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
    cdef bint is_capturing
    capture_lock().lock()
    is_capturing = is_context_capturing(h_context.get())
    capture_lock().unlock()
    if is_capturing:
        return HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, b"cuCtxSynchronize")
    HANDLE_RETURN(
        <cydriver.CUresult>call_interruptibly(&synchronize, NULL, h_context.anchor()), b"cuCtxSynchronize"
    )
    destroy_idle()
    return 0


cdef int synchronize(void* nothing) noexcept nogil:
    return cydriver.cuCtxSynchronize()


cdef int check_signals(Query query, void* what) except -1 with gil:
    try:
        PyErr_CheckSignals()
    except BaseException:
        # The software device reports once that it has ended the kernels, which this exception already reports.
        if device_choice.has_dropped_work():
            with nogil:
                poll_silently(query, what, False, 500 * MILLISECOND, NULL)
        raise
    return 0


cdef bint recover_device() except -1:
    return device_choice.recover()


cdef cydriver.CUresult stream_state(void* what) noexcept nogil:
    return cydriver.cuStreamQuery(<cydriver.CUstream>what)


cdef cydriver.CUresult event_state(void* what) noexcept nogil:
    return cydriver.cuEventQuery(<cydriver.CUevent>what)


cdef cydriver.CUresult call_state(void* what) noexcept nogil:
    cdef BlockingCall* call = <BlockingCall*>what
    return cydriver.CUresult.CUDA_SUCCESS if call.is_done() else cydriver.CUresult.CUDA_ERROR_NOT_READY


# --- Long calls on a thread of their own ----------------------------------------------------------------

cdef int call_interruptibly(Blocking function, void* argument, Anchor anchor) except? -1 nogil:
    cdef InContext[DriverCall] value
    cdef Handle[InContext[DriverCall]] h_call
    cdef shared_ptr[BlockingCall] call
    cdef cydriver.CUcontext c_context = NULL
    if is_main_thread():
        value.raw.function, value.raw.argument = function, argument
        if cydriver.cuCtxGetCurrent(&c_context) == cydriver.CUresult.CUDA_SUCCESS and c_context != NULL:
            value.h_context = context_handle(c_context)
        h_call = Handle[InContext[DriverCall]].borrow(value, anchor)
        call = BlockingCall.start(&make_call, &h_call.value(), h_call.anchor())
    if not call:
        return function(argument)
    poll(&call_state, call.get(), True, FOREVER, &check_signals)
    return call.get().result()


# A driver call for another thread, and the context to make it in.
cdef struct DriverCall:
    Blocking function
    void* argument


cdef int make_call(void* what) noexcept nogil:
    cdef InContext[DriverCall]* call = <InContext[DriverCall]*>what
    cdef cydriver.CUcontext c_context = call.h_context.get()
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT
    cdef int result
    # The calling thread may be capturing, and has relaxed its own mode.
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    if c_context != NULL:
        err = cydriver.cuCtxPushCurrent(c_context)
        WARN_RETURN(err, b"cuCtxPushCurrent", c_context)
    result = call.raw.function(call.raw.argument)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", call.h_context.get())
    return result


# --- Releases -------------------------------------------------------------------------------------

# A call that waits inside the driver can hold a driver lock that another thread needs to launch the awaited work. So
# every thread waits for work in flight by queries. It does not wait for capturing streams.
cdef bint wait_before_release() noexcept nogil:
    cdef Retired pending
    cdef cydriver.CUresult err
    cdef size_t i
    if not is_interpreter_exiting():
        find_work(&pending)
    for i in range(pending.events.size()):
        err = poll_silently(&event_state, pending.events[i].get(), True, FOREVER, &check_signals_later)
        if err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        note_unexpected(err, b"cuEventQuery")
    return True


# --- Exceptions that a destructor cannot raise ----------------------------------------------------

# A destructor cannot raise, so an exception of a signal handler is raised at the next bytecode of the main thread.
cdef int check_signals_later(Query query, void* what) noexcept nogil:
    cdef int result = 0
    if is_main_thread():
        call_with_interpreter(&raise_signals_later, result)
    return result


cdef void raise_signals_later(int& result) noexcept:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        device_choice.has_dropped_work()
        raise_later(error)
        (&result)[0] = -1


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
    with nogil:
        if poll_silently(&busy_state, &streams, False, 100 * MILLISECOND, NULL) != cydriver.CUresult.CUDA_SUCCESS:
            has_work_at_exit.store(True)


cdef cydriver.CUresult busy_state(void* what) noexcept nogil:
    cdef vector[StreamHandle]* streams = <vector[StreamHandle]*>what
    cdef size_t i
    for i in range(streams.size()):
        if work_in_current_context(streams[0][i].get()) == SOME_WORK:
            return cydriver.CUresult.CUDA_ERROR_NOT_READY
    return cydriver.CUresult.CUDA_SUCCESS
