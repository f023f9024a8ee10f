# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Bulk copies complete late, so that those used too early are noticed, and mbarriers with wrong counts."""

import re

import numpy as np
import pytest

from support.check_runs import run_cases
from support.compiled import Code, Program
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "late.cu").read_text()
NOT_WRITTEN = (
    r"data race: (load|store) of 4 bytes .*__shared__ tile\n"
    "  the bulk copy by thread 0 of the block has not written it: no thread has waited at its mbarrier since\n"
    "  at bugs.cu:\\d+"
)
NOT_READ = (
    r"data race: store of 4 bytes .*__shared__ tile\n"
    "  the bulk copy by thread 0 of the block has not read it: the thread has not waited for its group\n"
    "  at bugs.cu:\\d+"
)
WAITS = "deadlock: .*\n  32 threads wait at an mbarrier in phase {}, which expects {}"
EARLY = {
    **dict.fromkeys(
        "no_wait wrong_parity other_barrier parity_not_flipped expect_forgotten target_overwritten".split(), NOT_WRITTEN
    ),
    **dict.fromkeys("source_overwritten group_not_committed one_group_left waits_in_other_thread".split(), NOT_READ),
}
COUNTS = {
    "too_many_bytes": WAITS.format(0, "128 more bytes"),
    "too_few_bytes": WAITS.format(0, "64 bytes fewer than were copied"),
    "expected_by_all": WAITS.format(0, "128 more bytes"),
    "too_few_arrive": WAITS.format(0, "31 more arrivals"),
    "too_many_arrive": "trap: more threads arrive at an mbarrier than it was initialized for",
    "waits_for_next_phase": WAITS.format(1, "1 more arrival"),
}
SILENT = ["looks_at_the_bytes", "pipeline", "ends_before_it_waits", "producer_and_consumers"]


def marked_lines(name):
    return {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {name}\b", line)}


@pytest.mark.parametrize(("check", "mode"), [("races", "eager"), ("all", "eager"), ("all", "shuffle")])
def test_copy_used_too_early_is_reported(check, mode, monkeypatch):
    monkeypatch.setenv("CUDA_EMULATOR_MODE", mode)
    reports = run_cases(SOURCE, list(EARLY), check)
    for name, words in EARLY.items():
        assert reports[name, 0] == ""
        text = reports[name, 1]
        assert re.search(rf"kernel {name}: {words}", text), text
        assert int(re.findall(rf"bugs\.cu:(\d+) in {name}", text)[-1]) in marked_lines(name), text


@pytest.mark.parametrize("check", ["memory", "all", "none"])
def test_wrong_count_is_reported_where_threads_wait(check):
    reports = run_cases(SOURCE, list(COUNTS), check)
    for name, words in COUNTS.items():
        assert reports[name, 0] == ""
        text = reports[name, 1]
        assert re.search(rf"kernel {name}: {words}", text), text
        assert {int(line) for line in re.findall(rf"bugs\.cu:(\d+) in {name}", text)} == marked_lines(name), text


@pytest.mark.parametrize(("check", "mode"), [("memory", "shuffle"), ("all", "eager"), ("all", "shuffle")])
def test_unusual_correct_kernels_are_silent(check, mode, monkeypatch):
    monkeypatch.setenv("CUDA_EMULATOR_MODE", mode)
    reports = run_cases(SOURCE, SILENT, check)
    assert {row: text for row, text in reports.items() if text} == {}


@pytest.fixture
def run(driver, context):
    """Return a function that runs a kernel, and returns the array that it has written."""
    code = Code(driver, Program(SOURCE, "-arch=sm_90", name="bugs.cu").image)

    def run(name, bad):
        x, out = np.full(32, -1, np.int32), np.zeros(32, np.int32)
        code(name, 1, 32, x, out, np.int32(bad))
        return out if (x == -1).all() else x

    yield run
    code.close()


def test_without_checks_early_use_finds_earlier_contents(run):
    fresh = np.full(4, 0xFD, np.uint8).view(np.int32)[0]
    for name in ("no_wait", "wrong_parity", "expect_forgotten"):
        assert run(name, 0).tolist() == [1] * 32
        assert run(name, 1).tolist() == [fresh + 1] * 32
    for name in ("source_overwritten", "group_not_committed", "waits_in_other_thread"):
        assert run(name, 0).tolist() == [1] * 32
        assert run(name, 1).tolist() == [2] * 32
    assert run("ends_before_it_waits", 0).tolist() == [9] * 32


SHUFFLED = """
import cuda.emulator
cuda.emulator.activate()
import numpy as np
from support.compiled import Code, Program
from support.driver import Driver
from support.paths import KERNELS
driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
code = Code(driver, Program((KERNELS / "late.cu").read_text(), "-arch=sm_90").image)
for name in ("no_wait", "source_overwritten"):
    seen = set()
    for bad in [0] * 4 + [1] * 20:
        x, out = np.full(32, -1, np.int32), np.zeros(32, np.int32)
        code(name, 1, 32, x, out, np.int32(bad))
        seen.add((bad, int(out[0]) if (x == -1).all() else int(x[0])))
    print(name, sorted(seen))
"""


def test_seed_chooses_which_copies_are_late(child):
    fresh = int(np.full(4, 0xFD, np.uint8).view(np.int32)[0]) + 1
    lines = child(SHUFFLED, MODE="shuffle", SEED="3").splitlines()
    assert lines == [
        f"no_wait {[(0, 1), (1, fresh), (1, 1)]}",
        f"source_overwritten {[(0, 1), (1, 1), (1, 2)]}",
    ]
