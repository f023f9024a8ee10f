# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies that a kernel does not wait for, and waits that never end, are reported at their lines."""

import re

import pytest

from support.check_runs import run_cases
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "waits.cu").read_text()
NAMES = re.findall(r"__global__ void (\w+)\(", SOURCE)
COPIES, MBARRIERS, SPINS = NAMES[:5], NAMES[5:10], NAMES[10:]
MORE = {
    "more_bytes_than_copied": "64 threads wait at an mbarrier in phase 0, which expects 64 more bytes",
    "no_bytes_expected": "which expects 32 bytes fewer than were copied",
    "one_arrival_too_many": "which expects 1 more arrival, ",
    "arrival_in_a_branch": r"which expects 1 more arrival, (.*\n)*.*1 thread waits at __syncthreads\(\)",
}


def marked_lines(bug):
    return {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {bug}\b", line)}


def check_reports(reports, names, words):
    for name in names:
        assert reports[name, 0] == "", reports[name, 0]
        text = reports[name, 1]
        assert re.search(rf"kernel {name}: {words}", text), (name, text)
        lines = {int(line) for line in re.findall(r"bugs\.cu:(\d+)", text)}
        assert lines & marked_lines(name), (name, text)
        assert re.search(MORE.get(name, ""), text), text


def test_copy_without_wait_is_reported():
    check_reports(run_cases(SOURCE, COPIES, "all", grid=2, block=64), COPIES, "data race: load of 4 bytes")
    first = [name for name in COPIES if name != "next_stage_too_early"]  # the buffer has been written before
    check_reports(
        run_cases(SOURCE, first, "initialized", grid=2, block=64), first, "(data race|uninitialized read): load"
    )


@pytest.mark.parametrize("checks", ["memory", "all"])
def test_endless_wait_at_an_mbarrier_is_reported(checks):
    check_reports(run_cases(SOURCE, MBARRIERS, checks, grid=2, block=64), MBARRIERS, "deadlock: ")


@pytest.mark.parametrize("checks", ["memory", "all"])
def test_endless_loop_of_all_threads_is_reported(checks):
    for name in SPINS:  # in a process each, because the locks stay taken
        check_reports(run_cases(SOURCE, [name], checks, grid=2, block=64), [name], "deadlock: ")
