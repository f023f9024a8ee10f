# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compilers behind :class:`~cuda.core.Program`: NVRTC for CUDA C++, NVVM for its IR, the linker for PTX.

A back end is made of the source, its name and the plan, and refuses what it does not take. It has
``backend``, ``targets``, ``handle``, ``pch_status``, ``compile()`` and ``close()``. The bindings release
the interpreter lock around every call, so that programs compile in parallel.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import warnings
from pathlib import Path

from cuda.core._compile._missing_headers import missing_header_advice
from cuda.core._compile._option_table import newer_options
from cuda.core._compile._options import PCH, ProgramOptions
from cuda.core._linker import Linker
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import CUDAError, NotSupportedError, NVRTCError, nvrtc_error
from cuda.core._utils.tool_errors import tool_error
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

__all__ = ["LinkerCompiler", "NVRTCCompiler", "NVVMCompiler", "OptionNotSupportedError", "nvrtc_version"]

_MISSING_NVRTC = (
    "the CUDA C++ compiler (libnvrtc) was not found; "
    "install it with `pip install nvidia-cuda-nvrtc`, or the CUDA Toolkit"
)

_MISSING_NVVM = (
    "the NVVM compiler (libnvvm) was not found; install it with `pip install nvidia-nvvm`, or the CUDA Toolkit"
)


class OptionNotSupportedError(NotSupportedError, NVRTCError):
    """An option is newer than the NVRTC that is loaded."""


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
        raise type(error)(f"{_MISSING_NVRTC}. {error}") from None
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
    source : bytes
        The source.
    name : bytes
        What messages call the source.
    plan : ProgramPlan
        How to compile.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    NVRTCError
        If NVRTC does not take the source.
    """

    backend = CompilerBackendType.NVRTC
    targets = (ObjectCodeFormatType.PTX, ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.LTOIR)

    def __init__(self, source: bytes, name: bytes, plan):
        self._lock = threading.Lock()  # one compilation of a program at a time
        self._program = None
        self.pch_status = None
        self._arguments = list(plan.arguments)
        self._has_lto_option = plan.options.link_time_optimization is not None
        self._makes_pch = bool(plan.options.pch or plan.options.create_pch)
        self._program = call_nvrtc("nvrtcCreateProgram", source, name, 0, [], [])

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
        return self.null_handle() if program is None else program

    @staticmethod
    def null_handle():
        """Return the handle of a closed program."""
        return load_nvrtc().nvrtcProgram()

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Compile (``nvrtcCompileProgram``).

        Parameters
        ----------
        target : ObjectCodeFormatType
            What to make.
        name_expressions : list of bytes
            Expressions whose mangled names are wanted.

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
            options = self._arguments
            if target is ObjectCodeFormatType.LTOIR and not self._has_lto_option:
                # NVRTC makes LTO IR only when asked to, and the target asks for it.
                options = [*options, b"--dlink-time-opt"]
            self.pch_status = None
            for expression in name_expressions:
                call_nvrtc("nvrtcAddNameExpression", program, expression)
            compile_cxx(program, options)
            if self._makes_pch and nvrtc_version() >= PCH:
                self.pch_status = self._finish_pch(program, options)
            code = program_text(target.name, program)
            symbols = [call_nvrtc("nvrtcGetLoweredName", program, expression) for expression in name_expressions]
            return code, symbols, program_log(program)

    def _finish_pch(self, program, options) -> PCHStatusType:
        nvrtc = load_nvrtc()
        results = nvrtc.nvrtcResult
        (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if result == results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            call_nvrtc("nvrtcSetPCHHeapSize", call_nvrtc("nvrtcGetPCHHeapSizeRequired", program))
            compile_cxx(program, options)
            (result,) = nvrtc.nvrtcGetPCHCreateStatus(program)
        if result == results.NVRTC_SUCCESS:
            return PCHStatusType.CREATED
        if result == results.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED:
            return PCHStatusType.NOT_ATTEMPTED
        if result in (results.NVRTC_ERROR_PCH_CREATE, results.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED):
            return PCHStatusType.FAILED
        raise nvrtc_error(result, "nvrtcGetPCHCreateStatus")


def compile_cxx(program, options: list[bytes]) -> None:
    """Compile, and say what to do where NVRTC lacks an option or a header (``nvrtcCompileProgram``)."""
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
    """Return what the log of NVRTC does not say about an option that it refuses."""
    loaded = "NVRTC {}.{}, which is loaded,".format(*nvrtc_version())
    given = f"the options were {b' '.join(options).decode(errors='replace')}"
    if "unrecognized option" in log:
        return f"{loaded} does not know an option; a newer one may; {given}"
    if "--gpu-architecture" in log:
        numbers = ", ".join(str(number) for number in call_nvrtc("nvrtcGetSupportedArchs"))
        return f"{loaded} compiles for 'sm_NUMBER' with the numbers {numbers}; {given}"
    return given


def check_nvrtc_options(options: ProgramOptions) -> None:
    """Refuse what the NVRTC that is loaded is too old for.

    Raises
    ------
    NotSupportedError
        If an option needs a newer one; the message has both versions.
    """
    loaded = nvrtc_version()
    newer = newer_options(options, "nvrtc", loaded)
    if newer:
        needs = ", ".join("{} needs NVRTC {}.{}".format(name, *since) for name, since in newer)
        raise OptionNotSupportedError(
            "{}, and the one that is loaded is {}.{}; install a newer nvidia-cuda-nvrtc".format(needs, *loaded)
        )
    if options.use_bundled_headers and not has_bundled_headers():
        raise OptionNotSupportedError(
            "use_bundled_headers needs an NVRTC that has headers inside, and this one, {}.{}, has not; "
            "install a newer nvidia-cuda-nvrtc".format(*loaded)
        )


@functools.cache
def load_nvvm():
    """Return the bindings of NVVM, having made sure that the library is there.

    Raises
    ------
    RuntimeError
        If it is not; the message says what to install.
    """
    try:
        nvvm = importlib.import_module("cuda.bindings.nvvm")
        nvvm.version()
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"{_MISSING_NVVM}. {error}") from None
    return nvvm


def call_nvvm(api: str, *args, program: int = 0, detail: str = ""):
    """Call NVVM and return its result.

    Raises
    ------
    nvvmError
        If the call failed; with ``detail`` and the log of ``program``.
    """
    nvvm = load_nvvm()
    try:
        return getattr(nvvm, api)(*args)
    except nvvm.nvvmError as error:
        entry = "nvvm" + "".join(word.capitalize() for word in api.split("_"))
        raise tool_error("nvvmError", error.status, entry, detail, nvvm_log(program) if program else "") from None


def nvvm_log(program: int) -> str:
    """Return the messages of NVVM, empty if there were none."""
    return nvvm_text("program_log", program).rstrip(b"\0").decode(errors="backslashreplace")


def nvvm_text(kind: str, program: int) -> bytes:
    """Return what NVVM holds of a kind: the log, or the result."""
    text = bytearray(call_nvvm(f"get_{kind}_size", program))
    if text:
        call_nvvm(f"get_{kind}", program, text)
    return bytes(text)


def describe_nvvm(options: ProgramOptions) -> str:
    """Return which NVVM is loaded, and which one the options need: it has no CUDA version to compare with."""
    nvvm = load_nvvm()
    loaded = "NVVM {}.{} for IR {}.{} is loaded".format(*nvvm.version(), *nvvm.ir_version()[:2])
    newer = newer_options(options, "nvvm", (0, 0))
    needs = ["{} needs that of CUDA {}.{}".format(name, *since) for name, since in newer]
    return "; ".join([loaded, *needs])


def libdevice() -> bytes:
    """Return the library of mathematical functions, as bitcode.

    Raises
    ------
    RuntimeError
        If it was not found.
    """
    pathfinder = importlib.import_module("cuda.pathfinder")
    try:
        return content_of(pathfinder.find_bitcode_lib("device"))
    except (OSError, RuntimeError) as error:
        raise RuntimeError(
            "use_libdevice needs libdevice.10.bc, which was not found; "
            f"install it with `pip install nvidia-nvvm`, or the CUDA Toolkit. {error}"
        ) from None


@functools.cache
def content_of(path: str) -> bytes:
    """Return what is in a file, read once: many programs hold it."""
    return Path(path).read_bytes()


class NVVMCompiler:
    """NVVM IR, as text or bitcode, to PTX and LTO IR.

    Parameters
    ----------
    source : bytes
        The IR.
    name : bytes
        What messages call it.
    plan : ProgramPlan
        How to compile.

    Raises
    ------
    RuntimeError
        If NVVM is missing.
    nvvmError
        If NVVM does not take a module.
    """

    backend = CompilerBackendType.NVVM
    targets = (ObjectCodeFormatType.PTX, ObjectCodeFormatType.LTOIR)
    pch_status = None

    def __init__(self, source: bytes, name: bytes, plan):
        self._lock = threading.Lock()  # one compilation of a program at a time
        self._program = 0
        self._arguments = plan.arguments
        self._detail = describe_nvvm(plan.options)
        self._program = call_nvvm("create_program")
        modules = [(name.decode(errors="replace"), source), *(plan.options.extra_sources or ())]
        for module_name, code in modules:
            self._add("add_module_to_program", code.encode() if isinstance(code, str) else bytes(code), module_name)
        if plan.libdevice:
            self._add("lazy_add_module_to_program", plan.libdevice, "libdevice")

    def __del__(self):
        # The interpreter may have taken the bindings apart already; the process ends then anyway.
        if not sys.is_finalizing() and getattr(self, "_program", 0):
            self.close()

    def close(self) -> None:
        """Destroy the program (``nvvmDestroyProgram``), after a compilation in another thread."""
        with self._lock:
            program, self._program = self._program, 0
        if program:
            try:
                call_nvvm("destroy_program", program)
            except CUDAError as error:
                warnings.warn(f"releasing a CUDA resource failed: {error}", ResourceWarning, stacklevel=2)

    @property
    def handle(self) -> int:
        """The address of the ``nvvmProgram``, 0 when closed."""
        return self._program

    @staticmethod
    def null_handle() -> int:
        """Return the handle of a closed program."""
        return 0

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Check and compile (``nvvmVerifyProgram``, ``nvvmCompileProgram``).

        Parameters
        ----------
        target : ObjectCodeFormatType
            What to make.
        name_expressions : list of bytes
            Not used: names in IR are mangled already.

        Returns
        -------
        tuple
            The code, no mangled names, and the log.

        Raises
        ------
        nvvmError
            If the IR has errors, or an option is wrong; with the log.
        """
        with self._lock:
            program = self._program
            if not program:
                raise RuntimeError("this Program is closed")
            options = self._arguments[target]
            for api in ("verify_program", "compile_program"):
                call_nvvm(api, program, len(options), options, program=program, detail=self._detail)
            return nvvm_text("compiled_result", program), [], nvvm_log(program)

    def _add(self, api, code, name):
        detail = f"adding the module {name!r} of {len(code)} bytes failed"
        if not code:
            # Older versions of libNVVM take it, and make code without a kernel.
            raise CUDAError(f"{detail}: there is no IR")
        call_nvvm(api, self._program, code, len(code), name, program=self._program, detail=detail)


class LinkerCompiler:
    """PTX to CUBIN, by the linker.

    Parameters
    ----------
    source : bytes
        The PTX.
    name : bytes
        What messages call it.
    plan : ProgramPlan
        How to compile.

    Raises
    ------
    nvJitLinkError, CUDAError
        If the linker does not take the PTX or an option.
    """

    backend = None  # one of two
    targets = (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.PTX)
    pch_status = None

    def __init__(self, source: bytes, name: bytes, plan):
        self._options = plan.arguments
        self._input = ObjectCode.from_ptx(source, name=name.decode(errors="replace"))
        self._lock = threading.Lock()  # one compilation of a program at a time
        self._is_linked = False
        self._linker = Linker(self._input, options=self._options)

    def close(self) -> None:
        """Close the linker, after a compilation in another thread."""
        with self._lock:
            self._linker.close()

    @property
    def handle(self):
        """The handle of the linker."""
        return self._linker.handle

    @staticmethod
    def null_handle():
        """Return the handle of a closed program."""
        return 0  # of nvJitLink: the driver's linker gets its source at once

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Link the PTX alone.

        Parameters
        ----------
        target : ObjectCodeFormatType
            What to make.
        name_expressions : list of bytes
            Not used: names in PTX are mangled already.

        Returns
        -------
        tuple
            The code, no mangled names, and the log.

        Raises
        ------
        nvJitLinkError, CUDAError
            If the linker fails; with the log.
        """
        with self._lock:
            if self._linker.is_closed:
                raise RuntimeError("this Program is closed")
            if self._is_linked:
                # A linker links once.
                self._linker.close()
                self._linker = Linker(self._input, options=self._options)
            self._is_linked = True
            return self._linker.link(target).code, [], self._linker.get_info_log()
