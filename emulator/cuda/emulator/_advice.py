# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Merge the kernel advice written by processes on the software device, as a table and as JSON."""

from pathlib import Path

_LINE = (
    *("loads", "load_sectors", "best_load_sectors", "stores", "store_sectors", "best_store_sectors"),
    *("shared_accesses", "bank_conflicts", "branches", "divergent_branches"),
)
_BARRIER = ("executions", "needed")
_KERNEL = ("threads", "shared_bytes", "blocks", "blocks_by_threads", "most_warps")


def read_advice(folder):
    """Return the advice of all processes as a dict with the keys ``lines``, ``barriers`` and ``kernels``.

    Counts are warp requests. Sectors, conflicts and divergent branches are totals over all requests.
    """
    found = {"L": {}, "B": {}, "K": {}}
    for path in sorted(Path(folder).glob("*.advice")):
        for text in path.read_text(errors="replace").splitlines():
            kind, *fields = text.split("\t")
            if kind == "K":
                found[kind][text] = {"kernel": fields[0], **dict(zip(_KERNEL, map(int, fields[1:]), strict=True))}
                continue
            names = _LINE if kind == "L" else _BARRIER
            file, line, *numbers, source = fields
            row = found[kind].setdefault((file, int(line)), dict.fromkeys(names, 0))
            row.update({"file": file, "line": int(line), "source": source.strip()})
            for name, number in zip(names, numbers, strict=True):
                row[name] += int(number)
    for row in found["K"].values():
        row.update(_occupancy(**{name: row[name] for name in _KERNEL}))
    for row in found["B"].values():
        row["redundant"] = not row["needed"]
    lines, barriers, kernels = ([found[kind][key] for key in sorted(found[kind])] for kind in "LBK")
    return {"lines": lines, "barriers": barriers, "kernels": kernels}


def _occupancy(threads, shared_bytes, blocks, blocks_by_threads, most_warps):
    warps = blocks * -(-threads // 32)
    if warps == most_warps:
        limit = None
    elif blocks < blocks_by_threads:
        limit = "shared memory"
    else:
        limit = "the number of blocks" if warps + -(-threads // 32) <= most_warps else "the block's size"
    return {"warps": warps, "limit": limit}


def format_advice(advice):
    """Format the advice as a human-readable table."""
    rows = [("place", "loads", "sectors", "best", "stores", "sectors", "best", "shared", "conflicts", "divergent")]
    sources = ["source"]
    for row in advice["lines"]:
        cells = [f"{row['file']}:{row['line']}"]
        for kind in ("load", "store"):
            count = row[f"{kind}s"]
            cells += [count, _ratio(row[f"{kind}_sectors"], count), _ratio(row[f"best_{kind}_sectors"], count)]
        cells += [row["shared_accesses"], _ratio(row["bank_conflicts"], row["shared_accesses"])]
        cells.append(f"{row['divergent_branches']}/{row['branches']}" if row["branches"] else "")
        rows.append(tuple(str(cell or "") for cell in cells))
        sources.append(row["source"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    text = []
    for row, source in zip(rows, sources, strict=True):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        text.append("  ".join([*cells, source]).rstrip())
    for row in advice["barriers"]:
        if row["redundant"]:
            text.append(
                f"{row['file']}:{row['line']}: a redundant barrier: in {row['executions']} of {row['executions']} "
                "executions it separates no accesses of different threads to the same memory"
            )
    for row in advice["kernels"]:
        limit = f", limited by {row['limit']}" if row["limit"] else ""
        text.append(
            f"{row['kernel']} with {row['threads']} threads and {row['shared_bytes']} bytes of shared memory: "
            f"{row['blocks']} blocks and {row['warps']} of {row['most_warps']} warps on an SM{limit}"
        )
    if advice["kernels"]:
        text.append("Registers can limit the blocks further on a GPU; the software device does not model them.")
    return "\n".join(text) + "\n"


def _ratio(total, count):
    return f"{total / count:.1f}" if count else ""
