# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of a captured function: which one a call replays or updates, and how many are kept."""

import os
import signal
import threading

import pytest

from cuda.core import Buffer, LaunchConfig, launch
from cuda.core.graph import CaptureStatistics, capture
from support.captured_work import OnDevice, ints, kernel, values
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


def test_more_arguments_than_executables_update_the_oldest(stream):
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
    assert counts.captures == 2 and counts.captures + counts.updates + counts.replays == 20


def test_data_that_changes_runs_the_function(data_step, stream):
    x, others = ints(4, 1), [ints(4) for _ in range(6)]
    for number, y in enumerate(others, 1):
        data_step(stream, y.buffer, x.buffer, number, 4)
    stream.sync()
    assert [values(y) for y in others] == [[n] * 4 for n in range(1, 7)]
    assert data_step.statistics == CaptureStatistics(captures=1, updates=5)


OTHER_USES = {
    "computes with it": lambda stream, kernel, y, a: launch(stream, ONE, kernel, y, y, a // 2, 1),
    "repeats a launch": lambda stream, kernel, y, a: [launch(stream, ONE, kernel, y, y, 1, 1) for _ in range(a)],
    "changes the grid": lambda stream, kernel, y, a: launch(stream, LaunchConfig(grid=a, block=1), kernel, y, y, 1, 1),
    "calls the host": lambda stream, kernel, y, a: stream.callback(int),
}


@pytest.mark.parametrize("way", OTHER_USES)
def test_work_can_use_named_data_in_any_way(stream, way, capsys):
    axpy = kernel("axpy")

    @capture(data="a")
    def work(stream, y, a):
        print(a)
        OTHER_USES[way](stream, axpy, y, a)

    y = ints(1, 1)
    for a in (1, 2, 3, 4):
        work(stream, y.address, a)
    stream.sync()
    assert capsys.readouterr().out.split() == ["1", "2", "3", "4"] and work.statistics.replays == 0


def test_incomparable_calls_leave_other_executables_alone(step, stream):
    x, y = ints(4, 1), ints(4)
    for _ in range(4):
        step(stream, y.buffer, x.buffer, 1, 4)
        step(stream, y.buffer, OnDevice(x), 2, n=4, times=type("Int", (int,), {})(1))
    stream.sync()
    assert values(y) == [4 + 8] * 4
    assert step.statistics == CaptureStatistics(captures=2, updates=4, replays=2)


@pytest.mark.requires(cuda=(12, 4))
def test_number_that_does_not_fit_is_rejected_as_by_a_launch(data_step, stream):
    x, y = ints(4, 1), ints(4)
    for a in (1, 2, 3):
        data_step(stream, y.buffer, x.buffer, a, 4)
    with pytest.raises(OverflowError):
        data_step(stream, y.buffer, x.buffer, 1 << 40, 4)
    data_step(stream, y.buffer, x.buffer, 4, 4)
    stream.sync()
    assert values(y) == [10] * 4


def test_overlapping_copies_are_rejected_as_by_a_copy(stream):
    memory = ints(1024, 1)

    @capture
    def work(stream, x, y):
        x.copy_to(y, stream=stream)

    for x, y in ((0, 512), (1024, 2048), (3072, 512)):
        work(stream, *[Buffer.from_handle(memory.address + place, 300) for place in (x, y)])
    with pytest.raises(ValueError, match="overlap"):
        work(stream, *[Buffer.from_handle(memory.address + place, 300) for place in (256, 512)])


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
    assert counts.captures + counts.updates + counts.replays == 12 * COUNT


def test_fork_during_a_call_does_not_block_the_child(device):
    axpy, y = kernel("axpy"), ints(1)

    @capture(maxsize=1)
    def work(stream, y, a):
        for _ in range(200):
            launch(stream, ONE, axpy, y, y, a, 1)

    is_over = threading.Event()

    def call():
        device.set_current()
        stream, number = device.create_stream(), 0
        while not is_over.is_set():
            number += 1
            work(stream, y.address, number)

    thread = threading.Thread(target=call)
    thread.start()
    try:
        for _ in range(10):
            process = os.fork()
            if process == 0:
                signal.alarm(20)
                work.clear()
                os._exit(0)
            assert os.waitpid(process, 0)[1] == 0
    finally:
        is_over.set()
        thread.join()
