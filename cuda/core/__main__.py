# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Print what is installed and what works, for people and for bug reports.

python -m cuda.core           a page of text
python -m cuda.core --json    the same as JSON
python -m cuda.core prebuild  compile the kernels of a module (see --help)
python -m cuda.core.examples  list the examples and run one

The exit status is 1 if cuda.core cannot be used at all, otherwise 0: a machine without a GPU is not an error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator

from cuda.core._report import report
from cuda.core._utils.late import LateModule

__all__ = ["main"]

_prebuild = LateModule("cuda.core._prebuild")


def main(arguments: list[str] | None = None) -> int:
    """Print the report, or run a command, and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["prebuild"]:
        return _prebuild.main(arguments[1:])
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m cuda.core", description=__doc__, formatter_class=layout)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    found = report()
    try:
        print(json.dumps(found, indent=2) if options.json else "\n".join(lines(found)), flush=True)
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(any(problem["is_fatal"] for problem in found["problems"]))


def lines(found: dict) -> Iterator[str]:
    """Yield the report as text."""
    python = found["python"]
    yield f"Python {python['version']}  {python['executable']}  ({python['platform']})"
    packages = ((row["name"], row["version"], row["path"], row.get("author", "")) for row in found["packages"])
    yield from section("Packages", packages)
    yield from section("Driver", driver_rows(found["driver"]))
    yield from section("Devices", ((str(row["id"]), row["name"], device_facts(row)) for row in found["devices"]))
    if len(found["devices"]) > 1:
        head = ("", *(f"to {row['id']}" for row in found["devices"]))
        yield from section("Peers", [head, *((f"from {row['id']}", *row["peers"]) for row in found["devices"])])
    rows = ((row["name"], row["version"] or "", location(row)) for row in found["toolkit"])
    yield from section("CUDA toolkit", rows)
    software = found["software_device"]
    state = "in use" if software["is_active"] else "built" if software["library"] else "not usable"
    yield from section(
        "Software device", [(state, f"CUDA_CORE_DEVICE={software['choice']}", software["library"] or "")]
    )
    yield from section("Host compilers", ((row["name"], row["path"]) for row in found["compilers"]))
    caches = found["caches"]
    yield from section(
        "Caches", [(caches["path"] or "no home directory", f"{caches['files']} files, {size(caches['bytes'])}")]
    )
    yield from section("Environment", ((f"{name}={value}",) for name, value in found["environment"].items()))
    yield ""
    yield "Problems" if found["problems"] else "No problems were found."
    for problem in found["problems"]:
        yield f"  - {problem['what']}"
        yield f"    {problem['advice']}"


def section(title: str, rows) -> Iterator[str]:
    """Yield a title and its rows, in columns."""
    table = [tuple(row) for row in rows]
    yield ""
    yield title
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    if not table:
        yield "  none"


def driver_rows(driver: dict) -> list[tuple[str, str]]:
    if driver["cuda_version"] is None:
        return [("not usable", driver["library"] or "")]
    rows = [(f"CUDA {driver['cuda_version']}", driver["library"] or "")]
    return rows + ([("display driver", driver["display_version"])] if driver["display_version"] else [])


def device_facts(row: dict) -> str:
    return (
        f"compute capability {row['compute_capability']}, {size(row['memory_bytes'])}, "
        f"{row['multiprocessors']} multiprocessors, {row['pci_bus_id']}, {row['uuid']}"
    )


def location(row: dict) -> str:
    return f"{row['path']} ({row['found_via']})" if row["path"] else "not found"


def size(count: int | None) -> str:
    """Format a number of bytes with a suitable unit."""
    if count is None:
        return "unknown memory"
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


if __name__ == "__main__":
    sys.exit(main())
