# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Type checkers know every public name of the package, and report no error in a correct program."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuda.core
from support.source import CORE, ROOT, generator_of_stubs

PROGRAM = ROOT / "tests" / "packaging" / "typed_program.py"

pytestmark = pytest.mark.requires(source=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The Python files and the stubs of the package, as a wheel has them."""
    directory = tmp_path_factory.mktemp("installed")
    for path in CORE.rglob("*.py"):
        copy = directory / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (directory / "cuda" / "core" / "py.typed").touch()
    generator_of_stubs().write_stubs(ROOT, CORE, directory)
    return directory


def test_stub_of_the_package_has_its_public_names(installed):
    tree = ast.parse((installed / "cuda" / "core" / "__init__.pyi").read_text())
    names = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    (exported,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(exported) == sorted(cuda.core.__all__)
    assert set(exported) | {"typing", "utils"} <= names


@pytest.mark.requires(module="mypy")
def test_mypy_in_strict_mode_knows_the_names(installed, tmp_path):
    done = check("mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", installed=installed)
    assert done.returncode in (0, 1), done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(str(PROGRAM))] == []


@pytest.mark.requires(module="basedpyright")
def test_pyright_knows_the_names(installed):
    done = check("basedpyright", "--level=error", "--outputjson", installed=installed)
    found = json.loads(done.stdout)["generalDiagnostics"]
    # It ignores the comments for mypy, and so reports the lines that are wrong on purpose.
    wrong = [number for number, line in enumerate(PROGRAM.read_text().splitlines()) if "type: ignore" in line]
    assert [error["range"]["start"]["line"] for error in found] == wrong, found


def check(module: str, *options: str, installed: Path) -> subprocess.CompletedProcess:
    """Run a type checker on the program."""
    search = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    variables = os.environ | {"MYPYPATH": str(installed), "PYTHONPATH": search}
    command = [sys.executable, "-P", "-m", module, *options, str(PROGRAM)]
    return subprocess.run(command, cwd=installed, env=variables, capture_output=True, text=True, timeout=120)
