# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Exceptions for CUDA errors, and the helpers that check every driver result."""

from __future__ import annotations

from libc.stdio cimport snprintf

from cpython.exc cimport PyErr_CheckSignals, PyErr_SetObject, PyErr_WriteUnraisable
from posix.unistd cimport getpid

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter

cdef extern from *:
    """
    namespace cuda_core::driver_calls { CUDA_CORE_API int first_version(const char*) noexcept; }
    """
    int first_version "cuda_core::driver_calls::first_version"(const char* name) noexcept

import importlib
import os
import sys
import warnings
from collections import namedtuple

from cuda.core._utils import errors, slots
from cuda.core._utils.advice import ADVICE, ANCHORS, CALL_ADVICE, KERNEL_FAILURES, RUNTIME_ADVICE
from cuda.core._utils.options import Options
from cuda.core._utils.validators import shown

__all__ = [
    "CUDAError",
    "CUDAOutOfMemoryError",
    "CUDAWarning",
    "ComputeCapability",
    "LaunchError",
    "NVRTCError",
    "NotSupportedError",
    "OutOfMemoryError",
    "binding_version",
    "call_driver",
    "check_or_create_options",
    "driver_version",
    "handle_return",
]


# --- Exceptions -----------------------------------------------------------------------------------

class CUDAWarning(RuntimeWarning):
    """The release of a resource failed, which is a warning because it can happen at any time.

    Python shows such warnings by default. The message names the failed call and the resource, which may leak. If a
    filter turns the warning into an error, the error goes to ``sys.unraisablehook``.
    """

    def __init__(self, *args):
        super().__init__(*args)


class CUDAError(Exception):
    """A call to the CUDA driver or to a compiler failed.

    Attributes
    ----------
    code : int or None
        The result code, such as 1 for ``CUDA_ERROR_INVALID_VALUE``.
    name : str or None
        The symbolic name of the code.
    api : str or None
        The entry point that failed, such as ``"cuMemAllocAsync"``.
    explanation : str or None
        The driver's description of the code.
    log : str or None
        The log of the compiler or linker, or the entry of the driver's log for the failed call, such as the software
        device's report about a failed kernel. None if there is none.

    Examples
    --------
    >>> from cuda.core import CUDAError, ObjectCode
    >>> try:
    ...     ObjectCode.from_cubin(b"not a cubin").get_kernel("f")
    ... except CUDAError as error:
    ...     error.name
    'CUDA_ERROR_INVALID_IMAGE'
    """

    code: int | None
    name: str | None
    api: str | None
    explanation: str | None
    log: str | None

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        name: str | None = None,
        api: str | None = None,
        explanation: str | None = None,
        log: str | None = None,
    ):
        super().__init__(message)
        self.code = code
        self.name = name
        self.api = api
        self.explanation = explanation
        self.log = log


class OutOfMemoryError(CUDAError, MemoryError):
    """Device or host memory could not be allocated.

    ``free`` and ``total`` are the free and total memory of the current device in bytes when the call failed
    (``cuMemGetInfo``), or None if no context was current.

    Examples
    --------
    >>> from cuda.core import Device, OutOfMemoryError
    >>> device = Device()
    >>> device.set_current()
    >>> try:
    ...     device.allocate(1 << 60, stream=device.default_stream)
    ... except OutOfMemoryError:
    ...     print("out of memory")
    out of memory
    """

    free: int | None = None
    total: int | None = None


# The name of the official package.
CUDAOutOfMemoryError = OutOfMemoryError


class LaunchError(CUDAError):
    """A kernel could not be launched, or failed during execution."""


class NotSupportedError(CUDAError):
    """The device or the driver does not support the operation."""


class UnavailableError(RuntimeError, AttributeError):
    """An object is closed or destroyed, or lacks the requested property.

    Documented as RuntimeError. It is also an AttributeError, so ``hasattr()`` of a property returns False.
    """


class TooOldError(NotSupportedError, NotImplementedError, UnavailableError):
    """The driver or the compiler is too old for the operation. Documented as NotSupportedError.

    It is also what the official package raises, a RuntimeError or a NotImplementedError, and an AttributeError, so
    ``hasattr()`` of a property returns False.
    """

    def __init__(self, message: str = ""):
        super().__init__(message, code=<int>cydriver.CUDA_ERROR_NOT_SUPPORTED, name="CUDA_ERROR_NOT_SUPPORTED")


class NVRTCError(CUDAError):
    """The CUDA C++ compiler failed, and ``log`` contains its messages.

    Examples
    --------
    >>> from cuda.core import NVRTCError, Program, ProgramOptions
    >>> try:
    ...     Program('extern "C" __global__ void f() { y = 1; }', "c++", ProgramOptions(arch="sm_90")).compile("cubin")
    ... except NVRTCError as error:
    ...     error.diagnostics[0].line
    1
    """

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The messages as records with file, line, column, severity and text, or empty if there is no log."""
        return errors.parse_diagnostics(self.log)


for _public in (CUDAError, CUDAWarning, LaunchError, NVRTCError, NotSupportedError, OutOfMemoryError):
    _public.__module__ = "cuda.core"  # tracebacks print the public name

_CLASS_BY_NAME = {
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": LaunchError,
    "CUDA_ERROR_HARDWARE_STACK_ERROR": LaunchError,
    "CUDA_ERROR_ILLEGAL_ADDRESS": LaunchError,
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": LaunchError,
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": LaunchError,
    "CUDA_ERROR_INVALID_PC": LaunchError,
    "CUDA_ERROR_LAUNCH_FAILED": LaunchError,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": LaunchError,
    "CUDA_ERROR_LAUNCH_TIMEOUT": LaunchError,
    "CUDA_ERROR_MISALIGNED_ADDRESS": LaunchError,
    "CUDA_ERROR_NOT_SUPPORTED": NotSupportedError,
    "CUDA_ERROR_OUT_OF_MEMORY": OutOfMemoryError,
}


# --- Driver results -------------------------------------------------------------------------------

cdef bint _is_driver_ready = False


cdef int init_driver() except -1:
    global _is_driver_ready
    if _is_driver_ready:
        return 0
    with nogil:
        HANDLE_RETURN(cydriver.cuInit(0), b"cuInit")
    _is_driver_ready = True
    return 0


cdef int raise_driver_error(cydriver.CUresult err, const char* api) except -1 nogil:
    with gil:
        PyErr_CheckSignals()  # if Ctrl-C made the call fail, raise KeyboardInterrupt instead
        raise _driver_error(err, api)


cdef int raise_left_error(cydriver.CUresult err, const char* api, cydriver.CUresult left) except -1 nogil:
    with gil:
        try:
            HANDLE_RETURN(err, api)
        except BaseException as error:
            note_left_context(error, left)
            raise
        try:
            raise_driver_error(left, b"cuCtxPopCurrent")
        except CUDAError as error:
            error.add_note(f"The current context of this thread is now {_current_context()}.")
            raise


cdef int note_left_context(object error, cydriver.CUresult left) except -1:
    if left != cydriver.CUresult.CUDA_SUCCESS:
        error.add_note(
            f"The previous context could not be made current again: {_driver_error(left, b'cuCtxPopCurrent')}\n"
            f"The current context of this thread is now {_current_context()}."
        )
    return 0


cdef str _current_context():
    cdef cydriver.CUcontext c_context = NULL
    if cydriver.cuCtxGetCurrent(&c_context) != cydriver.CUresult.CUDA_SUCCESS:
        return "unknown"
    return hex(<size_t>c_context) if c_context != NULL else "none"


cdef object _driver_error(cydriver.CUresult err, const char* api):
    cdef int code = <int>err
    cdef const char* c_name = NULL
    cdef const char* c_text = NULL
    try:
        cydriver.cuGetErrorName(err, &c_name)
        cydriver.cuGetErrorString(err, &c_text)
    except RuntimeError:
        pass  # no driver is installed; the code comes from the caller, such as handle_return()
    name = c_name.decode() if c_name != NULL else _bindings_name(code)
    explanation = c_text.decode() if c_text != NULL else "the installed driver does not recognize this code"
    kind = _CLASS_BY_NAME.get(name, CUDAError)
    call = api.decode() if api != NULL else None
    log = errors.last_failure(_driver_log(), name, call)
    message = _error_message(name, explanation, call)
    if log:
        # The report of a failed kernel also has the source line and the thread.
        message += f"\n{log if name in KERNEL_FAILURES else log.partition(chr(10))[0]}"
    if name in ADVICE and not (log and name in KERNEL_FAILURES):
        message += f"\n{CALL_ADVICE.get((call, name), ADVICE[name])}"
    if "see errors#" not in message:  # reports of the software device name their own anchor
        message += f" (see errors#{ANCHORS.get(name) or kind.__name__.lower()})"
    if name in KERNEL_FAILURES and not log and (launches := slots.get("last launches")()):
        message += f"\n{launches}"
    error = kind(message, code=code, name=name, api=call, explanation=explanation, log=log)
    return _add_memory_sizes(error) if kind is OutOfMemoryError else error


cdef str _error_message(str name, str explanation, object api):
    return f"{name}: {explanation}" if api is None else f"{name}: {explanation} ({api})"


cdef str _bindings_name(int code):
    try:
        results = importlib.import_module("cuda.bindings.driver").CUresult
    except ImportError:  # not installed
        results = ()
    return next((result.name for result in results if int(result) == code), f"CUDA_ERROR_{code}")


# The driver's log of failed calls, or empty if the driver keeps none.
cdef bytes _driver_log():
    cdef char[25601] buffer  # as much as the driver keeps
    cdef size_t size = sizeof(buffer)
    try:
        if cydriver.cuLogsDumpToMemory(NULL, buffer, &size, 0) == cydriver.CUresult.CUDA_SUCCESS:
            return buffer[:size]
    except RuntimeError:
        pass  # no driver is installed, or it is older than this function
    return b""


# Adds the free and total memory of the current device to the error, if a context is current.
cdef object _add_memory_sizes(error):
    cdef size_t c_free = 0
    cdef size_t c_total = 0
    try:
        if cydriver.cuMemGetInfo(&c_free, &c_total) == cydriver.CUresult.CUDA_SUCCESS:
            error.free = c_free
            error.total = c_total
            error.args = (f"{error}\nThe device has {c_free} of its {c_total} bytes free.",)
    except RuntimeError:
        pass  # no driver is installed; the code comes from the caller, such as handle_return()
    return error


# --- Errors that cannot be raised -----------------------------------------------------------------

cdef const char* UNKNOWN_RESOURCE = b"a CUDA resource"

# What the warning about a failed release names.
cdef struct FailedRelease:
    cydriver.CUresult err
    const char* api
    const char* what


cdef void warn_driver_error(cydriver.CUresult err, const char* api, const char* what) noexcept nogil:
    cdef FailedRelease failure
    if err == cydriver.CUresult.CUDA_ERROR_DEINITIALIZED:
        return  # the process exits, and the driver has released everything
    failure.err = err
    failure.api = api
    failure.what = what if what != NULL else UNKNOWN_RESOURCE
    call_with_interpreter(&warn_of_failure, failure)


cdef void warn_of_release(cydriver.CUresult err, const char* api, const void* handle) noexcept nogil:
    cdef char[40] what
    if handle == NULL:
        warn_driver_error(err, api, UNKNOWN_RESOURCE)
        return
    snprintf(what, sizeof(what), b"the CUDA resource %#zx", <size_t>handle)
    warn_driver_error(err, api, what)


cdef void warn_of_failure(FailedRelease& failure) noexcept:
    try:
        error = _driver_error(failure.err, failure.api)
        warnings.warn(f"releasing {failure.what.decode()} failed: {error}", CUDAWarning, stacklevel=1)
    except BaseException as error:  # a warning filter turns warnings into errors
        show_unraisable(error, None)


# Cython's own handling in a noexcept function would also print the traceback.
cdef void show_unraisable(object error, object where) noexcept:
    PyErr_SetObject(type(error), error)
    PyErr_WriteUnraisable(where)


cdef void call_on_driver_thread(object function, object where) noexcept:
    cdef int process = getpid()
    cdef object error = None
    try:
        function()
    except BaseException as raised:
        error = raised
    if getpid() != process:
        end_forked_child(error, where)
    if error is not None:
        show_unraisable(error, where)


# The function has forked. The child has no driver to return to, and would wait forever for its next call.
cdef void end_forked_child(object error, object where) noexcept:
    status = 0 if error is None else 1
    try:
        if isinstance(error, SystemExit):
            status = _exit_status(error.code)
        elif error is not None:
            show_unraisable(error, where)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(status)


def _exit_status(code) -> int:
    """Print the message of ``SystemExit(code)`` and return the status with which the interpreter exits."""
    if code is None or isinstance(code, int):
        return int(code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


# --- Results of the Python bindings ---------------------------------------------------------------

_RESULT_KINDS = frozenset({"CUresult", "cudaError_t", "nvrtcResult"})

cdef object _driver_module = None  # cuda.bindings.driver, once it was used


def handle_return(tuple result, handle=None):
    """Unpack the result of a call through the Python bindings.

    Parameters
    ----------
    result : tuple
        The error code, then the values.
    handle : nvrtc.nvrtcProgram, optional
        The program whose log explains an NVRTC error.

    Returns
    -------
    object
        None, the only value, or a tuple of values.

    Raises
    ------
    CUDAError
        If a driver or runtime call failed.
    NVRTCError
        If an NVRTC call failed.
    RuntimeError
        If the error code has an unknown type.
    """
    error = result[0]
    if type(error).__name__ not in _RESULT_KINDS or int(error) != 0:
        _raise_result(error, handle)
    if len(result) == 1:
        return None
    return result[1] if len(result) == 2 else result[1:]


def call_driver(str api, *arguments):
    """Call a function of ``cuda.bindings.driver`` and return its value.

    Raises
    ------
    CUDAError
        If the call fails; the error names the function.
    """
    global _driver_module
    cdef bytes name = api.encode()
    if _driver_module is None:
        _driver_module = importlib.import_module("cuda.bindings.driver")
    # Programs may set the attribute `driver` of this module.
    result = getattr(vars(sys.modules[__name__]).get("driver", _driver_module), api)(*arguments)
    if int(result[0]) != 0:
        raise_driver_error(<cydriver.CUresult><int>int(result[0]), name)
    return handle_return(result)


def nvrtc_error(int code, str name, api=None, log=None) -> NVRTCError:
    """Return the exception for a failed ``nvrtcResult``, from its number and its name."""
    explanation = name.removeprefix("NVRTC_ERROR_").replace("_", " ").lower()
    message = f"{_error_message(name, explanation, api)}; see errors#compile-errors" + (f"\n{log}" if log else "")
    return NVRTCError(message, code=code, name=name, api=api, explanation=explanation, log=log)


cdef object _raise_result(error, handle):
    kind = type(error).__name__
    if kind == "CUresult":
        raise_driver_error(<cydriver.CUresult><int>int(error), NULL)
    if kind == "cudaError_t":
        _raise_runtime(error)
    if kind == "nvrtcResult":
        _raise_nvrtc(error, handle)
    raise RuntimeError(f"unknown error type {type(error).__name__}: {shown(error)}")


def _raise_runtime(error):
    name = getattr(error, "name", str(error))
    advice = RUNTIME_ADVICE.get(name) or ADVICE.get(_bindings_name(int(error)))
    message = f"{name}: {advice or 'the CUDA runtime reported an error'} (see errors#cudaerror)"
    raise CUDAError(message, code=int(error), name=name, explanation=advice)


def _raise_nvrtc(error, handle):
    nvrtc = importlib.import_module("cuda.bindings.nvrtc")
    log = None
    if handle is not None:
        size = handle_return(nvrtc.nvrtcGetProgramLogSize(handle))
        text = bytearray(size)
        handle_return(nvrtc.nvrtcGetProgramLog(handle, text))
        log = bytes(text).rstrip(b"\0").decode(errors="backslashreplace")
    raise nvrtc_error(int(error), getattr(error, "name", str(error)), log=log)


# --- Versions and options -------------------------------------------------------------------------

ComputeCapability = namedtuple("ComputeCapability", ("major", "minor"), module=__name__)

cdef int _driver_version = 0
cdef tuple _binding_version = None


cdef int c_driver_version() except -1:
    global _driver_version
    cdef int c_version = 0
    if _driver_version == 0:
        init_driver()
        with nogil:
            HANDLE_RETURN(cydriver.cuDriverGetVersion(&c_version), b"cuDriverGetVersion")
        _driver_version = c_version
    return _driver_version


def driver_version() -> tuple[int, int, int]:
    """Return the CUDA version that the driver supports, as ``(major, minor, patch)``."""
    cdef int c_version = c_driver_version()
    return (c_version // 1000, c_version % 1000 // 10, c_version % 10)


cpdef int require_driver(int version, str what, str advice="") except -1:
    cdef int c_version = c_driver_version()
    if c_version >= version:
        return 0
    needed, found = [f"{number // 1000}.{number % 1000 // 10}" for number in (version, c_version)]
    message = f"{what} needs a driver for CUDA {needed} or newer; this one is for CUDA {found}"
    raise TooOldError(f"{message}; {advice}" if advice else message)


def require_call(str api, str what, str advice="") -> None:
    """Raise TooOldError if the driver is older than a function, whose version comes from CUDA's header."""
    require_driver(first_version(api.encode()), what, advice)


def binding_version() -> tuple[int, ...]:
    """Return the version of the installed ``cuda.bindings``, as ``(major, minor, patch)``."""
    global _binding_version
    if _binding_version is None:
        # Imported here, because importlib.metadata takes long to import.
        parts = importlib.import_module("importlib.metadata").version("cuda-bindings").split(".")
        _binding_version = tuple([int(part) for part in parts[:3] if part.isdigit()])
    return _binding_version


cpdef object check_or_create_options(type cls, object options, str options_description="", bint keep_none=False):
    """Return ``options`` as an instance of ``cls``: None means the defaults, a dict contains fields.

    Raises
    ------
    TypeError
        If ``options`` has the wrong type, or is a dict with unknown fields.
    """
    if type(options) is cls or isinstance(options, cls):
        if issubclass(cls, Options):
            cls._check(options)  # the user may have assigned to fields since the last check
        return options
    if options is None:
        return None if keep_none else cls()
    if isinstance(options, dict):
        return cls(**options)
    what = options_description or "options"
    raise TypeError(
        f"{what} must be {cls.__name__}, a dict of its fields or None, not {type(options).__name__}"
    )


# --- Names that other packages import from here ---------------------------------------------------

# Helpers that this package itself does not use.
_MOVED = frozenset({
    "Transaction",
    "cast_to_3_tuple",
    "check_multiprocessing_start_method",
    "is_nested_sequence",
    "is_sequence",
    "precondition",
    "reset_fork_warning",
})


def __getattr__(name):
    # The modules of the bindings are imported on first use, which takes longer than importing this package.
    if name in ("driver", "runtime", "nvrtc"):
        return importlib.import_module(f"cuda.bindings.{name}")
    if name in ("nvvmError", "nvJitLinkError"):
        return getattr(importlib.import_module(f"cuda.bindings.{name[:-5].lower()}"), name)
    if name == "DRIVER_CU_RESULT_EXPLANATIONS":
        return _advice_by_code(importlib.import_module("cuda.bindings.driver").CUresult)
    if name == "RUNTIME_CUDA_ERROR_EXPLANATIONS":
        return _advice_by_code(importlib.import_module("cuda.bindings.runtime").cudaError_t)
    if name in _MOVED:
        return getattr(importlib.import_module("cuda.core._utils.helpers"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _advice_by_code(results) -> dict[int, str]:
    found = {}
    for result in results:
        advice = ADVICE.get(result.name) or RUNTIME_ADVICE.get(result.name) or ADVICE.get(_bindings_name(int(result)))
        if advice:
            found[int(result)] = advice
    return found


def _check_driver_error(error) -> int:
    """Raise for a failed ``CUresult``, else return 0."""
    if int(error) != 0:
        raise_driver_error(<cydriver.CUresult><int>int(error), NULL)
    return 0


def _check_runtime_error(error) -> int:
    """Raise for a failed ``cudaError_t``, else return 0."""
    if int(error) != 0:
        _raise_result(error, None)
    return 0


def _check_nvrtc_error(error, handle=None) -> int:
    """Raise for a failed ``nvrtcResult``, with the log of the program ``handle``, else return 0."""
    if int(error) != 0:
        _raise_nvrtc(error, handle)
    return 0
