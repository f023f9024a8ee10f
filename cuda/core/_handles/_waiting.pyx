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

from cuda.core._handles._handles cimport (
    ContextHandle,
    Handle,
    InContext,
    Keep,
    StreamHandle,
    context_registry,
    stream_registry,
    work_left_at_exit,
)
from cuda.core._handles._idle_ends cimport end_what_is_idle
from cuda.core._utils cimport cydriver
from cuda.core._utils._capture_mode cimport CaptureModeScope, relax_capture_mode, work_of_stream
from cuda.core._utils._cpython cimport call_with_interpreter, is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, show_unraisable, warn_driver_error

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
        @staticmethod
        shared_ptr[BlockingCall] start(
            int (*function)(void*) noexcept, void* argument, Keep keep,
            void (*report)(int result, const char* name) noexcept, const char* name
        ) noexcept
        cpp_bool is_done() noexcept
        cpp_bool leave() noexcept
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
    HANDLE_RETURN(cydriver.cuStreamSynchronize(c_stream), b"cuStreamSynchronize")
    end_what_is_idle()
    # An error that the driver tells once is told to the question.
    return HANDLE_RETURN(asked, b"cuStreamQuery")


cdef int wait_before_copy(
    cydriver.CUstream c_stream, cydriver.CUdeviceptr c_host
) except -1 nogil:
    cdef cydriver.CUmemorytype c_type = <cydriver.CUmemorytype>0
    cdef cydriver.CUresult asked
    if not is_main_thread() or work_of_stream(c_stream) != cydriver.CUresult.CUDA_ERROR_NOT_READY:
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
    cdef shared_ptr[BlockingCall] call
    cdef ContextHandle h_kept = h_context
    # A context cannot be queried, and waiting for its known streams would miss those of other libraries.
    if is_main_thread():
        call = BlockingCall.start(&synchronize, h_kept.get(), h_kept.keep())
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
        call = start_in_context(function, argument, keep, NULL)
    if not call:
        return function(argument)
    while not call.get().is_done():
        if call.get().wait():
            with gil:
                check_signals(&call_state, call.get())
    return call.get().result()


cdef int release_by(Blocking function, void* argument, const char* api) noexcept nogil:
    cdef shared_ptr[BlockingCall] call
    cdef bint is_interrupted = False
    if is_main_thread() and not is_interpreter_exiting() and may_wait():
        call = start_in_context(function, argument, Keep(), api)
    if not call:
        return function(argument)
    while not call.get().is_done():
        if call.get().wait():
            call_with_interpreter(&check_signals_later, is_interrupted)
        if is_interrupted and call.get().leave():
            return cydriver.CUresult.CUDA_SUCCESS
    return call.get().result()


cdef struct DriverCall:
    Blocking function
    void* argument


# A call on the helper thread, with the same context current.
cdef shared_ptr[BlockingCall] start_in_context(
    Blocking function, void* argument, Keep keep, const char* api
) noexcept nogil:
    cdef InContext[DriverCall] value
    cdef Handle[InContext[DriverCall]] h_call
    cdef cydriver.CUcontext c_context = NULL
    value.raw.function, value.raw.argument = function, argument
    if cydriver.cuCtxGetCurrent(&c_context) == cydriver.CUresult.CUDA_SUCCESS and c_context != NULL:
        value.h_context = context_registry().find(c_context)
        if not value.h_context:
            value.h_context = ContextHandle.borrow(c_context, Keep())
    h_call = Handle[InContext[DriverCall]].borrow(value, keep)
    return BlockingCall.start(&call_in_context, &h_call.value(), h_call.keep(), &warn_of_left, api)


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
    cdef vector[StreamHandle] streams = stream_registry().living()
    cdef cydriver.CUcontext c_context = NULL
    cdef size_t i
    if streams.size() > MANY:
        return True
    for i in range(streams.size()):
        if not is_idle(streams[i].get()):
            return True
    WARN_RETURN(cydriver.cuCtxGetCurrent(&c_context), b"cuCtxGetCurrent")
    if c_context == NULL:
        return False
    return not (is_idle(DEFAULT_STREAMS[0]) and is_idle(DEFAULT_STREAMS[1]))


cdef bint is_idle(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUresult err = work_of_stream(c_stream)
    if (
        err == cydriver.CUresult.CUDA_ERROR_NOT_READY
        or err == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        or err == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    ):
        return False
    if err != cydriver.CUresult.CUDA_ERROR_INVALID_HANDLE:  # green contexts have no default streams
        WARN_RETURN(err, b"cuStreamQuery")
    return True


# Querying so many streams costs as much as waiting on another thread.
cdef size_t MANY = 16

cdef cydriver.CUstream[2] DEFAULT_STREAMS
DEFAULT_STREAMS[0] = <cydriver.CUstream><void*>cydriver.CU_STREAM_LEGACY
DEFAULT_STREAMS[1] = <cydriver.CUstream><void*>cydriver.CU_STREAM_PER_THREAD


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
        if work_of_stream(streams[i].get()) == cydriver.CUresult.CUDA_ERROR_NOT_READY:
            return True
    return False


# A tenth of a second, about.
cdef int TIMES_TO_ASK_AT_EXIT = 200
