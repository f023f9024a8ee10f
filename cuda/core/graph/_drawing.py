# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: GraphViz text from the driver, drawn by the ``graphviz`` package where that is installed."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

from cuda.core._utils.validators import shown

__all__ = []

_TEXT = (".dot", ".gv")


def text_of(definition, options) -> str:
    """Return the GraphViz text of a graph."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.dot"
        definition.debug_dot_print(str(path), options)
        return path.read_text(errors="replace")


def drawn(text: str, kind: str) -> bytes | str:
    """Return a picture of GraphViz text; where it cannot be drawn, the reason."""
    try:
        import graphviz
    except ImportError:
        return "the graphviz package is not installed"
    try:
        return graphviz.Source(text).pipe(format=kind)
    except graphviz.ExecutableNotFound:
        return "the programs of GraphViz are not installed"


def save(definition, path, options) -> Path:
    """Write what :meth:`GraphDefinition.save` writes."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
    path = Path(path)
    if not path.suffix:
        raise ValueError(f"path must end in what to write, such as .svg or .dot: {shown(str(path))}")
    text = text_of(definition, options)
    if path.suffix.lower() not in _TEXT:
        picture = drawn(text, path.suffix[1:].lower())
        if isinstance(picture, bytes):
            path.write_bytes(picture)
            return path
        path = path.with_suffix(".dot")
        warnings.warn(f"{picture}, so the graph is written as text to {path}", UserWarning, stacklevel=2)
    path.write_text(text)
    return path


def svg_of(definition) -> str | None:
    """Return what notebooks show; None where nothing can be drawn."""
    picture = drawn(text_of(definition, None), "svg")
    return picture.decode() if isinstance(picture, bytes) else None
