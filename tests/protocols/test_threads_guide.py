# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The code blocks in the guide to threads run as printed."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "threads.md"


@pytest.mark.requires(device=True, nvrtc=True)
def test_the_guide_to_threads_runs(device):
    text, names = GUIDE.read_text(), {}
    blocks = [*re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(GUIDE), "exec"), names)
    assert len(names["results"]) == 8
    assert len({id(kernel) for kernel in names["kernels"]}) == 32
