# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Three kernels for each of twenty kinds of bugs are reported at the right line, but not their corrected twins."""

import re

import pytest

from support.check_runs import run_cases
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "planted.cu").read_text()

# The checks that find the kinds of bugs, with the numbers of blocks and threads, and words of the reports.
SHAPES = {"memory": (1, 64), "stack": (1, 64), "initialized": (1, 32), "races": (4, 64)}
OUTSIDE = "illegal address: (load|store) of .*"
RACE = "data race: (load|store) of"
KINDS = {
    "memory": {
        "global memory, out of bounds": (
            OUTSIDE + "(past the end of|before) the 128 bytes of device memory of device 0 from cuMem",
            ["past_end", "before_start", "far_away"],
        ),
        "heap": (r"malloc\(\) in a kernel", ["after_free", "freed_twice", "freed_inside"]),
        "heap, out of bounds": (OUTSIDE + r"malloc\(\) in a kernel", ["heap_past", "heap_before", "heap_byte"]),
        "shared memory": (OUTSIDE + "of __shared__", ["into_neighbor", "shared_negative", "halo"]),
        "dynamic shared memory": (
            OUTSIDE + "the 128 bytes of dynamic shared memory",
            ["dynamic_past", "dynamic_wide", "dynamic_split"],
        ),
        "variables of the module": (
            OUTSIDE + "(__device__ table|__constant__ constants)",
            ["variable_past", "constant_past", "constant_stored"],
        ),
        "alignment": ("misaligned address: (load|store)", ["odd_double", "odd_vector", "odd_shared"]),
        "wild pointers": (
            OUTSIDE + "(null pointer|not device memory)",
            ["null_pointer", "null_member", "integer_as_pointer"],
        ),
        "barriers": (
            "divergent barrier|deadlock",
            ["barrier_in_branch", "barrier_and_warp", "barriers_of_a_loop"],
        ),
        "masks of warps": (
            "contradictory warp operation|deadlock",
            ["mask_without_itself", "mask_of_a_branch", "different_operations"],
        ),
    },
    "stack": {
        "arrays of a thread": (
            OUTSIDE + "the [0-9]+ bytes of the local variable (values|a)",
            ["local_past", "local_before", "local_neighbor"],
        ),
    },
    "initialized": {
        "uninitialized global memory": (
            "uninitialized read: load of 4 bytes at .*device memory",
            ["never_written", "tail_not_written", "added_to"],
        ),
        "uninitialized shared memory": (
            "uninitialized read: load of 4 bytes at .*shared",
            ["shared_never_written", "halo_not_written", "dynamic_not_written"],
        ),
    },
    "races": {
        "missing barriers": (RACE, ["no_barrier", "no_second_barrier", "barrier_of_the_loop"]),
        "missing barriers of warps": (RACE, ["no_syncwarp", "sums_of_a_warp", "half_a_warp"]),
        "lost updates": (RACE, ["shared_counter", "global_counter", "maximum"]),
        "races between blocks": (RACE, ["same_element", "neighbors_in_place", "no_grid_barrier"]),
        "missing fences": (RACE, ["last_block", "message", "unlock"]),
        "narrow scopes": (RACE, ["counter_of_the_block", "fence_of_the_block", "mixed_scopes"]),
        "atomic and plain accesses": (
            RACE,
            ["read_beside_atomics", "reset_beside_atomics", "queue_without_order"],
        ),
    },
}
CASES = [
    pytest.param(check, words, bug, id=f"{kind}-{bug}".replace(" ", "_"))
    for check, kinds in KINDS.items()
    for kind, (words, bugs) in kinds.items()
    for bug in bugs
]


@pytest.fixture(scope="module")
def reports():
    """Return the reports of all kernels, which run in one process for each check."""
    found = {}
    for check, kinds in KINDS.items():
        bugs = [bug for _, row in kinds.values() for bug in row]
        grid, block = SHAPES[check]
        found |= run_cases(SOURCE, bugs, check, grid=grid, block=block)
    return found


def marked_lines(bug):
    return {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {bug}\b", line)}


@pytest.mark.parametrize(("check", "words", "bug"), CASES)
def test_bug_is_reported_at_its_line(reports, check, words, bug):
    text = reports[bug, 1]
    assert re.search(rf"kernel {bug}: .*?{words}", text, re.DOTALL), text
    lines = {int(line) for line in re.findall(r"bugs\.cu:(\d+)", text)}
    assert lines and lines <= marked_lines(bug), text


@pytest.mark.parametrize(("check", "words", "bug"), CASES)
def test_corrected_twin_is_silent(reports, check, words, bug):
    assert reports[bug, 0] == ""


ROWS = r"""
extern "C" __global__ void rows(int* x, int* out, int bad)
{
    __shared__ int tile[8][8];
    tile[threadIdx.x / 8][threadIdx.x % 8] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = tile[0][out[1] + 7 + bad];
}
"""


def test_index_leaving_its_row_is_reported_on_request():
    found = run_cases(ROWS, ["rows"], "memory,rows", block=64)
    assert found["rows", 0] == ""
    assert "kernel rows: index out of bounds: index 8 in an array of type 'int [8]'\n  at bugs.cu:7" in found["rows", 1]
    assert run_cases(ROWS, ["rows"], "memory", block=64)["rows", 1] == ""


def test_every_kernel_is_in_the_table():
    assert set(re.findall(r"__global__ void (\w+)\(", SOURCE)) == {case.values[2] for case in CASES}
