# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVRTC: its version, and the back end that compiles CUDA C++.

A back end is constructed from a source, its name and compile settings, and raises if it does not support them. It has
the attributes ``backend``, ``targets``, ``handle`` and ``pch_status`` and the methods ``compile()`` and ``close()``.

C functions are called without ``cuda.bindings.nvrtc``, whose import takes longer than compiling a small kernel. Long
calls release the GIL, so programs compile in parallel.
"""

from __future__ import annotations

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t
from libcpp.vector cimport vector

from cuda.core._utils cimport cynvrtc
from cuda.core._utils._cpython cimport check_self_in_methods

import contextlib
import functools
import importlib
import os
import sys
import warnings

from cuda.core._code._probe import Probe
from cuda.core._compile._missing_headers import added_include_paths, missing_header_advice
from cuda.core._compile._name_expressions import expression_errors
from cuda.core._compile._option_table import newer_options
from cuda.core._compile._options import PCH, ProgramOptions
from cuda.core._compile._tools import CallLock
from cuda.core._utils import libraries
from cuda.core._utils.cuda_utils import CUDAWarning, NotSupportedError, NVRTCError, UnavailableError, nvrtc_error
from cuda.core._utils.files import record_version, recorded_version
from cuda.core._utils.host_wait import run_interruptibly
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

__all__ = ["NVRTCBackEnd", "OptionNotSupportedError", "check_nvrtc_options", "nvrtc_version", "record_nvrtc"]


# The options without which NVRTC generates nothing for a target.
_IMPLIED_OPTIONS = {ObjectCodeFormatType.OPTIXIR: b"--optix-ir", ObjectCodeFormatType.TILEIR: b"--enable-tile"}


cdef extern from *:
    ctypedef int volatile_int "volatile int"


class NVRTCBackEnd:
    """Compiles CUDA C++ to PTX, CUBIN or LTO IR with NVRTC.

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
    targets = (
        ObjectCodeFormatType.PTX,
        ObjectCodeFormatType.CUBIN,
        ObjectCodeFormatType.LTOIR,
        ObjectCodeFormatType.OPTIXIR,
        ObjectCodeFormatType.TILEIR,
    )

    def __init__(self, source: bytes, name: bytes, settings):
        self._call_lock = CallLock()  # one compilation of a program at a time
        self._program = 0
        self._handle = None
        self.pch_status = None
        self._arguments = list(settings.arguments)
        self._probe = Probe.of_source(source.decode(), settings.arguments)
        self._answer = None  # before the first compilation
        self._replaced = 0
        self._has_lto_option = settings.options.link_time_optimization is not None
        self._source = source, name  # None when closed
        self._makes_pch = bool(settings.options.pch or settings.options.create_pch)
        self._open()

    def __del__(self, is_finalizing=sys.is_finalizing):  # the names of modules may be gone by then
        # During interpreter exit, the process frees the memory anyway.
        if not is_finalizing() and getattr(self, "_program", 0):
            self.close()

    def close(self) -> None:
        """Destroy the program (``nvrtcDestroyProgram``), after a running compilation in another thread."""
        self._call_lock.after_call(self._destroy)

    def _destroy(self) -> None:
        programs = self._program, self._replaced
        self._program, self._replaced, self._handle, self._source = 0, 0, None, None
        for program in filter(None, programs):
            destroy_program(program)

    @property
    def handle(self):
        """The program as an ``nvrtc.nvrtcProgram``, or null if closed."""
        if self._source is None:
            return self.null_handle()
        if not self._program:
            with self._call_lock:
                self._open()
        if self._handle is None:
            self._handle = importlib.import_module("cuda.bindings.nvrtc").nvrtcProgram(init_value=self._program)
        return self._handle

    @staticmethod
    def null_handle():
        """Return the handle of a closed program."""
        return importlib.import_module("cuda.bindings.nvrtc").nvrtcProgram()

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
            The code, the mangled names, the log, and the question about types with its answer, or empty values.

        Raises
        ------
        NVRTCError
            If the source or an option is invalid. It contains the log.
        """
        with self._call_lock:
            while True:
                asks = self._probe is not None and self._answer is None
                try:
                    questions = [expression.encode() for expression in self._probe.expressions] if asks else []
                    return self._compile(target, name_expressions, questions)
                except NVRTCError as error:
                    added = added_include_paths(error.log, self._arguments)
                    if not added and not asks:
                        raise
                    self._arguments += added
                    if not added:
                        # A part of the question might be wrong: the program is compiled with the rest, or with none.
                        self._probe = self._probe.without_rejected(error.log or "")
                self._replace()

    def _compile(self, target, name_expressions, questions):
        program = self._open()
        options = self._arguments
        if target is ObjectCodeFormatType.LTOIR and not self._has_lto_option:
            # The target implies this option, without which NVRTC generates no LTO IR.
            options = [*options, b"--dlink-time-opt"]
        elif target in _IMPLIED_OPTIONS and _IMPLIED_OPTIONS[target] not in options:
            options = [*options, _IMPLIED_OPTIONS[target]]
        self.pch_status = None
        for expression in name_expressions + questions:
            add_name_expression(program, expression)
        try:
            self._run(program, options)
        except NVRTCError as error:
            lines = expression_errors(error.log, self._source[0]) if name_expressions else []
            if lines:  # instead of the log, which remains an attribute
                error.args = ("\n".join([error.args[0].partition("\n")[0], *lines]),)
            raise
        if self._makes_pch and nvrtc_version() >= PCH:
            self.pch_status = self._finish_pch(program, options)
        code = program_text(target.name, program)
        if target in _IMPLIED_OPTIONS and not code.strip(b"\0"):
            raise NotSupportedError(f"this compiler generates no {target.value} of the source")
        symbols = [lowered_name(program, expression) for expression in name_expressions]
        if questions:
            self._answer = b"\n".join([lowered_name(program, expression) for expression in questions])
        question = "" if self._probe is None else self._probe.text
        return code, symbols, program_log(program), question, self._answer or b""

    def _open(self) -> int:
        if self._source is None:
            raise UnavailableError("this Program is closed")
        if not self._program:
            source, name = self._source
            line = b"" if self._probe is None else self._probe.line.encode()
            self._program = create_program(source + line, name)
        return self._program

    def _replace(self) -> None:
        """Let the next use create another program. One whose handle was read stays valid."""
        if self._handle is None:
            destroy_program(self._program)
        else:
            self._replaced = self._program
        self._program, self._handle = 0, None

    def _run(self, program, options) -> None:
        flag = set_cancel_flag(program)
        abandoned = []

        def abandon():
            abandoned.append(program)
            return lambda: (destroy_program(program), flag)

        try:
            run_interruptibly(lambda: compile_program(program, options), flag.set, abandon)
        except NVRTCError:
            raise
        except BaseException:
            # Interrupted: the next compilation creates a new program. In older versions of NVRTC, creating it here
            # would wait for the abandoned compilation.
            self._program, self._handle = 0, None
            if not abandoned:
                destroy_program(program)
            raise

    def _finish_pch(self, program, options) -> PCHStatusType:
        status = pch_create_status(program)
        if status == cynvrtc.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            enlarge_pch_heap(program)
            self._run(program, options)
            status = pch_create_status(program)
        if status == cynvrtc.NVRTC_SUCCESS:
            return PCHStatusType.CREATED
        if status == cynvrtc.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED:
            return PCHStatusType.NOT_ATTEMPTED
        if status in (cynvrtc.NVRTC_ERROR_PCH_CREATE, cynvrtc.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED):
            return PCHStatusType.FAILED
        raise error_of(status, "nvrtcGetPCHCreateStatus")


class OptionNotSupportedError(NotSupportedError, NVRTCError):
    """An option needs a newer NVRTC than the loaded one."""


# --- Programs ---------------------------------------------------------------------------------------------------------

ctypedef cynvrtc.nvrtcResult (*SizeFunction)(
    cynvrtc.nvrtcProgram, size_t*
) except? cynvrtc.NVRTC_ERROR_INVALID_INPUT nogil
ctypedef cynvrtc.nvrtcResult (*TextFunction)(
    cynvrtc.nvrtcProgram, char*
) except? cynvrtc.NVRTC_ERROR_INVALID_INPUT nogil


def create_program(bytes source not None, bytes name not None) -> int:
    """Create a program (``nvrtcCreateProgram``), and return its handle as an int."""
    cdef const char* c_source = source
    cdef const char* c_name = name
    cdef cynvrtc.nvrtcProgram c_program = NULL
    cdef cynvrtc.nvrtcResult c_result
    loaded_nvrtc_version()
    with nogil:
        c_result = cynvrtc.nvrtcCreateProgram(&c_program, c_source, c_name, 0, NULL, NULL)
    check(c_result, "nvrtcCreateProgram")
    return <intptr_t>c_program


def destroy_program(intptr_t program) -> None:
    """Destroy a program (``nvrtcDestroyProgram``), and warn with a ``CUDAWarning`` if that fails."""
    cdef cynvrtc.nvrtcProgram c_program = <cynvrtc.nvrtcProgram>program
    cdef cynvrtc.nvrtcResult c_result
    with nogil:
        c_result = cynvrtc.nvrtcDestroyProgram(&c_program)
    if c_result != cynvrtc.NVRTC_SUCCESS:
        warnings.warn(
            f"releasing the CUDA resource {program:#x} failed: {error_of(c_result, 'nvrtcDestroyProgram')}",
            CUDAWarning,
            stacklevel=1,
        )


def compile_program(intptr_t program, list options not None) -> None:
    """Compile a program (``nvrtcCompileProgram``), and add advice to errors about options and missing headers."""
    cdef vector[const char*] c_options
    cdef int c_count = <int>len(options)
    cdef cynvrtc.nvrtcResult c_result
    cdef bytes option
    for option in options:
        c_options.push_back(option)
    with nogil:
        c_result = cynvrtc.nvrtcCompileProgram(<cynvrtc.nvrtcProgram>program, c_count, c_options.data())
    if c_result == cynvrtc.NVRTC_SUCCESS:
        return
    log = program_log(program)
    error = error_of(c_result, "nvrtcCompileProgram", log)
    if c_result == cynvrtc.NVRTC_ERROR_INVALID_OPTION:
        advice = option_advice(log, options)
    else:
        advice = missing_header_advice(error.log, nvrtc_version(), has_bundled_headers())
    if advice:
        error.args = (f"{error.args[0].rstrip()}\n{advice}",)
    raise error


def option_advice(log: str, options: list[bytes]) -> str:
    """Return advice about an option that NVRTC rejects: the loaded version, and all options that were passed."""
    loaded = "the loaded NVRTC {}.{}".format(*nvrtc_version())
    given = f"the options were {b' '.join(options).decode(errors='replace')}"
    if "unrecognized option" in log:
        return f"{loaded} does not support an option, which might need a newer one; {given}"
    if "--gpu-architecture" in log:
        numbers = ", ".join(map(str, supported_archs()))
        return f"{loaded} supports 'sm_NUMBER' with the numbers {numbers}; {given}"
    return given


def supported_archs() -> list[int]:
    """Return the numbers of the architectures that NVRTC supports, such as 90 (``nvrtcGetSupportedArchs``)."""
    cdef int c_count = 0
    cdef vector[int] c_archs
    check(cynvrtc.nvrtcGetNumSupportedArchs(&c_count), "nvrtcGetNumSupportedArchs")
    c_archs.resize(c_count)
    check(cynvrtc.nvrtcGetSupportedArchs(c_archs.data()), "nvrtcGetSupportedArchs")
    return c_archs


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


def set_cancel_flag(intptr_t program) -> CancelFlag:
    """Return a new flag that cancels the compilation of a program (``nvrtcSetFlowCallback``, since NVRTC 12.9)."""
    flag = CancelFlag()
    cdef intptr_t c_callback = int(flag.callback)
    cdef intptr_t c_argument = int(flag.argument)
    with contextlib.suppress(RuntimeError):  # an older NVRTC
        check(
            cynvrtc.nvrtcSetFlowCallback(<cynvrtc.nvrtcProgram>program, <void*>c_callback, <void*>c_argument),
            "nvrtcSetFlowCallback",
        )
    return flag


def add_name_expression(intptr_t program, bytes expression not None) -> None:
    """Add a name expression, before the program is compiled (``nvrtcAddNameExpression``)."""
    check(cynvrtc.nvrtcAddNameExpression(<cynvrtc.nvrtcProgram>program, expression), "nvrtcAddNameExpression")


def lowered_name(intptr_t program, bytes expression not None) -> bytes:
    """Return the mangled name of a name expression (``nvrtcGetLoweredName``)."""
    cdef const char* c_name = NULL
    check(cynvrtc.nvrtcGetLoweredName(<cynvrtc.nvrtcProgram>program, expression, &c_name), "nvrtcGetLoweredName")
    return c_name


def pch_create_status(intptr_t program) -> int:
    """Return the status of the precompiled header as an ``nvrtcResult`` (``nvrtcGetPCHCreateStatus``)."""
    return <int>cynvrtc.nvrtcGetPCHCreateStatus(<cynvrtc.nvrtcProgram>program)


def enlarge_pch_heap(intptr_t program) -> None:
    """Enlarge the heap for precompiled headers, for all programs of this process (``nvrtcSetPCHHeapSize``)."""
    cdef size_t c_size = 0
    check(
        cynvrtc.nvrtcGetPCHHeapSizeRequired(<cynvrtc.nvrtcProgram>program, &c_size), "nvrtcGetPCHHeapSizeRequired"
    )
    check(cynvrtc.nvrtcSetPCHHeapSize(c_size), "nvrtcSetPCHHeapSize")


def program_log(program) -> str:
    """Return the log of the latest compilation, which might be empty (``nvrtcGetProgramLog``)."""
    return program_text("ProgramLog", program).rstrip(b"\0").decode(errors="backslashreplace")


def program_text(str kind, intptr_t program) -> bytes:
    """Return an output of NVRTC, by the name of the target, or the log as ``"ProgramLog"``."""
    if kind == "PTX":
        return read_text(program, kind, cynvrtc.nvrtcGetPTXSize, cynvrtc.nvrtcGetPTX)
    if kind == "CUBIN":
        return read_text(program, kind, cynvrtc.nvrtcGetCUBINSize, cynvrtc.nvrtcGetCUBIN)
    if kind == "LTOIR":
        return read_text(program, kind, cynvrtc.nvrtcGetLTOIRSize, cynvrtc.nvrtcGetLTOIR)
    if kind == "OPTIXIR":
        return read_text(program, "OptiXIR", cynvrtc.nvrtcGetOptiXIRSize, cynvrtc.nvrtcGetOptiXIR)
    if kind == "TILEIR":
        return read_text(program, "TileIR", cynvrtc.nvrtcGetTileIRSize, cynvrtc.nvrtcGetTileIR)
    return read_text(program, kind, cynvrtc.nvrtcGetProgramLogSize, cynvrtc.nvrtcGetProgramLog)


cdef bytes read_text(intptr_t program, str kind, SizeFunction size, TextFunction read):
    cdef size_t c_size = 0
    cdef cynvrtc.nvrtcResult c_result
    cdef char* c_text
    check(size(<cynvrtc.nvrtcProgram>program, &c_size), f"nvrtcGet{kind}Size")
    text = bytearray(c_size)
    c_text = text
    with nogil:
        c_result = read(<cynvrtc.nvrtcProgram>program, c_text)
    check(c_result, f"nvrtcGet{kind}")
    return bytes(text)


cdef int check(cynvrtc.nvrtcResult c_result, str api) except -1:
    if c_result != cynvrtc.NVRTC_SUCCESS:
        raise error_of(c_result, api)
    return 0


def error_of(int result, str api, log: str | None = None) -> NVRTCError:
    """Return the exception for an ``nvrtcResult``."""
    return nvrtc_error(result, result_name(result), api, log)


def result_name(int result) -> str:
    """Return the name of an ``nvrtcResult`` (``nvrtcGetErrorString``), for which no bindings need to be installed."""
    ctypes = importlib.import_module("ctypes")  # slow to import
    function = ctypes.CDLL(loaded_path()).nvrtcGetErrorString
    function.restype = ctypes.c_char_p
    return function(result).decode()


# --- The library ------------------------------------------------------------------------------------------------------

cdef extern from "calls.hpp" nogil:
    bint c_is_loaded "cuda_core::nvrtc_calls::is_loaded"()
    const char* c_loaded_path "cuda_core::nvrtc_calls::loaded_path"() except? NULL


def nvrtc_version() -> tuple[int, int]:
    """Return the CUDA version of NVRTC, ``(major, minor)``, without loading it if the version is recorded on disk.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    """
    return recorded_nvrtc_version() or loaded_nvrtc_version()


@functools.cache
def loaded_nvrtc_version() -> tuple[int, int]:
    """Load NVRTC, and return its version (``nvrtcVersion``).

    Raises
    ------
    RuntimeError
        If NVRTC is missing. The message says what to install.
    """
    try:
        version = call_version()
    except RuntimeError as error:
        raise type(error)(
            "the CUDA C++ compiler (libnvrtc) was not found; install it with `pip install nvidia-cuda-nvrtc`, or the "
            f"CUDA Toolkit. {error}"
        ) from None
    if recorded_nvrtc_version() not in (None, version):  # another module has loaded another NVRTC
        recorded_nvrtc_version.cache_clear()
    keep_freed_memory()
    return version


cdef void keep_freed_memory() noexcept:
    # A small compilation allocates and frees about 6 MB. By default, the GNU C library returns that memory to the
    # system every time, and the page faults of the next compilation cost up to a third of its time. Once a larger block
    # has been freed, the library keeps up to twice that size, as in programs that use large arrays.
    PyMem_RawFree(PyMem_RawMalloc(8 << 20))


def call_version() -> tuple[int, int]:
    cdef int c_major = 0
    cdef int c_minor = 0
    check(cynvrtc.nvrtcVersion(&c_major, &c_minor), "nvrtcVersion")
    return c_major, c_minor


@functools.cache
def recorded_nvrtc_version() -> tuple[int, int] | None:
    """Return the recorded version of the NVRTC that a call would load, or None if it is loaded or not recorded."""
    path = None if is_loaded() else libraries.nvrtc(False)
    return recorded_version(path) if path else None


@functools.cache
def require_nvrtc() -> None:
    """Check that NVRTC is installed, and load it only if it is not found otherwise.

    Raises
    ------
    RuntimeError
        If NVRTC is missing.
    """
    if not is_loaded() and not libraries.nvrtc(False):
        loaded_nvrtc_version()


def record_nvrtc() -> None:
    """Record the version of the loaded NVRTC, unless it was loaded from another path than calls would use."""
    if recorded_nvrtc_version() is None and is_loaded():
        path = libraries.nvrtc(False)
        if path and loaded_path() == os.path.realpath(path):
            record_version(path, loaded_nvrtc_version())


def is_loaded() -> bool:
    """Return whether NVRTC is already loaded, so that the next call does not load it."""
    return c_is_loaded()


def loaded_path() -> str:
    """Load NVRTC, and return the path of its library, with symbolic links resolved."""
    cdef const char* c_path = c_loaded_path()
    return os.path.realpath(os.fsdecode(<bytes>c_path)) if c_path != NULL else ""


@functools.cache
def has_bundled_headers() -> bool:
    """Return whether NVRTC has built-in CUDA headers."""
    try:
        return call_bundled_headers()
    except RuntimeError:  # an older NVRTC
        return False


def call_bundled_headers() -> bool:
    cdef cynvrtc.nvrtcBundledHeadersInfo c_info
    cdef const char* c_log = NULL
    check(cynvrtc.nvrtcGetBundledHeadersInfo(&c_info, &c_log), "nvrtcGetBundledHeadersInfo")
    return bool(c_info.available)


def check_nvrtc_options(options: ProgramOptions) -> None:
    """Check that the loaded NVRTC is new enough for all options.

    Raises
    ------
    NotSupportedError
        If an option needs a newer NVRTC. The message contains both versions.
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


check_self_in_methods(globals())
