# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs: source code, compiled at run time."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import os
import re
import sys
import weakref
from time import perf_counter
from typing import TYPE_CHECKING

from cuda.core._code._signatures import Declarations
from cuda.core._compile._nvrtc import nvrtc_version
from cuda.core._compile._options import ProgramOptions
from cuda.core._compile._request import CompiledCode, CompileRequest, compile_settings
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError, check_or_create_options, driver_version
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.late import LateModule
from cuda.core._utils.locks import RLock
from cuda.core._utils.logs import debug as log_debug
from cuda.core._utils.logs import elapsed_ms
from cuda.core._utils.other_names import explain_names
from cuda.core._utils.validators import check_path, name_bytes, shown
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType, SourceCodeType

if TYPE_CHECKING:
    from typing import Any, Literal

    from cuda.bindings import driver, nvrtc

    from cuda.core._compile.cache._lookup import ProgramCacheResource

__all__ = ["Program", "ProgramOptions"]

_linker = LateModule("cuda.core._linker")
_lookup = LateModule("cuda.core._compile.cache._lookup")

_KINDS = {kind.value: kind for kind in SourceCodeType}
_TARGETS = {target.value: target for target in ObjectCodeFormatType}
CLOSED = "this Program is closed"


@explain_names
class Program:
    """Source code to be compiled at run time with NVRTC, NVVM or a linker.

    Parameters
    ----------
    code : str | bytes | bytearray
        The source: a str for CUDA C++ and PTX, or for NVVM IR a str or bytes that contain text or bitcode.
    code_type : SourceCodeType | str
        The language, in upper or lower case: ``"c++"`` (compiled by NVRTC), ``"ptx"`` (by nvJitLink or the driver's
        linker) or ``"nvvm"`` (by NVVM).
    options : :class:`ProgramOptions` | dict, optional
        The compiler options, which are copied, so later changes have no effect. Defaults to the default options for the
        current device.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the source contains a null character, or ``extra_sources`` is set and the language is not NVVM IR.
    RuntimeError
        If ``code_type`` is unknown, the compiler is not installed, or ``options.arch`` is None and there is no device.
    NotSupportedError
        If the compiler does not support one of the options, or is too old for it.
    CUDAError
        If PTX or NVVM IR is empty, or the driver's linker rejects the PTX. :meth:`compile` raises other errors in a
        source.

    Warns
    -----
    UserWarning
        If ``numba_debug`` is set for PTX, where it has no effect.

    Examples
    --------
    >>> from cuda.core import Program, ProgramOptions
    >>> program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
    >>> program.compile("cubin").code_type
    'cubin'
    """

    # Defaults of attributes that most programs never set.
    _back_end = None
    _debug_file = None
    _is_closed = False

    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: SourceCodeType | Literal["c++", "ptx", "nvvm", "C++", "PTX", "NVVM"],
        options: ProgramOptions | dict[str, Any] | None = None,
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
        self._settings = settings = compile_settings(kind, options, code)
        self._options = options = settings.options
        self._name = options.name
        # Held while the compiler's program is created, which compile() does, because a cache hit needs none.
        self._opening = RLock()
        if settings.has_file:
            self._debug_file = DebugFile(encoded_source(code))
            self._name = self._debug_file.path or self._name
        if kind is SourceCodeType.PTX or not code:
            self._check_early()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __reduce__(self):
        raise TypeError("a Program cannot be pickled or copied; pickle the ObjectCode that it compiles to")

    def __repr__(self):
        arch = self._options.arch
        state = " closed" if self.is_closed else f" for {arch}" if arch else ""
        return f"<Program {self._name!r}{state}>"

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike,
        options: ProgramOptions | dict[str, Any] | None = None,
        *,
        code_type: SourceCodeType | str | None = None,
    ) -> Program:
        """Read the source from a file.

        The path becomes the program's name, unless the options have one: messages of the compiler, debuggers and
        profilers name the file, and headers are also searched in its directory, as for a compiler on the command line.

        Parameters
        ----------
        path : str | os.PathLike
            The file, as UTF-8, or LLVM bitcode.
        options : :class:`ProgramOptions` | dict, optional
            The compiler options. Defaults to the default options for the current device.
        code_type : SourceCodeType | str, optional
            The language. Defaults to ``"ptx"`` for files named ``*.ptx``, ``"nvvm"`` for ``*.ll`` and ``*.bc``, and
            ``"c++"`` for others.

        Returns
        -------
        Program
            The program.

        Raises
        ------
        OSError
            If the file cannot be read.
        UnicodeDecodeError
            If the file is not UTF-8.
        TypeError, ValueError, RuntimeError, CUDAError
            As from the constructor.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cuda.core import Program
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "add.cu")
        ...     _ = path.write_text('extern "C" __global__ void add(int* x) { *x += 1; }')
        ...     code = Program.from_file(path, {"arch": "sm_90"}).compile("cubin")
        >>> code.get_kernel("add").num_arguments
        1
        """
        code, kind, options = read_source(path, options, code_type)
        return cls(code, kind, options)

    def compile(
        self,
        target_type: ObjectCodeFormatType | str,
        name_expressions: tuple[str, ...] | list[str] = (),
        logs: object | None = None,
        *,
        cache: ProgramCacheResource | None = None,
    ) -> ObjectCode:
        """Compile the program (``nvrtcCompileProgram``, ``nvvmCompileProgram``, ``nvJitLinkComplete``).

        Parameters
        ----------
        target_type : ObjectCodeFormatType | str
            The output format, in upper or lower case: ``"ptx"``, ``"cubin"`` or ``"ltoir"`` from C++, ``"ptx"`` or
            ``"ltoir"`` from NVVM IR, ``"cubin"`` from PTX. From C++ also ``"optixir"`` for OptiX, and ``"tileir"`` with
            tile kernels, from compilers that have them.
        name_expressions : tuple or list of str or bytes, optional
            C++ expressions that name kernels or variables, such as ``"scale<float>"``
            (``nvrtcAddNameExpression``). The result's :meth:`ObjectCode.get_kernel` accepts them. Pass all of them to
            the first compilation. Only C++ has name expressions. Defaults to none.
        logs : object, optional
            An object with a method ``write(str)``, which receives the compiler's log unless it is empty.
        cache : :class:`~cuda.core.utils.ProgramCacheResource`, optional
            A cache to search for the compiled code first, and to store it in afterwards. Its key includes the source,
            the target, the name expressions, the options, the compiler version, and the contents of every header that
            the source might include. After a cache hit, nothing is written to ``logs``.

        Returns
        -------
        :class:`ObjectCode`
            The compiled code.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If the compiler cannot generate ``target_type``, or if ``cache`` is given and an option makes the compiler
            write files, or read files other than headers.
        RuntimeError
            If the program is closed.
        NVRTCError, nvvmError, nvJitLinkError, CUDAError
            If the compilation failed. The message and the ``log`` attribute of the exception contain the compiler's
            log.

        Warns
        -----
        RuntimeWarning
            If the driver is older than the generated PTX, a precompiled header could not be created, the options
            suppress output of this type, or ``cache`` is not used because an ``#include`` cannot be resolved.

        Examples
        --------
        >>> from cuda.core import Device, Program
        >>> Device().set_current()
        >>> source = "template <class T> __global__ void f(T* x) { *x = 1; }"
        >>> code = Program(source, "c++").compile("cubin", name_expressions=("f<float>",))
        >>> code.get_kernel("f<float>").num_arguments
        1
        """
        if self._is_closed:
            raise UnavailableError(CLOSED)
        target = self._target(target_type)
        name_expressions = () if name_expressions is None else name_expressions
        expressions = checked_expressions(name_expressions)
        if logs is not None and not callable(getattr(logs, "write", None)):
            raise TypeError(f"logs must be an object with a method write(str), not {type(logs).__name__}")
        request = CompileRequest(self._code, self._kind, self._settings, target, name_expressions)
        if cache is not None and not isinstance(cache, _lookup.ProgramCacheResource):
            raise TypeError(f"cache must be a ProgramCacheResource or None, not {type(cache).__name__}")
        start = perf_counter()
        found = None if cache is None else _lookup.find_compiled(cache, request)
        if found is None:
            # Other processes might be compiling the same program at this moment.
            turn = contextlib.nullcontext() if request.key is None else cache._compiling(request.key)
            with turn as is_stored:
                found = _lookup.find_compiled(cache, request) if is_stored else None
                if found is None:
                    try:
                        return self._compile(request, expressions, logs, cache)
                    except CUDAError as error:
                        # Users look for their own line, so the traceback omits the calls inside this library.
                        raise error.with_traceback(None)  # noqa: B904 (it is the same exception)
        log_debug("found %s of %s in %s in %.1f ms", target.value, self._name, cache, elapsed_ms(start))
        return self._object_code(found, target, name_expressions)

    def _compile(self, request: CompileRequest, expressions, logs, cache) -> ObjectCode:
        """Compile a request, and store the result in a cache."""
        target = request.target
        start = perf_counter()
        try:
            compiled = CompiledCode(*self._open_back_end().compile(target, expressions))
        except CUDAError as error:
            if logs is not None and error.log:
                logs.write(error.log)
            raise
        log_debug("compiled %s to %s in %.1f ms", self._name, target.value, elapsed_ms(start))
        if logs is not None and compiled.log:
            logs.write(compiled.log)
        if cache is not None and compiled.code.strip(b"\0"):
            _lookup.store_compiled(cache, request, compiled)
        for message in self._warnings(request, compiled):
            warn_caller(message, RuntimeWarning)
        return self._object_code(compiled, target, request.expressions)

    def close(self) -> None:
        """Destroy the compiler's program and delete the debug source file.

        Closing a closed program has no effect.
        """
        self._is_closed = True
        # A thread that is creating the compiler's program at this moment sees the flag and destroys it.
        back_end = self._back_end
        if back_end is not None:
            back_end.close()
        if self._debug_file is not None:
            self._debug_file.remove()

    @property
    def backend(self) -> CompilerBackendType:
        """What compiles the program: ``"NVRTC"``, ``"NVVM"``, ``"nvJitLink"`` or ``"driver"`` (the driver's linker)."""
        return self._settings.back_end.backend or _linker.Linker.which_backend()

    @property
    def handle(self) -> nvrtc.nvrtcProgram | int | driver.CUlinkState:
        """The ``nvrtc.nvrtcProgram``, the ``nvvmProgram`` as an int, or the linker's handle. It is null if closed."""
        if self._back_end is None and self._is_closed:
            return self._settings.back_end.null_handle()
        return self._open_back_end().handle

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closed

    @property
    def pch_status(self) -> PCHStatusType | None:
        """The status of the latest compilation's precompiled header, or None if no header was requested.

        See ``nvrtcGetPCHCreateStatus``.
        """
        return None if self._back_end is None else self._back_end.pch_status

    def _open_back_end(self):
        """Return the back end with the compiler's program, which the first call creates."""
        if self._back_end is None:
            with self._opening:
                if self._is_closed:
                    raise UnavailableError(CLOSED)
                if self._back_end is None:
                    source = self._settings.prefix + encoded_source(self._code)
                    self._back_end = self._settings.back_end(source, os.fsencode(self._name), self._settings)
                if self._is_closed:
                    self._back_end.close()
                    raise UnavailableError(CLOSED)
        return self._back_end

    def _object_code(self, compiled: CompiledCode, target, name_expressions) -> ObjectCode:
        """Create an ObjectCode from compiled code and its symbol names."""
        # Only NVRTC has name expressions, so the other compilers return no symbols.
        mapping = dict(zip(name_expressions, compiled.symbols, strict=True)) if compiled.symbols else None
        declarations = None
        if self._kind is SourceCodeType.CXX:
            declarations = Declarations((self._code, self._settings.arguments, compiled.question, compiled.answer))
        return ObjectCode._init(
            compiled.code, target, name=self._name, symbol_mapping=mapping, declarations=declarations
        )

    def _check_early(self) -> None:
        """Raise errors about an empty source, and those of the driver's linker, which come when PTX is added."""
        if self._kind is SourceCodeType.CXX:
            return
        if self._kind is SourceCodeType.PTX and self._options.numba_debug:
            warn_caller("numba_debug has no effect on code of type 'ptx', which is linked", UserWarning)
        if not self._code or self.backend is CompilerBackendType.DRIVER:
            self._open_back_end()

    def _warnings(self, request, compiled):
        """Yield the messages of warnings about a successful compilation."""
        target, code, log = request.target, compiled.code, compiled.log
        if request.unresolved_include is not None:
            yield (
                f"cache was not used: the header of this #include could not be determined: {request.unresolved_include}"
            )
        if self.pch_status is PCHStatusType.FAILED:
            yield f"the precompiled header could not be created: {log or 'the compiler gives no reason'}"
        is_nvrtc = self.backend is CompilerBackendType.NVRTC
        if is_nvrtc and not code.strip(b"\0"):
            yield f"the compiler generated no {target.value}, {reason_of_no_output(self._options)}"
        if is_nvrtc and target is ObjectCodeFormatType.PTX and is_newer_than_driver(nvrtc_version()):
            yield (
                "NVRTC {}.{} is newer than the driver, which supports CUDA {}.{} and might be unable to load this PTX; "
                "compile to 'cubin', or install a newer driver".format(*nvrtc_version(), *driver_version()[:2])
            )

    def _target(self, target_type) -> ObjectCodeFormatType:
        targets = self._settings.back_end.targets
        target = _TARGETS.get(target_type.lower()) if isinstance(target_type, str) else None
        if target is not None and target in targets:
            return target
        choices = ", ".join(repr(target.value) for target in targets)
        raise ValueError(f"target_type must be one of {choices} for {self.backend.value}, not {shown(target_type)}")


_SUFFIXES = {".ptx": "ptx", ".ll": "nvvm", ".bc": "nvvm"}


def read_source(path, options, code_type) -> tuple[str | bytes, str, ProgramOptions]:
    """Return the source in a file, its language, and the options, by which it is named like the file."""
    path = os.fsdecode(path)
    check_path("path", path)
    kind = _SUFFIXES.get(os.path.splitext(path)[1].lower(), "c++") if code_type is None else code_type
    options = check_or_create_options(ProgramOptions, options, "program options")
    with open(path, "rb") as file:
        code = file.read()
    if not code.startswith(b"BC\xc0\xde"):  # LLVM bitcode
        code = code.decode()
    if options.name == "default_program":
        options = copy.copy(options)
        options.name = path
    return code, kind, options


def reason_of_no_output(options: ProgramOptions) -> str:
    """Return why NVRTC succeeded without generating output of the requested type."""
    if options.tile_only:
        return "because tile_only is True and the source has no tile kernels"
    if options.link_time_optimization:
        return "because link_time_optimization is True; compile to 'ltoir'"
    if str(options.arch).startswith("compute_"):
        return f"because arch {options.arch!r} is virtual; compile to 'ptx', or for an architecture such as 'sm_90'"
    return "because link_time_optimization is False"


class DebugFile:
    """A temporary file that contains the source for debuggers, and is deleted with the program.

    ``path`` is None if the file could not be written, because the compilation does not need it.
    """

    def __init__(self, source: bytes):
        self.path = None
        import tempfile  # slow to import, and only needed for debugging

        file = getattr(sys.modules.get("__main__"), "__file__", None) or "interactive"
        stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(file))[0])
        with contextlib.suppress(OSError):
            descriptor, self.path = tempfile.mkstemp(".cu", f"{stem}_{first_kernel(source)[:64]}_")
            self.remove = weakref.finalize(self, remove_file, self.path, os.getpid())
            with os.fdopen(descriptor, "wb") as file:
                file.write(source)

    @staticmethod
    def remove() -> None:
        """Delete the file, if it exists."""


def remove_file(path: str, owner: int) -> None:
    """Delete a file if this process created it, because a forked child must not delete its parent's files."""
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            os.unlink(path)


def first_kernel(source: bytes) -> str:
    """Return the name of the first kernel in a C++ source, or ``"kernel"`` if there is none."""
    plain = re.sub(rb"__launch_bounds__\s*\([^)]*\)", b"", source)
    found = re.search(rb"__global__[^(;{]*?\b(\w+)\s*\(", plain)
    return found.group(1).decode() if found else "kernel"


def source_type(code_type) -> SourceCodeType:
    """Return ``code_type``, in upper or lower case, as a :class:`SourceCodeType`."""
    kind = _KINDS.get(code_type.lower()) if isinstance(code_type, str) else None
    if kind is not None:
        return kind
    choices = ", ".join(repr(kind.value) for kind in SourceCodeType)
    if not isinstance(code_type, str):
        raise TypeError(f"code_type must be a str, one of {choices}, not {type(code_type).__name__}")
    raise RuntimeError(f"Unsupported code_type={shown(code_type)}, must be one of {choices}")


def check_source(code, kind: SourceCodeType) -> None:
    """Check that a source has the right type and contains no null character."""
    if isinstance(code, (bytes, bytearray)) and kind is SourceCodeType.NVVM:
        return
    if not isinstance(code, str):
        choices = "a str, bytes or a bytearray" if kind is SourceCodeType.NVVM else "a str"
        raise TypeError(f"code of type {kind.value!r} must be {choices}, not {type(code).__name__}")
    # The PTX that compilers return ends with null characters.
    text = code.rstrip("\0") if kind is SourceCodeType.PTX else code
    if "\0" in text:
        raise ValueError(f"code contains a null character at position {text.index(chr(0))}")
    if not code.isascii():
        code.encode()


def encoded_source(code) -> bytes:
    """Return a checked source as the bytes that its compiler expects."""
    return code.rstrip("\0").encode() if isinstance(code, str) else bytes(code)


def checked_expressions(expressions) -> list[bytes]:
    """Return name expressions as the bytes that NVRTC expects."""
    if not isinstance(expressions, (tuple, list)):
        raise TypeError(f"name_expressions must be a tuple or list of str, not {type(expressions).__name__}")
    for expression in expressions:
        if not isinstance(expression, (str, bytes)):
            raise TypeError(f"name_expressions must contain str or bytes, not {type(expression).__name__}")
    return [name_bytes("a name expression", expression) for expression in expressions]


@functools.cache
def is_newer_than_driver(version: tuple[int, int]) -> bool:
    """Return whether a CUDA version is newer than the driver's, or False without a driver."""
    try:
        return version > driver_version()[:2]
    except (RuntimeError, CUDAError):
        return False


def _can_load_generated_ptx() -> bool:
    """Return whether the driver is new enough for this NVRTC's PTX. Other packages call this."""
    return not is_newer_than_driver(nvrtc_version())


def __getattr__(name):
    # A type alias for annotations in user code. The bindings are imported when it is first accessed.
    if name == "ProgramHandleT":
        driver = importlib.import_module("cuda.bindings.driver")
        return importlib.import_module("cuda.bindings.nvrtc").nvrtcProgram | int | driver.CUlinkState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
