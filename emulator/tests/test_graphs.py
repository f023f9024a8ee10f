# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs built through the driver API: nodes of each type, executables with their own parameters, and conditions."""

import ctypes
import threading
import time

import numpy as np
import pytest

from support.compiled import Program

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void add(int *out, int value) { *out += value; }
extern "C" __global__ void count_down(int *left, cudaGraphConditionalHandle handle)
{ cudaGraphSetConditional(handle, --*left > 0); }
extern "C" __global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{ cudaGraphSetConditional(handle, value); }
extern "C" __global__ void meet(volatile int *mine, volatile int *theirs) { *mine = 1; while (!*theirs) ; }
"""


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "--gpu-architecture=sm_90").image


class GraphMaker:
    """Adds nodes to a graph by the driver's calls, and runs it."""

    def __init__(self, driver, context, queue, kernel):
        self.driver, self.context, self.queue, self.kernel = driver, context, queue, kernel
        self.graph = driver.cuGraphCreate(0)
        self.executables = []
        self.kept = []

    def kernel_params(self, name, *arguments):
        params = self.driver.raw.CUDA_KERNEL_NODE_PARAMS()
        params.kern = self.kernel(name)
        params.gridDimX = params.gridDimY = params.gridDimZ = 1
        params.blockDimX = params.blockDimY = params.blockDimZ = 1
        params.kernelParams = (tuple(a.value for a in arguments), tuple(type(a) for a in arguments))
        self.kept.append(arguments)
        return params

    def add_kernel(self, after, name, *arguments, graph=None):
        params = self.kernel_params(name, *arguments)
        return self.driver.cuGraphAddKernelNode(graph or self.graph, after, len(after), params)

    def fill_params(self, address, value, width=1, size=4):
        params = self.driver.raw.CUDA_MEMSET_NODE_PARAMS()
        params.dst, params.value, params.elementSize = address, value, size
        params.width, params.height, params.pitch = width, 1, 0
        return params

    def add_fill(self, after, address, value, width=1, graph=None):
        params = self.fill_params(address, value, width)
        return self.driver.cuGraphAddMemsetNode(graph or self.graph, after, len(after), params, self.context)

    def copy_params(self, target, source, size):
        params = self.driver.raw.CUDA_MEMCPY3D()
        unified = self.driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
        params.dstMemoryType, params.dstDevice = unified, target
        params.srcMemoryType, params.srcDevice = unified, source
        params.WidthInBytes, params.Height, params.Depth = size, 1, 1
        return params

    def add_conditional(self, after, handle, kind, size=1, graph=None):
        params = self.driver.raw.CUgraphNodeParams()
        params.type = self.driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = handle
        params.conditional.type = getattr(self.driver.CUgraphConditionalNodeType, f"CU_GRAPH_COND_TYPE_{kind}")
        params.conditional.size = size
        params.conditional.ctx = self.context
        node = self.driver.cuGraphAddNode(graph or self.graph, after, None, len(after), params)
        return node, list(params.conditional.phGraph_out)

    def instantiate(self, graph=None):
        self.executables.append(self.driver.cuGraphInstantiate(graph or self.graph, 0))
        return self.executables[-1]

    def run(self, executable=None, times=1):
        executable = executable or self.instantiate()
        for _ in range(times):
            self.driver.cuGraphLaunch(executable, self.queue)
        self.driver.cuStreamSynchronize(self.queue)
        return executable

    def read(self, pointer, count=1):
        out = np.zeros(count, dtype=np.int32)
        self.driver.cuMemcpyDtoH(out.ctypes.data, pointer, out.nbytes)
        return out.tolist() if count > 1 else int(out[0])


@pytest.fixture
def maker(driver, context, queue, kernel):
    maker = GraphMaker(driver, context, queue, kernel)
    yield maker
    driver.raw.cuCtxSynchronize()
    for executable in maker.executables:
        driver.raw.cuGraphExecDestroy(executable)
    driver.raw.cuGraphDestroy(maker.graph)


def int_(value):
    return ctypes.c_int(value)


def pointer(value):
    return ctypes.c_void_p(value)


def test_nodes_run_in_edge_order(driver, maker, memory):
    first = maker.add_fill([], memory, 5)
    second = maker.add_kernel([first], "add", pointer(memory), int_(3))
    copy = maker.copy_params(memory + 64, memory, 4)
    driver.cuGraphAddMemcpyNode(maker.graph, [second], 1, copy, maker.context)
    maker.run(times=2)
    assert maker.read(memory + 64) == 8


def test_kernel_of_a_library_is_no_function_of_a_node(driver, maker):
    params = maker.kernel_params("add")
    params.func, params.kern = driver.CUfunction(int(params.kern)), driver.CUkernel(0)
    assert driver.result("cuGraphAddKernelNode", maker.graph, None, 0, params) == "INVALID_HANDLE"


def test_edges_can_be_added_and_removed_later(driver, maker, memory):
    last = maker.add_kernel([], "add", pointer(memory), int_(3))
    first = maker.add_fill([], memory, 5)
    driver.cuGraphAddDependencies(maker.graph, [first], [last], None, 1)
    maker.run()
    assert maker.read(memory) == 8
    assert driver.result("cuGraphAddDependencies", maker.graph, [first], [last], None, 1) == "INVALID_VALUE"
    assert driver.result("cuGraphAddDependencies", maker.graph, [first], [first], None, 1) == "INVALID_VALUE"
    driver.cuGraphRemoveDependencies(maker.graph, [first], [last], None, 1)
    assert driver.cuGraphGetEdges(maker.graph)[3] == 0
    assert driver.result("cuGraphRemoveDependencies", maker.graph, [first], [last], None, 1) == "INVALID_VALUE"


def test_branches_run_at_the_same_time(driver, maker, memory):
    maker.add_kernel([], "meet", pointer(memory), pointer(memory + 4))
    maker.add_kernel([], "meet", pointer(memory + 4), pointer(memory))
    maker.run()
    assert maker.read(memory, 2) == [1, 1]


def test_graph_with_a_cycle_cannot_be_instantiated(driver, maker, memory):
    first = maker.add_fill([], memory, 5)
    second = maker.add_fill([first], memory, 6)
    driver.cuGraphAddDependencies(maker.graph, [second], [first], None, 1)
    params = driver.raw.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert driver.result("cuGraphInstantiateWithParams", maker.graph, params) == "INVALID_VALUE"
    invalid = driver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
    assert params.result_out == invalid
    assert int(params.hErrNode_out) in (int(first), int(second))


def test_parameters_are_read_back_and_changed(driver, maker, memory):
    kernel = maker.add_kernel([], "add", pointer(memory), int_(3))
    fill = driver.cuGraphAddMemsetNode(maker.graph, [], 0, maker.fill_params(memory + 8, 7), maker.context)
    params = driver.cuGraphKernelNodeGetParams(kernel)
    assert (params.gridDimX, params.sharedMemBytes) == (1, 0)
    assert driver.cuGraphMemsetNodeGetParams(fill).value == 7
    old = maker.instantiate()
    driver.cuGraphKernelNodeSetParams(kernel, maker.kernel_params("add", pointer(memory), int_(100)))
    driver.cuGraphMemsetNodeSetParams(fill, maker.fill_params(memory + 8, 9))
    maker.run(old)
    assert (maker.read(memory), maker.read(memory + 8)) == (3, 7)
    maker.run()
    assert (maker.read(memory), maker.read(memory + 8)) == (103, 9)


def test_each_executable_has_its_own_parameters(driver, maker, memory):
    kernel = maker.add_kernel([], "add", pointer(memory), int_(1))
    one, two = maker.instantiate(), maker.instantiate()
    driver.cuGraphExecKernelNodeSetParams(one, kernel, maker.kernel_params("add", pointer(memory), int_(10)))
    maker.run(one)
    maker.run(two)
    assert maker.read(memory) == 11


def test_disabled_node_does_nothing(driver, maker, memory):
    first = maker.add_fill([], memory, 5)
    second = maker.add_kernel([first], "add", pointer(memory), int_(3))
    executable = maker.instantiate()
    assert driver.cuGraphNodeGetEnabled(executable, second) == 1
    driver.cuGraphNodeSetEnabled(executable, second, 0)
    maker.run(executable)
    assert (driver.cuGraphNodeGetEnabled(executable, second), maker.read(memory)) == (0, 5)
    driver.cuGraphNodeSetEnabled(executable, second, 1)
    maker.run(executable)
    assert maker.read(memory) == 8


def test_executable_is_updated_from_a_graph_of_the_same_topology(driver, maker, memory):
    maker.add_kernel([maker.add_fill([], memory, 5)], "add", pointer(memory), int_(3))
    executable = maker.instantiate()
    other = driver.cuGraphCreate(0)
    fill = maker.add_fill([], memory, 50, graph=other)
    maker.add_kernel([fill], "add", pointer(memory), int_(30), graph=other)
    info = driver.cuGraphExecUpdate(executable, other)
    assert info.result == driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
    maker.run(executable)
    assert maker.read(memory) == 80
    maker.add_fill([fill], memory, 1, graph=other)
    assert driver.result("cuGraphExecUpdate", executable, other) == "GRAPH_EXEC_UPDATE_FAILURE"
    maker.run(executable)
    assert maker.read(memory) == 80
    driver.cuGraphDestroy(other)


def test_child_graph_is_a_copy(driver, maker, memory):
    child = driver.cuGraphCreate(0)
    maker.add_kernel([], "add", pointer(memory), int_(3), graph=child)
    node = driver.cuGraphAddChildGraphNode(maker.graph, [maker.add_fill([], memory, 5)], 1, child)
    maker.add_kernel([], "add", pointer(memory), int_(1000), graph=child)
    driver.cuGraphDestroy(child)
    inner = driver.cuGraphChildGraphNodeGetGraph(node)
    assert driver.cuGraphGetNodes(inner)[1] == 1
    maker.run()
    assert maker.read(memory) == 8
    driver.cuGraphDestroyNode(node)
    assert driver.result("cuGraphGetNodes", inner) == "INVALID_VALUE"


def test_nodes_are_found_in_a_clone(driver, maker, memory):
    fill = maker.add_fill([], memory, 5)
    clone = driver.cuGraphClone(maker.graph)
    other = driver.cuGraphNodeFindInClone(fill, clone)
    driver.cuGraphMemsetNodeSetParams(other, maker.fill_params(memory, 6))
    assert driver.cuGraphMemsetNodeGetParams(fill).value == 5
    maker.run(maker.instantiate(clone))
    assert maker.read(memory) == 6
    driver.cuGraphDestroy(clone)


def test_while_node_repeats_until_kernel_clears_condition(driver, maker, memory):
    handle = driver.cuGraphConditionalHandleCreate(maker.graph, maker.context, 1, 1)
    start = maker.add_fill([], memory, 5)
    _, (body,) = maker.add_conditional([start], handle, "WHILE")
    counted = maker.add_kernel([], "add", pointer(memory + 4), int_(1), graph=body)
    maker.add_kernel([counted], "count_down", pointer(memory), ctypes.c_uint64(int(handle)), graph=body)
    maker.run(times=2)
    assert maker.read(memory, 2) == [0, 10]


@pytest.mark.parametrize(("value", "expected"), [(0, [0, 1]), (7, [1, 0])])
def test_if_node_runs_one_of_two_bodies(driver, maker, memory, value, expected):
    handle = driver.cuGraphConditionalHandleCreate(maker.graph, maker.context, 0, 1)
    chosen = maker.add_kernel([], "choose", ctypes.c_uint64(int(handle)), ctypes.c_uint32(value))
    _, bodies = maker.add_conditional([chosen], handle, "IF", 2)
    for index, body in enumerate(bodies):
        maker.add_kernel([], "add", pointer(memory + 4 * index), int_(1), graph=body)
    maker.run()
    assert maker.read(memory, 2) == expected


@pytest.mark.parametrize("value", [0, 2, 3])
def test_switch_node_runs_the_body_of_its_number_or_none(driver, maker, memory, value):
    handle = driver.cuGraphConditionalHandleCreate(maker.graph, maker.context, value, 1)
    _, bodies = maker.add_conditional([], handle, "SWITCH", 3)
    for index, body in enumerate(bodies):
        maker.add_kernel([], "add", pointer(memory + 4 * index), int_(1), graph=body)
    maker.run()
    assert maker.read(memory, 3) == [int(index == value) for index in range(3)]


@pytest.mark.parametrize("value", [0, 1, 2])
def test_update_takes_over_the_condition_of_the_other_graph(driver, maker, memory, value):
    def fill_switch(graph, value, first):
        handle = driver.cuGraphConditionalHandleCreate(graph, maker.context, value, 1)
        _, bodies = maker.add_conditional([], handle, "SWITCH", 3, graph=graph)
        for index, body in enumerate(bodies):
            maker.add_fill([], memory, first + index, graph=body)

    fill_switch(maker.graph, 1, 10)
    executable = maker.run()
    assert maker.read(memory) == 11
    other = driver.cuGraphCreate(0)
    fill_switch(other, value, 20)
    driver.cuGraphExecUpdate(executable, other)
    driver.cuGraphDestroy(other)
    driver.cuGraphLaunch(executable, maker.queue)
    driver.cuStreamSynchronize(maker.queue)
    assert maker.read(memory) == 20 + value


def test_unused_condition_is_rejected(driver, maker):
    driver.cuGraphConditionalHandleCreate(maker.graph, maker.context, 0, 0)
    params = driver.raw.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert driver.result("cuGraphInstantiateWithParams", maker.graph, params) == "INVALID_VALUE"
    unused = driver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED
    assert params.result_out == unused


def test_node_memory_exists_from_launch_until_freed(driver, maker):
    params = driver.raw.CUDA_MEM_ALLOC_NODE_PARAMS()
    params.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    params.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    params.bytesize = 64
    node = driver.cuGraphAddMemAllocNode(maker.graph, [], 0, params)
    address = int(driver.cuGraphMemAllocNodeGetParams(node).dptr)
    filled = maker.add_fill([node], address, 4, width=16)
    assert driver.result("cuGraphDestroyNode", filled) == "NOT_SUPPORTED"
    executable = maker.run()
    assert maker.read(address, 2) == [4, 4]
    assert driver.result("cuGraphInstantiate", maker.graph, 0) == "NOT_SUPPORTED"
    assert driver.result("cuGraphLaunch", executable, maker.queue) == "INVALID_VALUE"
    driver.cuMemFree(address)


@pytest.fixture
def managed_node(driver):
    """Parameters of a node that allocates managed memory."""
    params = driver.raw.CUDA_MEM_ALLOC_NODE_PARAMS()
    params.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
    params.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    params.bytesize = 64
    return params


def test_node_allocates_managed_memory_for_the_host(driver, maker, managed_node):
    node = driver.cuGraphAddMemAllocNode(maker.graph, [], 0, managed_node)
    address = int(driver.cuGraphMemAllocNodeGetParams(node).dptr)
    maker.add_fill([node], address, 4, width=16)
    maker.run()
    name = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    assert driver.cuPointerGetAttribute(name, address)
    assert ctypes.string_at(address, 4) == (4).to_bytes(4, "little")
    driver.cuMemFree(address)


def test_node_of_managed_memory_needs_a_device(driver, maker, managed_node):
    managed_node.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    assert driver.result("cuGraphAddMemAllocNode", maker.graph, [], 0, managed_node) == "NOT_SUPPORTED"


def test_events_of_nodes_are_recorded_when_the_graph_runs(driver, maker, memory):
    event, other = driver.cuEventCreate(2), driver.cuStreamCreate(1)
    fill = maker.add_fill([], memory, 5)
    node = driver.cuGraphAddEventRecordNode(maker.graph, [fill], 1, event)
    assert int(driver.cuGraphEventRecordNodeGetEvent(node)) == int(event)
    executable = maker.instantiate()
    driver.cuGraphLaunch(executable, maker.queue)
    driver.cuStreamWaitEvent(other, event, 0)
    driver.cuMemcpyDtoDAsync(memory + 64, memory, 4, other)
    driver.cuStreamSynchronize(other)
    assert maker.read(memory + 64) == 5
    assert driver.result("cuEventQuery", event) == "SUCCESS"


def test_host_node_calls_its_function_with_its_data(driver, maker):
    calls = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(calls.append)
    params = driver.raw.CUDA_HOST_NODE_PARAMS()
    params.fn = driver.CUhostFn(ctypes.cast(callback, ctypes.c_void_p).value)
    params.userData = 77
    node = driver.cuGraphAddHostNode(maker.graph, [], 0, params)
    assert int(driver.cuGraphHostNodeGetParams(node).userData) == 77
    maker.run(times=2)
    assert calls == [77, 77]


def test_user_objects_are_destroyed_with_last_retaining_graph(driver, maker, memory):
    ended = threading.Event()
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: ended.set())
    function = driver.CUhostFn(ctypes.cast(destroy, ctypes.c_void_p).value)
    graph = driver.cuGraphCreate(0)
    maker.add_fill([], memory, 1, graph=graph)
    thing = driver.cuUserObjectCreate(0, function, 1, 1)
    driver.cuGraphRetainUserObject(graph, thing, 1, 1)
    clone = driver.cuGraphClone(graph)
    executable = driver.cuGraphInstantiate(clone, 0)
    driver.cuGraphDestroy(graph)
    driver.cuGraphDestroy(clone)
    driver.cuGraphLaunch(executable, maker.queue)
    driver.cuStreamSynchronize(maker.queue)
    assert not ended.is_set()
    driver.cuGraphExecDestroy(executable)
    assert ended.wait(10)
    assert driver.result("cuUserObjectRelease", thing, 1) == "INVALID_VALUE"


def test_kernel_attributes_are_kept_when_parameters_change(driver, maker, memory):
    node = maker.add_kernel([], "add", pointer(memory), int_(3))
    priority = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
    value = driver.raw.CUkernelNodeAttrValue()
    value.priority = -3
    driver.cuGraphKernelNodeSetAttribute(node, priority, value)
    driver.cuGraphKernelNodeSetParams(node, maker.kernel_params("add", pointer(memory), int_(4)))
    assert driver.cuGraphKernelNodeGetAttribute(node, priority).priority == -3
    other = maker.add_kernel([], "add", pointer(memory + 4), int_(3))
    driver.cuGraphKernelNodeCopyAttributes(other, node)
    assert driver.cuGraphKernelNodeGetAttribute(other, priority).priority == -3
    maker.run()
    assert maker.read(memory, 2) == [4, 3]


def test_graph_is_written_in_the_dot_language(driver, maker, memory, tmp_path):
    maker.add_kernel([maker.add_fill([], memory, 5)], "add", pointer(memory), int_(3))
    driver.cuGraphDebugDotPrint(maker.graph, str(tmp_path / "graph.dot").encode(), 1)
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph") and "MEMSET" in text and "add" in text and "->" in text


def test_nodes_of_other_graphs_are_rejected(driver, maker, memory):
    other = driver.cuGraphCreate(0)
    foreign = maker.add_fill([], memory, 5, graph=other)
    params = maker.fill_params(memory, 1)
    mine = maker.add_fill([], memory, 5)
    assert driver.result("cuGraphAddMemsetNode", maker.graph, [foreign], 1, params, maker.context) == "INVALID_VALUE"
    assert driver.result("cuGraphAddDependencies", maker.graph, [foreign], [mine], None, 1) == "INVALID_VALUE"
    executable = maker.instantiate()
    assert driver.result("cuGraphExecMemsetNodeSetParams", executable, foreign, params, 0) == "INVALID_VALUE"
    driver.cuGraphDestroy(other)


def seconds_to_destroy(driver, count):
    """Return the time for destroying ``count`` nodes between two others one by one."""
    graph = driver.cuGraphCreate(0)
    first = driver.cuGraphAddEmptyNode(graph, [], 0)
    nodes = [driver.cuGraphAddEmptyNode(graph, [first], 1) for _ in range(count)]
    driver.cuGraphAddEmptyNode(graph, nodes, count)
    begin = time.process_time()
    for node in nodes:
        driver.raw.cuGraphDestroyNode(node)
    spent = time.process_time() - begin
    assert driver.cuGraphGetNodes(graph, 9)[1] == 2
    driver.cuGraphDestroy(graph)
    return spent


def test_nodes_are_destroyed_in_linear_time(driver, context):
    few = min(seconds_to_destroy(driver, 1000) for _ in range(3))
    assert seconds_to_destroy(driver, 16000) < 64 * few + 0.05  # 256 times, if each visited all others


def test_nested_graphs_are_destroyed_in_linear_time(driver, context):
    empty = driver.cuGraphCreate(0)

    def seconds(depth):
        graph = driver.cuGraphCreate(0)
        inner = graph
        for _ in range(depth):
            node = driver.cuGraphAddChildGraphNode(inner, [], 0, empty)
            inner = driver.cuGraphChildGraphNodeGetGraph(node)
        begin = time.process_time()
        driver.cuGraphDestroy(graph)
        spent = time.process_time() - begin
        assert driver.result("cuGraphGetNodes", inner, 0) == "INVALID_VALUE"
        return spent

    assert seconds(4000) < 0.5
    driver.cuGraphDestroy(empty)


def batch_params(driver, maker, targets, sources, sizes, firsts=(0,)):
    params = driver.raw.CUgraphNodeParams()
    params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY_BATCH
    attribute = driver.CUmemcpyAttributes()
    attribute.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    batch = params.memcpyBatch
    batch.ctx, batch.attrs = maker.context, [attribute] * len(firsts)
    batch.set_dsts_srcs(*([driver.CUdeviceptr(address) for address in side] for side in (targets, sources)))
    batch.sizes, batch.attrsIdxs = np.array(sizes, dtype=np.uint64), np.array(firsts, dtype=np.uint64)
    maker.kept.append(params)
    return params


def test_batch_node_copies_all_ranges_but_empty_ones(driver, maker, memory):
    memory = int(memory)
    fill = maker.add_fill([], memory, 7, 2)
    params = batch_params(driver, maker, [memory + 64, memory + 128, memory + 192], [memory] * 3, [8, 4, 0])
    node = driver.cuGraphAddNode(maker.graph, [fill], None, 1, params)
    assert driver.cuGraphNodeGetType(node) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY_BATCH
    maker.run()
    assert maker.read(memory + 64, 2) == [7, 7]
    assert (maker.read(memory + 128), maker.read(memory + 132), maker.read(memory + 192)) == (7, 0, 0)
    read = driver.cuGraphNodeGetParams(node).memcpyBatch
    assert (read.count, read.numAttrs) == (3, 1)


def test_executable_keeps_the_number_of_copies(driver, maker, memory):
    memory = int(memory)
    maker.add_fill([], memory, 7, 2)
    node = driver.cuGraphAddNode(maker.graph, None, None, 0, batch_params(driver, maker, [memory + 64], [memory], [4]))
    executable = maker.instantiate()
    driver.cuGraphExecNodeSetParams(executable, node, batch_params(driver, maker, [memory + 128], [memory], [8]))
    more = batch_params(driver, maker, [memory + 64, memory + 128], [memory] * 2, [4, 4])
    assert driver.result("cuGraphExecNodeSetParams", executable, node, more) == "INVALID_VALUE"


def test_invalid_batches_are_rejected(driver, maker, memory):
    memory = int(memory)

    def result(*arguments):
        params = batch_params(driver, maker, *arguments)
        return driver.result("cuGraphAddNode", maker.graph, None, None, 0, params)

    assert result([memory + 64], [memory], [1 << 30]) == "INVALID_VALUE"
    assert result([memory + 64], [memory], [4], (1,)) == "INVALID_VALUE"
    assert result([memory + 64] * 2, [memory] * 2, [4, 4], (0, 0)) == "INVALID_VALUE"
    assert result([], [], []) == "INVALID_VALUE"
