# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: DOT text from the driver, rendered by the ``graphviz`` package if that is installed."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

from cuda.core._utils.validators import shown

__all__ = []

_TEXT = (".dot", ".gv")


def text_of(definition, options) -> str:
    """Return the DOT text of a graph."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.dot"
        definition.debug_dot_print(str(path), options)
        return path.read_text(errors="replace")


def render(text: str, kind: str) -> bytes | str:
    """Return a picture of DOT text as bytes, or as a str the reason why it cannot be rendered."""
    try:
        import graphviz
    except ImportError:
        return "the graphviz package is not installed"
    try:
        return graphviz.Source(text).pipe(format=kind)
    except graphviz.ExecutableNotFound:
        return "the GraphViz executables are not installed"


def save(definition, path, options) -> Path:
    """Write a picture or DOT text (:meth:`GraphDefinition.save`)."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
    path = Path(path)
    if not path.suffix:
        raise ValueError(f"path must have a suffix that names the format, such as .svg or .dot, not {shown(str(path))}")
    text = text_of(definition, options)
    if path.suffix.lower() not in _TEXT:
        picture = render(text, path.suffix[1:].lower())
        if isinstance(picture, bytes):
            path.write_bytes(picture)
            return path
        path = path.with_suffix(".dot")
        warnings.warn(f"{picture}; the graph is written as DOT text to {path}", UserWarning, stacklevel=2)
    path.write_text(text)
    return path


def svg_of(definition) -> str | None:
    """Return the SVG picture that notebooks display; None if it cannot be rendered."""
    picture = render(text_of(definition, None), "svg")
    return picture.decode() if isinstance(picture, bytes) else None
