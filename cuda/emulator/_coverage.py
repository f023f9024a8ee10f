# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Merge the counts of lines that processes on the software device have written, as lcov and as HTML."""

import html
import os
from pathlib import Path

_STYLE = """body { font-family: sans-serif; margin: 2em } pre { line-height: 1.3 } table { border-spacing: 1em 0 }
.hit { background: #dfd } .miss { background: #fdd } .count { color: #777 }"""


def read_counts(folder):
    """Return the counts of all processes as ``{file: {line: count}}``, and the sources of programs by their name."""
    counts, sources = {}, {}
    for path in sorted(Path(folder).glob("*.counts")):
        data, at, lines = path.read_bytes(), 0, None
        while at < len(data):
            end = data.index(b"\n", at)
            kind, *words = data[at:end].decode(errors="replace").split(" ", 1 if data[at : at + 1] == b"F" else 2)
            at = end + 1
            if kind == "F":
                lines = counts.setdefault(words[0], {})
            elif kind == "L":
                lines[int(words[0])] = lines.get(int(words[0]), 0) + int(words[1])
            else:
                size = int(words[0])
                sources[words[1]] = data[at : at + size].decode(errors="replace")
                at += size + 1
    return counts, sources


def write_reports(folder):
    """Write ``kernels.info`` (lcov) and ``index.html`` into the folder; return the lines that ran, and all lines.

    The sources of programs without a file are written to ``sources``, so that ``genhtml`` finds them.
    """
    folder = Path(folder)
    counts, sources = read_counts(folder)
    info, pages, total, total_hit = [], [], 0, 0
    for name, lines in sorted(counts.items()):
        text = sources.get(name)
        path = Path(name).resolve()
        if text is None and path.is_file():
            text = path.read_text(errors="replace")
        elif not path.is_file():
            path = folder.resolve() / "sources" / name.replace(os.sep, "_")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text or "")
        hit = sum(count > 0 for count in lines.values())
        total, total_hit = total + len(lines), total_hit + hit
        rows = [f"DA:{line},{count}" for line, count in sorted(lines.items())]
        info += ["TN:", f"SF:{path}", *rows, f"LF:{len(lines)}", f"LH:{hit}", "end_of_record"]
        pages.append(_page(name, text or "", lines, hit))
    (folder / "kernels.info").write_text("".join(line + "\n" for line in info))
    head = f"<!doctype html><meta charset=utf-8><title>Coverage of kernels</title><style>{_STYLE}</style>"
    summary = f"<h1>Coverage of kernels</h1><p>{total_hit} of {total} lines</p>"
    (folder / "index.html").write_text(head + summary + "".join(pages))
    return total_hit, total


def _page(name, text, lines, hit):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        count = lines.get(number)
        style = "" if count is None else "hit" if count else "miss"
        shown = "" if count is None else count
        rows.append(
            f'<span class="count">{number:5} {shown:>10} </span><span class="{style}">{html.escape(line)}</span>'
        )
    return f"<h2>{html.escape(name)}: {hit} of {len(lines)} lines</h2><pre>" + "\n".join(rows) + "</pre>"
