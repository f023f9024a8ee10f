# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The executor alone, with kernels written in C++: blocks, barriers, warps, grids, preemption and faults."""

import functools
import os
import subprocess

import pytest

from support.native import driver_command, line_of, run_case

UNDER_QEMU = [pytest.mark.requires(command="aarch64-linux-gnu-g++"), pytest.mark.requires(command="qemu-aarch64")]
CHECKS = [
    *("plain", "checked"),
    pytest.param("aarch64 plain", marks=UNDER_QEMU),
    pytest.param("aarch64 checked", marks=UNDER_QEMU),
]
pytestmark = [pytest.mark.parametrize("checks", CHECKS), pytest.mark.requires(compiler=True, source=True)]
FULL = 0xFFFFFFFF
SYNC, INDEX, UP, DOWN, XOR, ALL, ANY, UNIFORM, BALLOT, MATCH_ANY, MATCH_ALL = (0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13)
ADD, MIN_U, MAX_U, MIN_I, MAX_I, AND, OR, XOR_ALL = range(16, 24)


@pytest.fixture
def run(checks):
    return functools.partial(run_case, checks)


# ---------------------------------------------------------------------- blocks and barriers


@pytest.mark.parametrize("case, good", [("saxpy", 10007), ("matmul", 4096), ("reverse", 1000), ("float_state", 1)])
def test_kernels_compute_the_expected_values(run, case, good):
    result = run(case)
    assert (result["code"], int(result["good"])) == ("0", good)


def test_order_of_threads_can_be_shuffled(run):
    assert run("shuffled")["good"] == "1000"


def test_barrier_counts_votes(run):
    assert run("count_votes")["out"] == [3, 0, 1] * 6


def test_barrier_does_not_wait_for_ended_threads(run):
    assert run("early_exit_then_barrier")["out"] == [1] * 40 + [0] * 24


def test_named_barriers_let_one_warp_produce_for_another(run):
    assert run("producer_consumer")["out"] == [turn * 100 + lane for turn in range(10) for lane in range(32)]


@pytest.mark.parametrize("blocks", [1, 5, 64])
def test_grid_barrier_joins_all_blocks(run, blocks):
    assert run("grid_sum", blocks)["good"] == str(blocks)


# ------------------------------------------------------------------------------------ warps


def warp(run, op, values, argument=0, width=32, mask=FULL):
    result = run("warp_operation", op, argument, width, mask, *values)
    assert result["code"] == "0", result["text"]
    return result["out"], result["more"]


def test_butterfly_sums_each_warp(run):
    assert run("warp_sum")["out"] == [sum(range(w * 32, w * 32 + 32)) for w in range(4) for _ in range(32)]


@pytest.mark.parametrize("width", [32, 8])
@pytest.mark.parametrize("op", [INDEX, UP, DOWN, XOR])
def test_shuffles_stay_within_their_segment(run, op, width):
    out, in_range = warp(run, op, range(100, 132), 3, width)
    for lane in range(32):
        first = lane // width * width
        source = {INDEX: first + 3, UP: lane - 3, DOWN: lane + 3, XOR: lane ^ 3}[op]
        inside = first <= source < first + width
        assert (out[lane], in_range[lane]) == (100 + (source if inside else lane), inside)


def test_shuffle_by_exclusive_or_reads_only_earlier_segments(run):
    out, in_range = warp(run, XOR, range(32), 8, 8)
    assert out == [lane ^ 8 if lane & 8 else lane for lane in range(32)]
    assert in_range == [int(bool(lane & 8)) for lane in range(32)]


@pytest.mark.parametrize("values", [[0] * 32, [1] * 32, [lane % 3 for lane in range(32)]])
def test_votes_agree_with_python(run, values):
    ballot = sum(1 << lane for lane in range(32) if values[lane])
    assert warp(run, BALLOT, values)[0] == [ballot] * 32
    assert warp(run, ALL, values)[0] == [int(all(values))] * 32
    assert warp(run, ANY, values)[0] == [int(any(values))] * 32
    assert warp(run, UNIFORM, values)[0] == [int(ballot in (0, FULL))] * 32


def test_matches_agree_with_python(run):
    values = [lane % 4 for lane in range(32)]
    same = [sum(1 << other for other in range(32) if values[other] == value) for value in values]
    assert warp(run, MATCH_ANY, values)[0] == same
    assert warp(run, MATCH_ALL, values) == ([0] * 32, [0] * 32)
    assert warp(run, MATCH_ALL, [7] * 32) == ([FULL] * 32, [1] * 32)


def test_reductions_of_some_lanes_agree_with_python(run):
    values, lanes = [(lane * 2654435761) & FULL for lane in range(32)], [0, 5, 17, 31]
    mask, chosen = sum(1 << lane for lane in lanes), [values[lane] for lane in lanes]
    signed = [value - (1 << 32) if value >> 31 else value for value in chosen]
    expected = {ADD: sum(chosen) & FULL, MIN_U: min(chosen), MAX_U: max(chosen)}
    expected |= {MIN_I: min(signed) & FULL, MAX_I: max(signed) & FULL}
    expected[AND] = expected[OR] = expected[XOR_ALL] = chosen[0]
    for value in chosen[1:]:
        expected[AND] &= value
        expected[OR] |= value
        expected[XOR_ALL] ^= value
    for op, value in expected.items():
        out = warp(run, op, values, mask=mask)[0]
        assert [out[lane] for lane in lanes] == [value] * 4


def test_exited_lanes_do_not_vote(run):
    assert run("warp_with_exits")["out"] == [0x55555555, 0] * 16


# ------------------------------------------------------------------------------- preemption


@pytest.mark.parametrize(
    "case, count",
    [("spin_on_flag", 64), ("spin_with_warps", 64), ("spin_with_sleep", 256), ("own_grid_barrier", 24 * 32)],
)
def test_spinning_threads_let_others_run(run, case, count):
    result = run(case)
    assert (result["code"], int(result["count"])) == ("0", count)


def test_blocks_waiting_for_each_other_finish_on_busy_machine(checks):
    command = [*driver_command(checks), "own_grid_barrier"]
    busy = {**os.environ, "CUDA_EMULATOR_THREADS": "16"}
    runs = [subprocess.Popen(command, env=busy, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    try:
        assert all("count=768" in each.communicate(timeout=50)[0] for each in runs)
    finally:
        for each in runs:
            each.kill()


def test_kernel_can_wait_for_the_host(run):
    assert run("wait_for_host")["code"] == "0"


@pytest.mark.parametrize("case", ["loop_for_ever", "loop_with_barriers"])
def test_time_limit_ends_a_loop_and_names_its_line(run, case):
    result = run(case)
    assert (result["code"], result["next"]) == ("702", "496")
    assert int(result["line"]) == line_of(case)


def test_launch_can_be_canceled(run):
    assert run("cancel")["code"] == "709"


# ---------------------------------------------------------------------------------- process


def test_many_host_threads_launch_at_the_same_time(run):
    result = run("many_threads")
    assert (result["good"], result["faults"]) == ("400", "50")


def test_concurrent_cooperative_launches_get_enough_threads(run):
    assert run("grids_at_once")["good"] == "600"


def test_time_limit_holds_for_block_outlasting_caller(run):
    assert run("limit_of_helper")["code"] == "702"


def test_launches_of_all_kinds_at_the_same_time_end_as_expected(run):
    result = run("storm", 0.3)
    assert (result["ran"], result["bad"]) == ("1", "0")


def test_forked_child_starts_its_own_threads(run, checks):
    result = run("after_fork")
    assert result["parent"] == "496"
    # QEMU stops itself when a forked child starts a thread.
    assert result["child"] == "7" or checks.startswith("aarch64")


def test_program_keeps_its_own_signal_handler(run):
    assert run("own_handler")["own"] == "23"


# --------------------------------------------------------------------------------- services


def test_printf_keeps_the_order_of_threads(run):
    assert run("print_index")["printed"] == [f"block 0 thread {i} text  1.50" for i in range(3)]


def test_kernels_allocate_from_the_device_heap(run):
    assert run("allocate")["out"] == [10 * i + 45 for i in range(64)]


def test_kernels_read_constant_memory(run):
    assert run("copy_constant")["out"] == [1, 2, 3, 4] * 2


def test_threads_can_have_as_much_local_memory_as_on_a_gpu(run):
    assert run("large_local")["out"] == [99999, 100000, 100001]


def test_clocks_increase(run):
    low_high = run("clocks")["out"]
    cycles0, timer0, cycles1, timer1 = (low_high[i] + (low_high[i + 1] << 32) for i in range(0, 8, 2))
    assert cycles1 > cycles0
    assert 0 < timer1 - timer0 < 1e9


# ----------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    "case, code, words",
    [
        ("double_free", 719, "at offset 0 in the 64 bytes of a malloc() in a kernel, which was freed"),
        ("divergent_barrier", 719, "native/kernels.cpp:LINE in divergent_barrier"),
        ("deadlock", 719, "16 threads wait at __syncwarp(mask 0xffffffff)"),
        ("divide", 719, "integer division by zero"),
        ("overflow", 719, "stack overflow: a thread has "),
        ("trap", 719, "a feature that is not there"),
        ("illegal", 715, "illegal instruction"),
    ],
)
def test_fault_is_reported_at_its_line_and_the_next_launch_works(run, case, code, words):
    result = run(case)
    line = line_of(case)
    assert (int(result["code"]), int(result["line"]), result["next"]) == (code, line, "496")
    assert words.replace("LINE", str(line)) in result["text"]


@pytest.mark.parametrize(
    "case, code, words",
    [
        ("wrong_mask", 719, "the mask does not include the calling lane (lane 16)"),
        ("wrong_operation", 719, "different operations"),
        ("grid_barrier_missed", 719, "2 of 3 blocks wait at a grid barrier, and 1 ended without reaching it"),
        ("assert_fails", 710, "thread: [3,0,0] Assertion `x > 0` failed."),
    ],
)
def test_fault_is_explained(run, case, code, words):
    result = run(case)
    assert (int(result["code"]), result["next"]) == (code, "496")
    assert words in result["text"]


def test_fault_names_block_and_thread(run):
    result = run("write_at", "null")
    assert (result["code"], result["block"], result["thread"]) == ("700", "2,0,0", "5,0,0")
    assert "illegal address: store" in result["text"]


def test_frame_larger_than_any_stack_is_a_fault(run):
    result = run("huge_local")
    assert (result["code"] in ("700", "719"), result["next"]) == (True, "496")


def test_distant_access_is_reported_even_without_checks(run):
    assert run("write_at", 1000000)["code"] == "700"
