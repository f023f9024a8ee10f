# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Lanes of a warp that communicate through volatile shared memory run in step, as programs before Volta expect."""

import re

import pytest

from support.check_runs import run_cases
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "steps.cu").read_text()
NAMES = re.findall(r"__global__ void (\w+)\(", SOURCE)


@pytest.mark.parametrize("checks", ["none", "memory", "initialized", "all"])
def test_lanes_with_volatile_memory_run_in_step(checks):
    assert len(NAMES) == 5
    reports = run_cases(SOURCE, NAMES, checks, grid=3, block=64)
    assert reports == {(name, bad): "" for name in NAMES for bad in (0, 1)}


def test_lanes_run_in_step_in_any_order(monkeypatch):
    for seed in range(5):
        monkeypatch.setenv("CUDA_EMULATOR_MODE", f"shuffle:{seed}")
        reports = run_cases(SOURCE, NAMES, "memory", grid=3, block=64)
        assert set(reports.values()) == {""}


def test_other_programs_keep_the_fast_instrumentation():
    """Volatile words of assembly, or without shared memory, do not select the slower one."""
    source = SOURCE.replace("volatile", "")
    assert any(run_cases(source, ["rotated"], "memory", grid=3, block=64).values())
