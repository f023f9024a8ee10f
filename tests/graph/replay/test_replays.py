# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of a captured function: which one a call replays, updates or patches, and how many are kept."""

import pytest

from cuda.core import LaunchConfig, launch
from cuda.core.graph import CaptureStatistics, capture
from support.captured_work import ints, kernel, values
from support.graph_work import ONE
from support.threads import COUNT, run_in_threads


def test_changed_pointers_scalars_and_grids_are_updated_in_place(step, stream):
    x, others = ints(8, 1), [ints(8) for _ in range(3)]
    for number, y in enumerate(others, 1):
        step(stream, y.buffer, x.buffer, number, 2 * number)
    stream.sync()
    assert [values(y) for y in others] == [[n] * 2 * n + [0] * (8 - 2 * n) for n in (1, 2, 3)]
    assert step.statistics == CaptureStatistics(captures=1, updates=2, replays=0)


def test_another_topology_of_the_work_is_captured_again(step, stream):
    x, y = ints(4, 1), ints(4)
    for times in (1, 3, 1, 3):
        step(stream, y.buffer, x.buffer, 1, 4, times=times)
    stream.sync()
    assert values(y) == [8] * 4
    assert step.statistics == CaptureStatistics(captures=2, updates=0, replays=2)


def test_alternating_buffers_are_replayed_after_two_captures(step, stream):
    x, y = ints(4, 1), ints(4, 1)
    for _ in range(4):
        step(stream, y.buffer, x.buffer, 1, 4)
        step(stream, x.buffer, y.buffer, 1, 4)
    stream.sync()
    assert values(y) == [34] * 4 and values(x) == [55] * 4
    assert step.statistics == CaptureStatistics(captures=2, updates=1, replays=5)


def test_maxsize_limits_the_number_of_executables(stream):
    axpy = kernel("axpy")

    @capture(maxsize=1)
    def work(stream, y, times):
        for _ in range(times):
            launch(stream, ONE, axpy, y, y, 1, 1)

    y = ints(1, 1)
    for times in (1, 2, 1, 2):
        work(stream, y.address, times)
    stream.sync()
    assert values(y) == [2**6]
    assert work.statistics.captures == 4


def test_after_clear_the_next_call_captures_again(step, stream):
    x, y = ints(4, 1), ints(4)
    step(stream, y.buffer, x.buffer, 1, 4)
    step.clear()
    step(stream, y.buffer, x.buffer, 1, 4)
    assert step.statistics == CaptureStatistics(captures=2)


def test_alternating_data_is_replayed_up_to_maxsize_and_patched_beyond(stream):
    axpy = kernel("axpy")

    @capture(data="y", maxsize=2)
    def work(stream, y):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, y, 1, 4)

    memories = [ints(4, 1) for _ in range(4)]
    for _ in range(5):
        for y in memories:
            work(stream, y.buffer)
    stream.sync()
    assert [values(y) for y in memories] == [[2**5] * 4] * 4
    counts = work.statistics
    assert counts == CaptureStatistics(captures=2, updates=1, replays=5, patches=12)


def test_a_number_that_does_not_fit_is_refused_as_by_a_launch(data_step, stream):
    x, y = ints(4, 1), ints(4)
    for a in (1, 2, 3):
        data_step(stream, y.buffer, x.buffer, a, 4)
    with pytest.raises(OverflowError):
        data_step(stream, y.buffer, x.buffer, 1 << 40, 4)
    data_step(stream, y.buffer, x.buffer, 4, 4)
    stream.sync()
    assert values(y) == [10] * 4 and data_step.statistics.patches == 2


@pytest.mark.requires(software=True)
def test_a_patch_that_the_driver_refuses_is_captured(data_step, stream):
    import cuda.emulator

    x, memories = ints(4, 1), [ints(4) for _ in range(5)]
    for y in memories[:3]:
        data_step(stream, y.buffer, x.buffer, 1, 4)
    with cuda.emulator.fail("cuGraphExecKernelNodeSetParams", "CUDA_ERROR_NOT_SUPPORTED"):
        data_step(stream, memories[3].buffer, x.buffer, 1, 4)
    data_step(stream, memories[4].buffer, x.buffer, 1, 4)
    stream.sync()
    assert [values(y) for y in memories] == [[1] * 4] * 5
    assert data_step.statistics.patches == 1


def test_threads_share_a_captured_function(step, device):
    x, results = ints(4, 1), [ints(4) for _ in range(COUNT)]

    def work(index):
        device.set_current()
        stream = device.create_stream()
        for number in range(12):
            step(stream, results[index].buffer, x.buffer, number % 3, 4)
        stream.sync()

    assert run_in_threads(work) == []
    assert [values(y) for y in results] == [[12] * 4] * COUNT
    counts = step.statistics
    assert counts.captures + counts.updates + counts.replays + counts.patches == 12 * COUNT
