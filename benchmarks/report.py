# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Measure all tables in one run, and write them as Markdown and SVG, with the machine and the versions.

C, the official package, this one, CuPy and PyCUDA take turns in every round; a library that is not installed is left
out. Without a GPU, only the tables that need none are measured. Each function below measures one table, or several with
the same rows. A row is one entry in the script that the function names.

    python report.py --peer PEER --out DIRECTORY [TABLE ...]    PEER is the official package's: an interpreter, or the
                                                                folder that pip install --target installed it into
    python report.py --render --out DIRECTORY                   write the files again from DIRECTORY/figures.json
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from turns import OFFICIAL, OURS, command, take_turns

HERE = Path(__file__).resolve().parent
LIBRARIES = ["C", OFFICIAL, OURS, "CuPy", "PyCUDA"]
COLORS = {"C": "#888888", OFFICIAL: "#c7842b", OURS: "#3d7000", "CuPy": "#4472a8", "PyCUDA": "#8a5aa0"}
PACKAGES = ("numpy", "cuda-bindings", "cupy-cuda13x", "cupy-cuda12x", "pycuda", "torch", "nvidia-cuda-nvrtc")
GPU = """
from cuda.core import Device, system
print(Device().name)
print(*system.get_user_mode_driver_version(), sep=".")
"""
Table = dict[str, object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help=f"the tables to measure: {', '.join(TABLES)}; all by default")
    parser.add_argument("--peer", help="the official package's environment: its interpreter, or a folder")
    parser.add_argument("--out", type=Path, required=True, help="where to write figures.json, report.md and the plots")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    store = arguments.out / "figures.json"
    if not arguments.render:
        measure(arguments.tables or list(TABLES), arguments.peer, store)
    render(json.loads(store.read_text()), arguments.out)
    return 0


def measure(names: list[str], peer: str | None, store: Path) -> None:
    """Measure tables, and store the figures after each, so a failure loses little."""
    machine = machine_facts(peer)
    figures = {"machine": machine, "tables": []}
    for name in names:
        start = time.monotonic()
        try:
            for table in TABLES[name](peer, "GPU" in machine):
                if table["rows"]:
                    figures["tables"].append(table)
        except Exception as error:  # the other tables are still worth having
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        store.write_text(json.dumps(figures, indent=1) + "\n")


# --- Tables -----------------------------------------------------------------------------------------------------------


def null_calls(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    """The library's own cost: calls on the driver that does nothing."""
    yield from calls_tables("own cost", "ns", 1, take_turns("calls.py", [OFFICIAL, OURS], [], peer, 61))


def gpu_calls(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    if has_gpu:
        samples = take_turns("calls.py", LIBRARIES, ["--device"], peer, 61)
        samples |= take_turns("calls.py", [OFFICIAL, OURS], ["--device", "--arrays", "view of"], peer, 61)
        yield from calls_tables("on the GPU", "µs", 1000, samples)


def calls_tables(where: str, unit: str, divisor: float, samples: dict) -> Iterator[Table]:
    import calls

    for group, rows in calls.TABLES.items():
        found = {name: scaled(samples[name], divisor) for name in rows if name in samples}
        yield {"title": f"{group}, {where}", "unit": unit, "rows": found, "plot": "bars"}


def threads(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    for where, options in (("own cost", []), ("on the GPU", ["--device"]))[: 1 + has_gpu]:
        samples = take_turns("threads.py", LIBRARIES[:3] if has_gpu else LIBRARIES[1:3], options, peer, 15)
        unit, divisor = ("µs", 1000) if options else ("ns", 1)
        rows = {name: scaled(row, divisor) for name, row in samples.items()}
        yield {"title": f"Launches from threads, {where}", "unit": f"{unit} per launch", "rows": rows, "plot": "lines"}


def growth(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    for where, options in (("own cost", []), ("on the GPU", ["--device"]))[: 1 + has_gpu]:
        rows: dict[str, dict[str, float]] = {}
        for name, row in take_turns(
            "growth.py", [OFFICIAL, OURS], options, peer, 1 if options else 3, unused=1
        ).items():
            kind, _, step = name.partition(" | ")
            for library, value in row.items():
                rows.setdefault(kind, {})[f"{library}, {step}"] = round(value)
        yield {"title": f"Growth, {where}", "unit": "ns per object", "rows": rows, "plot": None}


def compilation(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    found = script("compile.py", *(["--peer", peer] if peer else []), "--json", "--rounds", "7")
    names = {"ours": OURS, "peer": OFFICIAL}
    rows = {name: {names[key]: value for key, value in row.items()} for name, row in json.loads(found).items()}
    for title, are_hits in (("Compiling", False), ("Program caches", True)):
        chosen = {name: row for name, row in rows.items() if ("hit" in name) is are_hits and "not cached" not in name}
        chosen = {name: scaled(row, 1, 1) for name, row in chosen.items()}
        yield {"title": title, "unit": "µs", "rows": chosen, "plot": "bars"}


def first_result(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    if not has_gpu:
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "figures.json"
        script("first_result/compare.py", *(["--peer", peer] if peer else []), "--rounds", "7", "--json", str(path))
        found = json.loads(path.read_text())
    rows: dict[str, dict[str, float]] = {}
    for name, row in found.items():
        library, _, how = name.partition(", ")
        library = {"ours": OURS, "peer": OFFICIAL}.get(library, library)
        if library in COLORS:
            rows.setdefault(f"a whole process, {how}", {})[library] = row["wall"]
    yield {"title": "First result", "unit": "ms", "rows": rows, "plot": "bars"}


def classic(peer: str | None, has_gpu: bool) -> Iterator[Table]:
    if not has_gpu:
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "figures.json"
        script("classic_gpu.py", "--rounds", "20", "--json", str(path))
        found = json.loads(path.read_text())
    names = {"cuda.core": OURS, "cupy": "CuPy", "pycuda": "PyCUDA"}
    for title, key, unit in (
        ("Classic interface, calls", "microseconds", "µs"),
        ("Classic interface, 10 million floats", "gigabytes per second", "GB/s"),
    ):
        rows = {name: {names[library]: value for library, value in row.items()} for name, row in found[key].items()}
        yield {"title": title, "unit": unit, "rows": rows, "plot": "bars"}


TABLES = {
    "null": null_calls,
    "gpu": gpu_calls,
    "threads": threads,
    "compile": compilation,
    "first": first_result,
    "growth": growth,
    "classic": classic,
}


def script(name: str, *arguments: str) -> str:
    """Return the output of a script. Its exit status only tells whether the figures are within limits."""
    process = subprocess.run([sys.executable, str(HERE / name), *arguments], stdout=subprocess.PIPE, text=True)
    return process.stdout


def scaled(row: dict[str, float], divisor: float, digits: int | None = None) -> dict[str, float]:
    """Return the figures in another unit, rounded to two digits, or to integers if the unit does not change."""
    digits = digits if digits is not None else 2 if divisor != 1 else 0
    return {library: round(row[library] / divisor, digits) for library in LIBRARIES if library in row}


def machine_facts(peer: str | None) -> dict[str, str]:
    """Return the machine and the versions. The GPU is missing if there is none."""
    facts = {"date": time.strftime("%-d %B %Y"), "processor": processor(), "Python": platform.python_version()}
    found = subprocess.run([sys.executable, "-P", "-c", GPU], capture_output=True, text=True).stdout.splitlines()
    facts |= dict(zip(("GPU", "driver for CUDA"), found, strict=False))
    import cuda.core

    facts["this cuda.core"] = cuda.core.__version__
    if peer:
        python, variables = command(OFFICIAL, peer)
        code = "import cuda.core; print(cuda.core.__version__)"
        found = subprocess.run([python, "-P", "-c", code], env=variables, capture_output=True, text=True).stdout.strip()
        facts["official cuda.core"] = found or "missing"
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            facts[package] = importlib.metadata.version(package)
    return facts


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


# --- Files ------------------------------------------------------------------------------------------------------------


def render(figures: dict, directory: Path) -> None:
    """Write report.md, and a plot per table if matplotlib is installed."""
    try:
        import matplotlib

        matplotlib.use("svg")
        # The same figures give the same file, with text as text.
        matplotlib.rcParams |= {"svg.hashsalt": "report", "svg.fonttype": "none"}
    except ImportError:
        print("matplotlib is not installed: no plots; render again where it is", file=sys.stderr)
        matplotlib = None
    facts = "; ".join(f"{name} {value}" for name, value in figures["machine"].items())
    lines = [
        "# Benchmark report",
        "",
        "<!-- Written by benchmarks/report.py. -->",
        "",
        f"Measured in one run, medians: {facts}.",
        "",
    ]
    for table in figures["tables"]:
        lines += [f"### {table['title']}", "", *markdown(table), ""]
        if matplotlib and table["plot"]:
            name = "".join(c if c.isalnum() else "-" for c in table["title"].lower()).replace("--", "-") + ".svg"
            plot(table, directory / name)
            lines += [f"![{table['title']}, {table['unit']}]({name})", ""]
    (directory / "report.md").write_text("\n".join(lines))


def markdown(table: Table) -> list[str]:
    columns = list(dict.fromkeys(column for row in table["rows"].values() for column in row))
    columns.sort(key=lambda name: [name.startswith(library) for library in LIBRARIES].index(True))
    lines = [f"| {table['unit']} | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for name, row in table["rows"].items():
        cells = [f"{row[column]:,g}" if column in row else "-" for column in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def plot(table: Table, path: Path) -> None:
    """Plot a table: grouped bars per row, or a line per library."""
    from matplotlib import pyplot

    rows = table["rows"]
    columns = [library for library in LIBRARIES if any(library in row for row in rows.values())]
    is_bars = table["plot"] == "bars"
    figure, axes = pyplot.subplots(figsize=(7.5, 1 + 0.17 * len(rows) * len(columns) if is_bars else 3.5))
    for number, library in enumerate(columns):
        points = [(index, row[library]) for index, row in enumerate(rows.values()) if library in row]
        if is_bars:
            height = 0.8 / len(columns)
            places = [index + (number - (len(columns) - 1) / 2) * height for index, _ in points]
            axes.barh(places, [value for _, value in points], height, label=library, color=COLORS[library])
        else:
            axes.plot(*zip(*points, strict=True), marker="o", label=library, color=COLORS[library])
    if is_bars:
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlabel(table["unit"])
        values = sorted(value for row in rows.values() for value in row.values())
        if values[-1] > 20 * values[len(values) // 2] > 0:
            axes.set_xscale("log")
    else:
        axes.set_xticks(range(len(rows)), list(rows))
        axes.set_xlabel("threads")
        axes.set_ylabel(table["unit"])
        axes.set_ylim(bottom=0)
    axes.set_title(table["title"])
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
