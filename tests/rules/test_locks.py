# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The interpreter lock is asked for in one way on threads of others, and what relies on CPython has one place."""

import re
from pathlib import Path

import pytest

from support.source import CORE, core_files

INTERNALS = [CORE / "_utils" / "cpython.hpp", CORE / "_utils" / "_cpython.pxd"]
SOURCES = [path for path in core_files(".pyx", ".pxd", ".hpp") if path not in INTERNALS]
# Fields of objects, slots of types, private functions, and the pending error as it was before Python 3.12.
RELIES = re.compile(
    r"\bob_(?:item|digit|type|refcnt|size)\b|\blv_tag\b|\btp_[a-z]+\b|\b_Py[A-Z]\w+|\bPyErr_(?:Fetch|Restore)\b"
    r"|\bPyUnstable_\w+|\bPyGILState_(?:Ensure|Release)\b"
)
FUNCTION = re.compile(
    r"^( *)c(?:p)?def (?!class|extern|cppclass)[^\n(]*\((?:[^()]|\([^()]*\))*\)([^:\n]*):", re.MULTILINE
)


def without_comments(path: Path) -> str:
    return re.sub(r"(?:#|//)[^\n]*", "", path.read_text())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CORE)))
def test_internals_of_python_are_used_in_one_place(path):
    assert RELIES.findall(without_comments(path)) == []


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.suffix == ".pyx"], ids=lambda path: str(path.relative_to(CORE))
)
def test_functions_of_foreign_threads_take_the_lock_by_call_with_interpreter(path):
    assert takers(without_comments(path)) == []


def takers(text: str) -> list[str]:
    """Return the functions that say ``with gil`` and can raise nothing, as those of callbacks and destructors."""
    found = []
    starts = [*FUNCTION.finditer(text)]
    ends = [later.start() for later in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=False):
        if "noexcept" in match[2] and re.search(r"\bwith gil\b", text[match.end() : end]):
            found.append(match[0].strip())
    return found


def test_a_destructor_that_takes_the_lock_itself_is_found():
    wrong = "cdef void end(Thing[int]& value) noexcept nogil:\n    with gil:\n        release(value)\n"
    right = wrong.replace("noexcept", "except *")
    assert takers(wrong) == ["cdef void end(Thing[int]& value) noexcept nogil:"]
    assert takers(right) == takers(right + wrong.replace("with gil", "while it")) == []
