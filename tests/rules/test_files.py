# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What every file has to carry, and what none may hold."""

import re

import pytest

from support.source import CORE, ROOT, core_files

pytestmark = pytest.mark.requires(source=True)

FOLDERS = ("cuda", "tests", "examples", "benchmarks", "docs")
SUFFIXES = {".py", ".pyx", ".pxd", ".hpp", ".cpp", ".h", ".c", ".S"}


def sources():
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and not {"build", "_build", "__pycache__"} & set(path.parts):
                yield path


def test_every_source_file_begins_with_the_licence():
    missing = [
        str(path.relative_to(ROOT))
        for path in sources()
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(path.read_text().splitlines()[:4])
    ]
    assert missing == []


def test_cuda_is_a_namespace_package():
    assert not (ROOT / "cuda" / "__init__.py").exists()


def test_every_result_helper_names_the_call_it_checks():
    pattern = re.compile(
        r"(?:HANDLE|ALLOW|WARN)_RETURN\(\s*cydriver\.(\w+)\((?:[^()]|\([^()]*\)|\((?:[^()]|\([^()]*\))*\))*\)(.*?)\n", re.S
    )
    wrong = []
    for path in core_files(".pyx", ".pxd"):
        text = path.read_text()
        for match in pattern.finditer(text):
            rest = text[match.end(1):match.end(1) + 600]
            names = re.findall(r'b"(cu\w+)"', rest)
            if not names or names[0] != match.group(1):
                wrong.append(f"{path.name}: {match.group(1)} is called {names[:1]}")
    assert wrong == []


def test_no_source_calls_the_runtime_bindings():
    wrong = [str(path) for path in core_files(".py", ".pyx") if re.search(r"cyruntime|runtime\.cuda\w+\(", path.read_text())]
    assert wrong == []


def test_private_modules_declare_what_they_export():
    silent = [
        str(path.relative_to(CORE))
        for path in core_files(".py", ".pyx")
        if path.name != "__init__.py"
        and re.search(r"^(class|def|cdef class) [A-Za-z]", path.read_text(), re.M)
        and path.parent.name not in ("_handles",)
        and "__all__" not in path.read_text()
    ]
    assert silent == []


def test_packages_compute_nothing_in_their_init():
    allowed = re.compile(r'\s*(#.*|"""[^"]*"""|from [\w.]+ import .*|import [\w.]+.*|\)|[\w, ]+,?(\s*# .*)?|__all__ = .*|"[\w]+",|\]|)$')
    wrong = []
    for path in core_files(".py"):
        # The package itself fetches names at their first use: docs/design/imports.md.
        if path.name == "__init__.py" and path.parent != CORE:
            text = re.sub(r'"""(.|\n)*?"""', "", path.read_text())
            wrong += [f"{path.relative_to(CORE)}: {line}" for line in text.splitlines() if not allowed.match(line)]
    assert wrong == []
