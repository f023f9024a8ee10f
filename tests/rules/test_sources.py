# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sizes of files and functions, and the places of tests; formats and spelling are checks of ``.ci/lint``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.source import CORE, ROOT, core_files

pytestmark = pytest.mark.requires(source=True)

SUFFIXES = {".py", ".pyx", ".pxi", ".pxd", ".hpp", ".cpp", ".c", ".h"}
FOLDERS = ("cuda", "tests", "emulator/cuda", "emulator/src", "emulator/tests")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
FILE_LIMIT = 1000
FUNCTION_LIMIT = 60

FUNCTION = re.compile(r"^( *)(?:async +)?(?:def|cdef|cpdef) (?!class\b|extern\b).*\(")

# Folders of tests that mirror no folder of the package.
OTHERS = {"clients", "cython", "docs", "fuzz", "packaging", "protocols", "rules"}


def test_cuda_is_a_namespace_package():
    assert not (ROOT / "cuda" / "__init__.py").exists()


def test_files_are_of_moderate_size():
    assert len(FILES) > 500
    examples = re.compile(r'\n *Examples\n *--------\n.*?(?=""")', re.DOTALL)  # in docstrings, which do not count
    lines = {str(path.relative_to(ROOT)): examples.sub("", path.read_text()).splitlines() for path in FILES}
    sizes = {path: sum(bool(line.strip()) for line in text) for path, text in lines.items()}
    assert {path for path, size in sizes.items() if size > FILE_LIMIT} == set(), "is it two concepts?"


def test_functions_are_of_moderate_size():
    long = {
        f"{path.relative_to(ROOT)}: {name}": size
        for path in FILES
        if path.suffix in (".py", ".pyx", ".pxi")
        for name, size in functions(path.read_text())
        if size > FUNCTION_LIMIT
    }
    assert long == {}


def test_planted_long_functions_are_found():
    body = "    x = 1\n" * 59
    text = f'def f(\n    a,\n):\n    """Text.\n\n    More.\n    """\n{body}\n'
    text += f"cdef int g(\n    a) except -1:\n{body}cdef int h(a)\n"
    assert list(functions(text)) == [("def f(", 62), ("cdef int g(", 61), ("cdef int h(a)", 1)]


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of Python or Cython code with their number of lines, docstrings not counted."""
    text = re.sub(r'^( +)[rf]?"""(?:.|\n)*?"""$', "", text, flags=re.MULTILINE)
    lines = text.splitlines()
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        size = 1
        for following in lines[start + 1 :]:
            indent = len(following) - len(following.lstrip())
            # The line that closes the arguments is indented like the first.
            if following.strip() and indent <= len(match[1]) and not following.lstrip().startswith(")"):
                break
            size += bool(following.strip())
        yield line.strip(), size


def test_every_folder_of_the_package_has_its_tests():
    folders = {path.relative_to(CORE).parts[0].strip("_") for path in core_files(".py", ".pyx") if path.parent != CORE}
    tests = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    assert folders - tests == set(), "a folder has no tests"
    assert tests - folders == OTHERS, "tests of no folder"
