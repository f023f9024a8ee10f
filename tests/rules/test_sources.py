# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Licence headers, spelling, sizes, special methods, names of calls in driver errors, and skips by capability."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = ["SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers", "SPDX-License-Identifier: Apache-2.0"]
LIMITS = {".py": 600, ".pyx": 600, ".hpp": 600, ".cpp": 600, ".c": 600, ".h": 600, ".pxd": 120}
FUNCTION_LIMIT = 60

FUNCTION = re.compile(r"^( *)(?:async +)?(?:def|cdef|cpdef) (?!class\b|extern\b).*\(")
RESULT = re.compile(r"\b(?:HANDLE|ALLOW|WARN)_RETURN\(")
OF_INSTANCE = re.compile(r'hasattr\((?!type\()[^,]+, "__(?:index|int|float|bool|len|iter|fspath)__"\)')
SKIP = re.compile(r"pytest\.(?:skip|importorskip|xfail)\b|mark\.(?:skip|skipif|xfail)\b")

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
ISE = re.compile(r"([a-z]+)is(?:e[ds]?|ers?|ing|ations?|able)", re.IGNORECASE)
# The words with which no spelling has -ize, up to "ise": bitwise, raise, advise and so on.
ALWAYS_ISE = re.compile(r"\w*(?:w|ra|adv|prom|no|exerc|prec|surpr|rev|compr)|a?r|d", re.IGNORECASE)


def sources(*directories: str) -> list[Path]:
    """Return the source files below some directories."""
    paths = [path for directory in directories for path in sorted((ROOT / directory).rglob("*"))]
    return [path for path in paths if path.suffix in LIMITS]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


CODE = [*sources("cuda", "tests", "examples", "benchmarks", ".ci"), ROOT / "setup.py", ROOT / "docs" / "conf.py"]
SCRIPTS = [path for path in sorted((ROOT / ".ci").iterdir()) if path.is_file() and not path.suffix]
PAGES = [path for folder in ("", "api", "design", "guide") for path in (ROOT / "docs" / folder).glob("*.*")]
TEXTS = [*CODE, *SCRIPTS, *PAGES, *(ROOT / "tests").rglob("*.cu"), ROOT / "README.md", ROOT / "pyproject.toml"]
CYTHON = [path for path in sources("cuda") if path.suffix in (".pyx", ".pxd")]


@pytest.mark.parametrize("path", [*CODE, *SCRIPTS], ids=named)
def test_file_begins_with_the_licence(path):
    lines = [line for line in path.read_text().splitlines()[:4] if not line.startswith("#!")]
    assert [line.lstrip("#/ ") for line in lines[:2]] == HEADER


@pytest.mark.parametrize("path", CODE, ids=named)
def test_file_is_of_moderate_size(path):
    assert len(path.read_text().splitlines()) <= LIMITS[path.suffix]


@pytest.mark.parametrize("path", [path for path in CODE if path.suffix in (".py", ".pyx")], ids=named)
def test_functions_are_of_moderate_size(path):
    long = {name: size for name, size in functions(path.read_text()) if size > FUNCTION_LIMIT}
    assert long == {}


def test_verbs_are_spelled_with_ize():
    british = {
        f"{named(path)}: {word}"
        for path in TEXTS
        for word in WORD.findall(path.read_text())
        if is_spelled_with_ise(word)
    }
    assert british == set(), "write initialize, normalize, synchronize, optimize and so on"


@pytest.mark.parametrize("ending", ["ise", "ises", "ised", "iser", "ising", "isation", "isable"])
def test_words_that_never_have_ize_are_told_apart(ending):
    stems = ("initial", "Normal", "optim", "character", "uncustom", "RECOGN", "memo", "ra", "Adv", "bitw", "d", "ar")
    assert [stem for stem in stems if is_spelled_with_ise(stem + ending)] == list(stems[:7])


@pytest.mark.parametrize("path", CYTHON, ids=named)
def test_driver_result_is_reported_under_the_name_of_the_call(path):
    for call in result_calls(path.read_text()):
        driver_call = re.search(r"cydriver\.(cu\w+)\(", call)
        name = re.search(r'b"(\w+)"', call)
        assert name is not None, f"no name in {call}"
        if driver_call:
            assert name[1] == driver_call[1].removesuffix("_v2"), call


def test_special_methods_are_looked_up_on_the_class():
    found = {named(path): OF_INSTANCE.findall(path.read_text()) for path in sources("cuda")}
    assert {path: calls for path, calls in found.items() if calls} == {}, "hasattr(int, '__index__') is true, too"


@pytest.mark.parametrize("path", sources("tests"), ids=named)
def test_test_skips_by_capability_only(path):
    if path not in (Path(__file__).resolve(), ROOT / "tests" / "conftest.py"):
        assert SKIP.findall(path.read_text()) == []


def is_spelled_with_ise(word: str) -> bool:
    match = ISE.fullmatch(word)
    return match is not None and not ALWAYS_ISE.fullmatch(match[1])


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


def result_calls(text: str) -> Iterator[str]:
    """Yield the calls of the helpers that every driver result passes through."""
    for match in RESULT.finditer(text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if re.search(r"\b(cdef|def|cimport|import)\b|#|``", before):
            continue
        depth = 0
        for end in range(match.end() - 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                yield text[match.start() : end + 1]
                break
