# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: links from API entries to pages with their source, in Python and in Cython.

``sphinx.ext.viewcode`` parses modules as Python, so it cannot show extension modules.
"""

import importlib
import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

import cuda.core
import cuda.emulator

LINKED = set()  # modules that links of this build point at
READING = ["api/page"]  # the page that Sphinx reads now
PACKAGES = [Path(package.__path__[0]) for package in (cuda.core, cuda.emulator)]


def setup(app):
    app.setup_extension("sphinx.ext.linkcode")
    app.connect("source-read", start_page)
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": True}


def start_page(app, docname, source):
    """Remember the page, because links to sources are relative to it."""
    READING[:] = [docname]


def source_of(module):
    """Return the source file of a module of this project, or of a part of one, or None."""
    if module.split(".")[:2] not in (["cuda", "core"], ["cuda", "emulator"]):
        return None
    package = PACKAGES[module.split(".")[1] == "emulator"].joinpath(*module.split(".")[2:])
    suffixes = (".pyx", ".pxi", ".py") if module.count(".") > 1 else ()
    candidates = [package.with_suffix(suffix) for suffix in suffixes]
    return next((path for path in [*candidates, package / "__init__.py"] if path.exists()), None)


def parts_of(module):
    """Yield a module and the parts that its source includes, by their names."""
    yield module
    path = source_of(module)
    for part in re.findall(r'^include "(.+)\.pxi"$', path.read_text() if path else "", re.MULTILINE):
        yield f"{module.rpartition('.')[0]}.{part}"


def line_of(text, name):
    """Return the number of the line that defines a name such as ``Stream.sync``, or None."""
    start, number = 0, None
    for part in name.split("."):
        indent = "" if number is None else " *"  # a local variable of the same name defines nothing
        kind = r"(?:cdef |cpdef |async )*(?:class|def|[\w\[\], ]+ (?=\w+\()) ?"
        definition = rf"^ *{kind}{part}\b(?! *$)|^{indent}{part}(?:: | = )"
        match = re.compile(definition, re.MULTILINE).search(text, start)
        if match is None:
            return number
        start, number = match.end(), text[: match.start()].count("\n") + 1
    return number


def resolve(domain, info):
    """Return the address of an object's source, relative to the page that Sphinx reads."""
    try:
        value = importlib.import_module(info["module"])
        names = info["fullname"].split(".")
        value = getattr(value, names[0])
        if len(names) == 2 and isinstance(value, type):
            # A member is defined in one of the bases.
            value = next((base for base in value.__mro__ if names[1] in vars(base)), value)
        module = getattr(value, "__module__", None) or info["module"]
        name = ".".join([getattr(value, "__qualname__", names[0]), *names[1:]])
    except (ImportError, AttributeError, ValueError):  # an entry of the page without a module
        return None
    for part in parts_of(module):
        path = source_of(part)
        if line := path and line_of(path.read_text(), name):
            LINKED.add(part)
            return f"{'../' * READING[0].count('/')}source/{part}.html#line-{line}"
    return None


def source_pages(app):
    """Yield a page for each source file that a link points at."""
    formatter = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="line", wrapcode=True)
    for module in sorted(LINKED):
        path = source_of(module)
        lexer = get_lexer_by_name("python" if path.suffix == ".py" else "cython")
        body = f"<h1>{module}</h1>{highlight(path.read_text(), lexer, formatter)}"
        yield f"source/{module}", {"title": module, "body": body}, "page.html"
