# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Small programs with graphs, as users write them who know the interface but not its implementation."""

import numpy as np
import pytest

from cuda.core import (
    Device,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import (
    Graph,
    GraphBuilder,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    capture,
)
from cuda.core.typing import GraphMemoryType

CODE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

__global__ void add_one(int *a) { atomicAdd(a, 1); }
template <typename T> __global__ void axpy(T alpha, const T *x, T *y, size_t n)
{ size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) y[i] += alpha * x[i]; }
template <typename T> __global__ void fill(T *x, T value, size_t n)
{ size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) x[i] = value; }
__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value)
{ cudaGraphSetConditional(handle, value); }
__global__ void loop_kernel(cudaGraphConditionalHandle handle)
{ static int count = 3; cudaGraphSetConditional(handle, --count ? 1 : 0); if (count == 0) count = 3; }
__global__ void look_up(int *state, const int *table, const int *tokens, int position)
{ *state = table[tokens[position]]; }
__global__ void choose_next(int *tokens, const int *state, int position) { tokens[position + 1] = *state; }
"""
NAMES = ("add_one", "axpy<float>", "fill<float>", "set_condition", "loop_kernel", "look_up", "choose_next")


@pytest.fixture(scope="module")
def mod():
    device = Device()
    device.set_current()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    return Program(CODE, code_type="c++", options=options).compile("cubin", name_expressions=NAMES)


@pytest.fixture
def numbers(device):
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(64)
    values = np.from_dlpack(buffer).view(np.int32)
    values[:] = 0
    yield values
    stream.sync()
    buffer.close()


def test_ten_launches_in_one_graph(device, mod, numbers):
    gb = device.create_graph_builder()
    gb.begin_building()
    add_one = mod.get_kernel("add_one")
    for _ in range(10):
        launch(gb, LaunchConfig(grid=1, block=1), add_one, numbers.ctypes.data)
    graph = gb.end_building().complete()
    stream = device.create_stream()
    graph.upload(stream)
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 10


def test_capture_with_nested_branches(device, mod, numbers):
    gb = Device().create_graph_builder().begin_building()
    add_one = mod.get_kernel("add_one")
    config = LaunchConfig(grid=1, block=1)
    launch(gb, config, add_one, numbers.ctypes.data)
    left, right = gb.split(2)
    launch(left, config, add_one, numbers.ctypes.data)
    right0, right1 = right.split(2)
    launch(right0, config, add_one, numbers.ctypes.data)
    launch(right1, config, add_one, numbers.ctypes.data + 4)
    right = GraphBuilder.join(right0, right1)
    gb = GraphBuilder.join(left, right)
    launch(gb, config, add_one, numbers.ctypes.data)
    graph = gb.end_building().complete()
    gb.close()
    stream = device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert numbers[:2].tolist() == [4, 1]


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize("value", [0, 1, 2])
def test_switch_on_a_device_number(device, mod, numbers, value):
    gb = device.create_graph_builder().begin_building()
    config = LaunchConfig(grid=1, block=1)
    add_one, set_condition = mod.get_kernel("add_one"), mod.get_kernel("set_condition")
    handle = gb.create_condition(default_value=0)
    launch(gb, config, set_condition, handle, np.uint32(value))
    bodies = gb.switch(handle, 2)
    for index, body in enumerate(bodies):
        body.begin_building()
        launch(body, config, add_one, numbers.ctypes.data + 4 * index)
        body.end_building()
    graph = gb.end_building().complete()
    stream = device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert numbers[:3].tolist() == [int(value == 0), int(value == 1), 0]


@pytest.mark.requires(cuda=(12, 3))
def test_while_loop_with_a_subgraph(device, mod, numbers):
    config = LaunchConfig(grid=1, block=1)
    add_one = mod.get_kernel("add_one")
    gb = device.create_graph_builder().begin_building()
    handle = gb.create_condition(default_value=1)
    body = gb.while_loop(handle)
    body.begin_building()
    child = device.create_graph_builder().begin_building()
    launch(child, config, add_one, numbers.ctypes.data)
    launch(child, config, add_one, numbers.ctypes.data)
    child.end_building()
    body.embed(child)
    launch(body, config, mod.get_kernel("loop_kernel"), handle)
    body.end_building()
    graph = gb.end_building().complete()
    stream = device.create_stream()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert numbers[0] == 12


def test_updating_a_graph_from_another_capture(device, mod, numbers):
    config = LaunchConfig(grid=1, block=1)
    graphs = []
    for index in range(2):
        gb = device.create_graph_builder().begin_building()
        launch(gb, config, mod.get_kernel("add_one"), numbers.ctypes.data + 4 * index)
        graphs.append(gb.end_building())
    graph = graphs[0].complete()
    stream = device.create_stream()
    graph.launch(stream)
    stream.sync()
    graph.update(graphs[1])
    graph.launch(stream)
    stream.sync()
    assert numbers[:2].tolist() == [1, 1]


def test_memory_of_the_graph_and_a_callback(device, mod):
    n = 1000
    stream = device.create_stream()
    host = LegacyPinnedMemoryResource().allocate(4 * n, stream=stream)
    result = np.from_dlpack(host).view(np.float32)
    sums = []
    gmr = GraphMemoryResource(device)
    gb = device.create_graph_builder().begin_building("thread_local")
    config = LaunchConfig(grid=4, block=256)
    x, y = gmr.allocate(4 * n, stream=gb), gmr.allocate(4 * n, stream=gb)
    launch(gb, config, mod.get_kernel("fill<float>"), x, np.float32(2), np.uint64(n))
    y.fill(0, stream=gb)
    launch(gb, config, mod.get_kernel("axpy<float>"), np.float32(3), x, y, np.uint64(n))
    y.copy_to(host, stream=gb)
    gb.callback(lambda: sums.append(float(result.sum())))
    x.close(gb)
    y.close(gb)
    graph = gb.end_building().complete(GraphCompleteOptions(auto_free_on_launch=True))
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert sums == [6.0 * n] * 3


def test_graph_by_hand(device, mod, numbers):
    g = GraphDefinition()
    config = LaunchConfig(grid=1, block=1)
    alloc = g.allocate(4, memory_type=GraphMemoryType.DEVICE)
    zero = alloc.memset(alloc.dptr, 0, 4)
    one = zero.launch(config, mod.get_kernel("add_one"), alloc.dptr)
    two = zero.launch(config, mod.get_kernel("add_one"), alloc.dptr)
    copy = g.join(one, two).memcpy(numbers.ctypes.data, alloc.dptr, 4)
    free = copy.deallocate(alloc.dptr)
    assert free.pred == {copy} and zero.succ == {one, two} and len(g.edges()) == 7
    stream = device.create_stream()
    exec_graph = g.instantiate()
    assert isinstance(exec_graph, Graph)
    for _ in range(2):
        exec_graph.launch(stream)
    stream.sync()
    assert numbers[0] == 2


def test_node_changed_between_launches(device, mod, numbers):
    g = GraphDefinition()
    config = LaunchConfig(grid=1, block=1)
    kernel = mod.get_kernel("add_one")
    node = g.launch(config, kernel, numbers.ctypes.data)
    graph = g.instantiate()
    stream = device.create_stream()
    for index in range(4):
        graph[node].update(config=config, kernel=kernel, args=(numbers.ctypes.data + 4 * index,))
        if index == 2:
            graph[node].disable()
        graph.launch(stream)
        stream.sync()
        graph[node].enable()
    assert numbers[:4].tolist() == [1, 1, 0, 1]


def test_dot_text_for_debugging(device, mod, numbers, tmp_path):
    gb = device.create_graph_builder().begin_building()
    launch(gb, LaunchConfig(grid=1, block=1), mod.get_kernel("add_one"), numbers.ctypes.data)
    gb.end_building()
    path = tmp_path / "vlad.dot"
    gb.debug_dot_print(str(path), GraphDebugPrintOptions(verbose=True, handles=True))
    assert "digraph" in path.read_text() and "add_one" in path.read_text()


def test_stream_of_another_library(device, mod, numbers):
    class TheirStream:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return (0, int(self.stream.handle))

    owner = device.create_stream()
    stream = device.create_stream(TheirStream(owner))
    with stream.create_graph_builder() as gb:
        gb.begin_building()
        launch(gb, LaunchConfig(grid=1, block=1), mod.get_kernel("add_one"), numbers.ctypes.data)
        graph = gb.end_building().complete()
    graph.launch(stream)
    launch(stream, LaunchConfig(grid=1, block=1), mod.get_kernel("add_one"), numbers.ctypes.data)
    stream.sync()
    assert numbers[0] == 2


def test_decoding_loop(device, mod, numbers):
    """The position is a kernel argument, so each call updates the executable."""
    stream, one = device.create_stream(), LaunchConfig(grid=1, block=1)
    state, table, tokens = (numbers.ctypes.data + offset for offset in (0, 4, 24))
    numbers[1:6] = [3, 0, 4, 1, 2]
    look_up, choose_next = mod.get_kernel("look_up"), mod.get_kernel("choose_next")

    @capture(data="position")
    def token(stream, position):
        launch(stream, one, look_up, state, table, tokens, position)
        launch(stream, one, choose_next, tokens, state, position)

    for position in range(9):
        token(stream, position)
    stream.sync()
    expected = [0]
    for _ in range(9):
        expected.append([3, 0, 4, 1, 2][expected[-1]])
    assert numbers[6:16].tolist() == expected
    assert token.statistics.updates == 8


def test_replay_with_static_buffers(device, mod, numbers):
    """As in other libraries: warm up on a side stream, capture with fixed memory, write new data there, replay."""
    stream, side = device.create_stream(), device.create_stream()
    resource = LegacyPinnedMemoryResource()
    given, result = resource.allocate(64), resource.allocate(64)
    config, fill, axpy = LaunchConfig(grid=1, block=16), mod.get_kernel("fill<float>"), mod.get_kernel("axpy<float>")

    def work(stream):
        launch(stream, config, fill, result, np.float32(1), 16)
        launch(stream, config, axpy, np.float32(2), given, result, 16)

    side.wait(stream)
    for _ in range(3):
        work(side)
    stream.wait(side)
    with side.create_graph_builder().begin_building() as builder:
        work(builder)
        graph = builder.end_building().complete()
    for number in range(4):
        np.from_dlpack(given).view(np.float32)[:] = number
        graph.launch(stream)
        stream.sync()
        assert (np.from_dlpack(result).view(np.float32) == 1 + 2 * number).all()


def test_callback_nodes_in_order(device):
    """The attribute callback of such a node is its callable, so the next one is added after a join."""
    order, stream = [], device.create_stream()
    graph = GraphDefinition()
    first = graph.callback(lambda: order.append(1))
    first.join().callback(lambda: order.append(2))
    executable = graph.instantiate()
    for _ in range(2):
        executable.launch(stream)
    stream.sync()
    assert order == [1, 2, 1, 2] and callable(first.callback)
