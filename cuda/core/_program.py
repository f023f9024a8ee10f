# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs: source code, and its compilation at run time."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import sys
import warnings
import weakref
from _thread import RLock

from cuda.core._compile._nvrtc import nvrtc_version
from cuda.core._compile._options import ProgramOptions
from cuda.core._compile._request import CompiledCode, CompileRequest, compile_settings
from cuda.core._handles import _late
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import CUDAError, check_or_create_options
from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.errors.values import answering, completed_as
from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.validators import name_bytes, shown
from cuda.core._utils.version import driver_version
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType, SourceCodeType

__all__ = ["Program", "ProgramOptions"]

_KINDS = {kind.value: kind for kind in SourceCodeType}
_TARGETS = {target.value: target for target in ObjectCodeFormatType}
CLOSED = "this Program is closed"

_caller = Deferred("cuda.core._utils.errors.caller")
_linker = Deferred("cuda.core._linker")


@answering
@needs_init("_settings", "_opening", "_code")
class Program:
    """Source code that is compiled at run time.

    Parameters
    ----------
    code : str | bytes | bytearray
        The source; CUDA C++ and PTX are a str, NVVM IR may also be bitcode.
    code_type : SourceCodeType | str
        The language, in upper or lower case: ``"c++"`` for NVRTC, ``"ptx"`` for the linker, ``"nvvm"`` for NVVM.
    options : :class:`ProgramOptions`, optional
        How to compile; a dict of its fields is taken too. They are copied: later changes have no effect.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    ValueError
        If the source has a null character, or the options have ``extra_sources``, which only NVVM takes.
    RuntimeError
        If ``code_type`` is not known, the compiler is not installed, or there is neither an architecture
        in the options nor a driver to ask for a device.
    NotSupportedError
        If the options have one that the compiler lacks, or is too old for.
    CUDAError
        If the source is empty and no C++, or the driver's linker does not take it. Other errors in a source
        appear when it is compiled.

    Warns
    -----
    UserWarning
        If ``numba_debug`` is set for PTX, whose linker has no such option.

    Examples
    --------
    >>> program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
    >>> kernel = program.compile("cubin").get_kernel("f")
    """

    # Set later, or never.
    _back_end = None
    _debug_file = None
    _is_closed = False

    def __init__(
        self, code: str | bytes | bytearray, code_type: SourceCodeType | str, options: ProgramOptions | None = None
    ):
        kind = _KINDS.get(code_type) if type(code_type) is str else None
        if kind is None:
            kind = source_type(code_type)
        if type(options) is not ProgramOptions:
            options = check_or_create_options(ProgramOptions, options, "program options")
        if type(code) is not str or "\0" in code or not code.isascii():
            check_source(code, kind)
        self._code = bytes(code) if isinstance(code, bytearray) else code
        self._kind = kind
        self._settings = settings = compile_settings(kind, options)
        self._options = options = settings.options
        self._name = options.name
        # Held while the source is passed to the compiler. That happens in compile(): most code comes from a cache.
        self._opening = RLock()
        if settings.has_file:
            self._debug_file = DebugFile(source_bytes(code))
            self._name = self._debug_file.path or self._name
        if kind is SourceCodeType.PTX or not code:
            self._look_early()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __reduce__(self):
        raise TypeError("a Program cannot be pickled or copied; pickle the ObjectCode that it compiles to")

    def __repr__(self):
        return f"<Program backend={self.backend.value!r}{' closed' if self.is_closed else ''}>"

    def compile(
        self,
        target_type: ObjectCodeFormatType | str,
        name_expressions: tuple[str, ...] | list[str] = (),
        logs: object | None = None,
        *,
        cache: ProgramCacheResource | None = None,  # noqa: F821
    ) -> ObjectCode:
        """Compile the program (``nvrtcCompileProgram``, ``nvvmCompileProgram``, ``nvJitLinkComplete``).

        Parameters
        ----------
        target_type : ObjectCodeFormatType | str
            The output, in upper or lower case: ``"ptx"``, ``"cubin"`` or ``"ltoir"`` from C++, ``"ptx"`` or
            ``"ltoir"`` from NVVM IR, ``"cubin"`` from PTX.
        name_expressions : tuple or list of str or bytes, optional
            Expressions such as ``"scale<float>"`` that name kernels. The result's
            :meth:`~ObjectCode.get_kernel` takes them; they have to be given to the first compilation.
            Only C++ has such names. None is as none.
        logs : object, optional
            An object with ``write(str)`` that gets the messages of the compiler, if there are any.
        cache : :class:`~cuda.core.utils.ProgramCacheResource`, optional
            The cache in which the result is looked up first, and stored. The key consists of source, target,
            name expressions, options, the version of the compiler, and the contents of
            every header that the source may include. A hit writes nothing to ``logs``.

        Returns
        -------
        :class:`ObjectCode`
            The compiled code.

        Raises
        ------
        TypeError
            If an argument is of a wrong type.
        ValueError
            If the compiler cannot make ``target_type``; with ``cache``, if options make the compiler
            write files, or read others than headers.
        RuntimeError
            If the program is closed.
        NVRTCError, nvvmError, nvJitLinkError, CUDAError
            If the source has errors; the message and ``log`` have them.

        Warns
        -----
        RuntimeWarning
            If the PTX is too new for the driver, a precompiled header could not be created, the
            options make the compiler produce no output of this type, or the headers of the source cannot be
            determined, so that ``cache`` is not used.
        """
        if self._is_closed:
            raise RuntimeError(CLOSED)
        target = self._target(target_type)
        name_expressions = () if name_expressions is None else name_expressions
        expressions = checked_expressions(name_expressions)
        if logs is not None and not callable(getattr(logs, "write", None)):
            raise TypeError(f"logs must have a method write(str), which {type(logs).__name__} has not")
        request = CompileRequest(self._code, self._kind, self._settings, target, name_expressions)
        if cache is not None:
            caches = _late.program_caches()
            if not isinstance(cache, caches.ProgramCacheResource):
                raise TypeError(f"cache must be a ProgramCacheResource or None, not {type(cache).__name__}")
            found = caches.find_compiled(cache, request)
            if found is not None:
                return object_code(found, target, self._name, name_expressions)
        try:
            compiled = CompiledCode(*self._opened().compile(target, expressions))
        except CUDAError as error:
            if logs is not None and error.log:
                logs.write(error.log)
            raise
        if logs is not None and compiled.log:
            logs.write(compiled.log)
        if cache is not None and compiled.code.strip(b"\0"):
            caches.store_compiled(cache, request, compiled)
        for message in self._remarks(request, compiled):
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        return object_code(compiled, target, self._name, name_expressions)

    def close(self) -> None:
        """Destroy the compiler's program and remove the debug source file; calling this again does nothing."""
        self._is_closed = True
        # Another thread that is creating the compiler's program at this moment destroys it itself.
        back_end = self._back_end
        if back_end is not None:
            back_end.close()
        if self._debug_file is not None:
            self._debug_file.remove()

    @property
    def backend(self) -> CompilerBackendType:
        """The back end: ``"NVRTC"``, ``"NVVM"``, ``"nvJitLink"`` or ``"driver"``."""
        return self._settings.back_end.backend or _linker.Linker.which_backend()

    @property
    @completed_as(object)
    def handle(self) -> nvrtc.nvrtcProgram | int | driver.CUlinkState:  # noqa: F821
        """The ``nvrtc.nvrtcProgram``, the address of the ``nvvmProgram``, or the linker's handle; null when closed."""
        if self._back_end is None and self._is_closed:
            return self._settings.back_end.null_handle()
        return self._opened().handle

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closed

    @property
    def pch_status(self) -> PCHStatusType | None:
        """The status of the precompiled header in the latest compilation; None if none was requested."""
        return None if self._back_end is None else self._back_end.pch_status

    def _opened(self):
        """Return the back end that has the source."""
        if self._back_end is None:
            with self._opening:
                if self._is_closed:
                    raise RuntimeError(CLOSED)
                if self._back_end is None:
                    source = self._settings.prefix + source_bytes(self._code)
                    self._back_end = self._settings.back_end(source, os.fsencode(self._name), self._settings)
                if self._is_closed:
                    self._back_end.close()
                    raise RuntimeError(CLOSED)
        return self._back_end

    def _look_early(self) -> None:
        """Raise the errors that need no compiler, and those of the driver's linker."""
        if self._kind is SourceCodeType.CXX:
            return
        if self._kind is SourceCodeType.PTX and self._options.numba_debug:
            _caller.warn_caller("numba_debug has no effect on code of type 'ptx', which is linked", UserWarning)
        if not self._code or self.backend is CompilerBackendType.DRIVER:
            self._opened()

    def _remarks(self, request, compiled):
        """Yield the warnings of a successful compilation."""
        target, code, log = request.target, compiled.code, compiled.log
        if request.obstacle is not None:
            yield f"the program is not cached, because it is unknown which header this is: {request.obstacle}"
        if self.pch_status is PCHStatusType.FAILED:
            yield f"the precompiled header could not be made: {log or 'the compiler gives no reason'}"
        is_nvrtc = self.backend is CompilerBackendType.NVRTC
        if is_nvrtc and not code.strip(b"\0"):
            yield f"the compiler made no {target.value}, {why_nothing(self._options)}"
        if is_nvrtc and target is ObjectCodeFormatType.PTX and is_newer_than_driver(nvrtc_version()):
            yield (
                "NVRTC {}.{} is newer than the driver, which supports CUDA {}.{}: it may not load this PTX; "
                "compile to 'cubin', or install a newer driver".format(*nvrtc_version(), *driver_version()[:2])
            )

    def _target(self, target_type) -> ObjectCodeFormatType:
        targets = self._settings.back_end.targets
        target = _TARGETS.get(target_type.lower()) if isinstance(target_type, str) else None
        if target is not None and target in targets:
            return target
        choices = ", ".join(repr(target.value) for target in targets)
        raise ValueError(f"target_type must be one of {choices} for {self.backend.value}, not {shown(target_type)}")


def why_nothing(options: ProgramOptions) -> str:
    """Return why NVRTC produced no output of a type without an error."""
    if options.link_time_optimization:
        return "since link_time_optimization is True: compile to ltoir"
    if str(options.arch).startswith("compute_"):
        return f"since {options.arch!r} is no architecture of a device: compile to ptx, or for such as 'sm_90'"
    return "since link_time_optimization is False"


def object_code(compiled: CompiledCode, target, name: str, name_expressions) -> ObjectCode:
    """Create an ObjectCode from compiled code and its symbol names."""
    # Other compilers than NVRTC have no name expressions, and give no symbols.
    mapping = dict(zip(name_expressions, compiled.symbols, strict=True)) if compiled.symbols else None
    return ObjectCode._init(compiled.code, target, name=name, symbol_mapping=mapping)


class DebugFile:
    """A file with the source, for debuggers to show, as long as the program exists.

    Its path is None if it could not be written: compilation continues without it.
    """

    def __init__(self, source: bytes):
        self.path = None
        import tempfile  # takes long, and is for debugging only

        file = getattr(sys.modules.get("__main__"), "__file__", None) or "interactive"
        stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(file))[0])
        with contextlib.suppress(OSError):
            descriptor, self.path = tempfile.mkstemp(".cu", f"{stem}_{first_kernel(source)[:64]}_")
            self.remove = weakref.finalize(self, remove_file, self.path, os.getpid())
            with os.fdopen(descriptor, "wb") as file:
                file.write(source)

    @staticmethod
    def remove() -> None:
        """Delete the file; calling this again does nothing."""


def remove_file(path: str, owner: int) -> None:
    """Delete a file of this process; a forked child leaves its parent's alone."""
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            os.unlink(path)


def first_kernel(source: bytes) -> str:
    """Return the name of the first kernel in a C++ source, or ``"kernel"``."""
    plain = re.sub(rb"__launch_bounds__\s*\([^)]*\)", b"", source)
    found = re.search(rb"__global__[^(;{]*?\b(\w+)\s*\(", plain)
    return found.group(1).decode() if found else "kernel"


def source_type(code_type) -> SourceCodeType:
    """Return the type of source that ``code_type`` names."""
    kind = _KINDS.get(code_type.lower()) if isinstance(code_type, str) else None
    if kind is not None:
        return kind
    choices = ", ".join(repr(kind.value) for kind in SourceCodeType)
    if not isinstance(code_type, str):
        raise TypeError(f"code_type must be a str, one of {choices}, not {type(code_type).__name__}")
    raise RuntimeError(f"Unsupported code_type={shown(code_type)}, must be one of {choices}")


def check_source(code, kind: SourceCodeType) -> None:
    """Check that a source is what its compiler takes."""
    if isinstance(code, (bytes, bytearray)) and kind is SourceCodeType.NVVM:
        return
    if not isinstance(code, str):
        choices = "a str, bytes or a bytearray" if kind is SourceCodeType.NVVM else "a str"
        raise TypeError(f"code of type {kind.value!r} must be {choices}, not {type(code).__name__}")
    # PTX from a compiler ends in null characters.
    text = code.rstrip("\0") if kind is SourceCodeType.PTX else code
    if "\0" in text:
        raise ValueError(f"code contains a null character at position {text.index(chr(0))}")
    if not code.isascii():
        code.encode()


def source_bytes(code) -> bytes:
    """Return a source that was checked as its compiler takes it."""
    return code.rstrip("\0").encode() if isinstance(code, str) else bytes(code)


def checked_expressions(expressions) -> list[bytes]:
    """Return name expressions as NVRTC takes them."""
    if not isinstance(expressions, (tuple, list)):
        raise TypeError(f"name_expressions must be a tuple or list of str, not {type(expressions).__name__}")
    for expression in expressions:
        if not isinstance(expression, (str, bytes)):
            raise TypeError(f"name_expressions must contain str or bytes, not {type(expression).__name__}")
    return [name_bytes("a name expression", expression) for expression in expressions]


@functools.cache
def is_newer_than_driver(version: tuple[int, int]) -> bool:
    """Return whether a version of CUDA is newer than the driver's; without a driver it is not."""
    try:
        return version > driver_version()[:2]
    except (RuntimeError, CUDAError):
        return False


def _can_load_generated_ptx() -> bool:
    """Return whether the driver is new enough for PTX that this NVRTC makes; other packages ask this."""
    return not is_newer_than_driver(nvrtc_version())


def __getattr__(name):
    # An alias of types in the bindings, which load at first use.
    if name == "ProgramHandleT":
        driver = importlib.import_module("cuda.bindings.driver")
        return importlib.import_module("cuda.bindings.nvrtc").nvrtcProgram | int | driver.CUlinkState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
