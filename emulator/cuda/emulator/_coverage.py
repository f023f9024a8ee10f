# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Merge the line and branch counts written by processes on the software device, as lcov and as HTML."""

import html
import os
from pathlib import Path

_STYLE = """body { font-family: sans-serif; margin: 2em } pre { line-height: 1.3 } table { border-spacing: 1em 0 }
.hit { background: #dfd } .miss { background: #fdd } .count { color: #777 }"""


def prepare(folder):
    """Create the directory that processes write counts to, and remove the counts of an earlier run."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path in Path(folder).glob("*.counts"):
        path.unlink()


def read_counts(folder):
    """Return the counts of all processes, and program sources by name.

    The counts are ``{file: {line: count}}`` and ``{file: {(line, number): [falls, jumps]}}``, for the two outcomes of
    each branch in a line.
    """
    counts, branches, sources = {}, {}, {}
    for path in sorted(Path(folder).glob("*.counts")):
        data, at, lines = path.read_bytes(), 0, None
        while at < len(data):
            end = data.index(b"\n", at)
            kind, *words = data[at:end].decode(errors="replace").split(" ", 1 if data[at : at + 1] == b"F" else 2)
            at = end + 1
            if kind == "F":
                lines, ways = counts.setdefault(words[0], {}), branches.setdefault(words[0], {})
            elif kind == "L":
                lines[int(words[0])] = lines.get(int(words[0]), 0) + int(words[1])
            elif kind == "B":
                line, number, falls, jumps = map(int, [*words[:1], *words[1].split()])
                known = ways.setdefault((line, number), [0, 0])
                known[:] = known[0] + falls, known[1] + jumps
            else:
                size = int(words[0])
                sources[words[1]] = data[at : at + size].decode(errors="replace")
                at += size + 1
    return counts, branches, sources


def write_reports(folder):
    """Write ``kernels.info`` (lcov) and ``index.html``, and return the number of lines that ran and of all lines.

    lcov's two branches of a condition are the code that follows it in the program, and the code that it jumps to.

    Sources of programs without a file are written to ``sources``, where ``genhtml`` finds them.
    """
    folder = Path(folder)
    counts, branches, sources = read_counts(folder)
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
        rows += _branch_rows(branches[name])
        info += ["TN:", f"SF:{path}", *rows, f"LF:{len(lines)}", f"LH:{hit}", "end_of_record"]
        pages.append(_page(name, text or "", lines, branches[name], hit))
    (folder / "kernels.info").write_text("".join(line + "\n" for line in info))
    head = f"<!doctype html><meta charset=utf-8><title>Coverage of kernels</title><style>{_STYLE}</style>"
    summary = f"<h1>Coverage of kernels</h1><p>{total_hit} of {total} lines</p>"
    (folder / "index.html").write_text(head + summary + "".join(pages))
    return total_hit, total


def _branch_rows(branches):
    rows = [
        f"BRDA:{line},{number},{way},{count if sum(counts) else '-'}"
        for (line, number), counts in sorted(branches.items())
        for way, count in enumerate(counts)
    ]
    taken = sum(count > 0 for counts in branches.values() for count in counts)
    return [*rows, f"BRF:{len(rows)}", f"BRH:{taken}"] if rows else []


def _page(name, text, lines, branches, hit):
    rows, ways = [], {}
    for (line, _), counts in branches.items():
        ways.setdefault(line, []).extend(counts)
    for number, line in enumerate(text.splitlines(), 1):
        count = lines.get(number)
        style = "" if count is None else "hit" if count else "miss"
        shown = "" if count is None else count
        taken = f"{sum(way > 0 for way in ways[number])}/{len(ways[number])}" if number in ways else ""
        rows.append(
            f'<span class="count">{number:5} {shown:>10} {taken:>5} </span>'
            f'<span class="{style}">{html.escape(line)}</span>'
        )
    taken = sum(count > 0 for counts in ways.values() for count in counts)
    total = sum(map(len, ways.values()))
    title = f"{html.escape(name)}: {hit} of {len(lines)} lines, {taken} of {total} ways of branches"
    return f"<h2>{title}</h2><pre>" + "\n".join(rows) + "</pre>"
