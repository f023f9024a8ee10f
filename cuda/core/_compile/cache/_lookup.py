# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Cache lookup: the key of a request, and how its code, its mangled names and the compiler's answer are stored."""

from __future__ import annotations

import os
from hashlib import sha256

from cuda.core._code._probe import Probe, may_ask
from cuda.core._compile._nvrtc import nvrtc_version
from cuda.core._compile._option_table import options_with_files, render_options
from cuda.core._compile._request import CompiledCode, CompileRequest
from cuda.core._compile.cache._headers import Headers, find_headers
from cuda.core._compile.cache._key import COLUMNS, make_program_cache_key, tagged, tagged_expressions
from cuda.core._compile.cache._stores import ProgramCacheResource
from cuda.core._utils.late import LateModule
from cuda.core.typing import SourceCodeType

__all__ = ["ProgramCacheResource", "find_compiled", "store_compiled"]

_nvvm = LateModule("cuda.core._compile._nvvm")


def find_compiled(cache, request: CompileRequest) -> CompiledCode | None:
    """Return the cached result of a request, or None on a miss.

    Parameters
    ----------
    cache : ProgramCacheResource
        The cache.
    request : CompileRequest
        The request; its ``key`` and ``unresolved_include`` are set.

    Raises
    ------
    ValueError
        If an option makes the compiler write files, or read files other than headers.
    """
    request.key, request.unresolved_include = key_of(request)
    if request.key is None:
        return None
    ordered = tagged_expressions(expressions_of(request))
    has_entry = ordered or (request.kind is SourceCodeType.CXX and may_ask(request.code))
    found = (cache.get(names_key(request.key)) or b"").split(b"\0") if has_entry else []
    question = answer = b""
    if has_entry and len(found) == len(ordered) + 2:
        *found, question, answer = found
    elif asks(request):  # an entry of a version that asked nothing
        return None
    found = found if ordered else []
    # If the names do not match the expressions, the entry is corrupt.
    if len(found) != len(ordered) or not all(found):
        return None
    by_expression = dict(zip(ordered, found, strict=True))
    symbols = [by_expression[tagged(expression)] for expression in expressions_of(request)]
    code = cache.get(request.key)
    return CompiledCode(code, symbols, "", question.decode(), answer) if code else None


def store_compiled(cache, request: CompileRequest, compiled: CompiledCode) -> None:
    """Store the result of a request after a miss, unless a header has changed since the lookup."""
    if request.key is None or key_of(request)[0] != request.key:
        return
    by_expression = dict(zip(map(tagged, expressions_of(request)), compiled.symbols, strict=True))
    names = [name for _, name in sorted(by_expression.items())]
    if asks(request):
        names += [compiled.question.encode(), compiled.answer]
    if names:
        cache[names_key(request.key)] = b"\0".join(names)
    cache[request.key] = compiled.code


def asks(request: CompileRequest) -> bool:
    """Return whether the compiler is asked about types, so that an entry has the question and the answer."""
    if request.kind is not SourceCodeType.CXX or not may_ask(request.code):
        return False
    return Probe.of_source(request.code, request.settings.arguments) is not None


def key_of(request: CompileRequest) -> tuple[bytes | None, str | None]:
    """Return the key of a request and None, or None and the ``#include`` that cannot be resolved.

    The program keeps its keys until a file that they depend on changes.
    """
    # The version is not constant, because one recorded on disk might turn out to differ from the loaded one.
    version = nvrtc_version() if request.kind is SourceCodeType.CXX else None
    identity = (request.code, request.target, tuple(expressions_of(request)), version)
    known = request.settings.keys.get(identity)
    if known is not None and known[1].is_current():
        return known[0], known[1].unresolved_include
    headers = headers_of(request)
    key = None if headers.unresolved_include else make_key(request, headers)
    if headers.is_settled:
        request.settings.keys[identity] = key, headers
    return key, headers.unresolved_include


def headers_of(request: CompileRequest) -> Headers:
    """Return the headers that the compiler might read for a request."""
    if request.kind is not SourceCodeType.CXX:
        return Headers()
    options = request.settings.options
    arguments = render_options(options, COLUMNS[request.kind])
    return find_headers(
        request.code,
        options.name,
        [*values_of(arguments, "--include-path"), *request.settings.header_directories],
        values_of(arguments, "--pre-include"),
        values_of(arguments, "--define-macro"),
    )


def make_key(request: CompileRequest, headers: Headers) -> bytes:
    """Return the key of a request with these headers."""
    options, column = request.settings.options, COLUMNS[request.kind]
    reading = options_with_files(options, column, "reads")
    if reading == ["use_libdevice"]:
        headers = Headers([_nvvm.libdevice()])
    elif reading:
        raise ValueError(
            f"{', '.join(reading)} make the compiler read files that are not part of the cache key: compile without "
            "cache, or without these options"
        )
    # A program that reads no files has the same key as from make_program_cache_key() without extra_digest.
    may_read = options_with_files(options, column, "headers") or os.path.dirname(options.name)
    return make_program_cache_key(
        code=request.code,
        code_type=request.kind,
        options=options,
        target_type=request.target,
        name_expressions=expressions_of(request),
        extra_digest=headers.digest if may_read or headers.is_found else None,
    )


def expressions_of(request: CompileRequest):
    """Return the name expressions of a request, or none for languages other than C++."""
    return request.expressions if request.kind is SourceCodeType.CXX else ()


def names_key(key: bytes) -> bytes:
    """Return the key under which the mangled names of an entry, and the answer about its types, are stored."""
    return sha256(b"names of " + key).digest()


def values_of(arguments: list[str], flag: str) -> list[str]:
    """Return the values of a flag in a list of arguments."""
    return [argument.removeprefix(f"{flag}=") for argument in arguments if argument.startswith(f"{flag}=")]
