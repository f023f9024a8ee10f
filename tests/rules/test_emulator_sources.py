# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The rooms of the software device: who may include whom, and one name for one thing."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "cuda" / "emulator" / "src"
FILES = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp"})
# What a room may include; the files beside the rooms are for all.
MAY_INCLUDE = {
    "": {""},
    "exec": {"", "exec"},
    "front": {"", "exec", "front"},
    "state": {"", "exec", "front", "state"},
    "abi": {"", "exec", "front", "state", "abi"},
}
LONGEST_FUNCTION = 60


def room_of(path):
    parts = path.relative_to(SOURCES).parts
    return parts[0] if len(parts) > 1 else ""


def included(path):
    """Our own files that a file includes; generated ones and those for kernels are not among them."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for folder in (path.parent, SOURCES):
            found = (folder / name).resolve()
            if found.is_relative_to(SOURCES) and found.exists():
                yield found
                break


def functions(path):
    """The first line and the number of lines of each function; its braces stand alone on lines."""
    lines = path.read_text().splitlines()
    for begin, line in enumerate(lines):
        if opening := re.fullmatch(r"(\s*)\{", line):
            length = next(i for i, later in enumerate(lines[begin:]) if later.startswith(f"{opening[1]}}}"))
            yield lines[begin - 1].strip(), length + 1


def test_the_sources_are_found():
    assert {room_of(path) for path in FILES} == set(MAY_INCLUDE)


@pytest.mark.parametrize("room", MAY_INCLUDE)
def test_nothing_calls_up(room):
    wrong = [
        f"{path.relative_to(SOURCES)} includes {other.relative_to(SOURCES)}"
        for path in FILES
        if room_of(path) == room
        for other in included(path)
        if room_of(other) not in MAY_INCLUDE[room]
    ]
    assert not wrong


def test_functions_are_short():
    counts = [(path.name, name, lines) for path in FILES for name, lines in functions(path)]
    assert len(counts) > 1000
    assert [row for row in counts if row[2] > LONGEST_FUNCTION] == []


def test_no_two_files_have_one_name():
    folders = defaultdict(set)
    for path in FILES:
        folders[path.stem].add(str(path.parent.relative_to(SOURCES)))
    assert {stem: sorted(where) for stem, where in folders.items() if len(where) > 1} == {}


def test_no_two_classes_have_one_name():
    places = defaultdict(set)
    for path in FILES:
        if path.suffix == ".hpp":
            for name in re.findall(
                r"^(?:class|struct|enum class|enum) (\w+)\b(?!::)[^;]*$", path.read_text(), re.MULTILINE
            ):
                places[name].add(path.name)
    assert {name: sorted(where) for name, where in places.items() if len(where) > 1} == {}


def test_gates_alone_refuse_calls_beside_a_capture():
    callers = {path.name for path in FILES if "Capture::refuse" in path.read_text() and room_of(path) == "abi"}
    assert callers == {"capture_rules.cpp"}


def test_macros_are_statements():
    """An `if` that a macro begins would take the `else` behind it."""
    macros = [
        (path.name, macro)
        for path in FILES
        for macro in re.findall(r"^#define (\w+\([^)]*\))[\s\\]*if\b", path.read_text(), re.M)
    ]
    assert not macros


def circle_of(unit, follows):
    """The units that a unit reaches and that reach it."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            for other in follows[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        return seen

    return {other for other in reached(unit) if unit in reached(other)}


def test_no_units_include_each_other_in_circles():
    """A unit is a source with its header. Where two must know each other, an interface stands between them."""
    follows = defaultdict(set)
    for path in FILES:
        follows[path.stem] |= {other.stem for other in included(path)} - {path.stem}
    assert [unit for unit in list(follows) if circle_of(unit, follows)] == []


def test_circles_would_be_found():
    assert circle_of("a", {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c"}
    assert circle_of("d", {"a": {"b"}, "b": set(), "d": {"a"}}) == set()
