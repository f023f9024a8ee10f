# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The classic exception classes, which are chosen by error code and derived from :mod:`cuda.core` exceptions."""

from __future__ import annotations

import builtins
import functools

from cuda import core
from cuda.core import CUDAError, LaunchError, NVRTCError, OutOfMemoryError
from cuda.core._classic import DriverObject, call_driver

__all__ = [
    "CompileError",
    "CudaError",
    "DeviceFaultError",
    "Error",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "NotSupportedError",
    "RuntimeError",
]

Error = CudaError = CUDAError
MemoryError = OutOfMemoryError


class LogicError(Error):
    """A programming error: an invalid value, handle, context or name."""


class RuntimeError(Error, builtins.RuntimeError):
    """An error of the environment: no device, a missing file, no code for the device, or unfinished work."""


class DeviceFaultError(LogicError, LaunchError):
    """A kernel fault, such as an access to an illegal address.

    The classic interface treats it as a :class:`LogicError`, and :mod:`cuda.core` as a :class:`LaunchError`.
    """


class NotSupportedError(LogicError, core.NotSupportedError):
    """An operation that the device, the driver or CUDA 13 does not support."""


class CompileError(NVRTCError):
    """A failed compilation.

    Parameters
    ----------
    msg : str
        The step that failed.
    command_line : list of str
        The compiler's command line or options.
    stdout : str, optional
        The compiler's standard output.
    stderr : str, optional
        The compiler's error messages.
    """

    def __init__(self, msg, command_line, stdout=None, stderr=None, *, code=None, name=None, api=None):
        super().__init__(msg, code=code, name=name, api=api, log=stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self):
        text = str(self.msg)
        if self.command_line:
            text += f"\n[command: {' '.join(map(str, self.command_line))}]"
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self.stderr}]"
        return text

    def __reduce__(self):
        return CompileError, (self.msg, self.command_line, self.stdout, self.stderr)


# CUresult codes.
INVALID_VALUE = 1
NOT_INITIALIZED = 3
INVALID_DEVICE = 101
INVALID_CONTEXT = 201
INVALID_HANDLE = 400
NOT_FOUND = 500
NOT_SUPPORTED = 801

_CLASSES = {
    2: MemoryError,
    100: RuntimeError,  # no device
    209: RuntimeError,  # no code for the device
    214: RuntimeError,  # an uncorrectable ECC error
    301: RuntimeError,  # file not found
    600: RuntimeError,  # not ready
    701: LaunchError,
    702: LaunchError,
    703: LaunchError,
    719: LaunchError,
    801: NotSupportedError,
    999: Error,
    **dict.fromkeys((700, 714, 715, 716, 717, 718, 720), DeviceFaultError),
}

# The driver's name and message for each error code that this package raises itself.
_TEXTS = {
    INVALID_VALUE: ("CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    NOT_INITIALIZED: ("CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
    INVALID_DEVICE: ("CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"),
    INVALID_CONTEXT: ("CUDA_ERROR_INVALID_CONTEXT", "invalid device context"),
    INVALID_HANDLE: ("CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"),
    NOT_FOUND: ("CUDA_ERROR_NOT_FOUND", "named symbol not found"),
    301: ("CUDA_ERROR_FILE_NOT_FOUND", "file not found"),
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    600: ("CUDA_ERROR_NOT_READY", "device not ready"),
    NOT_SUPPORTED: ("CUDA_ERROR_NOT_SUPPORTED", "operation not supported"),
}

# Maps library entry points to the module entry points that classic programs expect.
_CLASSIC_NAMES = {
    "cuLaunchKernelEx": "cuLaunchKernel",
    "cuLibraryGetGlobal": "cuModuleGetGlobal",
    "cuLibraryGetKernel": "cuModuleGetFunction",
    "cuLibraryGetManaged": "cuModuleGetGlobal",
    "cuLibraryGetModule": "cuModuleLoadDataEx",
    "cuLibraryLoadData": "cuModuleLoadDataEx",
    "cuLibraryLoadFromFile": "cuModuleLoad",
    "cuMemAllocHost": "cuMemHostAlloc",
    "cuStreamCreateWithPriority": "cuStreamCreate",
}


def classic_error(error: Exception, api: str | None = None) -> Exception:
    """Return the classic exception for a :mod:`cuda.core` exception.

    Parameters
    ----------
    error : CUDAError | builtins.RuntimeError
        The exception. A RuntimeError without a code means that an object is closed.
    api : str, optional
        The entry point to name in the message. Defaults to the exception's entry point.
    """
    if not isinstance(error, CUDAError):
        return logic_error(api or "the call", INVALID_HANDLE, str(error))
    # Other classes are those of both interfaces, so only the message tells.
    if isinstance(error, (LogicError, RuntimeError)) or str(error).startswith(f"{error.api} failed: "):
        return error  # already classic
    if error.code is None:
        classic = LogicError(str(error))
    else:
        api = api or _CLASSIC_NAMES.get(error.api, error.api) or "the call"
        # Keep the details that follow the code's name and explanation in the message.
        first, _, detail = str(error).partition("\n")
        message = f"{api} failed: {error.explanation or first}"
        if error.code == NOT_INITIALIZED:  # instead of advice for other programs
            detail = "call init() and create a context, or import autoinit"
        if detail:
            message += f" - {detail}"
        classic = _CLASSES.get(error.code, LogicError)(
            message, code=error.code, name=error.name, api=api, explanation=error.explanation, log=error.log
        )
        if isinstance(error, OutOfMemoryError):
            classic.free, classic.total = error.free, error.total
    for note in getattr(error, "__notes__", ()):
        classic.add_note(note)
    return classic


def launch_error(error: Exception) -> Exception:
    """Return the classic exception for a failed launch. A RuntimeError means closed memory or code."""
    return classic_error(error, None if isinstance(error, CUDAError) else "cuLaunchKernel")


def logic_error(api: str, code: int, detail: str = "") -> Exception:
    """Return the exception for a driver error code, with the driver's message and an optional detail."""
    name, text = _TEXTS[code]
    message = f"{api} failed: {text}" + (f" - {detail}" if detail else "")
    return _CLASSES.get(code, LogicError)(message, code=code, name=name, api=api, explanation=text)


def call(api: str, *arguments):
    """Call the driver and raise classic exceptions.

    :mod:`cuda.core` objects are passed as handles, and are kept open until the call returns.
    """
    # The pins keep the resources open until the call returns, even if another thread closes their objects.
    pins, values = [], []
    for argument in arguments:
        if isinstance(argument, DriverObject):
            pins.append(argument._pin())
            argument = pins[-1].handle
        values.append(argument)
    try:
        return call_driver(api, *values)
    except CUDAError as error:
        raise classic_error(error, api.removesuffix("_v2")) from None


def called(function, *arguments):
    """Call a :mod:`cuda.core` function that allocates, and raise classic exceptions."""
    try:
        return function(*arguments)
    except CUDAError as error:
        raise classic_error(error) from None


def translated(function):
    """Decorate a function to raise classic exceptions instead of the :class:`CUDAError` of :mod:`cuda.core`."""

    @functools.wraps(function)
    def translating(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except CUDAError as error:
            if type(error) in _CLASSIC:
                raise
            raise classic_error(error) from None

    return translating


_CLASSIC = frozenset({LogicError, RuntimeError, DeviceFaultError, NotSupportedError, CompileError})
