# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How the extensions are built (``setup.py``)."""

from __future__ import annotations

import importlib.util
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.requires(source=True)


@pytest.fixture
def build():
    """The module ``setup.py``, loaded for one test; it builds nothing when it is imported."""
    spec = importlib.util.spec_from_file_location("build_of_the_package", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_output_of_an_interrupted_translation_is_discarded(build, tmp_path, monkeypatch):
    partial = tmp_path / "translated" / "package" / "partial.cpp"
    monkeypatch.chdir(tmp_path)
    build.TRANSLATED = tmp_path / "translated"
    calls = {"cuda_include_dir": lambda: Path("include"), "write_calls": lambda *folders: None}
    build.runpy = types.SimpleNamespace(run_path=lambda path: calls)

    def translate(*arguments, **options):
        was_there.append(partial.exists())
        partial.parent.mkdir(exist_ok=True)
        partial.touch()
        if len(was_there) == 1:
            raise KeyboardInterrupt
        return []

    was_there = []
    build.cythonize = translate
    with pytest.raises(KeyboardInterrupt):
        build.extensions()
    build.extensions()
    build.extensions()
    assert was_there == [False, False, True]
