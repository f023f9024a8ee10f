# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The classic interface uses public names of the package, and the seam in ``_classic.py`` and ``_classic.pxd``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest

from cuda import core
from cuda.core import _classic
from support.source import CORE, core_files

pytestmark = pytest.mark.requires(source=True)

DRIVER = "cuda.core.driver"
SEAM = "cuda.core._classic"
SOURCES = {path: path.read_text() for path in core_files(".py", ".pyx", ".pxd")}
CLASSIC = {path: text for path, text in SOURCES.items() if path.is_relative_to(CORE / "driver")}

IMPORT = re.compile(
    r"^ *(?:from +(cuda(?:\.\w+)*) +(c?)import +(\([^)]*\)|[^\n]*)|c?import +(cuda\.core[\w.]*))", re.MULTILINE
)
# Members of the standard library.
OTHERS = {"_getframe", "_name_", "_replace"}


def imported(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the modules that a source imports from with each name, and whether these are C declarations."""
    for source, c, names, plain in IMPORT.findall(text):
        if plain:
            yield plain, "", False
        for name in re.findall(r"([\w*]+)(?: as \w+)?", re.sub("#.*", "", names)):
            yield source, name, bool(c)


def cimported() -> set[str]:
    """Return the names of the C part of the seam."""
    return {name for _, name, _ in imported(SOURCES[CORE / "_classic.pxd"])}


def is_public(module: str, name: str) -> bool:
    """Return whether a module of this package has a name for its users."""
    is_private = any(part.startswith("_") for part in (*module.split("."), name))
    return not is_private and name in importlib.import_module(module).__dir__()


def problems(text: str) -> list[str]:
    """Return what a source of the classic interface uses besides public names, its own modules and the seam."""
    found = []
    for module, name, is_c in imported(text):
        if module == SEAM:
            is_allowed = name in (cimported() if is_c else _classic.__all__)
        else:
            is_own = f"{module}.".startswith(f"{DRIVER}.")
            is_allowed = is_own or not f"{module}.".startswith("cuda.core.") or (not is_c and is_public(module, name))
        if not is_allowed:
            found.append(f"{module}: {name}")
    return found + [f"core.{name}" for name in re.findall(r"(?<![\w.])core\.(\w+)", text) if name not in dir(core)]


def other_members(texts: list[str]) -> set[str]:
    """Return the private members that these sources use, and neither define nor set."""
    whole = IMPORT.sub("", "\n".join(texts))
    used = set(re.findall(r"[\w\])]\.(_[a-z]\w*)", whole))
    declared = set(re.findall(r"(?<![\w.])_[a-z]\w*", whole))  # by def, cdef, or in the body of a class
    return used - declared - set(re.findall(r"\.(_[a-z]\w*)(?=[^=\n]* = )", whole)) - OTHERS


def test_the_classic_interface_uses_public_names_and_the_seam():
    found = {str(path.relative_to(CORE)): problems(text) for path, text in CLASSIC.items()}
    assert len(found) > 40
    assert {path: uses for path, uses in found.items() if uses} == {}


def test_classic_interface_uses_public_and_seam_members():
    listed = {member.partition(".")[2] for member in _classic.MEMBERS}
    assert other_members(list(CLASSIC.values())) - listed == set()
    assert [name for name in sorted(listed) if not any(name in text for text in CLASSIC.values())] == []


def test_the_classic_interface_uses_all_of_the_seam():
    used = {(name, is_c) for text in CLASSIC.values() for module, name, is_c in imported(text) if module == SEAM}
    assert used == {(name, False) for name in _classic.__all__} | {(name, True) for name in cimported()}


def test_nothing_else_uses_the_seam():
    others = {path.name: text for path, text in SOURCES.items() if path not in CLASSIC}
    assert [path for path, text in others.items() if any(module == SEAM for module, _, _ in imported(text))] == []


def test_planted_uses_are_found():
    text = (
        "from cuda import core, pathfinder\nfrom cuda.core import Buffer, _stream\n"
        "from cuda.core._memory._buffer cimport Buffer\nfrom cuda.core._classic cimport Buffer, Event\n"
        "from cuda.core._classic import shown, Buffer\nfrom cuda.core.utils import cdiv, shown\n"
        "from cuda.core.driver._context import current_context\n"
        "def f():\n    import cuda.core._stream as s\n    return core.Stream, core._stream\n"
    )
    assert problems(text) == [
        *("cuda.core: _stream", "cuda.core._memory._buffer: Buffer", "cuda.core._classic: Event"),
        *("cuda.core._classic: Buffer", "cuda.core.utils: shown", "cuda.core._stream: ", "core._stream"),
    ]


def test_planted_members_are_found():
    text = (
        "class A:\n    def __init__(self, b):\n        self._b, self._c = b, b._h\n    def _d(self): return self._b._c"
    )
    assert other_members([text, "cdef class B:\n    cdef object _e, _f\n", "x._e._d._g"]) == {"_h", "_g"}
