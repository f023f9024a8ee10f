# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The source files of the package, for the tests in ``rules``."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cuda" / "core"
INCLUDE = re.compile(r'^include "(.+)"$', re.MULTILINE)


def core_files(*suffixes: str) -> list[Path]:
    """Return the source files of the package with these suffixes."""
    return sorted(path for path in CORE.rglob("*") if path.suffix in suffixes and "__pycache__" not in path.parts)


def whole_text(path: Path) -> str:
    """Return the text of a source file, with the parts that it includes."""
    return INCLUDE.sub(lambda part: path.with_name(part[1]).read_text(), path.read_text())


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach each other; ``graph`` has the nodes that follow each node."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen, left = set(), [start]
        while left:
            left += new if (new := graph.get(left.pop(), set()) - seen) else ()
            seen |= new
        reached[start] = seen
    in_circles = [node for node in graph if node in reached[node]]
    groups = {tuple(sorted(other for other in reached[node] if node in reached.get(other, ()))) for node in in_circles}
    return [list(group) for group in sorted(groups)]


def generator_of_stubs():
    """Return the module that writes the type stubs, which is in the checkout but not in the installed package."""
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
