# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What the build of the site makes: tables of members, plain text, puzzles, and links that a site sets."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.pages import DOCS

EXTENSIONS = pytest.mark.requires(modules=("docutils", "sphinx"), source=True)


@pytest.fixture(autouse=True)
def import_extensions(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)


@EXTENSIONS
def test_class_page_has_a_table_of_its_members():
    import api_pages

    options = "   :members:\n   :inherited-members:\n   :special-members: __await__, __sub__\n"
    page = api_pages.class_page("class", "cuda.core.Event", options, "devices", "Devices")
    table, _, entry = page.partition(".. autoclass::")
    assert "* - :meth:`__sub__ <cuda.core.Event.__sub__>`\n     - Return the time from ``other`` to this event" in table
    assert "* - :meth:`close <cuda.core.Event.close>`" in table  # inherited
    assert "* - :attr:`is_done <cuda.core.Event.is_done>`" in table
    assert "synchronize" not in table  # a name of other libraries
    assert entry.startswith(" cuda.core.Event\n   :members:\n")


@EXTENSIONS
def test_class_without_members_has_no_table():
    import api_pages

    assert api_pages.members_table("cuda.core.EventOptions", "") == ""
    assert api_pages.members_of(
        api_pages.named("cuda.core.utils.ProgramCacheResource"), "   :members: get, update\n"
    ) == [
        "get",
        "update",
    ]


@EXTENSIONS
def test_plain_text_lists_the_pages_and_has_their_text():
    import plain_text

    index = plain_text.index()
    pages = plain_text.pages()
    assert len(pages) > 30 and index.count("\n- [") == len(pages)
    assert "- [Ten minutes to cuda.core](tour.html): This page builds one program" in index
    text = plain_text.plain(DOCS / "guide" / "threads.md")
    assert text.startswith("# Streams, events and threads")
    assert "with stream.use():" in text
    assert not re.search(r"\{(raw|doc|class|meth|func)\}", "".join(map(plain_text.plain, pages)))


@EXTENSIONS
def test_plain_text_has_the_api():
    import plain_text

    entries = list(plain_text.api())
    assert any(entry.startswith("## cuda.core.launch") and "Launch a kernel" in entry for entry in entries)
    assert any(entry.startswith("### cuda.core.Stream.use") for entry in entries)
    assert not any(":class:`" in entry for entry in entries)


@pytest.mark.requires(device=True, source=True)
def test_page_of_puzzles_has_all_of_them():
    import puzzle_pages

    puzzles = puzzle_pages.puzzles()
    assert len(puzzles) == 20 and next(iter(puzzles)) == "1. map"
    assert all(text.startswith("// ") and "__global__" in text for text in puzzles.values())
    source = ["# Twenty puzzles\n"]
    puzzle_pages.add_puzzles(None, "puzzles", source)
    assert source[0].count("```cuda\n") == 20
    other = ["# Another page\n"]
    puzzle_pages.add_puzzles(None, "tour", other)
    assert other == ["# Another page\n"]


def test_links_of_the_sidebar_are_settings():
    for name, setting in {"links": "repository or issues", "versions": "has_versions"}.items():
        template = (DOCS / "_templates" / "sidebar" / f"{name}.html").read_text()
        assert template.startswith(f"{{% if {setting} %}}\n") and template.endswith("{% endif %}\n")
        assert f'"sidebar/{name}.html"' in (DOCS / "conf.py").read_text()
    # A page without the list fetches nothing, which would fail where the site has one version only.
    script = (DOCS / "_static" / "versions.js").read_text()
    assert script.index("if (!select) return") < script.index("fetch(")


def test_logo_is_a_drawing_with_a_title():
    logo = ElementTree.parse(DOCS / "_static" / "logo.svg")
    assert logo.find(".//{http://www.w3.org/2000/svg}title").text
    assert '"_static/logo.svg"' in (DOCS / "conf.py").read_text()
