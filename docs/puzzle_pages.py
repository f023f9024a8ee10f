# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: the puzzles of ``examples/puzzles.py`` on their page, each with its task, drawing and kernel."""

import runpy
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "examples" / "puzzles.py"


def setup(app):
    app.connect("source-read", add_puzzles)
    return {"parallel_read_safe": True}


def add_puzzles(app, docname, source):
    """Append the puzzles to their page."""
    if docname == "puzzles":
        source[0] += "".join(f"\n## {title}\n\n```cuda\n{text}```\n" for title, text in puzzles().items())


def puzzles():
    """Return the files of the puzzles by their titles."""
    found = runpy.run_path(str(PROGRAM))["PUZZLES"]
    return {f"{number}. {puzzle.name}": puzzle.text() for number, puzzle in enumerate(found, 1)}
