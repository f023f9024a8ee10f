# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The code blocks in the guides to the classic interface run as printed, one after the other."""

import re
import sys

import numpy as np
import pytest

from cuda.core.driver import __main__ as program
from support.pages import DOCS, run_blocks


@pytest.fixture
def classic_names(device, monkeypatch):
    monkeypatch.delitem(sys.modules, "cuda.core.driver.autoinit", raising=False)
    program.use_classic_names()
    yield
    program.forget_classic_names()


def test_guide_to_porting_runs(classic_names):
    names = run_blocks("guide/classic.md", 8)
    assert np.allclose(names["x"], 2 * np.pi)
    assert np.allclose(names["result"], 6 * np.pi)
    assert names["same"].handle == names["device"].create_stream(names["same"]).handle


def test_guide_to_arrays_runs(classic_names, capsys):
    names = run_blocks("guide/classic-arrays.md", 3)
    x = np.linspace(0, 1, 1000, dtype=np.float32)
    y = np.sin(x) ** 2 + 0.5 * x
    printed = capsys.readouterr().out.split()
    assert np.isclose(float(printed[0]), y.sum(), rtol=1e-4)
    assert np.allclose(names["y"].get(), 2 * x + y, rtol=1e-4)
    noise = names["noise"].get()
    assert noise.shape == (1000,) and noise.min() > 0 and noise.max() <= 1


def test_table_of_import_lines_has_modules_that_exist():
    text = (DOCS / "guide" / "classic.md").read_text()
    rows = re.findall(r"^\| `(?:import|from) pycuda.*? \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) >= 5
    for row in rows:
        for statement in re.findall(r"`((?:import|from) [^`]*)`", row):
            exec(statement, {})
