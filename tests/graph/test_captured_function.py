# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captured functions: replayed where nothing changed, updated where parameters did, captured again where more did."""

import copy
import pickle
import threading
import weakref

import numpy as np
import pytest

from cuda.core import GraphMemoryResource, LaunchConfig, launch
from cuda.core.graph import CapturedFunction, CaptureStatistics, GraphBuilder, GraphCompleteOptions, capture
from cuda.core.utils import register_importer
from support.kernels import HostMemory, compiled

SOURCE = """
extern "C" __global__ void axpy(int* y, const int* x, int a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void scale(double* x, double factor) { *x = *x / factor; }
extern "C" __global__ void scale32(float* x, float factor) { *x = *x / factor; }
"""
ONE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def kernel(device):
    return compiled(SOURCE).get_kernel


@pytest.fixture
def step(kernel):
    """A captured function that adds a * x to y `times` times; `step.runs` counts the runs of the Python function."""
    axpy = kernel("axpy")

    def work(stream, y, x, a, n, times=1):
        captured.runs += 1
        for _ in range(times):
            launch(stream, LaunchConfig(grid=(n + 3) // 4, block=4), axpy, y, x, a, n)

    captured = capture(work)
    captured.runs = 0
    return captured


def ints(count, value=0):
    memory = HostMemory(4 * count)
    np.frombuffer((np.ctypeslib.ctypes.c_char * memory.size).from_address(memory.address), np.int32)[:] = value
    return memory


def values(memory):
    return memory.array(np.int32).tolist()


def test_the_same_arguments_are_replayed_with_new_data(step, stream):
    x, y = ints(8, 1), ints(8)
    for _ in range(5):
        step(stream, y.buffer, x.buffer, 2, 8)
    stream.sync()
    assert values(y) == [10] * 8
    x.buffer.fill(b"\3\0\0\0", stream=stream)
    step(stream, y.buffer, x.buffer, 2, 8)
    stream.sync()
    assert values(y) == [16] * 8
    assert step.runs == 1
    assert step.statistics == CaptureStatistics(captures=1, updates=0, replays=5)


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


def test_maxsize_limits_the_number_of_executables(kernel, stream):
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


def test_floats_are_compared_by_their_bits(kernel, stream):
    scale = kernel("scale")

    @capture
    def work(stream, x, factor):
        launch(stream, ONE, scale, x, factor)

    x = HostMemory(8)
    found = []
    for factor in (0.0, -0.0, float("nan"), float("nan")):
        np.frombuffer((np.ctypeslib.ctypes.c_char * 8).from_address(x.address), np.float64)[:] = 1
        work(stream, x.address, factor)
        stream.sync()
        found.append(float(x.array(np.float64)[0]))
    assert found[:2] == [np.inf, -np.inf] and np.isnan(found[2])
    assert work.statistics == CaptureStatistics(captures=1, updates=2, replays=1)


class OnDevice:
    """An array of another library."""

    def __init__(self, memory):
        self.__cuda_array_interface__ = {
            "data": (memory.address, False), "shape": (4,), "strides": None, "typestr": "<i4", "version": 3,
        }  # fmt: skip


class Opaque:
    def __init__(self, number):
        self.number = number


COMPARED = {
    "numpy": lambda memory: np.int32(7),
    "tuple": lambda memory: (1, [2.0, None], {"a": 1j}),
    "config": lambda memory: LaunchConfig(grid=2, block=4),
    "array": OnDevice,
}


@pytest.mark.parametrize("name", COMPARED)
def test_arguments_are_compared_by_value(stream, name):
    runs, memory = [], ints(4)
    work = capture(lambda stream, argument: runs.append(argument))
    for _ in range(3):
        work(stream, COMPARED[name](memory))
    assert len(runs) == 1 and work.statistics.replays == 2


class Older(OnDevice):
    """An array of a library with version 2 of the interface."""

    def __init__(self, memory):
        super().__init__(memory)
        self.newer = OnDevice(memory)
        self.__cuda_array_interface__["version"] = 2


def test_arrays_with_an_older_interface_are_compared_if_an_importer_reads_them(stream):
    memory = ints(4)
    work = capture(lambda stream, argument: None)
    for _ in range(3):
        work(stream, Older(memory))
    assert work.statistics.replays == 0
    register_importer(Older, lambda older, stream_ptr: older.newer)
    try:
        for _ in range(3):
            work(stream, Older(memory))
        assert work.statistics.replays == 2
    finally:
        register_importer(Older, None)


def test_arguments_that_cannot_be_compared_are_captured_each_time(kernel, stream):
    axpy = kernel("axpy")

    @capture
    def work(stream, y, box):
        launch(stream, ONE, axpy, y, y, box.number, 1)

    y, box = ints(1, 1), Opaque(1)
    for number in (1, 2, 3):
        box.number = number
        work(stream, y.address, box)
    stream.sync()
    assert values(y) == [24]
    assert work.statistics == CaptureStatistics(captures=1, updates=2, replays=0)


def test_kernels_are_compared_by_identity_and_kept(stream, device):
    work = capture(lambda stream, kernel, y: launch(stream, ONE, kernel, y, y, 1, 1))
    y = ints(1, 1)
    axpy = compiled(SOURCE).get_kernel("axpy")
    work(stream, axpy, y.address)
    work(stream, axpy, y.address)
    other = compiled(SOURCE + "//").get_kernel("axpy")
    work(stream, other, y.address)
    stream.sync()
    assert values(y) == [8]
    assert work.statistics.replays == 1


def test_a_captured_function_called_with_a_builder_adds_to_its_capture(step, stream, device):
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


def test_a_captured_function_can_fork_and_add_conditional_nodes(step, stream):
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


def test_a_captured_function_can_allocate_graph_memory(kernel, stream, device):
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


def test_an_exception_of_the_function_reaches_the_caller(step, stream):
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


def test_a_captured_function_must_return_none(stream):
    with pytest.raises(TypeError, match="must return None, not int"):
        capture(lambda stream: 1)(stream)


@pytest.mark.parametrize("other", [None, 0, "stream"])
def test_the_first_argument_must_be_a_stream(step, other):
    with pytest.raises(TypeError, match="stream must be a Stream or a GraphBuilder"):
        step(other)


def test_a_closed_stream_captures_nothing(step, device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        step(stream, 0, 0, 1, 1)
    assert step.runs == 0


def test_the_captured_function_looks_like_the_function():
    @capture
    def named(stream, x):
        """What it does."""

    assert (named.__name__, named.__doc__, named.__wrapped__.__name__) == ("named", "What it does.", "named")
    assert isinstance(named, CapturedFunction) and "named" in repr(named)


def test_after_clear_the_next_call_captures_again(step, stream):
    x, y = ints(4, 1), ints(4)
    step(stream, y.buffer, x.buffer, 1, 4)
    step.clear()
    step(stream, y.buffer, x.buffer, 1, 4)
    assert step.statistics == CaptureStatistics(captures=2)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [((1,), {}, TypeError), ((len,), {"maxsize": 0}, ValueError), ((), {"maxsize": "8"}, TypeError)],
)
def test_invalid_arguments_of_capture_are_refused(arguments, options, error):
    with pytest.raises(error, match="function must be callable|maxsize must be"):
        capture(*arguments, **options)


def test_an_unknown_mode_is_refused_at_the_call(stream):
    with pytest.raises(ValueError, match="mode must be"):
        capture(lambda stream: None, mode="other")(stream)


def test_threads_share_a_captured_function(step, device):
    x, results = ints(4, 1), [ints(4) for _ in range(4)]

    def work(y):
        device.set_current()
        stream = device.create_stream()
        for number in range(12):
            step(stream, y.buffer, x.buffer, number % 3, 4)
        stream.sync()

    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [values(y) for y in results] == [[12] * 4] * 4
    counts = step.statistics
    assert counts.captures + counts.updates + counts.replays + counts.patches == 48


# --- Data arguments: single nodes are patched, and the function does not run -----------------------


@pytest.fixture
def data_step(kernel):
    """A captured function that computes y += a * x, with the pointers and the factor as data."""
    axpy = kernel("axpy")
    runs = []

    @capture(data=("y", "x", "a"))
    def work(stream, y, x, a, n):
        runs.append(1)
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, x, a, n)

    work.runs = runs
    return work


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


def test_alternating_data_is_replayed_up_to_maxsize_and_patched_beyond(kernel, stream):
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


def test_slices_copies_and_fills_of_data_are_patched(kernel, stream, device):
    axpy = kernel("axpy")

    @capture(data=("whole", "target"))
    def work(stream, whole, target):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, whole[16:], whole, 1, 4)
        whole.copy_to(target, stream=stream)
        whole[:4].fill(b"\7\0\0\0", stream=stream)

    pairs = [(ints(8, number), ints(8)) for number in range(1, 6)]
    for whole, target in pairs:
        work(stream, whole.buffer, target.buffer)
    stream.sync()
    assert [values(target) for _, target in pairs] == [[n] * 4 + [2 * n] * 4 for n in range(1, 6)]
    assert [values(whole)[:2] for whole, _ in pairs] == [[7, n] for n in range(1, 6)]
    assert work.statistics.patches == 3


FACTORS = {
    "float": [1.5, 2.5, -0.0, float("inf"), 1e-300],
    "float32": [np.float32(x) for x in (1.5, 2.5, -3, 4)],
    "array": [0.5, 0.25, 0.125, 2.0],
}


@pytest.mark.parametrize("name", FACTORS)
def test_numbers_and_arrays_can_be_data(kernel, stream, name):
    scale = kernel("scale32" if name == "float32" else "scale")

    @capture(data=("x", "factor"))
    def work(stream, x, factor):
        launch(stream, ONE, scale, x, factor)

    found, expected = [], []
    dtype = np.float32 if name == "float32" else np.float64
    for factor in FACTORS[name]:
        x = HostMemory(8)
        np.frombuffer((np.ctypeslib.ctypes.c_char * 8).from_address(x.address), dtype)[0] = 1
        work(stream, OnDevice(x) if name == "array" else x.address, factor)
        stream.sync()
        found.append(x.array(dtype)[0])
        expected.append(scaled(factor, dtype))
    assert found == expected
    assert work.statistics.patches == len(FACTORS[name]) - 2


def scaled(factor, dtype):
    with np.errstate(divide="ignore"):
        return dtype(1) / dtype(factor)


OTHER_USES = {
    "computes with it": lambda stream, kernel, y, a: launch(stream, ONE, kernel, y, y, a // 2, 1),
    "repeats a launch": lambda stream, kernel, y, a: [launch(stream, ONE, kernel, y, y, 1, 1) for _ in range(a)],
    "changes the grid": lambda stream, kernel, y, a: launch(stream, LaunchConfig(grid=a, block=1), kernel, y, y, 1, 1),
    "calls the host": lambda stream, kernel, y, a: stream.callback(int),
}


@pytest.mark.parametrize("way", OTHER_USES)
def test_work_that_uses_data_in_other_ways_is_captured_each_time(kernel, stream, way):
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


def test_words_that_fit_two_equal_arguments_are_not_patched_yet(kernel, stream):
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


def test_memory_arguments_are_data_by_default(kernel, stream):
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


def test_memory_of_another_size_or_class_is_captured_again(kernel, stream):
    axpy, runs = kernel("axpy"), []

    @capture
    def work(stream, y):
        runs.append(1)
        n = y.size // 4 if hasattr(y, "size") else 4
        launch(stream, LaunchConfig(grid=1, block=8), axpy, y, y, 1, n)

    memories = [ints(count, 1) for count in (4, 4, 4, 8, 8, 8)]
    for y in memories:
        work(stream, y.buffer)
    for y in memories[:3]:
        work(stream, OnDevice(y))
    stream.sync()
    assert [values(y) for y in memories] == [[4] * 4] * 3 + [[2] * 8] * 3
    assert len(runs) == 6 and work.statistics.patches == 3


def test_memory_whose_address_selects_other_work_is_captured_each_time(kernel, stream):
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


def test_a_configuration_that_was_changed_in_place_is_updated(kernel, stream):
    axpy, config = kernel("axpy"), LaunchConfig(grid=1, block=1)
    work = capture(lambda stream, config, y: launch(stream, config, axpy, y, y, 1, 4))
    y = ints(4, 1)
    for block in (1, 1, 2, 4):
        config.block = block
        work(stream, config, y.buffer)
    stream.sync()
    assert values(y) == [16, 4, 2, 2] and work.statistics == CaptureStatistics(1, 2, 1, 0)


class Model:
    def __init__(self, kernel, factor):
        self.kernel, self.factor, self.runs = kernel, factor, 0

    @capture
    def step(self, stream, y, n):
        """Add to y."""
        self.runs += 1
        launch(stream, LaunchConfig(grid=1, block=n), self.kernel, y, y, self.factor, n)


def test_methods_have_executables_for_each_instance(kernel, stream):
    models = [Model(kernel("axpy"), factor) for factor in (1, 2)]
    memories = [ints(4, 1) for _ in range(5)]
    for y in memories:
        for model in models:
            model.step(stream, y.buffer, n=4)
    stream.sync()
    assert [values(y) for y in memories] == [[6] * 4] * 5
    assert [model.runs for model in models] == [2, 2]
    assert models[0].step.statistics == CaptureStatistics(captures=1, updates=1, replays=0, patches=3)
    assert isinstance(Model.step, CapturedFunction) and Model.step.__doc__ == "Add to y."
    again = copy.copy(models[0])
    again.factor = 10
    again.step(stream, memories[0].buffer, n=4)
    stream.sync()
    assert values(memories[0]) == [66] * 4


def test_captures_do_not_keep_their_instance_alive(kernel, stream):
    model = Model(kernel("axpy"), 1)
    model.step(stream, ints(4).buffer, n=4)
    stream.sync()
    gone = weakref.ref(model)
    del model
    assert gone() is None
    slots = type("Slots", (), {"__slots__": (), "step": Model.step})()
    with pytest.raises(TypeError, match="weak reference"):
        slots.step  # noqa: B018


def test_an_uninitialized_captured_function_is_refused():
    empty = CapturedFunction.__new__(CapturedFunction)
    for use in (lambda: empty(1), lambda: empty.statistics, empty.clear, lambda: empty.__get__(1, int)):
        with pytest.raises(RuntimeError, match="not initialised"):
            use()
    made = capture(len)
    with pytest.raises(RuntimeError, match="initialised already"):
        made.__init__(len)
    with pytest.raises(TypeError, match="CapturedFunction"):
        pickle.dumps(made)


@pytest.mark.parametrize("call", [lambda work: work(), lambda work: work(stream=1)])
def test_the_stream_must_be_passed_by_position(step, call):
    with pytest.raises(TypeError, match="needs a stream or a builder"):
        call(step)
    with pytest.raises(TypeError):
        step.__call__()


def test_more_data_than_the_fast_comparison_takes_is_patched(kernel, stream):
    axpy, runs = kernel("axpy"), []

    @capture(data="many")
    def work(stream, y, many):
        runs.append(1)
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, y, many[-1], 4)

    y = ints(4, 1)
    for number in (1, 2, 3, 3):
        work(stream, y.address, list(range(100)) + [number])
    stream.sync()
    assert values(y) == [2 * 3 * 4 * 4] * 4
    assert len(runs) == 2 and work.statistics == CaptureStatistics(captures=1, updates=1, replays=1, patches=1)


def test_an_argument_can_call_the_captured_function(kernel, stream):
    axpy = kernel("axpy")
    y = ints(4, 1)

    class Nested(OnDevice):
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


def test_numbers_of_64_bits_can_be_data(kernel, stream):
    fill = compiled('extern "C" __global__ void fill(unsigned long long* x, unsigned long long v) { *x = v; }')
    x, found = HostMemory(8), []
    numbers = (1, 2, 3, 2**63 - 1, 2**63, 2**64 - 1, -1)
    work = capture(lambda stream, x, v: launch(stream, ONE, fill.get_kernel("fill"), x, v), data="v")
    for number in numbers:
        work(stream, x.address, number)
        stream.sync()
        found.append(int(x.array(np.uint64)[0]))
    assert found == [number % 2**64 for number in numbers] and work.statistics.patches == 5
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError):
            work(stream, x.address, number)


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [("z", ValueError, "no parameter 'z'"), ("stream", ValueError, "parameters after the stream"),
     ("args", ValueError, "no parameter 'args'"), ((1,), TypeError, "names of parameters, not int"),
     (7, TypeError, "data must be names of parameters, not int")],
)  # fmt: skip
def test_data_must_name_parameters(data, error, text):
    def work(stream, x, *args):
        pass

    with pytest.raises(error, match=text):
        capture(work, data=data)


@pytest.mark.parametrize("data", [(), "x"])
def test_arguments_nested_too_deep_or_in_a_cycle_are_captured_each_time(stream, data):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    endless = []
    endless.append(endless)
    runs = []
    work = capture(lambda stream, x: runs.append(1), data=data)
    for x in (deep, endless, [[1, [2.0]], (None,)], [[1, [2.0]], (None,)], {"a": deep}):
        work(stream, x)
    assert len(runs) == 4
    while deep:  # its nested deallocation would overflow the stack
        deep = deep.pop()
