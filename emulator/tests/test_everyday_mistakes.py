# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Everyday mistakes are reported at the right line, but not their corrected twins or unusual correct code."""

import re

import pytest

from support.check_runs import run_cases
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "mistakes.cu").read_text()

# The checks that find the mistakes, with the numbers of blocks and threads.
SHAPES = {"memory": (1, 64), "rows": (1, 64), "initialized": (1, 32), "races": (4, 64), "all": (4, 64)}
OUTSIDE = "illegal address: (load|store) of .*"
FREED = r"bad free\(\) of the device heap: "
RACE = "data race: (load|store) of"
WORDS = {
    "memory": {
        "product_overflows": OUTSIDE + "not device memory",
        "unsigned_underflow": OUTSIDE + "past the end of the 128 bytes of device memory",
        "negative_remainder": OUTSIDE + "20 bytes before the 128 bytes of device memory",
        "bytes_for_elements": OUTSIDE + "past the end of the 128 bytes of device memory",
        "wide_element_type": OUTSIDE + "just past the end of the 128 bytes of device memory",
        "grid_stride_tail": OUTSIDE + "just past the end of the 128 bytes of device memory",
        "carved_too_much": OUTSIDE + "just past the end of the 128 bytes of dynamic shared memory",
        "odd_wide_atomic": "misaligned address: store of 8 bytes",
        "header_before_vectors": "misaligned address: load of 8 bytes",
        "stencil_of_constants": OUTSIDE + "just past the end of the 20 bytes of __constant__ weights",
        "table_of_constants": OUTSIDE + "just past the end of the 32 bytes of knight_moves",
        "before_a_table": OUTSIDE + "4 bytes before the 16 bytes of (king|rook)_moves",
        "string_past_end": OUTSIDE + "just past the end of the 16 bytes of a constant of the program",
        "local_of_another_thread": OUTSIDE + r"a local variable of another thread \(number 0 of the block\)",
        "returned_local": OUTSIDE + "a local variable of a function that has returned",
        "freed_by_all": FREED + r".*malloc\(\) in a kernel, which was freed",
        "unchecked_malloc": OUTSIDE + "a null pointer",
        "freed_before_the_others": OUTSIDE + r"malloc\(\) in a kernel, which was freed",
        "freed_shared": FREED + r"the pointer does not come from malloc\(\) in a kernel",
        "shuffle_in_a_branch": "deadlock",
        "continue_before_barrier": "deadlock",
        "named_barrier_of_half": "deadlock",
        "tile_over_a_branch": "deadlock",
        "wide_reduction": "contradictory warp operation|deadlock",
        "elected_thread_at_barrier": "deadlock",
    },
    "rows": {
        "into_next_row": r"index out of bounds: index 4 in an array of type 'int \[4\]'",
        "into_next_member": r"index out of bounds: index 4 in an array of type 'int \[4\]'",
        "transposed_index": r"index out of bounds: index 4 in an array of type 'int \[4\]\[8\]'",
    },
    "initialized": {
        "sum_not_cleared": "uninitialized read: load of 4 bytes at .*__shared__ sum",
        "one_member_written": "uninitialized read: load of 4 bytes at .* at offset 4 in .* device memory",
        "list_of_heap": r"uninitialized read: load of 8 bytes at .* at offset 8 in .*malloc\(\) in a kernel",
        "maximum_of_part": "uninitialized read: load of 4 bytes at .*: in a local variable of the thread",
    },
    "races": dict.fromkeys(
        """double_buffer transpose_in_place scan_in_place bins_not_ready bit_fields halves_of_a_word loop_condition
        reused_scratch warp_barrier_for_a_block result_of_lane_zero wrong_phase copy_without_wait
        pipeline_without_barrier histogram_of_the_device overlapping_halos pushed_and_read
        maximum_by_exchange""".split(),
        RACE,
    ),
}
SILENT = ["floats_in_any_order", "same_value_by_all", "early_exit"]
CASES = [pytest.param(words, bug, id=bug) for rows in WORDS.values() for bug, words in rows.items()]


@pytest.fixture(scope="module")
def reports():
    """Return the reports of all kernels, which run in one process for each check."""
    found = {}
    for check, names in {**WORDS, "all": SILENT}.items():
        grid, block = SHAPES[check]
        found |= run_cases(SOURCE, list(names), check, grid=grid, block=block)
    return found


@pytest.mark.parametrize(("words", "bug"), CASES)
def test_mistake_is_reported_at_its_line(reports, words, bug):
    text = reports[bug, 1]
    assert re.search(rf"kernel {bug}: .*?({words})", text, re.DOTALL), text
    marked = {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {bug}\b", line)}
    lines = {int(line) for line in re.findall(r"bugs\.cu:(\d+)", text)}
    assert lines and lines <= marked, text


@pytest.mark.parametrize("bug", [case.id for case in CASES] + SILENT)
def test_correct_kernel_is_silent(reports, bug):
    assert reports[bug, 0] == ""


def test_every_kernel_is_in_the_table():
    assert set(re.findall(r"__global__ void (\w+)\(", SOURCE)) == {case.id for case in CASES} | set(SILENT)
