# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every Python block of the documentation runs as pasted, in its own process, and prints what the page shows.

A ``python`` block is a whole program. A ``text`` block right after it is all of its output, where ``...`` stands in for
any text; without one, the program prints nothing. A ``py`` or ``cuda`` block is a fragment of a program on its page.
"""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from support.pages import DOCS, Program, programs

# Names at the end of a first line `# Needs ...` other than imported packages, which a program needs without saying so.
NEEDS = {
    "a GPU": {"software": False},
    "the software device": {"software": True},
    "a second GPU": {"devices": 2},
    "multicast": {"devices": 2, "multicast": True},
    "NVML": {"nvml": True},
    "checkpoints": {"checkpoint": True},
    "OpenGL": {"opengl": True},
    "green contexts": {"green": True},
    "cuRAND": {"curand_headers": True},
    "Hopper": {"compute": (9, 0)},
    "NVRTC 13.4": {"nvrtc_version": (13, 4)},
    "CUDA 13.1": {"cuda": (13, 1)},
    "CUDA 13.2": {"cuda": (13, 2)},
    "CUDA 13.3": {"cuda": (13, 3)},
    "CUDA 13.4": {"cuda": (13, 4)},
}
OURS = {"cuda", "numpy", "pycuda", *sys.stdlib_module_names}
# The line limits for programs of a page or a directory, not counting blank lines, and the limit for all others.
LIMITS = {"how-to": 15, "tour.md": 60, "guide/threads.md": 60}
LIMIT = 30


def needs(program: Program) -> dict:
    """Return the capabilities that a program states in its first line and by its imports."""
    wanted = {"device": True, "nvrtc": True}
    first = program.source.partition("\n")[0]
    if first.startswith("# Needs "):
        for name in first.removeprefix("# Needs ").rstrip(".").split(", "):
            wanted |= NEEDS[name]
    modules = set()
    for node in ast.walk(ast.parse(program.source)):
        if isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module.partition(".")[0])
    if "cupy" in modules:
        wanted |= NEEDS["a GPU"]
    if "triton" in modules:
        wanted["triton"] = (3, 8)  # the first whose interface the software device knows
    return wanted | {"modules": tuple(sorted(modules - OURS))}


def run(program: Program, directory: Path) -> subprocess.CompletedProcess:
    """Run a program as a file, in an empty directory; classic ones with the names of the classic interface."""
    path = directory / "program.py"
    path.write_text(program.source)
    command = [sys.executable, *(["-m", "cuda.core.driver"] if "import pycuda" in program.source else []), path.name]
    environment = os.environ | {"PYTHONWARNINGS": "default"}
    environment.pop("PYTHONSAFEPATH", None)  # a program may import itself, as children of `spawn` do
    return subprocess.run(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )


def all_programs() -> list:
    return [pytest.param(found, marks=pytest.mark.requires(**needs(found)), id=found.id) for found in programs()]


@pytest.mark.parametrize("program", all_programs())
def test_program_prints_what_its_page_shows(program, tmp_path):
    done = run(program, tmp_path)
    assert done.returncode == 0, f"{program.id}\n{done.stdout}"
    check = doctest.OutputChecker().check_output(program.output or "", done.stdout, doctest.ELLIPSIS)
    assert check, f"{program.id} printed\n{done.stdout}\nbut its page shows\n{program.output}"


def test_programs_are_short():
    long = {}
    for program in programs():
        size = sum(bool(line.strip()) for line in program.source.splitlines())
        if size > LIMITS.get(program.page, LIMITS.get(program.page.partition("/")[0], LIMIT)):
            long[program.id] = size
    assert long == {}


def test_fragments_are_parts_of_a_program_on_their_page():
    whole = {}
    for program in programs():
        whole.setdefault(program.page, set()).update(map(str.strip, program.source.splitlines()))
    outputs = {(program.page, program.output) for program in programs()}
    for fragment in [*programs("py"), *programs("cuda")]:
        missing = [line for line in fragment.source.splitlines() if line.strip() not in whole[fragment.page] | {""}]
        assert missing == [], fragment.id
        assert fragment.output is None or (fragment.page, fragment.output) in outputs, fragment.id


def lines_outside_kernels(source: str) -> int:
    """Return the number of lines that are not blank, where the string with a kernel's source counts as one."""
    literals = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    kernels = [node for node in literals if isinstance(node.value, str) and "__global__" in node.value]
    inside = {line for node in kernels for line in range(node.lineno + 1, node.end_lineno + 1)}
    return sum(bool(line.strip()) for number, line in enumerate(source.splitlines(), 1) if number not in inside)


def test_table_beside_cupy_has_the_lines_of_its_programs():
    page = "beside-cupy.md"
    found = [program for program in programs() if program.page == page]
    lines = [lines_outside_kernels(program.source) for program in found]
    shown = re.findall(r"^\| .+ \| (\d+) \| (\d+) \|$", (DOCS / page).read_text(), re.MULTILINE)
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    assert [tuple(map(int, row)) for row in shown] == [*pairs, (sum(lines[::2]), sum(lines[1::2]))]
    assert len(pairs) == 15
    assert all("import cupy" in program.source for program in found[1::2])


def test_figures_of_pages_are_those_of_the_report():
    tables = json.loads((DOCS / "_benchmarks" / "figures.json").read_text())
    rows = [row for table in tables["tables"] if table["title"].endswith("on the GPU") for row in table["rows"].items()]
    measured = {name: rounded(row) for name, row in rows if {"C", "official", "cuda.core"} <= set(row)}
    for name in ("changes.md", "guide/performance.md"):
        shown = re.findall(r"^\| (?:\w[^|]*) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", (DOCS / name).read_text(), re.M)
        assert measured["launch, saxpy"] in shown and set(shown) <= set(measured.values()), name
    parts = {*measured["launch, saxpy"], tables["machine"]["date"]}
    for name, others in {"../README.md": (), "index.md": measured["replay 10 kernels"]}.items():
        text = (DOCS / name).read_text()
        assert [part for part in (*parts, *others) if part not in text] == [], name


def test_classic_figures_are_those_of_the_report():
    report = json.loads((DOCS / "_benchmarks" / "figures.json").read_text())
    tables = {table["title"]: table["rows"].values() for table in report["tables"]}
    measured = {rounded(row, ("cuda.core", "CuPy")) for row in tables["Classic interface, calls"]}
    measured |= {rounded(row, ("cuda.core", "CuPy"), "1") for row in tables["Classic interface, 10 million floats"]}
    text = (DOCS / "guide" / "classic.md").read_text()
    shown = re.findall(r"^\| .+ \| ([\d.,]+) \| ([\d.,]+|-) \|$", text, re.MULTILINE)
    assert len(shown) == 10 and set(shown) <= measured
    assert report["machine"]["date"] in text


def rounded(row: dict, columns=("C", "official", "cuda.core"), step="0.1") -> tuple[str, ...]:
    """Return figures of a row of the report as pages show them, and "-" for those that were not measured."""
    figures = [Decimal(str(row[who])).quantize(Decimal(step), ROUND_HALF_UP) if who in row else None for who in columns]
    return tuple("-" if figure is None else f"{figure:,}" for figure in figures)


def test_pages_have_programs():
    assert {"../README.md", "index.md", "tour.md", "moving.md"} <= {program.page for program in programs()}
    assert len(programs()) > 100


FIRST = [program for program in programs() if program.page in ("../README.md", "index.md")]


@pytest.mark.parametrize("program", FIRST, ids=lambda program: program.id)
def test_first_programs_need_only_the_installed_package(program):
    assert needs(program)["modules"] == ()


@pytest.mark.requires(device=True, nvrtc=True, modules=("PIL",))
@pytest.mark.parametrize("program", FIRST, ids=lambda program: program.id)
def test_first_program_writes_the_picture_beside_it(program, tmp_path):
    import numpy as np
    from PIL import Image

    run(program, tmp_path)
    with Image.open(tmp_path / "mandelbrot.pgm") as drawn, Image.open(DOCS / "_static" / "mandelbrot.png") as shown:
        difference = np.asarray(drawn).astype(int) - np.asarray(shown)
    # At the border of the set, a GPU that fuses products and sums counts a few more or fewer steps.
    assert (difference != 0).mean() < 0.01
