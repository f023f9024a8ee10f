# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waits that Ctrl-C interrupts; docs/design/waiting.md has the reasons."""

from __future__ import annotations

from libc.stdint cimport intptr_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._handles cimport (
    ContextHandle,
    EventHandle,
    Handle,
    InContext,
    Keep,
    StreamHandle,
    context_registry,
    stream_registry,
    work_left_at_exit,
)
from cuda.core._handles._idle_ends cimport (
    WaitingEnd,
    end_gathered,
    end_later,
    end_what_is_idle,
    has_work,
    postpone,
)
from cuda.core._handles._work cimport NO_WORK, SOME_WORK, AskedStream, find_streams, tell, work_here, work_of
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, show_unraisable, warn_driver_error
from cuda.core._utils.version cimport c_driver_version

import atexit

from cuda.core._utils import device_choice

__all__ = ["CancelFlag", "may_wait_for_device", "note_raised"]


cdef extern from "Python.h":
    ctypedef struct PyInterpreterState:
        pass

    PyInterpreterState* PyInterpreterState_Get()
    PyObject* PyInterpreterState_GetDict(PyInterpreterState* interpreter)
    int Py_AddPendingCall(int (*function)(void*) except -1, void* argument) noexcept


cdef extern from *:
    ctypedef int volatile_int "volatile int"


cdef extern from "waiting.hpp" namespace "cuda_core" nogil:
    cpp_bool is_main_thread() noexcept

    cppclass Pauses:
        Pauses() noexcept
        cpp_bool pause(cpp_bool can_spin) noexcept

    cppclass BlockingCall:
        @staticmethod
        shared_ptr[BlockingCall] start(int (*function)(void*) noexcept, void* argument, Keep keep) noexcept
        cpp_bool is_done() noexcept
        int result() noexcept
        cpp_bool wait() noexcept


cdef class CancelFlag:
    """A flag to stop a compiler: the callback of ``nvrtcSetFlowCallback`` and its argument, as addresses."""

    cdef int _is_set

    def set(self) -> None:
        """Stop the compilation at the next time that the compiler asks."""
        self._is_set = 1

    @property
    def callback(self) -> int:
        """The address of the function that the compiler asks; it takes no lock."""
        return <intptr_t>&is_cancelled

    @property
    def argument(self) -> int:
        """The address that the function is given; this object has to outlive the compilation."""
        return <intptr_t>&self._is_set


cdef int is_cancelled(void* argument, void* reserved) noexcept nogil:
    return (<volatile_int*>argument)[0]


cdef int wait_for_stream(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUresult asked = cydriver.CUresult.CUDA_SUCCESS
    if is_main_thread():
        asked = wait_until_done(&stream_state, c_stream, True)
        if asked == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            # The question has ended the capture, so the wait would tell of an earlier error.
            return HANDLE_RETURN(asked, b"cuStreamSynchronize")
    HANDLE_RETURN(cydriver.cuStreamSynchronize(c_stream), b"cuStreamSynchronize")
    end_what_is_idle()
    # An error that the driver tells once is told to the question.
    return HANDLE_RETURN(asked, b"cuStreamQuery")


cdef int wait_before_copy(
    cydriver.CUstream c_stream, cydriver.CUdeviceptr c_host
) except -1 nogil:
    cdef cydriver.CUmemorytype c_type = <cydriver.CUmemorytype>0
    cdef cydriver.CUresult asked
    if not is_main_thread() or work_here(c_stream, NULL) != SOME_WORK:
        return 0
    # Page-locked memory is copied asynchronously, so there is nothing to wait for.
    if cydriver.cuPointerGetAttribute(
        &c_type, cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, c_host
    ) == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    asked = wait_longer(&stream_state, c_stream, True)
    return HANDLE_RETURN(asked, b"cuStreamQuery")


cdef int wait_for_event(cydriver.CUevent c_event, bint can_spin) except -1 nogil:
    cdef cydriver.CUresult asked = cydriver.CUresult.CUDA_SUCCESS
    if is_main_thread():
        asked = wait_until_done(&event_state, c_event, can_spin)
    HANDLE_RETURN(cydriver.cuEventSynchronize(c_event), b"cuEventSynchronize")
    end_what_is_idle()
    return HANDLE_RETURN(asked, b"cuEventQuery")


cdef int wait_for_context(const ContextHandle& h_context) except -1 nogil:
    cdef ContextHandle h_kept = h_context
    cdef EventHandle mark
    mark_context(h_kept, &mark)
    if mark:
        wait_for_event(mark.get(), True)
    else:
        synchronize_by_thread(h_kept)
    end_gathered()
    return 0


# An event behind all work of the current context; none before CUDA 12.5.
cdef int mark_context(const ContextHandle& h_context, EventHandle* mark) except -1 nogil:
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
    mark[0] = EventHandle.own(c_event, &destroy_mark, h_context.keep())
    err = cydriver.cuCtxRecordEvent(h_context.get(), c_event)
    if err == cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED:
        mark.reset()
        return 0
    return HANDLE_RETURN(err, b"cuCtxRecordEvent")


cdef int _records_contexts = -1  # not known yet


cdef void destroy_mark(cydriver.CUevent c_event) noexcept nogil:
    WARN_RETURN(cydriver.cuEventDestroy(c_event), b"cuEventDestroy")


# A context cannot be queried, and waiting for its known streams would miss those of other libraries.
cdef int synchronize_by_thread(const ContextHandle& h_context) except -1 nogil:
    cdef shared_ptr[BlockingCall] call
    if is_main_thread():
        call = BlockingCall.start(&synchronize, h_context.get(), h_context.keep())
    if not call:
        HANDLE_RETURN(cydriver.cuCtxSynchronize(), b"cuCtxSynchronize")
        end_what_is_idle()
        return 0
    while not call.get().is_done():
        if call.get().wait():
            with gil:
                check_signals(&call_state, call.get())
    if call.get().result() < 0:
        return HANDLE_RETURN(<cydriver.CUresult>-call.get().result(), b"cuCtxPushCurrent")
    HANDLE_RETURN(<cydriver.CUresult>call.get().result(), b"cuCtxSynchronize")
    end_what_is_idle()
    return 0


cdef int call_driver(Blocking function, void* argument, Keep keep) except? -1 nogil:
    cdef shared_ptr[BlockingCall] call
    if is_main_thread():
        call = start_in_context(function, argument, keep)
    if not call:
        return function(argument)
    while not call.get().is_done():
        if call.get().wait():
            with gil:
                check_signals(&call_state, call.get())
    return call.get().result()


# A call that waits inside the driver can hold a lock there that the launch of what it waits for needs. So the work so
# far is waited for by asking, on every thread; what captures meanwhile is not.
cdef int release_by(Blocking function, void* argument, const char* api) noexcept nogil:
    cdef WaitingEnd end
    cdef LeftRelease left
    cdef CaptureModeScope mode
    if not is_interpreter_exiting() and has_work(&end) and not wait_for_marks(end):
        left.function, left.argument, left.api = function, argument, api
        left.h_context = current_context()
        end.resource = Handle[LeftRelease].own(left, &release_left, Keep()).keep()
        end_later(end)
        return cydriver.CUresult.CUDA_SUCCESS
    relax_capture_mode(mode)
    return function(argument)


# False where a signal handler has raised.
cdef bint wait_for_marks(const WaitingEnd& end) noexcept nogil:
    cdef bint is_interrupted = False
    cdef Pauses pauses
    cdef size_t i
    cdef cydriver.CUresult answer
    for i in range(end.marks.size()):
        answer = cydriver.cuEventQuery(end.marks[i].get())
        while answer == cydriver.CUresult.CUDA_ERROR_NOT_READY:
            if pauses.pause(True) and is_main_thread():
                call_with_interpreter(&check_signals_later, is_interrupted)
                if is_interrupted:
                    return False
            answer = cydriver.cuEventQuery(end.marks[i].get())
        tell(answer, b"cuEventQuery", NULL)
    return True


# What is made when the device rests, since a signal handler left it.
cdef cppclass LeftRelease:
    Blocking function
    void* argument
    const char* api
    ContextHandle h_context


cdef void release_left(LeftRelease left) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    # There may be new work, for which the driver would wait.
    if postpone(left, &release_left, Keep(), has_work, end_later):
        return
    err = cydriver.cuCtxPushCurrent(left.h_context.get())
    relax_capture_mode(mode)
    warn_of_left(left.function(left.argument), left.api)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")


# Empty where none is.
cdef ContextHandle current_context() noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef ContextHandle h_context
    if cydriver.cuCtxGetCurrent(&c_context) == cydriver.CUresult.CUDA_SUCCESS and c_context != NULL:
        h_context = context_registry().find(c_context)
        if not h_context:
            h_context = ContextHandle.borrow(c_context, Keep())
    return h_context


cdef struct DriverCall:
    Blocking function
    void* argument


# A call on the helper thread, with the same context current.
cdef shared_ptr[BlockingCall] start_in_context(Blocking function, void* argument, Keep keep) noexcept nogil:
    cdef InContext[DriverCall] value
    cdef Handle[InContext[DriverCall]] h_call
    value.raw.function, value.raw.argument = function, argument
    value.h_context = current_context()
    h_call = Handle[InContext[DriverCall]].borrow(value, keep)
    return BlockingCall.start(&call_in_context, &h_call.value(), h_call.keep())


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
        WARN_RETURN(err, b"cuCtxPushCurrent")
    result = call.raw.function(call.raw.argument)
    if c_context != NULL and err == cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")
    return result


cdef void warn_of_left(int result, const char* api) noexcept nogil:
    if api != NULL and result != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(<cydriver.CUresult>result, api, NULL)


# Whether a release may have to wait; the work of other libraries is not known.
cdef bint may_wait() noexcept nogil:
    cdef vector[AskedStream] streams
    cdef CaptureModeScope mode
    cdef size_t i
    find_streams(streams)
    if streams.size() > MANY:
        return True
    relax_capture_mode(mode)
    for i in range(streams.size()):
        if work_of(streams[i], NULL) != NO_WORK:
            return True
    return False


# Querying so many streams costs as much as waiting on another thread.
cdef size_t MANY = 16


# A destructor raises nothing: what a handler raises is raised by the next bytecode of the main thread.
cdef void check_signals_later(bint& is_interrupted) noexcept:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        device_choice.has_ended_work()
        raise_later(error)
        (&is_interrupted)[0] = True


cdef void raise_later(object error) noexcept:
    _to_raise.append(error)
    if Py_AddPendingCall(&raise_kept, NULL) != 0:
        show_unraisable(_to_raise.pop(), None)


cdef bint raise_again(object error) noexcept:
    if error is not _raised and not isinstance(error, KeyboardInterrupt):
        return False
    raise_later(error)
    return True


cdef list _to_raise = []
cdef object _raised = None  # the latest


cdef int raise_kept(void* nothing) except -1:
    global _raised
    _raised = _to_raise.pop(0)
    raise _raised


def note_raised(error: BaseException) -> None:
    """Raise this exception of a signal handler later, because it leaves a destructor."""
    global _raised
    _raised = error


def may_wait_for_device() -> bool:
    """Return whether a release that this thread makes may have to wait, so that another thread had better make it."""
    cdef bint is_to_wait
    with nogil:
        is_to_wait = is_main_thread() and may_wait()
    return is_to_wait


ctypedef cydriver.CUresult (*State)(void* what) noexcept nogil


cdef cydriver.CUresult stream_state(void* what) noexcept nogil:
    return cydriver.cuStreamQuery(<cydriver.CUstream>what)


cdef cydriver.CUresult event_state(void* what) noexcept nogil:
    return cydriver.cuEventQuery(<cydriver.CUevent>what)


cdef cydriver.CUresult call_state(void* what) noexcept nogil:
    cdef BlockingCall* call = <BlockingCall*>what
    return <cydriver.CUresult>call.result() if call.is_done() else cydriver.CUresult.CUDA_ERROR_NOT_READY


# Negative: the context could not be made current on the thread.
cdef int synchronize(void* what) noexcept nogil:
    cdef cydriver.CUcontext c_context = <cydriver.CUcontext>what
    cdef cydriver.CUresult err = cydriver.cuCtxPushCurrent(c_context)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return -<int>err
    err = cydriver.cuCtxSynchronize()
    WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")
    return <int>err


cdef inline cydriver.CUresult wait_until_done(
    State state, void* what, bint can_spin
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = state(what)
    return err if err != cydriver.CUresult.CUDA_ERROR_NOT_READY else wait_longer(state, what, can_spin)


cdef cydriver.CUresult wait_longer(
    State state, void* what, bint can_spin
) except? cydriver.CUDA_ERROR_UNKNOWN nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_NOT_READY
    cdef Pauses pauses
    while err == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        if pauses.pause(can_spin):
            with gil:
                check_signals(state, what)
        err = state(what)
    return err


cdef int check_signals(State state, void* what) except -1:
    try:
        PyErr_CheckSignals()
    except BaseException:
        # A device that has ended its work tells whoever asks first, and this exception has told already.
        if device_choice.has_ended_work():
            with nogil:
                take_answer(state, what)
        raise
    return 0


cdef void take_answer(State state, void* what) noexcept nogil:
    cdef Pauses pauses
    cdef int _time
    for _time in range(TIMES_TO_ASK):
        if state(what) != cydriver.CUresult.CUDA_ERROR_NOT_READY:
            return
        pauses.pause(False)


# Of at least 50 microseconds each, in all half a second at most.
cdef int TIMES_TO_ASK = 600


# Releasing a resource may wait for the device, which cannot be interrupted at exit.
@atexit.register
def _note_work_left():
    cdef vector[StreamHandle] streams = stream_registry().living()
    cdef Pauses pauses
    cdef int _time
    for _time in range(TIMES_TO_ASK_AT_EXIT):
        if not is_any_busy(streams):
            return
        with nogil:
            pauses.pause(False)
    (<object>PyInterpreterState_GetDict(PyInterpreterState_Get()))[work_left_at_exit.decode()] = True


cdef bint is_any_busy(const vector[StreamHandle]& streams) noexcept:
    cdef size_t i
    for i in range(streams.size()):
        if work_here(streams[i].get(), NULL) == SOME_WORK:
            return True
    return False


# A tenth of a second, about.
cdef int TIMES_TO_ASK_AT_EXIT = 200
