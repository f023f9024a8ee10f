# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Small units: files, functions and declarations stay short enough to read at once."""

import pytest

from support.source import ROOT, core_files, functions

pytestmark = pytest.mark.requires(source=True)

SOURCES = (".py", ".pyx", ".hpp", ".cpp", ".h")


def long_files(paths, limit):
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}
    return {name: length for name, length in lengths.items() if length > limit}


def test_source_files_stay_under_600_lines():
    paths = [path for path in (ROOT / "cuda").rglob("*") if path.suffix in SOURCES and "build" not in path.parts]
    assert long_files(paths, 600) == {}


def test_declaration_files_stay_under_120_lines():
    assert long_files(core_files(".pxd"), 120) == {}


def test_test_files_stay_under_800_lines():
    assert long_files((ROOT / "tests").rglob("*.py"), 800) == {}


def test_functions_stay_under_60_lines_without_their_docstring():
    long = [
        f"{path.relative_to(ROOT)}: {name} has {length} lines"
        for path in core_files(".py", ".pyx")
        for name, length in functions(path)
        if length > 60
    ]
    assert long == []
