# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Type checkers know every public name of the package, and report no error in a correct program."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import cuda.core
from support.pages import programs
from support.source import CORE, ROOT, generator_of_stubs

PROGRAM = ROOT / "tests" / "packaging" / "typed_program.py"

pytestmark = pytest.mark.requires(source=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The Python files and the stubs of both packages, as their wheels have them."""
    directory = tmp_path_factory.mktemp("installed")
    for package in (CORE, ROOT / "emulator" / "cuda" / "emulator"):
        home = directory / "cuda" / package.name
        for path in [*package.rglob("*.py"), package / "py.typed"]:
            copy = home / path.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    generator_of_stubs().write_stubs(ROOT, CORE, directory)
    return directory


def test_package_stub_has_its_public_names(installed):
    tree = ast.parse((installed / "cuda" / "core" / "__init__.pyi").read_text())
    names = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    (exported,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(exported) == sorted(cuda.core.__all__)
    assert set(exported) | {"typing", "utils"} <= names


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    """A directory with the programs of the documentation and the examples."""
    directory = tmp_path_factory.mktemp("pages")
    for program in programs():
        stem = re.sub(r"\W+", "_", program.page.removesuffix(".md"))
        (directory / f"{stem}_{program.line}.py").write_text(program.source)
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, directory / f"example_{path.name}")
    return directory


# What checkers report of programs that are right: by the beginning of the file's name, a part of the message.
REPORTED = {
    "guide_checkpoint": "readline",  # of a pipe, which typeshed takes for optional
    "guide_getting_started": "priority",  # a page on errors
    "guide_triton": "not subscriptable",  # a function whose decorator is not installed
    "example_jacobi_graph": "diags_array",  # the types that pyright infers for SciPy
}


def unexpected(reports: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the reports, pairs of a file and a message, that are not in the table."""
    return [
        (Path(path).name, message)
        for path, message in reports
        if not any(Path(path).name.startswith(page) and part in message for page, part in REPORTED.items())
    ]


@pytest.mark.requires(module="mypy")
def test_mypy_accepts_the_programs_of_the_pages_and_examples(installed, pages, tmp_path):
    options = [f"--cache-dir={tmp_path}", "--follow-imports=silent", "--disable-error-code=var-annotated"]
    files = map(str, sorted(pages.glob("*.py")))
    done = check("mypy", *options, "--ignore-missing-imports", installed=installed, files=files)
    assert done.returncode in (0, 1), done.stderr
    found = [line.partition(":")[::2] for line in done.stdout.splitlines() if ": error: " in line]
    missing_stubs = ("import-untyped]", "import-not-found]")
    assert unexpected([report for report in found if not report[1].endswith(missing_stubs)]) == []


@pytest.mark.requires(module="basedpyright")
def test_pyright_accepts_the_programs_of_the_pages_and_examples(installed, pages):
    config = {"typeCheckingMode": "standard", "include": [str(pages)], "extraPaths": [str(installed)]}
    config |= dict.fromkeys(("reportMissingImports", "reportMissingModuleSource"), False)
    config |= dict.fromkeys(("reportPossiblyUnboundVariable", "reportIncompatibleMethodOverride"), False)
    (pages / "pyrightconfig.json").write_text(json.dumps(config))
    options = [f"--project={pages}", "--level=error", "--outputjson"]
    done = check("basedpyright", *options, installed=installed, files=())
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert unexpected([(error["file"], error["message"]) for error in found]) == []


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


def check(
    module: str, *options: str, installed: Path, files: Iterable[str] = (str(PROGRAM),)
) -> subprocess.CompletedProcess:
    """Run a type checker on files."""
    search = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    variables = os.environ | {"MYPYPATH": str(installed), "PYTHONPATH": search}
    command = [sys.executable, "-P", "-m", module, *options, *files]
    return subprocess.run(command, cwd=installed, env=variables, capture_output=True, text=True, timeout=120)
