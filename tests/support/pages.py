# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code on pages of the documentation."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def run_blocks(page: str, count: int) -> dict:
    """Run the code blocks of a page, one after the other in one namespace, and return the namespace.

    Parameters
    ----------
    page : str
        The path below ``docs``. Tracebacks name it, and the line of the page.
    count : int
        The number of blocks that the page must have.
    """
    text, names = (DOCS / page).read_text(), {"__name__": "__main__"}
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == count, f"{page} has {len(blocks)} code blocks"
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + textwrap.dedent(block[2]), page, "exec"), names)
    return names
