# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Complete programs of the classic style, each as its author wrote it: they check their results themselves."""

import runpy
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_"))


@pytest.mark.requires(cuda=(12, 9))
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_computes_the_right_results(path, device, monkeypatch, capsys):
    # A program begins in an interpreter where autoinit has not run.
    monkeypatch.delitem(sys.modules, "cuda.core.driver.autoinit", raising=False)
    runpy.run_path(str(path), run_name="__main__")
    assert "OK" in capsys.readouterr().out
