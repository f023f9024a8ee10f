# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""However a capture ends, its stream does not go on capturing."""

import gc
import threading

import pytest

from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    PinnedMemoryResource,
    StreamOptions,
    launch,
)
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, Memory, value
from support.kernels import HostMemory, compiled

SOURCE = 'extern "C" __global__ void add(int* out, int value) { *out += value; }'


def run(builder, stream):
    builder.complete().launch(stream)
    stream.sync()


def can_capture(stream):
    """Whether nothing captures on the stream: another builder can."""
    with stream.create_graph_builder() as builder:
        builder.begin_building().end_building()
    return True


@pytest.mark.parametrize("way", ["close", "drop", "exception", "cycle"])
def test_a_capture_ends_with_its_builder_and_the_borrowed_stream_goes_on(stream, kernel, memory, way):
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    if way == "close":
        builder.close()
    elif way == "exception":
        with pytest.raises(ZeroDivisionError), builder:
            raise ZeroDivisionError
    elif way == "cycle":

        class Holder:
            pass

        holder = Holder()
        holder.itself, holder.builder = holder, builder
        del holder
    del builder
    gc.collect()
    assert can_capture(stream)
    launch(stream, ONE, kernel("add"), memory.address, 4)
    stream.sync()
    assert value(memory) == 4


def test_a_capture_outlives_the_closing_of_the_users_stream(device, kernel, memory, stream):
    borrowed = device.create_stream()
    builder = borrowed.create_graph_builder().begin_building()
    borrowed.close()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 3


def test_a_fork_that_is_not_joined_fails_the_end_and_nothing_captures(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    launch(fork, ONE, kernel("add"), memory.address, 3)
    with pytest.raises(CUDAError, match="UNJOINED"):
        builder.end_building()
    assert not builder.is_building and not fork.is_building
    for work in (lambda b: b.complete(), lambda b: b.graph_definition):
        with pytest.raises(RuntimeError, match="the capture of this GraphBuilder failed"):
            work(builder)
    with pytest.raises(RuntimeError, match="forked from has ended"):
        launch(fork, ONE, kernel("add"), memory.address, 3)
    assert can_capture(stream)


@pytest.mark.parametrize("way", ["callback", "conditional", "kernel and callback"])
def test_a_fork_that_is_not_joined_fails_the_end_whatever_it_has(stream, kernel, memory, way):
    """The driver forgives nodes that are added by hand."""
    builder = stream.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    if way == "kernel and callback":
        launch(fork, ONE, kernel("add"), memory.address, 3)
    if way == "conditional":
        fork.if_then(fork.create_condition(0))
    else:
        fork.callback(int)
    with pytest.raises(CUDAError, match="UNJOINED"):
        builder.end_building()
    assert can_capture(stream)


def test_forks_without_work_and_those_that_events_join_need_no_join(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    idle, busy = builder.split(3)[1:]
    busy.callback(int)
    stream.wait(busy.stream.record())
    builder.end_building()
    assert not idle.is_closed
    run(builder, stream)
    assert value(memory) == 3


@pytest.mark.parametrize("first", [0, 1], ids=["primary", "fork"])
def test_forks_and_their_origin_close_in_any_order(stream, kernel, memory, first):
    builders = list(stream.create_graph_builder().begin_building().split(2))
    launch(builders[1], ONE, kernel("add"), memory.address, 3)
    builders.pop(first).close()
    builders.pop().close()
    assert can_capture(stream)


def test_an_invalidated_capture_says_so_and_ends(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(CUDAError):
        builder.stream.sync()
    with pytest.raises(RuntimeError, match="invalidated the capture"):
        builder.is_building  # noqa: B018
    with pytest.raises(RuntimeError, match="invalidated the capture"):
        builder.create_condition()
    with pytest.raises(CUDAError, match="INVALIDATED"):
        builder.end_building()
    assert can_capture(stream)


def test_a_capture_that_was_ended_around_its_builder(stream):
    from cuda.bindings import driver

    builder = stream.create_graph_builder().begin_building()
    _, graph = driver.cuStreamEndCapture(stream.handle)
    assert not builder.is_building
    with pytest.raises(RuntimeError, match="ended outside the builder"):
        builder.create_condition()
    with pytest.raises(CUDAError):
        builder.end_building()
    driver.cuGraphDestroy(graph)
    assert can_capture(stream)


DURING = {
    "get_kernel": lambda device, kernel, kept, builder: kernel("add"),
    "first launch": lambda device, kernel, kept, builder: launch(builder, ONE, kernel("add"), 0, 0),
    "first launch on the stream": lambda device, kernel, kept, builder: launch(
        builder.stream, ONE, kernel("add"), 0, 0
    ),
    "much shared memory": lambda device, kernel, kept, builder: launch(
        builder, LaunchConfig(grid=1, block=1, shmem_size=60000), kernel("dynamic"), 0
    ),
    "load and unload": lambda device, kernel, kept, builder: compiled.__wrapped__(SOURCE).get_kernel("add"),
    "drop memory of a pool": lambda device, kernel, kept, builder: kept.pop("pool"),
    "drop pinned memory": lambda device, kernel, kept, builder: kept.pop("pinned"),
    "drop memory that waits for the stream": lambda device, kernel, kept, builder: kept.pop("own"),
    "drop an executable": lambda device, kernel, kept, builder: kept.pop("graph"),
    "drop a stream and an event": lambda device, kernel, kept, builder: (kept.pop("stream"), kept.pop("event")),
    "drop a pool": lambda device, kernel, kept, builder: kept.pop("resource"),
    "split": lambda device, kernel, kept, builder: builder.join(*builder.split(3)),
    "condition": lambda device, kernel, kept, builder: builder.if_then(builder.create_condition(1)),
    "read a pool": lambda device, kernel, kept, builder: (
        kept["resource"].attributes.used_mem_current,
        setattr(kept["resource"].attributes, "used_mem_high", 0),
        kept["resource"].peer_accessible_by == (),
    ),
    "first use of a pool": lambda device, kernel, kept, builder: (
        DeviceMemoryResource(device),
        DeviceMemoryResource(device, DeviceMemoryResourceOptions()),
        PinnedMemoryResource(),
    ),
    "drop arrays": lambda device, kernel, kept, builder: (kept.pop("array"), kept.pop("mipmapped")),
}


def before_a_capture(device, capturing):
    """Return objects of all kinds that the library asks, or that end, while a stream captures."""
    other = device.create_stream()
    image = {"shape": (8, 4), "format": "uint8", "num_channels": 4}
    return {
        "pool": device.allocate(64, stream=other),
        "own": device.allocate(64, stream=capturing),
        "pinned": HostMemory(64),
        "graph": GraphDefinition().instantiate(),
        "stream": device.create_stream(),
        "event": other.record(),
        "resource": DeviceMemoryResource(device, DeviceMemoryResourceOptions()),
        "array": device.create_opaque_array(image),
        "mipmapped": device.create_mipmapped_array(image | {"num_levels": 2}),
    }


@pytest.mark.parametrize("mode", ["global", "thread_local"])
@pytest.mark.parametrize("name", DURING)
def test_strict_captures_go_on_whatever_the_library_does(device, mode, name):
    # Code of its own, so that nothing is loaded.
    source = (
        SOURCE
        + 'extern "C" __global__ void dynamic(int* out) { extern __shared__ int x[]; x[0] = 1; *out += x[0]; }'
        + f"// {mode} {name}"
    )
    builder = device.create_graph_builder()
    kept = before_a_capture(device, builder.stream)
    kernel = compiled.__wrapped__(source).get_kernel
    with builder:
        builder.begin_building(mode)
        DURING[name](device, kernel, kept, builder)
        gc.collect()
        assert builder.is_building
        assert builder.end_building().complete()


@pytest.mark.requires(devices=2)
@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_a_kernel_that_is_loaded_on_another_device_is_loaded_in_a_strict_capture_too(device, mode):
    kernel = compiled.__wrapped__(SOURCE + f"// {mode}").get_kernel("add")
    memory = Memory(LEGACY_DEFAULT_STREAM)
    other = Device(1)
    for place in (device, device, other, other):
        place.set_current()
        try:
            with place.create_graph_builder().begin_building(mode) as builder:
                for _ in range(2):
                    launch(builder, ONE, kernel, memory.address, 1)
                assert builder.is_building
                graph = builder.end_building().complete()
            stream = place.create_stream()
            graph.launch(stream)
            stream.sync()
        finally:
            device.set_current()
    assert value(memory) == 8


@pytest.mark.parametrize("mode", ["GLOBAL", "THREAD_LOCAL"])
@pytest.mark.parametrize("name", [name for name in DURING if name.startswith(("drop", "read", "first use", "load"))])
def test_captures_of_other_libraries_go_on_too(device, mode, name):
    from cuda.bindings import driver

    capturing = device.create_stream()
    kept = before_a_capture(device, capturing)
    begun = driver.cuStreamBeginCapture(
        capturing.handle, getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    )
    try:
        assert begun == (0,)
        DURING[name](device, None, kept, None)
        gc.collect()
    finally:
        error, graph = driver.cuStreamEndCapture(capturing.handle)
    assert error == 0
    driver.cuGraphDestroy(graph)


def test_memory_that_waited_for_a_capture_is_freed_at_its_end(device):
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    for end in ("end_building", "close"):
        builder = device.create_graph_builder()
        memory = resource.allocate(1 << 20, stream=builder.stream)
        builder.begin_building("global")
        memory.close()
        assert builder.is_building and resource.attributes.used_mem_current == 1 << 20
        getattr(builder, end)()
        device.sync()
        assert resource.attributes.used_mem_current == 0


def test_memory_of_the_legacy_stream_does_not_end_the_capture_of_a_blocking_one(device):
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    memory = resource.allocate(1 << 20, stream=LEGACY_DEFAULT_STREAM)
    device.sync()
    blocking = device.create_stream(options=StreamOptions(nonblocking=False))
    with blocking.create_graph_builder() as builder:
        builder.begin_building("global")
        memory.close()
        assert builder.is_building
        assert builder.end_building().complete()
    device.sync()
    assert resource.attributes.used_mem_current == 0


def test_threads_capture_beside_each_other(device, kernel):
    memories = [Memory(LEGACY_DEFAULT_STREAM) for _ in range(4)]

    def work(memory):
        mine = Device(0)
        mine.set_current()
        stream = mine.create_stream()
        for number in range(10):
            builder = mine.create_graph_builder().begin_building("thread_local")
            launch(builder, ONE, kernel("add"), memory.address, number)
            if number % 3 == 0:
                builder.close()
                continue
            run(builder.end_building(), stream)

    threads = [threading.Thread(target=work, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [value(memory) for memory in memories] == [27] * 4


def test_a_builder_that_another_thread_closes(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    thread = threading.Thread(target=builder.close)
    thread.start()
    thread.join()
    assert can_capture(stream)
