# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The sources of the software device: which folder may include which, sizes of functions, and unique names."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "cuda" / "emulator" / "src"
FILES = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp"})
# The folders that each folder may include; "" stands for the files beside the folders.
MAY_INCLUDE = {
    "": {""},
    "exec": {"", "exec"},
    "front": {"", "exec", "front"},
    "state": {"", "exec", "front", "state"},
    "abi": {"", "exec", "front", "state", "abi"},
}
LONGEST_FUNCTION = 60


def folder_of(path):
    parts = path.relative_to(SOURCES).parts
    return parts[0] if len(parts) > 1 else ""


def included(path):
    """Yield the sources that a file includes, without generated headers and headers for kernels."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for folder in (path.parent, SOURCES):
            found = (folder / name).resolve()
            if found.is_relative_to(SOURCES) and found.exists():
                yield found
                break


def functions(path):
    """Yield the first line and the number of lines of each function, whose braces are alone on their lines."""
    lines = path.read_text().splitlines()
    for begin, line in enumerate(lines):
        if opening := re.fullmatch(r"(\s*)\{", line):
            length = next(i for i, later in enumerate(lines[begin:]) if later.startswith(f"{opening[1]}}}"))
            yield lines[begin - 1].strip(), length + 1


def test_the_sources_are_found():
    assert {folder_of(path) for path in FILES} == set(MAY_INCLUDE)


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_folder_includes_lower_folders_only(folder):
    wrong = [
        f"{path.relative_to(SOURCES)} includes {other.relative_to(SOURCES)}"
        for path in FILES
        if folder_of(path) == folder
        for other in included(path)
        if folder_of(other) not in MAY_INCLUDE[folder]
    ]
    assert not wrong


def test_functions_are_short():
    counts = [(path.name, name, lines) for path in FILES for name, lines in functions(path)]
    assert len(counts) > 1000
    assert [row for row in counts if row[2] > LONGEST_FUNCTION] == []


def test_no_two_files_have_the_same_name():
    folders = defaultdict(set)
    for path in FILES:
        folders[path.stem].add(str(path.parent.relative_to(SOURCES)))
    assert {stem: sorted(where) for stem, where in folders.items() if len(where) > 1} == {}


def test_no_two_classes_have_the_same_name():
    places = defaultdict(set)
    for path in FILES:
        if path.suffix == ".hpp":
            for name in re.findall(
                r"^(?:class|struct|enum class|enum) (\w+)\b(?!::)[^;]*$", path.read_text(), re.MULTILINE
            ):
                places[name].add(path.name)
    assert {name: sorted(where) for name, where in places.items() if len(where) > 1} == {}


def test_only_capture_rules_refuse_calls_during_a_capture():
    callers = {path.name for path in FILES if "Capture::refuse" in path.read_text() and folder_of(path) == "abi"}
    assert callers == {"capture_rules.cpp"}


def test_macros_are_statements():
    """A macro that begins with `if` would take the `else` that follows its use."""
    macros = [
        (path.name, macro)
        for path in FILES
        for macro in re.findall(r"^#define (\w+\([^)]*\))[\s\\]*if\b", path.read_text(), re.M)
    ]
    assert not macros


def cycle_of(unit, follows):
    """Return the units that a unit reaches and that reach it."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            for other in follows[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        return seen

    return {other for other in reached(unit) if unit in reached(other)}


def test_units_include_each_other_without_cycles():
    """A unit is a source with its header. Two units that use each other need an interface in a third one."""
    follows = defaultdict(set)
    for path in FILES:
        follows[path.stem] |= {other.stem for other in included(path)} - {path.stem}
    assert [unit for unit in list(follows) if cycle_of(unit, follows)] == []


def test_a_cycle_is_found():
    assert cycle_of("a", {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c"}
    assert cycle_of("d", {"a": {"b"}, "b": set(), "d": {"a"}}) == set()
