# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every test can fail, and has a short name."""

import ast
import re
from collections import defaultdict

import pytest

from support.source import ROOT

pytestmark = pytest.mark.requires(source=True)

# Programs in driver/ported are as their authors wrote them, and tests/fuzz judges by its verdicts.
SUITES = (ROOT / "tests", ROOT / "emulator" / "tests")
FILES = [path for suite in SUITES for path in sorted(suite.rglob("*.py")) if {"fuzz", "ported"}.isdisjoint(path.parts)]
JUDGES = {"raises", "warns", "fail"}  # of pytest
NAME_LIMIT = 60  # characters


def asserts(node: ast.AST) -> bool:
    """Return whether a node checks something itself; the programs of child processes are strings."""
    kind = type(node)
    if kind is ast.Constant:
        return type(node.value) is str and "assert " in node.value
    if kind is ast.Attribute:
        return node.attr in JUDGES or node.attr.startswith("assert_")
    return kind is ast.Assert or (kind is ast.Raise and "AssertionError" in ast.unparse(node))


def is_test_file(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_")


def statements(node: ast.AST):
    """Yield the statements in a node, at any depth."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, field, ()):
            yield statement
            yield from statements(statement)


def references(parts: list[ast.AST], imported: set[str]) -> set[tuple[bool, str]]:
    """Return the names that a definition uses, and for each whether it may name a helper or fixture."""
    called = {part.func.id for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    parameters = {part.arg for part in parts if isinstance(part, ast.arg)}
    names = {part.id for part in parts if isinstance(part, ast.Name)} - (parameters - called)
    foreign = (names & (imported | parameters)) | {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return {(False, name) for name in names} | {(True, name) for name in foreign}


def cannot_fail(sources: dict[str, str]) -> tuple[int, list[str]]:
    """Return the number of tests, and the tests that assert nothing, not even by a helper, table or fixture."""
    uses, asserting, tests = defaultdict(set), set(), []  # by file and name
    for file, text in sources.items():
        nodes = list(statements(ast.parse(text)))
        imported = {a.asname or a.name for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
        for node in nodes:
            names = [node.name] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else []
            if isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            parts = list(ast.walk(node)) if names else []
            for name in names:
                uses[file, name] |= references(parts, imported)
                if any(map(asserts, parts)):
                    asserting.add((file, name))
                if name.startswith("test_") and isinstance(node, ast.FunctionDef) and is_test_file(file):
                    tests.append((file, name))
    more = asserting
    while more:
        asserting |= more
        helpers = {name for file, name in asserting if not is_test_file(file)}
        more = {
            (file, name)
            for (file, name), used in uses.items()
            if (file, name) not in asserting
            and any((file, other) in asserting or (is_foreign and other in helpers) for is_foreign, other in used)
        }
    return len(tests), [f"{file}: {name}" for file, name in tests if (file, name) not in asserting]


def test_every_test_can_fail():
    count, wrong = cannot_fail({str(path): path.read_text() for path in FILES})
    assert count > 2000
    assert wrong == []


def test_planted_tests_without_an_assertion_are_found():
    one = "def check(): assert x\ndef test_a(): check()\ndef test_b(): print(1)\ndef test_c(): raise ValueError\n"
    two = "from support.helper import help_me\ndef check(): print(2)\ndef test_d(): check()\ndef test_e(): help_me()\n"
    helper = "def help_me(): check_more()\ndef check_more(): assert y\n"
    _, found = cannot_fail({"test_one.py": one, "test_two.py": two, "support/helper.py": helper})
    assert found == ["test_one.py: test_b", "test_one.py: test_c", "test_two.py: test_d"]


def long_names(text: str) -> list[str]:
    """Return the names of tests that are over the limit."""
    names = re.findall(r"^ *(?:async )?def (test_\w*)", text, flags=re.MULTILINE)
    return [name for name in names if len(name) > NAME_LIMIT]


def test_names_are_short():
    found = {str(path): long_names(path.read_text()) for path in FILES}
    assert len(found) > 400
    assert {path: names for path, names in found.items() if names} == {}


def test_planted_long_names_are_found():
    short, long = "test_" + 55 * "a", "test_" + 56 * "b"
    source = f"def {short}(): pass\nclass A:\n    def {long}(self): pass\ndef {long}s(): pass\n"
    assert long_names(source) == [long, f"{long}s"]
