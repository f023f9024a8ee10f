# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation fit together: drawings, questions, terms and links to sources."""

from __future__ import annotations

import inspect
import re
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest

from cuda.core import CUDAError, LaunchError, NotSupportedError, OutOfMemoryError
from cuda.core._utils.advice import ANCHORS
from support import public
from support.pages import DOCS, ROOT

DRAWINGS = sorted((DOCS / "_drawings").glob("*.svg"))
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def titles(path):
    return re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)


def test_every_drawing_is_shown_and_has_a_title():
    shown = set(re.findall(r":file: (?:\.\./)?_drawings/(\S+)", "".join(page.read_text() for page in PAGES)))
    assert shown == {path.name for path in DRAWINGS}
    for path in DRAWINGS:
        assert ElementTree.parse(path).find(".//{http://www.w3.org/2000/svg}title").text, path


def test_sidebar_has_the_versions_of_the_site():
    assert '"sidebar/versions.html"' in (DOCS / "conf.py").read_text()
    template = (DOCS / "_templates" / "sidebar" / "versions.html").read_text()
    script = (DOCS / "_static" / "versions.js").read_text()
    assert '<select id="versions">' in template and 'getElementById("versions")' in script


def test_every_question_is_in_the_list():
    directory = DOCS / "how-to"
    listed = re.findall(r"^- \[(.+)\]\(", (directory / "index.md").read_text(), re.MULTILINE)
    asked = [title for path in sorted(directory.glob("*.md")) if path.stem != "index" for title in titles(path)]
    assert sorted(listed) == sorted(asked) and len(asked) >= 50


def test_links_of_the_readme_work_where_it_is_shown():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text())
    assert len(links) > 5
    if "urls" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]:
        # A package index shows the page without the files beside it.
        assert [link for link in links if not link.startswith("https://")] == []
    else:
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_links_to_other_sites_are_few_and_known():
    texts = [ROOT / "README.md", *PAGES, *DOCS.glob("*.py"), *DOCS.rglob("*.rst")]
    texts += [path for suffix in ("py", "pyx", "pxi") for path in (ROOT / "cuda").rglob(f"*.{suffix}")]
    hosts = {host for path in texts for host in re.findall(r"https?://([\w.-]+)", path.read_text())}
    assert hosts - {"...", "SERVER"} == {"docs.python.org", "ui.perfetto.dev"}  # placeholders aside


def test_terms_are_sorted_and_defined_once():
    terms = re.findall(r"^(\w.*)\n  \S", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    assert len(terms) >= 40 and terms == sorted(set(terms), key=str.lower)


def test_every_picture_exists():
    for page in [*PAGES, ROOT / "README.md"]:
        for name in re.findall(r"(?:figure\}|image\}|\]\() ?([\w./]*_static/[\w./]+)", page.read_text()):
            assert (page.parent / name).exists(), (page, name)


@pytest.mark.requires(modules=("docutils", "sphinx"))
@pytest.mark.parametrize(
    ("module", "name", "definition"),
    [
        ("cuda.core", "Stream.sync", "def sync(self"),
        ("cuda.core", "LaunchConfig", "cdef class LaunchConfig"),
        ("cuda.core.graph", "capture", "def capture("),
        ("cuda.core.texture", "OpaqueArray", "cdef class OpaqueArray("),
        ("cuda.core.texture", "ResourceDescriptor", "cdef class ResourceDescriptor:"),
    ],
)
def test_links_to_sources_name_the_line_of_the_definition(module, name, definition, monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import source_pages

    page, line = source_pages.resolve("py", {"module": module, "fullname": name}).split("#line-")
    source = source_pages.source_of(page.removeprefix("../source/").removesuffix(".html"))
    assert definition in source.read_text().splitlines()[int(line) - 1]


def anchors(page):
    """Return the anchors of the headings of a page, as the builder makes them."""
    headings = re.findall(r"^#{2,3} (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.requires(source=True)
def test_messages_name_anchors_of_the_page_about_errors():
    named = {kind.__name__.lower() for kind in (CUDAError, LaunchError, NotSupportedError, OutOfMemoryError)}
    named |= {*ANCHORS.values()}
    for suffix in ("py", "pyx", "pxi"):
        for path in (ROOT / "cuda").rglob(f"*.{suffix}"):
            named |= set(re.findall(r"see errors#([a-z-]+)", path.read_text()))
    assert "compile-errors" in named and named - anchors(DOCS / "guide" / "errors.md") == set()


@pytest.mark.requires(source=True)
def test_every_check_of_the_software_device_names_an_anchor():
    table = (ROOT / "emulator" / "src" / "exec" / "checks" / "report.cpp").read_text()
    rows = re.findall(r'\{FaultKind::(\w+), CUDA_\w+, "[^"]+",\s+(?:"([^"]+)"|nullptr)\}', table)
    assert len(rows) > 10 and {kind for kind, anchor in rows if not anchor} == {"none", "canceled"}
    assert {anchor for _, anchor in rows if anchor} - anchors(DOCS / "guide" / "errors.md") == set()


@pytest.mark.requires(modules=("docutils", "sphinx"))
def test_each_class_has_its_api_page(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import api_pages

    text = "Page\n====\n\n.. module:: cuda.core\n\n.. autoclass:: Stream\n   :members:\n\n.. autofunction:: launch\n"
    assert [(kind, name) for kind, name, _, _ in api_pages.entries(text)] == [
        ("class", "cuda.core.Stream"),
        ("function", "cuda.core.launch"),
    ]
    page = api_pages.class_page("class", "cuda.core.Stream", "   :members:\n", "devices", "Devices")
    assert ".. autoclass:: cuda.core.Stream\n   :members:" in page and "cuda.core.driver.Stream" in page
    source = [text]
    api_pages.tabulate_classes(None, "api/page", source)
    assert "* - :class:`~cuda.core.Stream`" in source[0] and "autoclass" not in source[0]
    assert ".. autofunction:: launch" in source[0]


@pytest.mark.requires(modules=("docutils", "sphinx"))
def test_signatures_show_the_types_of_docstrings(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import api_pages

    def subject(a, b=None, *, c=1):
        """Do something.

        Parameters
        ----------
        a : :class:`Stream` | int
            The first.
        b : str, optional
            The second.
        """

    shown, _ = api_pages.show_types(None, "function", "cuda.core.f", subject, {}, "(a, b=None, *, c=1)", None)
    assert shown == "(a: Stream | int, b: str = None, *, c=1)"
    hidden = api_pages.show_types(None, "class", "cuda.core.Stream", type("C", (), {}), {}, "(*args, **kwargs)", None)
    assert hidden == ("", None)


@pytest.mark.requires(modules=("docutils", "sphinx"))
def test_classic_signatures_have_types(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import api_pages

    untyped = []
    for name, value in public.values():
        members = public.methods(value) if isinstance(value, type) and value.__module__.startswith("cuda.") else ()
        for path, described in [(name, value), *((f"{name}.{member}", method) for member, method in members)]:
            if path.startswith("cuda.core.driver.") and inspect.isroutine(described):
                types = api_pages.all_types(described.__doc__ or "", path)
                parameters = inspect.signature(described).parameters.values()
                untyped += [
                    (path, parameter.name)
                    for parameter in parameters
                    if parameter.annotation is parameter.empty
                    and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
                    and parameter.name not in {*types, "self", "cls"}
                ]
    assert untyped == []


@pytest.mark.requires(modules=("docutils", "sphinx"))
def test_builtin_exceptions_link_to_python(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import api_pages
    from docutils import nodes

    def link(name):
        node = nodes.inline()
        node.attributes |= {"reftarget": name, "refdomain": "py"}
        return api_pages.link_builtin_exception(None, None, node, nodes.literal())

    assert link("RuntimeError")["refuri"].endswith("/exceptions.html#RuntimeError")
    assert link("Stream") is None
