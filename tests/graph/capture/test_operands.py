# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Host memory in captured work: graphs keep what they read and write, or the call raises."""

import array
import gc
import weakref

import numpy as np
import pytest

from cuda.core import Buffer, GraphMemoryResource, LegacyPinnedMemoryResource, MemoryOperation, launch
from cuda.core.graph import capture
from cuda.core.utils import StridedMemoryView, copy_batch
from support.bindings import call_driver
from support.graph_work import ONE, Thing, is_released

COUNT = 32768  # more than the driver stages: such a copy would wait on a stream that does not capture


def sevens(count=COUNT):
    return np.full(count, 7, np.int32)


def pinned_sevens():
    buffer = LegacyPinnedMemoryResource().allocate(4 * COUNT)
    np.asarray(buffer.view(COUNT, np.int32))[:] = 7
    return buffer


def wrapped_sevens():
    owner = sevens()
    return Buffer.from_handle(owner.ctypes.data, owner.nbytes, owner=owner)


class OnlyDLPack:
    """An object that owns nothing after its export."""

    def __init__(self, owner):
        self.owner = owner

    def __dlpack__(self, **options):
        return self.owner.__dlpack__()

    def __dlpack_device__(self):
        return self.owner.__dlpack_device__()


SOURCES = {
    "NumPy array": sevens,
    "bytes": lambda: sevens().tobytes(),
    "bytearray": lambda: bytearray(sevens().tobytes()),
    "array.array": lambda: array.array("i", [7]) * COUNT,
    "memoryview": lambda: memoryview(sevens().tobytes()),
    "strided": lambda: np.stack([sevens(), sevens() + 1])[0].reshape(2, -1).T.copy("F").T,
    "every second": lambda: np.repeat(sevens(), 2)[::2],
    "view": lambda: StridedMemoryView.from_any_interface(sevens(), stream_ptr=-1),
    "DLPack": lambda: OnlyDLPack(sevens()),
    "pinned buffer": pinned_sevens,
    "pinned array": lambda: np.asarray(pinned_sevens()).view(np.int32),
    "wrapped memory": wrapped_sevens,
    "sub-buffer": lambda: pinned_sevens()[:],
}


def reuse_memory():
    """Let other objects take the memory that a temporary has left."""
    gc.collect()
    return [np.full(COUNT, number, np.int32) for number in range(40)], [bytes([9]) * 4 * COUNT for _ in range(20)]


def check_sevens(target, launches, stream):
    for _ in range(2):
        others = reuse_memory()
        target.fill(0, stream=stream)
        launches()
        result = np.empty(COUNT, np.int32)
        target.copy_to(result, stream=stream)
        stream.sync()
        assert (result == 7).all()
        del others


@pytest.fixture
def target(device, stream):
    return device.allocate(4 * COUNT, stream=stream)


def test_graph_keeps_temporary_sources_of_copies(device, stream, target):
    for make in SOURCES.values():
        with device.create_graph_builder().begin_building() as builder:
            target.copy_from(make(), stream=builder)
            graph = builder.end_building().complete()
        check_sevens(target, lambda graph=graph: graph.launch(stream), stream)


def test_captured_function_keeps_temporary_sources(device, stream, target):
    for make in SOURCES.values():

        @capture
        def step(stream, target, make):
            target.copy_from(make(), stream=stream)

        step(stream, target, make)
        check_sevens(target, lambda step=step, make=make: step(stream, target, make), stream)


def test_updated_captured_function_keeps_the_new_source(device, stream, target):
    @capture
    def step(stream, target, number):
        target.copy_from(sevens() + (number - 7), stream=stream)

    for number in (1, 2, 7):
        step(stream, target, number)
    assert step.statistics.updates == 2
    check_sevens(target, lambda: step(stream, target, 7), stream)


def test_graph_keeps_temporary_sources_of_view_copies(device, stream):
    for make in (sevens, lambda: np.repeat(sevens(), 2)[::2], lambda: OnlyDLPack(sevens()), lambda: sevens().data):
        view = device.zeros(COUNT, np.int32, stream=stream)
        with device.create_graph_builder().begin_building() as builder:
            view.copy_from(make(), builder, blocking=False)
            graph = builder.end_building().complete()
        check_sevens(view.exporting_obj, lambda graph=graph: graph.launch(stream), stream)


@pytest.mark.requires(cuda=(12, 3))
def test_every_capturing_stream_keeps_temporary_sources(device, stream, target):
    def by_stream_of_builder():
        builder = device.create_graph_builder().begin_building()
        target.copy_from(sevens(), stream=builder.stream)
        return builder.end_building().complete().launch

    def by_fork():
        builder = device.create_graph_builder().begin_building()
        builder, fork = builder.split(2)
        target.copy_from(sevens(), stream=fork)
        return builder.join(builder, fork).end_building().complete().launch

    def by_embedded_graph():
        child = device.create_graph_builder().begin_building()
        target.copy_from(sevens(), stream=child)
        builder = device.create_graph_builder().begin_building()
        builder.embed(child.end_building())
        return builder.end_building().complete().launch

    def by_body(use_stream):
        builder = device.create_graph_builder().begin_building()
        body = builder.if_then(builder.create_condition(1)).begin_building()
        # Bodies run on the device, so a GPU takes copies only from host memory that it can access.
        target.copy_from(pinned_sevens(), stream=body.stream if use_stream else body)
        body.end_building()
        return builder.end_building().complete().launch

    def by_driver():
        other = device.create_stream()
        call_driver("cuStreamBeginCapture", other.handle, 2)
        target.copy_from(sevens(), stream=other)
        graph = call_driver("cuStreamEndCapture", other.handle)
        executable = call_driver("cuGraphInstantiate", graph, 0)
        call_driver("cuGraphDestroy", graph)
        return lambda stream: call_driver("cuGraphLaunch", executable, stream.handle)

    ways = [by_stream_of_builder, by_fork, by_embedded_graph, by_driver]
    for make in [*ways, lambda: by_body(False), lambda: by_body(True)]:
        launch_on = make()
        check_sevens(target, lambda launch_on=launch_on: launch_on(stream), stream)


def test_graph_keeps_and_releases_targets_of_copies(device, stream, target):
    target.copy_from(sevens(), stream=stream)
    stream.sync()
    view = target.view(COUNT, np.int32)
    copies = (
        lambda host, builder: target.copy_to(host, stream=builder),
        lambda host, builder: view.copy_to(host, builder, blocking=False),
        lambda host, builder: target.copy_to(host[::-1], stream=builder),
        lambda host, builder: target.copy_to(host.reshape(2, -1), stream=builder),
        lambda host, builder: target.copy_to(memoryview(host), stream=builder),
    )
    for copy in copies:
        host = np.zeros(COUNT, np.int32)
        alive = weakref.ref(host)
        with device.create_graph_builder().begin_building() as builder:
            copy(host, builder)
            graph = builder.end_building().complete()
        del host
        gc.collect()
        graph.launch(stream)
        stream.sync()
        assert alive() is not None and (alive() == 7).all()
        graph.close()
        del builder, graph
        assert is_released(alive)


def test_graph_reads_kept_memory_at_each_launch(device, stream, target):
    source = sevens()
    with device.create_graph_builder().begin_building() as builder:
        target.copy_from(source, stream=builder)
        graph = builder.end_building().complete()
    source[:] = 5
    graph.launch(stream)
    result = np.empty(COUNT, np.int32)
    target.copy_to(result, stream=stream)
    stream.sync()
    assert (result == 5).all()


def test_kept_bytearray_cannot_be_resized(device, stream, target):
    source = bytearray(sevens().tobytes())
    with device.create_graph_builder().begin_building() as builder:
        target.copy_from(source, stream=builder)
        with pytest.raises(BufferError, match="cannot be re-sized"):
            source.clear()
        graph = builder.end_building().complete()
    check_sevens(target, lambda: graph.launch(stream), stream)


def test_captured_fills_copy_their_values(device, stream, target):
    view = target.view(COUNT, np.int32)
    fills = (
        lambda builder: target.fill(np.full(1, 7, np.int32), stream=builder),
        lambda builder: target.fill(sevens(2), stream=builder),
        lambda builder: target.fill(sevens(128).tobytes(), stream=builder),
        lambda builder: target.fill(bytearray(sevens(4)), stream=builder),
        lambda builder: view.fill(7, stream=builder),
        lambda builder: view[::2].fill(np.int32(7), stream=builder) or view[1::2].fill(7, stream=builder),
    )
    for fill in fills:
        with device.create_graph_builder().begin_building() as builder:
            fill(builder)
            graph = builder.end_building().complete()
        check_sevens(target, lambda graph=graph: graph.launch(stream), stream)


def test_captured_callbacks_keep_functions_and_data(device, stream):
    calls = []
    with device.create_graph_builder().begin_building() as builder:
        builder.callback(Thing().work)
        builder.callback(lambda data=sevens(4): calls.append(data.tolist()))  # noqa: B008
        graph = builder.end_building().complete()
    for _ in range(2):
        others = reuse_memory()
        graph.launch(stream)
        stream.sync()
        assert calls.pop() == [7] * 4
        del others


def test_batch_copies_raise_on_a_capturing_stream(device, stream, target):
    with device.create_graph_builder().begin_building() as builder:
        for source in (wrapped_sevens(), pinned_sevens()):
            with pytest.raises(TypeError, match="capturing"):
                copy_batch(builder.stream, [source], [target])
        assert builder.end_building().graph_definition.nodes() == set()


def test_captured_memory_operations_keep_their_targets(device, stream):
    seen = []
    for make in (lambda: device.zeros(2, np.int32, pinned=True), lambda: LegacyPinnedMemoryResource().allocate(8)):
        flag = make()
        seen.append(weakref.ref(getattr(flag, "exporting_obj", flag)))
        with device.create_graph_builder().begin_building() as builder:
            builder.stream.write_value(flag, 3)
            builder.stream.run_operations(MemoryOperation.wait(flag, 3, "=="))
            graph = builder.end_building().complete()
        del flag
        gc.collect()
        graph.launch(stream)
        stream.sync()
        assert seen[-1]() is not None
        graph.close()
        del builder, graph
    assert all(is_released(reference) for reference in seen)


def test_captured_copy_leaves_device_memory_to_the_program(device, stream, kernels, memory):
    resource = device.memory_resource
    source = resource.allocate(64, stream=stream)
    alive = weakref.ref(source)
    target = resource.allocate(64, stream=stream)
    with device.create_graph_builder().begin_building() as builder:
        target.copy_from(source, stream=builder)
        launch(builder, ONE, kernels["add"], memory.address, 1)
        builder.end_building()
        del source
        assert is_released(alive)


def test_captured_copies_leave_memory_of_the_graph_to_it(device, stream, memory):
    resource = GraphMemoryResource(device)
    with device.create_graph_builder().begin_building() as builder:
        scratch = resource.allocate(64, stream=builder)
        scratch.fill(b"\7\0\0\0", stream=builder)
        memory.buffer.copy_from(scratch, stream=builder)
        memory.buffer.view(16, np.int32).copy_from(scratch.view(16, np.int32), builder, blocking=False)
        scratch.close()
        graph = builder.end_building().complete()
    for _ in range(2):  # works only if a node frees the memory
        graph.launch(stream)
    stream.sync()
    assert memory.values.tolist() == [7] * 16
