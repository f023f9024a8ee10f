# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The tests of kernels and checks pass with every installed compiler, except for the listed differences."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.compilers import COMPILERS, INSTALLED
from support.paths import PAGES, ROOT

HERE = Path(__file__).parent
FILES = [
    *sorted(path.stem for path in HERE.glob("test_kernels_*.py")),
    *(
        "test_device_language",
        "test_device_math",
        "test_device_syntax",
        "test_half",
        "test_inline_ptx",
        "test_ptx_modules",
    ),
    *(
        "test_feature_table",
        "test_kinds_of_bugs",
        "test_planted_bugs",
        "test_races",
        "test_red_zones",
        "test_variable_checks",
    ),
]
DIFFERENCES = {  # parts of the names of tests, by the row of the table in the design page
    "the name of a variable": "needs_a_constructor",
    "NaN": "casts_out_of_range",
    "red zones between local variables": "arrays_of_a_thread or local_array",
    "misaligned vectors": "odd_vector or misaligned_make",
    "lines of calls": "barrier_and_warp or trapped",
    "another pair of places": "read_beside_atomics",
}


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", INSTALLED[1:])
def test_kernels_run_and_are_checked_with_other_compilers(name, file):
    environment = {**os.environ, "CUDA_EMULATOR_CXX": COMPILERS[name]}
    environment = {key: value for key, value in environment.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pytest.ini"]
    left_out = " or ".join(DIFFERENCES.values())
    options = ["-q", "-p", "no:cacheprovider", "-k", f"not ({left_out})", f"{file}.py"]
    done = subprocess.run([*command, *options], env=environment, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.requires(pages=True)
def test_design_page_lists_the_differences():
    page = (PAGES / "design" / "emulator.md").read_text()
    table = page[page.index("| With clang and zig |") :].split("\n\n")[0]
    assert all(words in table for words in DIFFERENCES)
