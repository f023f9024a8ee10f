# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled before a program is installed, and found in its package without a compiler.

Prebuilt code is a file: a line that identifies the format, a line of JSON, and the code. The key, which is also the
name of the file, is a digest of the source, the names of the kernels and the options. The contents of headers, and
directories, are not part of it, because they are those of the machine that compiled it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from hashlib import sha256

from cuda.core._code._signatures import Declarations
from cuda.core._compile._option_table import given_values
from cuda.core._compile._request import CompiledCode
from cuda.core._module import ObjectCode
from cuda.core._program import Program
from cuda.core._utils import libraries
from cuda.core._utils.errors import warn_caller
from cuda.core.typing import ObjectCodeFormatType

__all__ = ["load_prebuilt", "make_prebuilt", "prebuilt_directory", "prebuilt_name"]

_MAGIC = b"cuda.core prebuilt kernel 1\n"
# Options that do not change the code, or differ between machines.
_IGNORED = frozenset({"arch", "include_path", "name", "no_cache", "split_compile", "time", "use_bundled_headers"})
_warned: set[str] = set()  # directories with a file that was ignored


def prebuilt_name(source: str, expressions: tuple[str, ...], code_type: str, options, arch: str) -> str:
    """Return the file name of a prebuilt kernel."""
    given = sorted((field, repr(value)) for field, value in given_values(options) if field not in _IGNORED)
    key = json.dumps([source, expressions, code_type, given, arch, libraries.compiler_build()])
    return f"{sha256(key.encode(errors='surrogatepass')).hexdigest()}.{arch}"


def make_prebuilt(source: str, expressions: tuple[str, ...], code_type: str, options, arch: str) -> bytes:
    """Compile a source, and return the content of its file."""
    names = [expression.encode() for expression in expressions]
    with Program(source, code_type, dataclasses.replace(options, arch=arch)) as program:
        compiled = CompiledCode(*program._open_back_end().compile(ObjectCodeFormatType.CUBIN, names))
    described = {
        "symbols": {name: symbol.decode() for name, symbol in zip(expressions, compiled.symbols, strict=True)},
        "arch": arch,
        "question": compiled.question,
        "answer": compiled.answer.decode(),
        "sha256": sha256(compiled.code).hexdigest(),
    }
    return b"".join([_MAGIC, json.dumps(described).encode(), b"\n", compiled.code])


def load_prebuilt(
    directory, source: str, expressions: tuple[str, ...], code_type: str, options, arch: str
) -> ObjectCode | None:
    """Return the code of a source in a directory, or None if it is not there.

    Parameters
    ----------
    directory : importlib.resources.abc.Traversable
        The directory, which may be in a zip file.

    Warns
    -----
    RuntimeWarning
        Once for each directory, if the file is not one of this format, or is damaged.
    """
    try:
        content = directory.joinpath(prebuilt_name(source, expressions, code_type, options, arch)).read_bytes()
    except OSError:
        return None
    found = checked_content(content, expressions, arch)
    if found is None:
        if str(directory) not in _warned:
            _warned.add(str(directory))
            warn_caller(
                f"a prebuilt file in {str(directory)!r} is damaged, so its kernels are compiled", RuntimeWarning
            )
        return None
    described, code = found
    declarations = None
    if code_type == "c++":
        arguments = tuple(dataclasses.replace(options, arch=arch).as_bytes("nvrtc"))
        declarations = Declarations((source, arguments, described["question"], described["answer"].encode()))
    mapping = {name: symbol.encode() for name, symbol in described["symbols"].items()} or None
    return ObjectCode._init(code, "cubin", name=options.name, symbol_mapping=mapping, declarations=declarations)


def checked_content(content: bytes, expressions: tuple[str, ...], arch: str) -> tuple[dict, bytes] | None:
    """Return the description and the code in a file, or None if it is damaged or another file's."""
    if not content.startswith(_MAGIC):
        return None
    line, _, code = content[len(_MAGIC) :].partition(b"\n")
    try:
        described = json.loads(line)
        is_ours = (tuple(described["symbols"]), described["arch"]) == (expressions, arch)
        is_whole = described["sha256"] == sha256(code).hexdigest()
    except (ValueError, TypeError, KeyError):
        return None
    return (described, code) if is_ours and is_whole else None


def prebuilt_directory(place: str | os.PathLike):
    """Return the directory of a package, by its name, or at a path."""
    from importlib import import_module

    if isinstance(place, os.PathLike):
        return import_module("pathlib").Path(place)
    return import_module("importlib.resources").files(place)
