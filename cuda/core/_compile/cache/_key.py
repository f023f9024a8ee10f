# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The key of a compiled program: a digest of everything that determines the compiler's output."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256

from cuda.core._compile._nvrtc import NVRTCBackEnd, nvrtc_version, record_nvrtc
from cuda.core._compile._option_table import (
    forwarded_options,
    options_with_files,
    options_without_argument,
    render_options,
    unsupported_options,
)
from cuda.core._compile._options import ProgramOptions, current_arch
from cuda.core._utils import libraries
from cuda.core._utils.cuda_utils import driver_version
from cuda.core._utils.late import LateModule
from cuda.core._utils.validators import find_str_enum
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType

__all__ = ["make_program_cache_key"]

_linker = LateModule("cuda.core._linker")
_nvjitlink = LateModule("cuda.core._compile._nvjitlink")
_nvvm = LateModule("cuda.core._compile._nvvm")

# Part of every key. Changing how keys are made needs a new version.
_VERSION = b"cuda.core program cache 1"
_TARGETS = {
    SourceCodeType.CXX: NVRTCBackEnd.targets,
    SourceCodeType.PTX: (ObjectCodeFormatType.PTX, ObjectCodeFormatType.CUBIN),
    SourceCodeType.NVVM: (ObjectCodeFormatType.PTX, ObjectCodeFormatType.LTOIR),
}
# The column of each type of source in the table of options.
COLUMNS = {SourceCodeType.CXX: "nvrtc", SourceCodeType.PTX: "ptx", SourceCodeType.NVVM: "nvvm"}


def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: SourceCodeType | str,
    options: ProgramOptions,
    target_type: ObjectCodeFormatType | str,
    name_expressions: Sequence[str | bytes] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """Return the cache key of a compiled program.

    Parameters
    ----------
    code : str | bytes
        The source. Only NVVM accepts bytes.
    code_type : SourceCodeType | str
        The type of the source, in upper or lower case.
    options : :class:`~cuda.core.ProgramOptions`
        The options. Options that the compiler of this source does not use do not change the key.
    target_type : ObjectCodeFormatType | str
        The output format, in upper or lower case.
    name_expressions : sequence of str or bytes, optional
        The name expressions of a C++ program, in any order.
    extra_digest : bytes, optional
        A digest of the files that the compiler reads. If None, options that make it read files are an error.

    Returns
    -------
    bytes
        32 bytes, which are equal in all processes for equal arguments and equal compilers.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``code_type`` or ``target_type`` is unknown, the compiler does not generate the target from this type of
        source, an option makes it write files, an option makes it read files and ``extra_digest`` is None, or the
        linker does not support an option.
    RuntimeError, CUDAError
        If ``options.arch`` is None and there is no device.

    See Also
    --------
    Program.compile : Makes the key itself, with a digest of the headers that a C++ program includes.
    """
    kind = SourceCodeType(find_str_enum(code_type, [kind.value for kind in SourceCodeType], "code_type"))
    target = ObjectCodeFormatType(
        find_str_enum(target_type, [target.value for target in _TARGETS[kind]], f"target_type for code of type {kind}")
    )
    source = source_bytes(code, kind)
    if not isinstance(options, ProgramOptions):
        raise TypeError(f"options must be ProgramOptions, not {type(options).__name__}")
    ProgramOptions._check(options)
    if extra_digest is not None and not isinstance(extra_digest, (bytes, bytearray, memoryview)):
        raise TypeError(f"extra_digest must be bytes or None, not {type(extra_digest).__name__}")
    expressions = tagged_expressions(name_expressions)
    check_files(options, kind, has_digest=extra_digest is not None)
    lists = [
        [_VERSION, kind.encode(), target.encode(), source, options.name.encode(errors="surrogatepass")],
        compiler_identity(kind),
        arguments_of(options, kind),
        other_inputs(options, kind),
        expressions if kind is SourceCodeType.CXX else [],
        [] if extra_digest is None else [bytes(extra_digest)],
    ]
    return digest(digest(parts) for parts in lists)


def digest(parts: Iterable[bytes]) -> bytes:
    """Return the SHA-256 digest of byte strings, each preceded by its length."""
    total = sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.digest()


def tagged_expressions(expressions) -> list[bytes]:
    """Return the name expressions sorted, without duplicates, and tagged by type."""
    if isinstance(expressions, (str, bytes)) or not isinstance(expressions, Sequence):
        raise TypeError(f"name_expressions must be a sequence of str or bytes, not {type(expressions).__name__}")
    return sorted({tagged(expression) for expression in expressions})


def tagged(expression: str | bytes) -> bytes:
    """Return a name expression as bytes after a letter for its type, because a str and equal bytes differ."""
    if isinstance(expression, str):
        return b"s" + expression.encode()
    if isinstance(expression, bytes):
        return b"b" + expression
    raise TypeError(f"name_expressions must contain str or bytes, not {type(expression).__name__}")


def source_bytes(code, kind) -> bytes:
    """Return the source as bytes, or raise TypeError for a type that this language does not accept."""
    if isinstance(code, str):
        return code.encode(errors="surrogatepass")
    if isinstance(code, (bytes, bytearray)) and kind is SourceCodeType.NVVM:
        return bytes(code)
    takes = "a str, bytes or a bytearray" if kind is SourceCodeType.NVVM else "a str"
    raise TypeError(f"code of type {kind.value!r} must be {takes}, not {type(code).__name__}")


def check_files(options, kind, has_digest: bool) -> None:
    """Raise ValueError for options whose effect the key cannot include: files that are written, or read."""
    column = COLUMNS[kind]
    if options.extra_sources and kind is not SourceCodeType.NVVM:
        raise ValueError(f"extra_sources are for code of type 'nvvm', not {kind.value!r}")
    writing = options_with_files(options, column, "writes")
    if writing:
        raise ValueError(
            f"{', '.join(writing)} make the compiler write files, which a cache cannot store; leave them out"
        )
    reading = options_with_files(options, column, "headers", "reads")
    if kind is SourceCodeType.CXX and os.path.dirname(options.name):
        reading.append("name with a directory, which is searched for headers")
    if reading and not has_digest:
        raise ValueError(f"extra_digest must be a digest of the files that are read, because of {', '.join(reading)}")


def arguments_of(options, kind) -> list[bytes]:
    """Return the rendered arguments of the compiler."""
    if options.arch is None:
        options = copy.copy(options)
        options.arch = current_arch()
    if kind is SourceCodeType.PTX:
        linker = _linker.LinkerOptions(**forwarded_options(options, "ptx"))
        backend = _linker.Linker.which_backend().lower()
        if backend == CompilerBackendType.DRIVER:
            unsupported = unsupported_options(linker, backend)
            if unsupported:
                raise ValueError(
                    "the driver's linker, which is used because nvJitLink is missing, does not support "
                    f"{', '.join(unsupported)}"
                )
        return [str(argument).encode(errors="surrogatepass") for argument in render_options(linker, backend)]
    return [argument.encode(errors="surrogatepass") for argument in render_options(options, COLUMNS[kind])]


def other_inputs(options, kind) -> list[bytes]:
    """Return the names and values of options that the compiler implements without an argument."""
    parts = []
    for name, value in options_without_argument(options, COLUMNS[kind]).items():
        if name == "extra_sources":
            items = [(module, text.encode() if isinstance(text, str) else bytes(text)) for module, text in value]
            value = [(module, sha256(text).hexdigest()) for module, text in items]
        parts += [name.encode(), repr(value).encode()]
    return parts


def compiler_identity(kind) -> list[bytes]:
    """Return the names, versions and build of the tools that compile this type of source."""
    return [*tools_of(kind), libraries.compiler_build().encode()]


def tools_of(kind) -> list[bytes]:
    """Return the names and versions of the tools."""
    if kind is SourceCodeType.CXX:
        version = version_bytes(nvrtc_version)
        record_nvrtc()
        return [b"nvrtc", version]
    if kind is SourceCodeType.NVVM:
        versions = [lambda: _nvvm.load_nvvm().version(), lambda: _nvvm.load_nvvm().ir_version()]
        return [b"nvvm", *map(version_bytes, versions)]
    backend = _linker.Linker.which_backend()
    is_driver = backend is CompilerBackendType.DRIVER
    return [backend.encode(), version_bytes(driver_version if is_driver else _nvjitlink.nvjitlink_version)]


def version_bytes(version) -> bytes:
    """Return a version as bytes. An unknown version differs from all others."""
    try:
        return repr(version()).encode()
    except Exception as error:  # the tool is missing, for whatever reason
        return f"unknown: {type(error).__name__}".encode()
