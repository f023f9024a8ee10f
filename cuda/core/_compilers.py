# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compilers behind :class:`~cuda.core.Program`: NVRTC for CUDA C++.

A back end has ``backend``, ``targets``, ``handle``, ``pch_status``, ``compile()`` and ``close()``. The
bindings release the interpreter lock around every call, so that programs compile in parallel.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import warnings

from cuda.core._utils.cuda_utils import NotSupportedError, nvrtc_error
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

__all__ = ["NVRTCCompiler", "nvrtc_version"]

# The version of NVRTC that brought precompiled headers.
_PCH = (12, 8)

_MISSING_NVRTC = (
    "the CUDA C++ compiler (libnvrtc) was not found; "
    "install it with `pip install nvidia-cuda-nvrtc`, or the CUDA Toolkit"
)


@functools.cache
def load_nvrtc():
    """Return the bindings of NVRTC, having made sure that the library is there.

    Raises
    ------
    RuntimeError
        If it is not; the message says what to install.
    """
    nvrtc = importlib.import_module("cuda.bindings.nvrtc")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise type(error)(f"{_MISSING_NVRTC}. {error}") from error
    return nvrtc


@functools.cache
def nvrtc_version() -> tuple[int, int]:
    """Return the CUDA version of NVRTC, as ``(major, minor)``.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    """
    return call_nvrtc("nvrtcVersion")


@functools.cache
def has_bundled_headers() -> bool:
    """Return whether NVRTC has the headers of CUDA inside."""
    try:
        return bool(call_nvrtc("nvrtcGetBundledHeadersInfo")[0].available)
    except (AttributeError, RuntimeError):  # older bindings, or an older NVRTC
        return False


def call_nvrtc(api: str, *args, program=None):
    """Call NVRTC and return the value, or the tuple of values.

    Raises
    ------
    NVRTCError
        If the call failed; with the log of ``program``.
    """
    nvrtc = load_nvrtc()
    error, *values = getattr(nvrtc, api)(*args)
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise nvrtc_error(error, api, None if program is None else program_log(program))
    return values[0] if len(values) == 1 else tuple(values)


def program_log(program) -> str:
    """Return the messages of the latest compilation, empty if there were none."""
    return program_text("ProgramLog", program).rstrip(b"\0").decode(errors="backslashreplace")


def program_text(kind: str, program) -> bytes:
    """Return what NVRTC holds of a kind: a log, or compiled code."""
    text = bytearray(call_nvrtc(f"nvrtcGet{kind}Size", program))
    call_nvrtc(f"nvrtcGet{kind}", program, text)
    return bytes(text)


class NVRTCCompiler:
    """CUDA C++ to PTX, CUBIN and LTO IR.

    Parameters
    ----------
    code : bytes
        The source.
    name : bytes
        What messages call the source.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    NVRTCError
        If NVRTC does not take the source.
    """

    backend = CompilerBackendType.NVRTC
    targets = (ObjectCodeFormatType.PTX, ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.LTOIR)
    options_of = "nvrtc"

    def __init__(self, code: bytes, name: bytes):
        self._lock = threading.Lock()  # one compilation of a program at a time
        self._program = None
        self._program = call_nvrtc("nvrtcCreateProgram", code, name, 0, [], [])
        self.pch_status = None

    def __del__(self):
        # The interpreter may have taken the bindings apart already; the process ends then anyway.
        if not sys.is_finalizing() and getattr(self, "_program", None) is not None:
            self.close()

    def close(self) -> None:
        """Destroy the program (``nvrtcDestroyProgram``), after a compilation in another thread."""
        with self._lock:
            program, self._program = self._program, None
        if program is not None and int(program):
            (error,) = load_nvrtc().nvrtcDestroyProgram(program)
            if error:
                warnings.warn(
                    f"releasing a CUDA resource failed: {nvrtc_error(error, 'nvrtcDestroyProgram')}",
                    ResourceWarning,
                    stacklevel=2,
                )

    @property
    def handle(self):
        """The ``nvrtc.nvrtcProgram``, null when closed."""
        program = self._program
        return load_nvrtc().nvrtcProgram() if program is None else program

    def check(self, options) -> None:
        """Refuse what this NVRTC is too old for.

        Raises
        ------
        NotSupportedError
            If an option needs a newer one.
        """
        if options.use_bundled_headers and not has_bundled_headers():
            raise NotSupportedError(
                "use_bundled_headers needs an NVRTC that has headers inside, and this one, {}.{}, has not; "
                "install a newer nvidia-cuda-nvrtc".format(*nvrtc_version())
            )

    def compile(self, target: ObjectCodeFormatType, options: list[bytes], name_expressions, makes_pch: bool):
        """Compile (``nvrtcCompileProgram``).

        Parameters
        ----------
        target : ObjectCodeFormatType
            What to make.
        options : list of bytes
            The arguments.
        name_expressions : list of bytes
            Expressions whose mangled names are wanted.
        makes_pch : bool
            Whether a precompiled header is to be made.

        Returns
        -------
        tuple
            The code, the mangled names, and the log.

        Raises
        ------
        NVRTCError
            If the source has errors, or an option is wrong; with the log.
        """
        with self._lock:
            program = self._program
            if program is None:
                raise RuntimeError("this Program is closed")
            for expression in name_expressions:
                call_nvrtc("nvrtcAddNameExpression", program, expression)
            call_nvrtc("nvrtcCompileProgram", program, len(options), options, program=program)
            self.pch_status = self._finish_pch(program, options) if makes_pch and nvrtc_version() >= _PCH else None
            code = program_text(target.name, program)
            symbols = [call_nvrtc("nvrtcGetLoweredName", program, expression) for expression in name_expressions]
            return code, symbols, program_log(program)

    def _finish_pch(self, program, options) -> PCHStatusType:
        nvrtc = load_nvrtc()
        results = nvrtc.nvrtcResult
        (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if result == results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            call_nvrtc("nvrtcSetPCHHeapSize", call_nvrtc("nvrtcGetPCHHeapSizeRequired", program))
            call_nvrtc("nvrtcCompileProgram", program, len(options), options, program=program)
            (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if result == results.NVRTC_SUCCESS:
            return PCHStatusType.CREATED
        if result == results.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED:
            return PCHStatusType.NOT_ATTEMPTED
        if result in (results.NVRTC_ERROR_PCH_CREATE, results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED):
            return PCHStatusType.FAILED
        raise nvrtc_error(result, "nvrtcGetPCHCreateStatus")
