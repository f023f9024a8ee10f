# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code on pages of the documentation."""

from __future__ import annotations

import functools
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```(?:\n\s*^\1```text\n(.*?)^\1```)?", re.DOTALL | re.MULTILINE)


class Program(NamedTuple):
    """A code block: its page below ``docs`` and line there, its text, and the output that the page shows."""

    page: str
    line: int
    source: str
    output: str | None

    @property
    def id(self) -> str:
        return f"{self.page}:{self.line}"


@functools.cache
def programs(language: str = "python") -> list[Program]:
    """Return the code blocks of all pages in a language, in the order of the pages."""
    pages = [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)]
    found = []
    for path in pages:
        page = "../README.md" if path.parent == ROOT else path.relative_to(DOCS).as_posix()
        text = path.read_text()
        for block in FENCE.finditer(text):
            if block[2] == language:
                line = text[: block.start()].count("\n") + 1
                output = block[4] and textwrap.dedent(block[4])
                found.append(Program(page, line, textwrap.dedent(block[3]), output))
    return found
