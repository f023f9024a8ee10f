# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVVM: the back end that compiles NVVM IR, with the interface of a back end that ``_nvrtc`` describes."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings

from cuda.core._compile._option_table import newer_options
from cuda.core._compile._options import ProgramOptions
from cuda.core._compile._tools import CallLock, tool_error
from cuda.core._utils.cuda_utils import CUDAError, CUDAWarning, UnavailableError
from cuda.core._utils.host_wait import run_interruptibly
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["NVVMBackEnd", "libdevice", "load_nvvm"]

_MISSING_NVVM = (
    "the NVVM compiler (libnvvm) was not found; install it with `pip install nvidia-nvvm`, or the CUDA Toolkit"
)


@functools.cache
def load_nvvm():
    """Load NVVM, and return the module with its bindings.

    Raises
    ------
    RuntimeError
        If NVVM is missing; the message says what to install.
    """
    try:
        nvvm = importlib.import_module("cuda.bindings.nvvm")
        nvvm.version()
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"{_MISSING_NVVM}. {error}") from None
    return nvvm


def call_nvvm(api: str, *args, program: int = 0, detail: str = ""):
    """Call a function of NVVM, and return its result.

    Raises
    ------
    nvvmError
        If the call failed; it has ``detail`` and the log of ``program``.
    """
    nvvm = load_nvvm()
    try:
        return getattr(nvvm, api)(*args)
    except nvvm.nvvmError as error:
        entry = "nvvm" + "".join(word.capitalize() for word in api.split("_"))
        raise tool_error("nvvmError", error.status, entry, detail, nvvm_log(program) if program else "") from None


def nvvm_log(program: int) -> str:
    """Return the log of NVVM, which might be empty (``nvvmGetProgramLog``)."""
    return nvvm_text("program_log", program).rstrip(b"\0").decode(errors="backslashreplace")


def nvvm_text(kind: str, program: int) -> bytes:
    """Return an output of NVVM: the log or the compiled code."""
    text = bytearray(call_nvvm(f"get_{kind}_size", program))
    if text:
        call_nvvm(f"get_{kind}", program, text)
    return bytes(text)


def describe_nvvm(options: ProgramOptions) -> str:
    """Return the version of NVVM and what the options need, for messages: libnvvm reports no comparable version."""
    nvvm = load_nvvm()
    loaded = "NVVM {}.{} for IR {}.{} is loaded".format(*nvvm.version(), *nvvm.ir_version()[:2])
    newer = newer_options(options, "nvvm", (0, 0))
    needs = ["{} needs the NVVM of CUDA {}.{}".format(name, *since) for name, since in newer]
    return "; ".join([loaded, *needs])


def libdevice() -> bytes:
    """Return the bitcode of libdevice, the library of mathematical functions.

    Raises
    ------
    RuntimeError
        If libdevice was not found.
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
    """Return the contents of a file, which is read once per process."""
    with open(path, "rb") as file:
        return file.read()


class NVVMBackEnd:
    """Compiles NVVM IR, as text or bitcode, to PTX or LTO IR.

    Parameters
    ----------
    source : bytes
        The IR.
    name : bytes
        The name of the module in messages.
    settings : CompileSettings
        The compile settings.

    Raises
    ------
    RuntimeError
        If NVVM is missing.
    nvvmError
        If NVVM rejects a module.
    """

    backend = CompilerBackendType.NVVM
    targets = (ObjectCodeFormatType.PTX, ObjectCodeFormatType.LTOIR)
    pch_status = None

    def __init__(self, source: bytes, name: bytes, settings):
        self._call_lock = CallLock()  # one compilation of a program at a time
        self._program = 0
        self._arguments = settings.arguments
        self._detail = describe_nvvm(settings.options)
        modules = [(name.decode(errors="replace"), source), *(settings.options.extra_sources or ())]
        self._modules = [  # None when closed
            ("add_module_to_program", code.encode() if isinstance(code, str) else bytes(code), module_name)
            for module_name, code in modules
        ]
        if settings.libdevice:
            self._modules.append(("lazy_add_module_to_program", settings.libdevice, "libdevice"))
        self._open()

    def __del__(self, is_finalizing=sys.is_finalizing):  # the names of modules may be gone by then
        # During interpreter exit, the bindings might already be gone, and the process frees the memory anyway.
        if not is_finalizing() and getattr(self, "_program", 0):
            self.close()

    def close(self) -> None:
        """Destroy the program (``nvvmDestroyProgram``), after a running compilation in another thread."""
        self._call_lock.after_call(self._destroy)

    def _destroy(self) -> None:
        program, self._program, self._modules = self._program, 0, None
        if program:
            destroy_nvvm_program(program)

    @property
    def handle(self) -> int:
        """The ``nvvmProgram`` as an int, or 0 if closed."""
        if self._modules is not None and not self._program:
            with self._call_lock:
                self._open()
        return self._program

    @staticmethod
    def null_handle() -> int:
        """Return the handle of a closed program."""
        return 0

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Verify and compile the program (``nvvmVerifyProgram``, ``nvvmCompileProgram``).

        Parameters
        ----------
        target : ObjectCodeFormatType
            The output format.
        name_expressions : list of bytes
            Ignored: the symbols of IR are mangled already.

        Returns
        -------
        tuple
            The code, an empty list, and the log.

        Raises
        ------
        nvvmError
            If the IR or an option is invalid; it has the log.
        """
        with self._call_lock:
            program = self._open()
            self._run(program, self._arguments[target])
            return nvvm_text("compiled_result", program), [], nvvm_log(program)

    def _open(self):
        if self._modules is None:
            raise UnavailableError("this Program is closed")
        if not self._program:
            self._program = call_nvvm("create_program")
            for module in self._modules:
                self._add(*module)
        return self._program

    def _run(self, program, options) -> None:
        abandoned = []
        options = [option.decode() for option in options]  # the bindings of CUDA 12 take no bytes

        def compile_ir():
            for api in ("verify_program", "compile_program"):
                call_nvvm(api, program, len(options), options, program=program, detail=self._detail)

        def abandon():
            abandoned.append(program)
            return lambda: destroy_nvvm_program(program)

        try:
            run_interruptibly(compile_ir, lambda: None, abandon)
        except CUDAError:
            raise
        except BaseException:
            # Interrupted: NVVM cannot be canceled, so the next compilation creates a new program.
            self._program = 0
            if not abandoned:
                destroy_nvvm_program(program)
            raise

    def _add(self, api, code, name):
        detail = f"adding the module {name!r} of {len(code)} bytes failed"
        if not code:
            # Older versions of libNVVM accept an empty module, and generate code without a kernel.
            raise CUDAError(f"{detail}: the NVVM IR is empty")
        call_nvvm(api, self._program, code, len(code), name, program=self._program, detail=detail)


def destroy_nvvm_program(program: int) -> None:
    """Destroy a program, and warn with a ``CUDAWarning`` if that fails."""
    try:
        call_nvvm("destroy_program", program)
    except CUDAError as error:
        warnings.warn(f"releasing the CUDA resource {program:#x} failed: {error}", CUDAWarning, stacklevel=3)
