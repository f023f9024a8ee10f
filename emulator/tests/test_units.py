# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The build of the software device: its units, and which of them a change recompiles."""

import os
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.requires(compiler=True, source=True)
DEVICE = Path(__file__).parents[2] / "cuda" / "emulator"


@pytest.fixture(scope="module")
def build():
    return runpy.run_path(str(DEVICE / "src" / "build.py"))


def test_each_source_is_in_one_unit(build, tmp_path):
    units = build["write_units"](tmp_path)
    assert {"abi", "common", "exec", "exec/checks", "front", "generated", "state", "state/memory"} <= set(units)
    lines = [line for unit in units.values() if unit.suffix == ".cpp" for line in unit.read_text().splitlines()]
    included = sorted(line.removeprefix('#include "').removesuffix('"') for line in lines)
    written = sorted([*(DEVICE / "src").rglob("*.cpp"), *(tmp_path / "generated").glob("*.cpp")])
    assert included == sorted(map(str, written))


def test_writing_the_same_units_again_keeps_their_files(build, tmp_path):
    def times():
        build["write_units"](tmp_path)
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.[ch]pp")}

    assert times() == times()


@pytest.mark.parametrize("changed", ["unit.cpp", "a.cpp", "b.cpp", "shared.hpp", "commands"])
def test_a_changed_file_makes_its_unit_stale(build, tmp_path, changed):
    contents = {
        "unit.cpp": '#include "a.cpp"\n#include "b.cpp"\n',
        "a.cpp": '#include "shared.hpp"\nint a() { return shared; }\n',
        "b.cpp": "int b() { return 1; }\n",
        "shared.hpp": "constexpr int shared = 1;\n",
        "commands": "",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    target, record = tmp_path / "unit.o", tmp_path / "commands"
    assert not build["is_current"](target, record)
    build["compile_source"](build["find_compiler"](), tmp_path / "unit.cpp", target)
    assert build["is_current"](target, record)
    later = target.stat().st_mtime + 10
    os.utime(tmp_path / changed, (later, later))
    assert not build["is_current"](target, record)
