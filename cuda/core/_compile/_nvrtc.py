# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVRTC: the back end that compiles CUDA C++.

A back end is constructed from a source, its name and compile settings, and raises if it does not support them. It has
the attributes ``backend``, ``targets``, ``handle`` and ``pch_status`` and the methods ``compile()`` and ``close()``.
Calls of NVRTC release the interpreter lock, so that programs compile in parallel.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings

from cuda.core._compile import _nvrtc_calls
from cuda.core._compile._missing_headers import missing_header_advice
from cuda.core._compile._option_table import newer_options
from cuda.core._compile._options import PCH, ProgramOptions
from cuda.core._compile._tools import CallLock
from cuda.core._native._device_wait import CancelFlag
from cuda.core._utils import libraries
from cuda.core._utils.cuda_utils import NotSupportedError, NVRTCError, UnavailableError, nvrtc_error
from cuda.core._utils.device_choice import is_software
from cuda.core._utils.files import record_version, recorded_version
from cuda.core._utils.host_wait import call_interruptibly
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

__all__ = ["NVRTCBackEnd", "OptionNotSupportedError", "nvrtc_version", "record_nvrtc"]

_MISSING_NVRTC = (
    "the CUDA C++ compiler (libnvrtc) was not found; "
    "install it with `pip install nvidia-cuda-nvrtc`, or the CUDA Toolkit"
)


class OptionNotSupportedError(NotSupportedError, NVRTCError):
    """An option needs a newer NVRTC than the loaded one."""


@functools.cache
def load_nvrtc():
    """Load NVRTC, and return the module with its functions.

    Raises
    ------
    RuntimeError
        If NVRTC is missing; the message says what to install.
    """
    try:
        _, *version = _nvrtc_calls.nvrtcVersion()
    except RuntimeError as error:
        raise type(error)(f"{_MISSING_NVRTC}. {error}") from None
    if recorded_nvrtc_version() not in (None, tuple(version)):  # another NVRTC was loaded by another module
        recorded_nvrtc_version.cache_clear()
    return _nvrtc_calls


def nvrtc_version() -> tuple[int, int]:
    """Return the CUDA version of NVRTC, ``(major, minor)``; does not load it if its version is recorded on disk.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    """
    return recorded_nvrtc_version() or loaded_nvrtc_version()


@functools.cache
def loaded_nvrtc_version() -> tuple[int, int]:
    """Load NVRTC, and return its version (``nvrtcVersion``)."""
    return call_nvrtc("nvrtcVersion")


@functools.cache
def recorded_nvrtc_version() -> tuple[int, int] | None:
    """Return the recorded version of the NVRTC that a call would load; None if it is loaded, or not recorded."""
    path = None if _nvrtc_calls.is_loaded() else libraries.nvrtc(False)
    return recorded_version(path) if path else None


@functools.cache
def require_nvrtc() -> None:
    """Check that NVRTC is installed; load it only if it is not found otherwise.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    """
    if not _nvrtc_calls.is_loaded() and not libraries.nvrtc(False):
        load_nvrtc()


def record_nvrtc() -> None:
    """Record the version of the loaded NVRTC, unless it was loaded from another path than calls would use."""
    if recorded_nvrtc_version() is None and _nvrtc_calls.is_loaded() and not is_software():
        path = libraries.nvrtc(False)
        if path and _nvrtc_calls.loaded_path() == os.path.realpath(path):
            record_version(path, loaded_nvrtc_version())


@functools.cache
def has_bundled_headers() -> bool:
    """Return whether NVRTC has built-in CUDA headers."""
    try:
        return bool(call_nvrtc("nvrtcGetBundledHeadersInfo")[0].available)
    except (AttributeError, RuntimeError):  # older bindings, or an older NVRTC
        return False


def call_nvrtc(api: str, *args, program=None):
    """Call a function of NVRTC, and return its output or the tuple of its outputs.

    Raises
    ------
    NVRTCError
        If the call failed; it has the log of ``program``.
    """
    error, *values = getattr(load_nvrtc(), api)(*args)
    if error:
        raise nvrtc_error(error, api, None if program is None else program_log(program))
    return values[0] if len(values) == 1 else tuple(values)


def program_log(program) -> str:
    """Return the log of the latest compilation, which may be empty (``nvrtcGetProgramLog``)."""
    return program_text("ProgramLog", program).rstrip(b"\0").decode(errors="backslashreplace")


def program_text(kind: str, program) -> bytes:
    """Return an output of NVRTC: the log or the compiled code."""
    text = bytearray(call_nvrtc(f"nvrtcGet{kind}Size", program))
    call_nvrtc(f"nvrtcGet{kind}", program, text)
    return bytes(text)


class NVRTCBackEnd:
    """Compiles CUDA C++ to PTX, CUBIN or LTO IR, with NVRTC.

    Parameters
    ----------
    source : bytes
        The source.
    name : bytes
        The name of the source in messages.
    settings : CompileSettings
        The compile settings.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    NVRTCError
        If ``nvrtcCreateProgram`` fails.
    """

    backend = CompilerBackendType.NVRTC
    targets = (ObjectCodeFormatType.PTX, ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.LTOIR)

    def __init__(self, source: bytes, name: bytes, settings):
        self._call_lock = CallLock()  # one compilation of a program at a time
        self._program = None
        self._handle = None
        self.pch_status = None
        self._arguments = list(settings.arguments)
        self._has_lto_option = settings.options.link_time_optimization is not None
        self._source = source, name  # None when closed
        self._makes_pch = bool(settings.options.pch or settings.options.create_pch)
        self._open()

    def __del__(self):
        # During interpreter exit, the bindings may be gone already, and the process frees the memory anyway.
        if not sys.is_finalizing() and getattr(self, "_program", None) is not None:
            self.close()

    def close(self) -> None:
        """Destroy the program (``nvrtcDestroyProgram``), after a running compilation in another thread."""
        self._call_lock.after_call(self._destroy)

    def _destroy(self) -> None:
        program, self._program, self._handle, self._source = self._program, None, None, None
        if program:
            (error,) = load_nvrtc().nvrtcDestroyProgram(program)
            if error:
                warnings.warn(
                    f"releasing a CUDA resource failed: {nvrtc_error(error, 'nvrtcDestroyProgram')}",
                    ResourceWarning,
                    stacklevel=2,
                )

    @property
    def handle(self):
        """The ``nvrtc.nvrtcProgram``; null when closed."""
        if self._source is None:
            return self.null_handle()
        if self._program is None:
            with self._call_lock:
                self._open()
        if self._handle is None:
            self._handle = load_nvrtc().nvrtcProgram(init_value=self._program)
        return self._handle

    @staticmethod
    def null_handle():
        """Return the handle of a closed program."""
        return load_nvrtc().nvrtcProgram()

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Compile the program (``nvrtcCompileProgram``).

        Parameters
        ----------
        target : ObjectCodeFormatType
            The output format.
        name_expressions : list of bytes
            The expressions whose mangled names are returned.

        Returns
        -------
        tuple
            The code, the mangled names, and the log.

        Raises
        ------
        NVRTCError
            If the source or an option is invalid; it has the log.
        """
        with self._call_lock:
            program = self._open()
            options = self._arguments
            if target is ObjectCodeFormatType.LTOIR and not self._has_lto_option:
                # The target implies this option, without which NVRTC generates no LTO IR.
                options = [*options, b"--dlink-time-opt"]
            self.pch_status = None
            for expression in name_expressions:
                call_nvrtc("nvrtcAddNameExpression", program, expression)
            self._run(program, options)
            if self._makes_pch and nvrtc_version() >= PCH:
                self.pch_status = self._finish_pch(program, options)
            code = program_text(target.name, program)
            symbols = [call_nvrtc("nvrtcGetLoweredName", program, expression) for expression in name_expressions]
            return code, symbols, program_log(program)

    def _open(self):
        if self._source is None:
            raise UnavailableError("this Program is closed")
        if self._program is None:
            self._program = call_nvrtc("nvrtcCreateProgram", *self._source, 0, [], [])
        return self._program

    def _run(self, program, options) -> None:
        flag = set_cancel_flag(program)
        abandoned = []

        def abandon():
            abandoned.append(program)
            return lambda: (load_nvrtc().nvrtcDestroyProgram(program), flag)

        try:
            call_interruptibly(lambda: compile_cxx(program, options), flag.set, abandon)
        except NVRTCError:
            raise
        except BaseException:
            # Interrupted: the next compilation creates a new program. In older versions of NVRTC, creating it here
            # would wait for the abandoned compilation.
            self._program = self._handle = None
            if not abandoned:
                load_nvrtc().nvrtcDestroyProgram(program)
            raise

    def _finish_pch(self, program, options) -> PCHStatusType:
        nvrtc = load_nvrtc()
        results = nvrtc.nvrtcResult
        (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if result == results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            call_nvrtc("nvrtcSetPCHHeapSize", call_nvrtc("nvrtcGetPCHHeapSizeRequired", program))
            self._run(program, options)
            (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if not result:
            return PCHStatusType.CREATED
        if result == results.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED:
            return PCHStatusType.NOT_ATTEMPTED
        if result in (results.NVRTC_ERROR_PCH_CREATE, results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED):
            return PCHStatusType.FAILED
        raise nvrtc_error(result, "nvrtcGetPCHCreateStatus")


def set_cancel_flag(program) -> CancelFlag:
    """Return a new flag that cancels the compilation of a program (``nvrtcSetFlowCallback``, since NVRTC 12.9)."""
    flag = CancelFlag()
    with contextlib.suppress(RuntimeError):  # an older NVRTC
        call_nvrtc("nvrtcSetFlowCallback", program, flag.callback, flag.argument)
    return flag


def compile_cxx(program, options: list[bytes]) -> None:
    """Compile a program (``nvrtcCompileProgram``); add advice to errors about options and missing headers."""
    try:
        call_nvrtc("nvrtcCompileProgram", program, len(options), options, program=program)
    except NVRTCError as error:
        is_option = error.name == "NVRTC_ERROR_INVALID_OPTION"
        advice = (
            option_advice(error.log or "", options)
            if is_option
            else missing_header_advice(error.log, nvrtc_version(), has_bundled_headers())
        )
        if advice:
            error.args = (f"{error.args[0].rstrip()}\n{advice}",)
        raise


def option_advice(log: str, options: list[bytes]) -> str:
    """Return advice about an option that NVRTC refuses: the loaded version, and all options that were passed."""
    loaded = "the loaded NVRTC {}.{}".format(*nvrtc_version())
    given = f"the options were {b' '.join(options).decode(errors='replace')}"
    if "unrecognized option" in log:
        return f"{loaded} does not know an option, which may need a newer one; {given}"
    if "--gpu-architecture" in log:
        numbers = ", ".join(str(number) for number in call_nvrtc("nvrtcGetSupportedArchs"))
        return f"{loaded} supports 'sm_NUMBER' with the numbers {numbers}; {given}"
    return given


def check_nvrtc_options(options: ProgramOptions) -> None:
    """Check that the loaded NVRTC is new enough for all options.

    Raises
    ------
    NotSupportedError
        If an option needs a newer NVRTC; the message has both versions.
    """
    if not newer_options(options, "nvrtc", (0, 0)):
        return require_nvrtc()
    loaded = nvrtc_version()
    newer = newer_options(options, "nvrtc", loaded)
    if newer:
        needs = ", ".join("{} needs NVRTC {}.{}".format(name, *since) for name, since in newer)
        raise OptionNotSupportedError(
            "{}, but NVRTC {}.{} is loaded; install a newer nvidia-cuda-nvrtc".format(needs, *loaded)
        )
    if options.use_bundled_headers and not has_bundled_headers():
        raise OptionNotSupportedError(
            "use_bundled_headers needs an NVRTC with bundled headers, which NVRTC {}.{} does not have; "
            "install a newer nvidia-cuda-nvrtc".format(*loaded)
        )
