# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the page on getting started, one after the other, are a program that runs."""

import re

import pytest

from support.pages import run_blocks


@pytest.mark.requires(device=True, nvrtc=True, source=True, mempool=True)
def test_the_code_of_the_page_runs(capsys):
    names = run_blocks("guide/getting-started.md", 3)
    assert (names["x"] == 42).all()
    assert re.fullmatch(r"\[42\. 42\. 42\. \.\.\. .*\]\n\d.* ms\n", capsys.readouterr().out)
    assert names["stream"].priority <= 0
