# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration. The API pages come from the docstrings of the installed package."""

import builtins
import os
import re
import sys
from pathlib import Path

from docutils.nodes import literal
from sphinx.domains.python import PythonDomain
from sphinx.util import logging

from cuda.core import __version__
from cuda.core._utils.other_names import OtherName

sys.path.insert(0, str(Path(__file__).parent))
from source_pages import resolve as linkcode_resolve  # noqa: F401

project = "cuda.core"
author = "The cuda.core developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "api_pages",
    "plain_text",
    "puzzle_pages",
    "source_pages",
]
exclude_patterns = ["_build", "_benchmarks"]  # the guide includes the reports
html_theme = "furo"
html_title = f"cuda.core {__version__}"
html_logo = html_favicon = "_static/logo.svg"
# The default style for dark pages underlines the names of modules and classes, like links.
pygments_dark_style = "monokai"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sourcelink_suffix = ""
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#3d7000", "color-brand-content": "#3d7000"},
    "dark_css_variables": {"color-brand-primary": "#8fd14f", "color-brand-content": "#8fd14f"},
}
html_js_files = ["versions.js"]
# A site sets these: the addresses of its repository and issues, and whether versions.json is beside its versions.
html_context = {
    "repository": os.environ.get("CUDA_CORE_DOCS_REPOSITORY", ""),
    "issues": os.environ.get("CUDA_CORE_DOCS_ISSUES", ""),
    "has_versions": os.environ.get("CUDA_CORE_DOCS_VERSIONS", "") == "1",
}
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/links.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
# Blocks without a language are output, commands or C, not Python.
highlight_language = "none"

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
# Attributes of options classes are fields of the class, not entries beside its members.
napoleon_use_ivar = True
napoleon_google_docstring = False


def setup(app):
    app.add_domain(ScopedNames, override=True)
    app.connect("missing-reference", warn_of_missing_name, priority=950)
    # Before napoleon, which would take the first line of a property for the start of its text.
    app.connect("autodoc-process-docstring", show_type_of_property, priority=100)
    app.connect("autodoc-skip-member", leave_out_other_names)


def show_type_of_property(app, what, name, obj, options, lines):
    """Turn the line ``name: type`` that Cython puts first into a field."""
    match = re.fullmatch(rf"{name.rpartition('.')[2]}: (.+)", lines[0]) if lines else None
    if match:
        lines[:] = [*lines[1:], "", f":type: {match[1]}", ""]


def leave_out_other_names(app, what, name, member, skip, options):
    """Leave out the members of a class that only explain names of other libraries."""
    return True if isinstance(member, OtherName) else None


class ScopedNames(PythonDomain):
    """Finds a name where Python would: in the class and the module of the text, then in the packages around it.

    Sphinx takes any object whose last name is the same, and there are three classes named ``Device``.
    """

    def find_obj(self, env, modname, classname, name, type, searchmode=0):
        name = name.removesuffix("()")
        scope = ".".join(filter(None, [modname or "cuda.core", classname]))
        while scope:
            if (found := f"{scope}.{name}") in self.objects:
                return [(found, self.objects[found])]
            scope = scope.rpartition(".")[0]
        if name in self.objects:
            return [(name, self.objects[name])]
        if hasattr(builtins, name):
            return []  # Python's own, not a class of the same name elsewhere
        # A class of another package, or its member: a signature names it as it is imported.
        named = [found for found in self.objects if found.endswith(f".{name}") and not self.objects[found].aliased]
        if "." not in name:
            named = [found for found in named if self.objects[found].objtype in ("class", "exception")]
        return [(found, self.objects[found]) for found in named]


def warn_of_missing_name(app, env, node, contnode):
    """Warn of a reference in a text to what no page describes; types in signatures need not be on one."""
    target = node["reftarget"]
    others = {"numpy", *sys.stdlib_module_names, *dir(builtins)}
    if node["refdomain"] == "py" and isinstance(contnode, literal) and target.partition(".")[0] not in others:
        logging.getLogger(__name__).warning("no page describes %r", target, location=node)
