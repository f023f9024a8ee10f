# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration. The API pages come from the docstrings of the installed package."""

import re

from cuda.core import __version__

project = "cuda.core"
author = "The cuda.core developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "changes/[0-9]*"]
html_theme = "furo"
html_title = f"cuda.core {__version__}"
templates_path = []

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "none"
# Attributes of options classes are fields of the class, not entries beside its members.
napoleon_use_ivar = True
napoleon_google_docstring = False


def setup(app):
    # Before napoleon, which would take the first line of a property for the start of its text.
    app.connect("autodoc-process-docstring", show_type_of_property, priority=100)
    app.connect("autodoc-process-signature", hide_self)


def show_type_of_property(app, what, name, obj, options, lines):
    """Turn the line ``name: type`` that Cython puts first into a field."""
    match = re.fullmatch(rf"{name.rpartition('.')[2]}: (.+)", lines[0]) if lines else None
    if match:
        lines[:] = [*lines[1:], "", f":type: {match[1]}", ""]


def hide_self(app, what, name, obj, options, signature, result):
    """Leave out the first argument, which callers do not pass."""
    return signature and (re.sub(r"^\((self|cls)(, )?", "(", signature), result)
