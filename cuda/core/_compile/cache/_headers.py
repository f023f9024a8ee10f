# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The headers that a C++ source might include, found without the compiler.

All branches of ``#if`` count, and all directories in which a header of that name exists: the digest covers at least
the headers that the compiler reads. Headers that are built into the compiler are not found; the cache key has its
version instead.
"""

from __future__ import annotations

import os
import re
import time
from hashlib import sha256

from cuda.core._compile.cache._key import digest
from cuda.core._utils.locks import RLock

__all__ = ["Headers", "find_headers"]

# A file that changed within this time, in nanoseconds, might change again without a new time stamp.
_UNSETTLED = 50_000_000
# The capacity of the cache of parsed headers.
_MAX_PARSED = 4096

# `re` compiles these patterns on first use, because most programs include nothing.
_GAP = rb"(?:[ \t\v\f]|/\*.*?\*/)*"
_DIRECTIVE = rb"(?m:^|\*/)" + _GAP + rb"(?:#|%:)" + _GAP + rb"(include(?:_next)?|define)\b" + _GAP + rb"([^\r\n]*)"
# `__has_include`, and macros that wrap it, by their usual names.
_HAS_INCLUDE = rb"(?i)HAS_INCLUDE\w*[ \t]*\([ \t]*([<\"][^\r\n)]*)"
_MACRO = rb"[A-Za-z_]\w*(?=\s|/|$)"
# The recorded value of a macro that does not expand to a header name.
_OTHER = b"?"

_parsed = {}  # path -> (state, digest, operands of #include, definitions of macros)
_lock = RLock()


class Headers:
    """The headers that a search found, and the state of the files to detect changes.

    Parameters
    ----------
    found : list of bytes
        The path and the digest of each header.
    unresolved_include : str or None
        The ``#include`` that could not be resolved.
    states : dict of str to tuple
        The state of each file that was read, and of each directory in which a header could appear.
    """

    def __init__(self, found=(), unresolved_include: str | None = None, states: dict | None = None):
        self.is_found = bool(found)
        self.digest = digest(sorted(found))
        self.unresolved_include = unresolved_include
        self._states = states or {}
        self.is_settled = all(map(is_settled, self._states.values()))

    def is_current(self) -> bool:
        """Return whether no file or directory has changed, so that a new search would find the same."""
        return all(path_state(path) == state for path, state in self._states.items())


def find_headers(source: str, name: str, directories=(), pre_included=(), macros=()) -> Headers:
    """Find the headers that a source might include.

    Parameters
    ----------
    source : str
        The source.
    name : str
        The name of the source; its directory is searched for headers.
    directories : sequence of str
        The directories to search for headers.
    pre_included : sequence of str
        Headers that are included before the source.
    macros : sequence of str
        Macros that options define, as ``name=value``.
    """
    search = Search(directories, os.path.dirname(name))
    for header in pre_included:
        search.add_candidates(header, "", is_quoted=True)
    for macro in macros:
        defined, _, value = macro.partition("=")
        search.define(os.fsencode(defined), os.fsencode(value))
    search.add_file(*parse(source.encode(errors="surrogatepass")), search.own)
    search.run()
    return search.result()


class Search:
    """One search: the headers found so far, and those still to be read.

    Parameters
    ----------
    directories : sequence of str
        The directories to search for headers.
    own : str
        The directory of the source; empty for the current one.
    """

    def __init__(self, directories, own: str):
        self.directories = list(directories)
        self.own = own
        self.states = {}
        self._found = []
        self._seen = set()
        self._real = {}
        self._watched = set()  # directories whose state, or that of an existing parent, is in `states`
        self._unread = []
        self._macros = {}
        self._uses = {}  # (macro after #include, directory of the file) -> None, in order
        self._unresolved = None

    def run(self) -> None:
        """Follow all ``#include`` directives."""
        while self._unread or self._follow_macros():
            path = self._unread.pop()
            content, operands, definitions = self._read(path)
            self._found.append(os.fsencode(path) + b"\0" + content)
            self.add_file(operands, definitions, os.path.dirname(path))

    def result(self) -> Headers:
        """Return the headers that were found."""
        for macro, _ in self._uses:
            if macro not in self._macros:
                self._unresolved = self._unresolved or f"#include {macro.decode(errors='replace')}"
        return Headers(self._found, self._unresolved, self.states)

    def add_file(self, operands, definitions, directory: str) -> None:
        """Add the ``#include`` operands and macro definitions of a file in a directory."""
        for macro, value in definitions:
            self.define(macro, value)
        for operand in operands:
            self._include(operand, directory)

    def define(self, macro: bytes, value: bytes) -> None:
        """Add a possible value of a macro."""
        self._macros.setdefault(macro, set()).add(value)

    def add_candidates(self, header: str, directory: str, is_quoted: bool) -> None:
        """Add the files that a header name might refer to in a file of ``directory``."""
        directories = [directory, self.own, *self.directories] if is_quoted else self.directories
        for place in dict.fromkeys([""] if os.path.isabs(header) else directories):
            path = os.path.join(place, header)
            identity = self._identity(path)
            if identity in self._seen:
                continue
            if self._state(path) is None:
                self._watch_for(path)
            else:
                self._seen.add(identity)
                self._unread.append(path)

    def _include(self, operand: bytes, directory: str) -> None:
        closing = {b'"': b'"', b"<": b">"}.get(operand[:1])
        if closing is not None:
            header = os.fsdecode(operand[1:].split(closing, 1)[0])
            if header and "\0" not in header:
                self.add_candidates(header, directory, is_quoted=closing == b'"')
        elif macro := re.match(_MACRO, operand):
            self._uses[macro[0], directory] = None
        else:
            self._unresolved = self._unresolved or f"#include {operand.decode(errors='replace')}"

    def _follow_macros(self) -> bool:
        """Include the values of macros, and return whether there are new headers to read."""
        known = -1
        while known != len(self._uses):
            known = len(self._uses)
            for macro, directory in list(self._uses):
                for value in self._macros.get(macro, ()):
                    self._include(value, directory)
        return bool(self._unread)

    def _identity(self, path):
        # Other paths of the same file, such as x/../x/file, include the same headers.
        directory, name = os.path.split(path)
        if directory not in self._real:
            self._real[directory] = os.path.realpath(directory)
        return self._real[directory], name

    def _state(self, path: str) -> tuple | None:
        """Return the state of a file and add it to ``states``, or return None if there is no such file."""
        if path not in self.states:
            if not os.path.isfile(path):
                return None
            self.states[path] = path_state(path)
        return self.states[path]

    def _watch_for(self, path: str) -> None:
        """Add the state of the directory in which a file would appear, or of its nearest existing parent."""
        while True:
            path = os.path.dirname(path)
            if path in self._watched:
                return
            self._watched.add(path)
            if os.path.isdir(path or "."):
                self.states[path or "."] = path_state(path or ".")
                return
            if path in ("", "/"):
                return

    def _read(self, path: str):
        """Return the digest of a header, its ``#include`` operands and its macro definitions."""
        state = self._state(path)
        with _lock:
            known = _parsed.get(path)
        if known is not None and known[0] == state:
            return known[1:]
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:  # removed in the meantime, which the recorded state will show
            text = b""
        parsed = (sha256(text).digest(), *parse(text))
        if is_settled(state):
            with _lock:
                if len(_parsed) >= _MAX_PARSED:
                    _parsed.clear()
                _parsed[path] = (state, *parsed)
        return parsed


def parse(text: bytes) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Return the operands of all ``#include`` in C++ code, and the definitions of macros."""
    text = text.replace(b"\\\r\n", b"").replace(b"\\\n", b"")
    operands = re.findall(_HAS_INCLUDE, text) if b"HAS_INCLUDE" in text.upper() else []
    # Only lines that might contain a directive, because searching all lines would take most of the time.
    text = b"\n".join([line for line in text.split(b"\n") if b"#" in line or b"%:" in line])
    definitions = []
    for directive, rest in re.findall(_DIRECTIVE, text) if text else ():
        if directive != b"define":
            operands.append(rest)
        else:
            name = re.match(rb"\w*", rest)[0]
            value = rest[len(name) :].strip()
            is_plain = value[:1] in (b'"', b"<") or re.fullmatch(rb"[A-Za-z_]\w*", value)
            definitions.append((name, value if is_plain else _OTHER))
    return operands, definitions


def path_state(path: str) -> tuple:
    """Return the inode, size and times of modification and of change of a file, or zeros if it is missing."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return (0, 0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def is_settled(state: tuple) -> bool:
    """Return whether a file is unchanged for so long that another change would have a new time stamp."""
    return max(state[2:]) < time.time_ns() - _UNSETTLED
