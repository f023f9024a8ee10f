# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in clusters, with read-only loads, and beside atomic functions are reported, but not corrected twins."""

import re

import pytest

from support.check_runs import run_cases
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "found.cu").read_text()
NAMES = re.findall(r"__global__ void (?:__cluster_dims__\(2\) )?(\w+)\(", SOURCE)
WORDS = {
    "in a cluster": "data race: (load|store) of 4 bytes",
    "of an exited block": "data race: .*in shared memory of another block of the cluster, which can exit before"
    "|illegal address: .*shared memory of a block of the cluster that has exited",
    "read-only loads": r"data race: load of \d+ bytes .*\n.*a read-only load, such as __ldg\(\), of memory",
    "stores beside atomics": "(data race|uninitialized read): (load|store) of 4 bytes",
}
CASES = [
    pytest.param(words, name, id=name) for i, words in enumerate(WORDS.values()) for name in NAMES[5 * i : 5 * i + 5]
]


@pytest.fixture(scope="module")
def reports():
    return run_cases(SOURCE, NAMES, "all", grid=2, block=64)


@pytest.mark.parametrize(("words", "name"), CASES)
def test_mistake_is_reported_with_its_line(reports, words, name):
    text = reports[name, 1]
    assert re.search(rf"kernel {name}: ({words})", text), text
    marked = {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {name}\b", line)}
    lines = {int(line) for line in re.findall(r"bugs\.cu:(\d+)", text)}
    assert lines and lines <= marked, text


@pytest.mark.parametrize("name", NAMES)
def test_corrected_twin_is_silent(reports, name):
    assert reports[name, 0] == ""


def test_memory_of_an_exited_block_is_closed_in_every_mode():
    name = "exits_at_once"
    reports = run_cases(SOURCE, [name], "memory", grid=2, block=64)
    assert reports[name, 0] == ""
    assert f"kernel {name}: illegal address: load of 4 bytes" in reports[name, 1]
