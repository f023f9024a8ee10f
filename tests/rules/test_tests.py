# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tests can fail, and do not depend on how fast the machine is."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = sorted(path for path in TESTS.rglob("*.py") if not path.is_relative_to(TESTS / "fuzz"))
JUDGES = {"raises", "warns", "fail"}  # of pytest; what a child process asserts is in its text
# Where a test sleeps, or compares times, because time itself is what it is about.
TIMED = {
    "compile/linking/test_nvjitlink_linker.py": "waits, up to a limit, for what ends on another thread",
    "arrays/importing/test_protocols.py": "polls, and stops after a limit",
    "clients/__main__.py": "reports how long a client took",
    "clients/suites.py": "limits how long modules may take, and reports it",
    "compile/cache/test_files.py": "gives files an age",
    "memory/adaptors/test_tracking_memory_resource.py": "records have the time of the allocation",
    "support/closing.py": "goes on for a given time",
    "support/graph_edits.py": "goes on for a given time",
    "support/graph_stress.py": "goes on for a given time",
    "support/graph_work.py": "polls, and stops after a limit",
    "support/soup.py": "goes on for a given time",
    "system/test_waiting.py": "a wait lasts as long as its limit says",
    "test_event.py": "measures the time between events",
    "utils/test_waiting.py": "waits in steps, up to a limit",
}


@cache
def tree_of(path):
    return ast.parse(path.read_text())


def called(node):
    """The bare names of the functions that a piece of code calls or passes on."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def asserts(node):
    return any(
        isinstance(part, (ast.Assert, ast.Raise))
        or (isinstance(part, ast.Attribute) and part.attr in JUDGES)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str) and "assert " in part.value)
        for part in ast.walk(node)
    )


def judges(functions):
    """The names of functions that assert something, themselves or by one that they call."""
    found = {name for name, bodies in functions.items() if any(map(asserts, bodies))}
    while more := {
        name
        for name, bodies in functions.items()
        if name not in found and any(other in found for body in bodies for other in called(body))
    }:
        found |= more
    return found


@cache
def functions():
    found = defaultdict(list)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found[node.name].append(node)
    return found


def test_every_test_can_fail():
    # Each test counts by itself: tests in several files may have the same name.
    judging = judges(functions())
    tests = [(name, node) for name, nodes in functions().items() if name.startswith("test_") for node in nodes]
    assert len(tests) > 2000
    assert [name for name, node in tests if not asserts(node) and judging.isdisjoint(called(node))] == []


def test_a_test_without_assertion_would_be_found():
    source = "def a(): assert x\ndef test_b(): a()\ndef test_c(): print(1)\n"
    found = {node.name: [node] for node in ast.parse(source).body}
    assert judges(found) == {"a", "test_b"}


def reads_clock(path):
    """Whether a file calls the clock or sleeps, outside of programs for other processes, which are strings."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "time"
        and node.func.attr in {"sleep", "monotonic", "perf_counter", "time"}
        for node in ast.walk(tree_of(path))
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_only_what_is_about_time_sleeps_or_reads_a_clock(path):
    """To prove "not yet", let other work that was submitted later be done first."""
    assert reads_clock(path) == (path.relative_to(TESTS).as_posix() in TIMED)
