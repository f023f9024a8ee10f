# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Replay plans: the words of nodes that come from data arguments, and work that no plan explains."""

import pytest

from cuda.core import LaunchConfig, launch
from cuda.core.graph import CaptureStatistics, capture
from support.captured_work import OnDevice, ints, kernel, values
from support.graph_work import ONE


def test_data_that_changes_is_patched(data_step, stream):
    x, others = ints(4, 1), [ints(4) for _ in range(6)]
    for number, y in enumerate(others, 1):
        data_step(stream, y.buffer, x.buffer, number, 4)
    stream.sync()
    assert [values(y) for y in others] == [[n] * 4 for n in range(1, 7)]
    assert data_step.statistics == CaptureStatistics(captures=1, updates=1, replays=0, patches=4)
    assert len(data_step.runs) == 2


def test_the_words_of_a_data_argument_are_learned_when_it_first_changes(data_step, stream):
    y, sources = ints(4), [ints(4, number) for number in (1, 10, 100, 1000)]
    data_step(stream, y.buffer, sources[0].buffer, 1, 4)
    data_step(stream, y.buffer, sources[0].buffer, 2, 4)
    data_step(stream, y.buffer, sources[0].buffer, 3, 4)
    data_step(stream, y.buffer, sources[1].buffer, 3, 4)
    data_step(stream, y.buffer, sources[2].buffer, 5, 4)
    data_step(stream, y.buffer, sources[3].buffer, 6, 4)
    stream.sync()
    assert values(y) == [1 + 2 + 3 + 30 + 500 + 6000] * 4
    assert data_step.statistics == CaptureStatistics(captures=1, updates=2, replays=0, patches=3)


def test_a_change_of_another_argument_captures_again(data_step, stream):
    x, y = ints(4, 1), ints(4)
    for a in (1, 2, 3):
        data_step(stream, y.buffer, x.buffer, a, 4)
    for a in (1, 2, 3):
        data_step(stream, y.buffer, x.buffer, a, 2)
    stream.sync()
    assert values(y) == [12, 12, 6, 6]
    assert data_step.statistics == CaptureStatistics(captures=1, updates=3, replays=0, patches=2)


OTHER_USES = {
    "computes with it": lambda stream, kernel, y, a: launch(stream, ONE, kernel, y, y, a // 2, 1),
    "repeats a launch": lambda stream, kernel, y, a: [launch(stream, ONE, kernel, y, y, 1, 1) for _ in range(a)],
    "changes the grid": lambda stream, kernel, y, a: launch(stream, LaunchConfig(grid=a, block=1), kernel, y, y, 1, 1),
    "calls the host": lambda stream, kernel, y, a: stream.callback(int),
}


@pytest.mark.parametrize("way", OTHER_USES)
def test_work_that_uses_data_in_other_ways_is_captured_each_time(stream, way):
    runs, axpy = [], kernel("axpy")

    @capture(data="a")
    def work(stream, y, a):
        runs.append(a)
        OTHER_USES[way](stream, axpy, y, a)

    y = ints(1, 1)
    for a in (1, 2, 3, 4):
        work(stream, y.address, a)
    stream.sync()
    assert runs == [1, 2, 3, 4] and work.statistics.patches == 0


def test_words_that_fit_two_equal_arguments_are_not_patched_yet(stream):
    axpy = kernel("axpy")

    @capture(data=("y", "a", "n"))
    def work(stream, y, a, n):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, y, a, n)

    found = []
    for a, n in ((1, 1), (2, 2), (3, 1), (3, 4), (2, 3)):
        y = ints(4, 1)
        work(stream, y.buffer, a, n)
        stream.sync()
        found.append(values(y))
    assert found == [[1 + a] * n + [1] * (4 - n) for a, n in ((1, 1), (2, 2), (3, 1), (3, 4), (2, 3))]
    assert work.statistics.patches == 1


def test_memory_arguments_are_data_by_default(stream):
    axpy, runs = kernel("axpy"), []

    @capture
    def work(stream, pair, *, x, a):
        runs.append(a)
        launch(stream, LaunchConfig(grid=1, block=4), axpy, pair[0], x, a, 4)

    x, memories = ints(4, 1), [ints(4) for _ in range(6)]
    for number, y in enumerate(memories):
        work(stream, (y.buffer, "any"), x=OnDevice(x), a=1 + number // 3)
    stream.sync()
    assert [values(y) for y in memories] == [[1] * 4] * 3 + [[2] * 4] * 3
    # A number is no data unless it is named, because the work may depend on it in other ways.
    assert runs == [1, 1, 2, 2] and work.statistics.patches == 2


def test_memory_whose_address_selects_other_work_is_captured_each_time(stream):
    axpy = kernel("axpy")

    def work(stream, y):
        launch(stream, ONE, axpy, y, y, factors[y.handle], 1)

    memories = [ints(1, 1) for _ in range(4)]
    factors = {memory.address: number for number, memory in enumerate(memories)}
    for data in ((), None):
        captured = capture(work, data=data)
        for memory in memories:
            captured(stream, memory.buffer)
        stream.sync()
        # With data=(), memory is no data. By default it is, but no plan explains how the captures differ.
        assert captured.statistics.patches == 0
    assert [values(memory) for memory in memories] == [[1], [4], [9], [16]]
