# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: the guides and the API as plain text, for programs that read the site.

``llms.txt`` lists the pages with their first paragraphs. ``llms-full.txt`` has the text of the guides, and signatures
and docstrings of all public names.
"""

import inspect
import re
from pathlib import Path

import api_pages

DOCS = Path(__file__).parent
PARTS = {
    "Start": ("index.md", "tour.md"),
    "Guides": ("guide",),
    "Answers": ("how-to",),
    "More": ("moving.md", "beside-cupy.md", "glossary.md"),
}


def setup(app):
    app.connect("build-finished", write_text)
    return {"parallel_read_safe": True}


def write_text(app, error):
    """Write both files into the directory of the site."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "llms.txt").write_text(index())
        (Path(app.outdir) / "llms-full.txt").write_text("\n\n".join([*map(plain, pages()), *api()]) + "\n")


def pages(part=None):
    """Return the paths of the Markdown pages of a part, or of all parts."""
    names = PARTS[part] if part else [name for part in PARTS.values() for name in part]
    paths = [DOCS / name for name in names]
    return [page for path in paths for page in (sorted(path.glob("*.md")) if path.is_dir() else [path])]


def index() -> str:
    """Return the list of pages, by part, with their titles and first paragraphs."""
    text = "# cuda.core\n\n> Write CUDA kernels and run them from Python. The text of all pages: llms-full.txt\n"
    for part in PARTS:
        text += f"\n## {part}\n\n"
        for page in pages(part):
            title, _, rest = plain(page).partition("\n")
            first = next((part for part in rest.split("\n\n") if re.match(r"\w", part.strip())), "")
            address = page.relative_to(DOCS).with_suffix(".html").as_posix()
            text += f"- [{title.lstrip('# ')}]({address}): {' '.join(first.split())}\n"
    return text


def plain(page: Path) -> str:
    """Return a page as plain Markdown: with names instead of roles, and without drawings and directives."""
    text = page.read_text()
    text = re.sub(r"```\{(?:raw|toctree|figure|include|image)\}.*?\n```\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^:{3,}.*\n|^:[\w-]+:.*\n|^\{\.\w+\}\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{\w+\}`(?:([^`<]*?) <[^`>]*>|~?([^`]*))`", lambda match: match[1] or match[2], text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def api():
    """Yield the signature and the docstring of each public name, and of the members of classes."""
    for page in sorted(api_pages.API.glob("*.rst")):
        for kind, path, options, _ in api_pages.entries(page.read_text()):
            value = api_pages.named(path)
            yield f"## {path}{signature(value)}\n\n{docstring(value)}"
            if kind != "function":
                for name in api_pages.members_of(value, options):
                    member = getattr(value, name)
                    yield f"### {path}.{name}{signature(member)}\n\n{docstring(member)}"


def signature(value) -> str:
    try:
        return str(inspect.signature(value)) if callable(value) else ""
    except (TypeError, ValueError):
        return ""


def docstring(value) -> str:
    text = inspect.cleandoc(value.__doc__ or "")
    return re.sub(r":\w+:`(?:([^`<]*?) <[^`>]*>|~?([^`]*))`", lambda match: match[1] or match[2], text)
