# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the page on getting started, one after the other, are a program that runs."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "getting-started.md"


@pytest.mark.requires(device=True, nvrtc=True, source=True, mempool=True)
def test_the_code_of_the_page_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 3
    assert (names["x"] == 42).all()
    assert re.fullmatch(r"\[42\. 42\. 42\. \.\.\. .*\]\n\d.* ms\n", capsys.readouterr().out)
    assert names["stream"].priority <= 0
