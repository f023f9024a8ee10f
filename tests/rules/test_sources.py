# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sizes of files and functions, unique names, places of tests; formats and spelling are checks of ``.ci/lint``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from support.source import CORE, ROOT, core_files

pytestmark = pytest.mark.requires(source=True)

SUFFIXES = {".py", ".pyx", ".pxi", ".pxd", ".hpp", ".cpp", ".c", ".h"}
FOLDERS = ("cuda", "tests", "emulator/cuda", "emulator/src", "emulator/tests")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
FILE_LIMIT = 1000
FUNCTION_LIMIT = 60

FUNCTION = re.compile(r"^( *)(?:async +)?(?:def|cdef|cpdef) (?!class\b|extern\b).*\(")

# Directories of tests, at any depth, that are about a subject rather than about one module.
SUBJECTS = {
    "clients",  # programs that use the package through other libraries
    "cython",  # handles without a device, by extensions of the tests
    "docs",  # the pages and the programs on them
    "examples",
    "failures",  # driver calls that fail, signals, old drivers, bad input
    "fuzz",
    "packaging",  # distributions, stubs, imports, consumers
    "programs",  # whole programs as users write them
    "protocols",  # what objects of all classes have in common
    "rules",  # the sources themselves
}

MODULE_FUNCTION = re.compile(
    r"^(?:async +)?(?:def|cdef|cpdef) (?!class\b|enum\b|struct\b|extern\b|packed\b)(?:[^\n=('\"#]*[ *&])?(\w+)\(",
    re.MULTILINE,
)
# Names that several modules have: functions that Python calls, entry points, and public functions of two interfaces.
SHARED = {"__dir__", "__getattr__", "init", "main", "register_host_memory"}


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


def test_no_two_modules_have_functions_of_the_same_name():
    places = defaultdict(set)
    for path in core_files(".py", ".pyx", ".pxi"):
        for name in MODULE_FUNCTION.findall(path.read_text()):
            places[name].add(str(path.relative_to(CORE)))
    assert len(places) > 1800
    repeated = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in repeated.items() if name not in SHARED} == {}
    assert SHARED - set(repeated) == set(), "no longer repeated"


def test_planted_functions_of_modules_are_found():
    text = (
        "def f(x):\n    def g(): pass\nclass A:\n    def h(self): pass\ncdef inline const char* i(int a=(1)):\n"
        "cpdef object j(\n    k\n):\ncdef class B(A):\ncdef int[3] l = m(1)\nasync def n(): pass\ncdef dict o = {}\n"
    )
    assert MODULE_FUNCTION.findall(text) == ["f", "i", "j", "n"]


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of Python or Cython code with their line counts, without docstrings."""
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


def modules() -> dict[tuple[str, ...], set[str]]:
    """Return the modules of the package by directory; leading underscores do not count."""
    found = {}
    for path in core_files(".py", ".pyx", ".pxi", ".hpp"):
        *directory, name = (part.strip("_") for part in path.relative_to(CORE).with_suffix("").parts)
        found.setdefault(tuple(directory), set()).add(name)
    return found


def mirrors(path: PurePath, known: dict[tuple[str, ...], set[str]]) -> bool:
    """Return whether a test file is about a subject, or has the name of a module.

    The file's name begins with the module's name, or the file lies in a directory of that name.
    """
    *directory, name = path.parts
    if SUBJECTS & set(directory):
        return True
    parts = [*directory, name.removeprefix("test_").removesuffix(".py")]
    depth = max(depth for depth in range(len(parts)) if depth == 0 or tuple(parts[:depth]) in known)
    names, (first, *rest) = known[tuple(parts[:depth])], parts[depth:]
    return first in names or (not rest and any(first.startswith(f"{module}_") for module in names))


def test_tests_mirror_the_package():
    tests = [path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")]
    known = modules()
    assert len(tests) > 250 and len(known) > 10
    assert [str(path) for path in sorted(tests) if not mirrors(path, known)] == []
    packages = {path.parent.relative_to(CORE).parts[0].strip("_") for path in core_files(".py") if path.parent != CORE}
    assert packages - {path.parts[0] for path in tests} == set(), "a directory has no tests"


def test_planted_tests_of_no_module_are_found():
    known = {(): {"stream"}, ("graph",): {"capture"}}
    right = ("test_stream.py", "test_stream_waits.py", "graph/test_capture.py", "graph/capture/test_forks.py")
    assert all(mirrors(PurePath(path), known) for path in (*right, "graph/failures/test_calls.py"))
    wrong = ("test_streams.py", "graph/test_stream.py", "graph/captures/test_forks.py", "texture/test_stream.py")
    assert not any(mirrors(PurePath(path), known) for path in wrong)
