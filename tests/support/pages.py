# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code on pages of the documentation."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from types import CodeType

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def code_blocks(page: str) -> list[CodeType]:
    """Return the code blocks of a page, given by its path below ``docs``; tracebacks name the page and its line."""
    text = (DOCS / page).read_text()
    return [
        compile("\n" * (text[: block.start()].count("\n") + 1) + textwrap.dedent(block[2]), page, "exec")
        for block in BLOCK.finditer(text)
    ]


def run_blocks(page: str, count: int) -> dict:
    """Run the code blocks of a page, one after the other in one namespace, and return the namespace.

    Parameters
    ----------
    page : str
        The path below ``docs``.
    count : int
        The number of blocks that the page must have.
    """
    blocks, names = code_blocks(page), {"__name__": "__main__"}
    assert len(blocks) == count, f"{page} has {len(blocks)} code blocks"
    for block in blocks:
        exec(block, names)
    return names
