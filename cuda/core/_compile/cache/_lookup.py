# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One compilation in a cache: its keys, and how code and names are stored under them."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict

from cuda.core._compile._compilers import libdevice
from cuda.core._compile._option_table import options_with_files, render_options
from cuda.core._compile.cache._headers import Headers, find_headers
from cuda.core._compile.cache._key import COLUMNS, make_program_cache_key, tagged, tagged_expressions
from cuda.core.typing import SourceCodeType

__all__ = ["CacheSlot", "CacheSource"]

# How many keys are remembered, with the sources that they are of.
_MOST_KEYS = 256

_keys = OrderedDict()  # the identity of a compilation -> (key, headers); the one used longest ago comes first
_lock = threading.Lock()


class CacheSource:
    """What a program is made of, as its keys depend on it.

    Parameters
    ----------
    code : str | bytes | bytearray
        The source.
    kind : SourceCodeType
        What it is.
    options : :class:`~cuda.core.ProgramOptions`
        How it is compiled; not to be changed any more.
    identity : object, optional
        What stands for these options, being the same for equal ones only; found out if None.
    """

    def __init__(self, code, kind: SourceCodeType, options, identity=None):
        self._code = bytes(code) if isinstance(code, bytearray) else code
        self.kind = kind
        self._options = options
        # Plain text: the hash of an enumerator takes long.
        self._identity = (self._code, kind._value_, shown(options) if identity is None else identity)

    def key(self, target, expressions) -> tuple[bytes | None, str | None]:
        """Return the key of a compilation, or None, and which include cannot be followed.

        A key is made once, until a file changes that it depends on.

        Raises
        ------
        ValueError
            If an option makes the compiler write files, or read others than headers.
        """
        identity = (self._identity, target, tuple(expressions))
        with _lock:
            known = _keys.get(identity)
            if known is not None:
                _keys.move_to_end(identity)
        if known is not None and known[1].is_current():
            return known[0], known[1].obstacle
        headers = self._find_headers()
        key = None if headers.obstacle else self._make_key(target, expressions, headers)
        if headers.is_settled:
            with _lock:
                _keys[identity] = (key, headers)
                if len(_keys) > _MOST_KEYS:
                    _keys.popitem(last=False)
        return key, headers.obstacle

    def _find_headers(self) -> Headers:
        if self.kind is not SourceCodeType.CXX:
            return Headers()
        arguments = render_options(self._options, COLUMNS[self.kind])
        return find_headers(
            self._code,
            self._options.name,
            values_of(arguments, "--include-path"),
            values_of(arguments, "--pre-include"),
            values_of(arguments, "--define-macro"),
        )

    def _make_key(self, target, expressions, headers) -> bytes:
        column = COLUMNS[self.kind]
        reading = options_with_files(self._options, column, "reads")
        if reading == ["use_libdevice"]:
            headers = Headers([libdevice()])
        elif reading:
            raise ValueError(
                f"{', '.join(reading)} make the compiler read files that cache does not follow: leave one of them out"
            )
        # A program that reads no files has the same key as users make.
        may_read = options_with_files(self._options, column, "headers") or os.path.dirname(self._options.name)
        return make_program_cache_key(
            code=self._code,
            code_type=self.kind,
            options=self._options,
            target_type=target,
            name_expressions=expressions,
            extra_digest=headers.digest if may_read or headers.is_found else None,
        )


class CacheSlot:
    """One compilation in a cache.

    Parameters
    ----------
    cache : ProgramCacheResource
        The cache.
    source : CacheSource
        What is compiled.
    target : ObjectCodeFormatType
        What to.
    expressions : sequence of str or bytes
        The name expressions.

    Attributes
    ----------
    obstacle : str or None
        The include that cannot be followed, so that nothing can be stored.

    Raises
    ------
    ValueError
        If an option makes the compiler write files, or read others than headers.
    """

    def __init__(self, cache, source: CacheSource, target, expressions):
        self._cache = cache
        self._source = source
        self._target = target
        self._expressions = expressions if source.kind is SourceCodeType.CXX else ()
        self._key, self.obstacle = source.key(target, self._expressions)

    def load(self) -> tuple[bytes, list[bytes]] | None:
        """Return the code and the names in it for the name expressions; None for a miss."""
        if self._key is None:
            return None
        names = []
        if self._expressions:
            # Names that do not fit are of a damaged entry.
            ordered = tagged_expressions(self._expressions)
            found = (self._cache.get(self._names_key()) or b"").split(b"\0")
            if len(found) != len(ordered) or not all(found):
                return None
            by_expression = dict(zip(ordered, found, strict=True))
            names = [by_expression[tagged(expression)] for expression in self._expressions]
        code = self._cache.get(self._key)
        return (code, names) if code else None

    def store(self, code: bytes, names: list[bytes]) -> None:
        """Store what was compiled, unless a header has changed since the slot was made."""
        if self._key is None or self._source.key(self._target, self._expressions)[0] != self._key:
            return
        if self._expressions:
            by_expression = dict(zip(map(tagged, self._expressions), names, strict=True))
            self._cache[self._names_key()] = b"\0".join(name for _, name in sorted(by_expression.items()))
        self._cache[self._key] = code

    def _names_key(self) -> bytes:
        return hashlib.sha256(b"names of " + self._key).digest()


def shown(options) -> str:
    """Return a text that is the same for equal options only."""
    return "\0".join([f"{name}={value!r}" for name, value in vars(options).items() if value is not None])


def values_of(arguments: list[str], flag: str) -> list[str]:
    """Return the values that some arguments give to a flag."""
    return [argument.removeprefix(f"{flag}=") for argument in arguments if argument.startswith(f"{flag}=")]
