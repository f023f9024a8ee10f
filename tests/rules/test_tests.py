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
HELPERS = [path for path in FILES if not path.name.startswith("test_")]
CONFTESTS = [path for path in HELPERS if path.name == "conftest.py"]
JUDGES = {"raises", "warns", "fail"}  # of pytest
# Files that sleep or read a clock, and why they must.
TIMED = {
    "compile/linking/test_nvjitlink_linker.py": "waits, up to a limit, for work on another thread",
    "arrays/importing/test_protocols.py": "polls, and stops after a limit",
    "clients/__main__.py": "reports how long a client took",
    "clients/suites.py": "limits how long modules may take, and reports it",
    "compile/cache/test_files.py": "sets the age of files",
    "memory/adaptors/test_tracking_memory_resource.py": "compares the recorded time of an allocation",
    "support/closing.py": "runs for a given time",
    "support/graph_edits.py": "runs for a given time",
    "support/graph_stress.py": "runs for a given time",
    "support/graph_work.py": "polls, and stops after a limit",
    "support/soup.py": "runs for a given time",
    "system/test_waiting.py": "waits for events with a limit",
    "test_event.py": "measures the time between events",
    "utils/test_waiting.py": "waits in steps, up to a limit",
}


@cache
def tree_of(path):
    return ast.parse(path.read_text())


def is_assertion(node):
    """Return whether a node checks something itself; the programs of child processes are strings."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and "assert " in node.value
    if isinstance(node, ast.Attribute):
        return node.attr in JUDGES or node.attr.startswith("assert_")
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and "AssertionError" in ast.unparse(node))


@cache
def definitions(path):
    """Return the functions, classes and tables of a file by name."""
    found = defaultdict(list)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name].append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id].append(node.value)
    return found


@cache
def imported_names(path):
    return {
        alias.asname or alias.name
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def used_definitions(path, node):
    """Yield the file and the name of each definition that a node of a file may call: helpers, and fixtures."""
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    fixtures = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)} & called
    for part in ast.walk(node):
        name = getattr(part, "id", getattr(part, "attr", None))
        if name is None or (isinstance(part, ast.Name) and name in fixtures):
            continue
        if name in definitions(path):
            yield path, name
        elif isinstance(part, ast.Attribute) or name in imported_names(path):
            yield from ((helper, name) for helper in HELPERS if name in definitions(helper))
    for name in fixtures:
        yield from ((home, name) for home in [path, *CONFTESTS] if name in definitions(home))


def asserting_definitions(files):
    """Return the file and the name of each definition that asserts something, itself or by one that it calls."""
    places = [(path, name) for path in files for name in definitions(path)]
    found = {(path, name) for path, name in places if any(map(asserts, definitions(path)[name]))}
    uses = {
        (path, name): {use for node in definitions(path)[name] for use in used_definitions(path, node)}
        for path, name in places
    }
    while more := {place for place in places if place not in found and uses[place] & found}:
        found |= more
    return found


def asserts(node):
    return any(map(is_assertion, ast.walk(node)))


def functions_of_tests(files):
    return [
        (path, node)
        for path in files
        if path.name.startswith("test_")
        for name, nodes in definitions(path).items()
        if name.startswith("test_")
        for node in nodes
    ]


def cannot_fail(files):
    """Return the tests of the files that assert nothing."""
    asserting = asserting_definitions(files)
    return [
        f"{path.name}: {node.name}"
        for path, node in functions_of_tests(files)
        if not asserts(node) and not asserting.intersection(used_definitions(path, node))
    ]


def test_every_test_can_fail():
    assert len(functions_of_tests(FILES)) > 2000
    assert cannot_fail(FILES) == []


def test_a_test_without_assertion_is_found(tmp_path):
    """Also one that calls a function whose name another file gives to one that asserts."""
    (tmp_path / "test_one.py").write_text(
        "def check(): assert x\ndef test_a(): check()\ndef test_b(): print(1)\ndef test_c(): raise ValueError\n"
    )
    (tmp_path / "test_two.py").write_text("def check(): print(2)\ndef test_d(): check()\n")
    found = cannot_fail(sorted(tmp_path.iterdir()))
    assert found == ["test_one.py: test_b", "test_one.py: test_c", "test_two.py: test_d"]


def reads_clock(path):
    """Return whether a file reads a clock or sleeps, apart from the programs of child processes, which are strings."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "time"
        and node.func.attr.removesuffix("_ns") in {"sleep", "monotonic", "perf_counter", "process_time", "time"}
        for node in ast.walk(tree_of(path))
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_only_listed_files_sleep_or_read_a_clock(path):
    """A test proves that work is not done by other work, submitted later, that is done first."""
    assert reads_clock(path) == (path.relative_to(TESTS).as_posix() in TIMED)
