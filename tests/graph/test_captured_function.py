# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captured functions: replayed where nothing changed, updated where parameters did, captured again where more did."""

import copy
import functools
import pickle
import weakref

import numpy as np
import pytest

from cuda.core import GraphMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.graph import CapturedFunction, CaptureStatistics, GraphBuilder, GraphCompleteOptions, capture
from support.captured_work import OnDevice, ints, kernel, values
from support.graph_work import ONE


def test_same_arguments_are_replayed_with_new_data(step, stream):
    x, y = ints(8, 1), ints(8)
    for _ in range(5):
        step(stream, y.buffer, x.buffer, 2, 8)
    stream.sync()
    assert values(y) == [10] * 8
    x.buffer.fill(b"\3\0\0\0", stream=stream)
    step(stream, y.buffer, x.buffer, 2, 8)
    stream.sync()
    assert values(y) == [16] * 8
    assert step.statistics == CaptureStatistics(captures=1, updates=0, replays=5)


def test_memory_closed_during_a_call_lasts_until_the_work_ends(stream):
    target = ints(4)

    @capture
    def take(stream, target, source):
        target.copy_from(source, stream=stream)
        source.close()

    for number in (3, 5):  # captured, then updated
        source = LegacyPinnedMemoryResource().allocate(16)
        np.asarray(source.view((4,), np.int32))[:] = number
        take(stream, target.buffer, source=source)
        assert source.is_closed
        stream.sync()
        assert values(target) == [number] * 4


def test_captured_function_called_with_a_builder_adds_to_it(step, stream, device):
    x, y = ints(4, 1), ints(4)
    with device.create_graph_builder().begin_building() as builder:
        step(builder, y.buffer, x.buffer, 3, 4)
        step(builder.stream, y.buffer, x.buffer, 2, 4)
        graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert values(y) == [5] * 4
    assert step.statistics == CaptureStatistics()


def test_captured_functions_call_each_other(step, stream):
    x, y = ints(4, 1), ints(4)

    @capture
    def outer(stream, y, x):
        step(stream, y, x, 1, 4)
        step(stream, y, x, 2, 4)

    for _ in range(2):
        outer(stream, y.buffer, x.buffer)
    stream.sync()
    assert values(y) == [6] * 4
    assert outer.statistics.replays == 1 and step.statistics == CaptureStatistics()


@pytest.mark.requires(cuda=(12, 3))
def test_captured_function_can_fork_and_add_conditional_nodes(step, stream):
    x, y, z = ints(4, 1), ints(4), ints(4)

    @capture(mode="thread_local")
    def both(stream, x, y, z):
        assert isinstance(stream, GraphBuilder)
        first, second = stream.split(2)
        step(first, y, x, 1, 4)
        step(second, z, x, 2, 4)
        GraphBuilder.join(first, second)
        body = stream.if_then(stream.create_condition(1)).begin_building()
        step(body, y, z, 10, 4)
        body.end_building()

    for _ in range(2):
        both(stream, x.buffer, y.buffer, z.buffer)
    stream.sync()
    assert values(y) == [1 + 20 + 1 + 40] * 4


def test_captured_function_can_allocate_graph_memory(stream, device):
    axpy = kernel("axpy")

    @capture(options=GraphCompleteOptions(auto_free_on_launch=True))
    def work(stream, y):
        scratch = GraphMemoryResource(device).allocate(4, stream=stream)
        scratch.fill(0, stream=stream)
        launch(stream, ONE, axpy, scratch, y, 5, 1)
        launch(stream, ONE, axpy, y, scratch, 1, 1)
        scratch.close()

    y = ints(1, 1)
    for _ in range(3):
        work(stream, y.address)
    stream.sync()
    assert values(y) == [216]


def test_exception_of_the_function_reaches_the_caller(step, stream):
    x, y = ints(4, 1), ints(4)
    step(stream, y.buffer, x.buffer, 1, 4)
    with pytest.raises(TypeError):
        step(stream, y.buffer, x.buffer, "1", 4)
    closed = ints(4).buffer
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        step(stream, closed, x.buffer, 1, 4)
    step(stream, y.buffer, x.buffer, 1, 4)
    stream.sync()
    assert values(y) == [2] * 4
    assert step.statistics == CaptureStatistics(captures=1, updates=0, replays=1)


def test_captured_function_must_return_none(stream):
    with pytest.raises(TypeError, match="must return None, not int"):
        capture(lambda stream: 1)(stream)


@pytest.mark.parametrize("other", [None, 0, "stream"])
def test_first_argument_must_be_a_stream(step, other):
    with pytest.raises(TypeError, match="stream must be a Stream or a GraphBuilder"):
        step(other)


def test_closed_stream_captures_nothing(step, device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        step(stream, 0, 0, 1, 1)
    assert step.statistics == CaptureStatistics()


def test_captured_function_looks_like_the_function():
    @capture
    def named(stream, x):
        """What it does."""

    assert (named.__name__, named.__doc__, named.__wrapped__.__name__) == ("named", "What it does.", "named")
    assert isinstance(named, CapturedFunction) and "named" in repr(named)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [((1,), {}, TypeError), ((len,), {"maxsize": 0}, ValueError), ((), {"maxsize": "8"}, TypeError)],
)
def test_invalid_arguments_of_capture_are_rejected(arguments, options, error):
    with pytest.raises(error, match="function must be callable|maxsize must be"):
        capture(*arguments, **options)


def test_unknown_mode_is_rejected_at_the_call(stream):
    with pytest.raises(ValueError, match="mode must be"):
        capture(lambda stream: None, mode="other")(stream)


class Model:
    def __init__(self, kernel, factor):
        self.kernel, self.factor = kernel, factor

    @capture
    def step(self, stream, y, n):
        """Add to y."""
        launch(stream, LaunchConfig(grid=1, block=n), self.kernel, y, y, self.factor, n)


def test_methods_have_executables_for_each_instance(stream):
    models = [Model(kernel("axpy"), factor) for factor in (1, 2)]
    memories = [ints(4, 1) for _ in range(5)]
    for y in memories:
        for model in models:
            model.step(stream, y.buffer, n=4)
    stream.sync()
    assert [values(y) for y in memories] == [[6] * 4] * 5
    assert models[0].step.statistics == CaptureStatistics(captures=1, updates=4, replays=0)
    assert isinstance(Model.step, CapturedFunction) and Model.step.__doc__ == "Add to y."
    again = copy.copy(models[0])
    again.factor = 10
    again.step(stream, memories[0].buffer, n=4)
    stream.sync()
    assert values(memories[0]) == [66] * 4


def test_captures_do_not_keep_their_instance_alive(stream):
    model = Model(kernel("axpy"), 1)
    model.step(stream, ints(4).buffer, n=4)
    stream.sync()
    gone = weakref.ref(model)
    del model
    assert gone() is None


class Slots:
    __slots__ = ()

    @staticmethod
    @capture(data="y")
    def static(stream, y):
        launch(stream, ONE, kernel("axpy"), y, y, 1, 1)

    @classmethod
    @capture
    def of_class(cls, stream, y):
        assert cls is Slots
        launch(stream, ONE, kernel("axpy"), y, y, 1, 1)


def test_instances_without_weakrefs_are_captured_each_time(stream):
    y = ints(1, 1)

    class Adder:
        __slots__ = ("factor",)

        @capture(data="y")
        def step(self, stream, y):
            launch(stream, ONE, kernel("axpy"), y, y, self.factor, 1)

    for factor in (1, 2, 3):
        adder = Adder()
        adder.factor = factor
        adder.step(stream, y.address)
        adder.step(stream, y.address)
    stream.sync()
    assert values(y) == [(2 * 3 * 4) ** 2] and Adder.step.statistics == CaptureStatistics(captures=1, updates=5)


def test_static_and_class_methods_are_bound_as_functions_are(stream):
    y = ints(1, 1)
    model = Model(kernel("axpy"), 1)
    Model.step(model, stream, y.address, 1)
    for owner in (Slots, Slots()):
        owner.static(stream, y.address)
        owner.of_class(stream, y.address)
    stream.sync()
    assert values(y) == [2**5] and model.step.statistics.captures == 1
    assert Slots.static.statistics.replays == Slots.of_class.statistics.replays == 1
    function = vars(Slots)["of_class"].__func__
    assert function.statistics == Slots.of_class.statistics
    function.clear()
    Slots.of_class(stream, y.address)
    stream.sync()
    assert function.statistics.captures == 2


class Methods:
    """The kinds of methods that can be captured, with data."""

    factor = 1

    @capture(data=("y", "a"))
    def plain(self, stream, y, a):
        add(stream, y, a * self.factor)

    @classmethod
    @capture(data="y")
    def outer_class(cls, stream, y, a):
        add(stream, y, a * cls.factor)

    @capture(data="y")
    @classmethod
    def inner_class(cls, stream, y, a):
        add(stream, y, a * cls.factor)

    @staticmethod
    @capture(data="y")
    def outer_static(stream, y, a):
        add(stream, y, a)

    @capture(data="y")
    @staticmethod
    def inner_static(stream, y, a):
        add(stream, y, a)


def add(stream, y, a):
    launch(stream, ONE, kernel("axpy"), y, y, a, 1)


@pytest.mark.parametrize("name", ["plain", "outer_class", "inner_class", "outer_static", "inner_static"])
def test_methods_of_all_kinds_follow_their_data(stream, name):
    first, second, methods = ints(1, 1), ints(1, 1), Methods()
    calls = [getattr(methods, name)]
    calls.append(functools.partial(Methods.plain, methods) if name == "plain" else getattr(Methods, name))
    expected = 1
    for call in calls:
        for a in (1, 1, 2, 2, 1, 3):
            for y in (first, second):
                call(stream, y.address, a)
            expected *= 1 + a
    stream.sync()
    assert values(first) == values(second) == [expected]
    assert calls[0].statistics.replays > 0


def test_non_error_exception_leaves_nothing_to_replay(stream):
    axpy, y, stops = kernel("axpy"), ints(1, 1), [KeyboardInterrupt, SystemExit]

    @capture
    def work(stream, y):
        launch(stream, ONE, axpy, y, y, 1, 1)
        if stops:
            raise stops.pop()

    for error in (SystemExit, KeyboardInterrupt):
        with pytest.raises(error):
            work(stream, y.address)
    for _ in range(2):
        work(stream, y.address)
    stream.sync()
    assert values(y) == [4] and work.statistics == CaptureStatistics(captures=1, replays=1)


def test_function_that_calls_itself_is_captured_as_a_whole(stream):
    axpy, y = kernel("axpy"), ints(1, 1)

    @capture
    def work(stream, y, depth):
        launch(stream, ONE, axpy, y, y, 1, 1)
        if depth:
            work(stream, y, depth - 1)

    for depth in (3, 3, 2, 0, 3):
        work(stream, y.address, depth)
    stream.sync()
    assert values(y) == [2**16] and work.statistics.replays == 2


def test_uninitialized_captured_function_is_rejected():
    empty = CapturedFunction.__new__(CapturedFunction)
    for use in (lambda: empty(1), lambda: empty.statistics, empty.clear, lambda: empty.__get__(1, int)):
        with pytest.raises(RuntimeError, match="not initialized"):
            use()
    made = capture(len)
    with pytest.raises(RuntimeError, match="already initialized"):
        made.__init__(len)
    with pytest.raises(TypeError, match="CapturedFunction"):
        pickle.dumps(made)


@pytest.mark.parametrize("call", [lambda work: work(), lambda work: work(stream=1)])
def test_stream_must_be_passed_by_position(step, call):
    with pytest.raises(TypeError, match="needs a stream or a builder"):
        call(step)
    with pytest.raises(TypeError):
        step.__call__()


def test_argument_can_call_the_captured_function(stream):
    axpy = kernel("axpy")
    y = ints(4, 1)

    class Nested(OnDevice):
        __slots__ = ("depth",)
        __module__ = "cupy"

        @property
        def __cuda_array_interface__(self):
            if self.depth:
                self.depth -= 1
                work(stream, ints_on_device)
            return ints_on_device.__cuda_array_interface__

        def __init__(self):
            self.depth = 3

    ints_on_device = OnDevice(y)
    work = capture(lambda stream, y: launch(stream, LaunchConfig(grid=1, block=4), axpy, y, y, 1, 4))
    work(stream, Nested())
    work(stream, Nested())
    stream.sync()
    assert values(y)[0] in (2**n for n in range(4, 9)) and len(set(values(y))) == 1
