# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration. The API pages come from the docstrings of the installed package."""

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
