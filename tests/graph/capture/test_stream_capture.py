# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captures of streams: calls that must not invalidate them, and streams that no longer capture after any end."""

import gc
import threading
import time
import warnings

import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    CUDAError,
    CUDAWarning,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    PinnedMemoryResource,
    StreamOptions,
    launch,
)
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, Memory, can_capture, value
from support.kernels import HostMemory, compiled
from support.threads import COUNT, in_thread, run_in_threads

SOURCE = 'extern "C" __global__ void add(int* out, int value) { *out += value; }'


def run(builder, stream):
    builder.complete().launch(stream)
    stream.sync()


@pytest.mark.parametrize("way", ["close", "drop", "exception", "cycle"])
def test_capture_ends_with_its_builder_and_keeps_the_stream(stream, kernel, memory, way):
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


def test_capture_outlives_the_users_closed_stream(device, kernel, memory, stream):
    borrowed = device.create_stream()
    builder = borrowed.create_graph_builder().begin_building()
    borrowed.close()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 3


@pytest.mark.parametrize("first", [0, 1], ids=["primary", "fork"])
def test_forks_and_their_origin_close_in_any_order(stream, kernel, memory, first):
    builders = list(stream.create_graph_builder().begin_building().split(2))
    launch(builders[1], ONE, kernel("add"), memory.address, 3)
    builders.pop(first).close()
    builders.pop().close()
    assert can_capture(stream)


@pytest.mark.requires(cuda=(12, 3))
def test_invalidated_capture_is_reported_and_ends(stream, kernel, memory):
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


@pytest.mark.requires(cuda=(12, 3))
def test_capture_ended_outside_its_builder_is_reported(stream):
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


# Calls that the driver rejects, or that would invalidate the capture, on a thread that captures in a strict mode.
CALLS = {
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


def objects_for_calls(device, capturing):
    """Return the objects that CALLS read or drop during a capture."""
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


@pytest.mark.requires(cuda=(13, 0))
@pytest.mark.parametrize("mode", ["global", "thread_local"])
@pytest.mark.parametrize("name", CALLS)
def test_library_calls_do_not_invalidate_strict_captures(device, mode, name):
    # The comment makes the source unique, so that its code is not loaded yet.
    source = (
        SOURCE
        + 'extern "C" __global__ void dynamic(int* out) { extern __shared__ int x[]; x[0] = 1; *out += x[0]; }'
        + f"// {mode} {name}"
    )
    builder = device.create_graph_builder()
    kept = objects_for_calls(device, builder.stream)
    kernel = compiled.__wrapped__(source).get_kernel
    with builder:
        builder.begin_building(mode)
        CALLS[name](device, kernel, kept, builder)
        gc.collect()
        assert builder.is_building
        assert builder.end_building().complete()


@pytest.mark.requires(devices=2)
@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_kernel_of_another_device_is_loaded_in_a_strict_capture(device, mode):
    kernel = compiled.__wrapped__(SOURCE + f"// {mode}").get_kernel("add")
    memory = Memory(LEGACY_DEFAULT_STREAM)
    other = Device(1)
    for current in (device, device, other, other):
        current.set_current()
        try:
            with current.create_graph_builder().begin_building(mode) as builder:
                for _ in range(2):
                    launch(builder, ONE, kernel, memory.address, 1)
                assert builder.is_building
                graph = builder.end_building().complete()
            stream = current.create_stream()
            graph.launch(stream)
            stream.sync()
        finally:
            device.set_current()
    assert value(memory) == 8


@pytest.mark.requires(cuda=(13, 0))
@pytest.mark.parametrize("mode", ["GLOBAL", "THREAD_LOCAL"])
@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith(("drop", "read", "first use", "load"))])
def test_calls_do_not_invalidate_captures_of_other_libraries(device, mode, name):
    from cuda.bindings import driver

    capturing = device.create_stream()
    kept = objects_for_calls(device, capturing)
    begun = driver.cuStreamBeginCapture(
        capturing.handle, getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    )
    try:
        assert begun == (0,)
        CALLS[name](device, None, kept, None)
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


def test_free_on_legacy_stream_keeps_a_blocking_capture_valid(device):
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


def test_threads_capture_at_the_same_time(device, kernel):
    memories = [Memory(LEGACY_DEFAULT_STREAM) for _ in range(COUNT)]

    def work(index):
        mine = Device(0)
        mine.set_current()
        stream = mine.create_stream()
        for number in range(10):
            builder = mine.create_graph_builder().begin_building("thread_local")
            launch(builder, ONE, kernel("add"), memories[index].address, number)
            if number % 3 == 0:
                builder.close()
                continue
            run(builder.end_building(), stream)

    assert run_in_threads(work) == []
    assert [value(memory) for memory in memories] == [27] * COUNT


def test_captures_survive_threads_that_drop_resources(device, kernel):
    """A dropped resource waits for the work of all streams: some of them begin a capture just then."""
    has_ended, end = threading.Event(), time.monotonic() + 0.5

    def drop_resources(number):
        device.set_current()
        pinned, stream, memory = LegacyPinnedMemoryResource(), device.create_stream(), HostMemory(4)
        while not has_ended.is_set():
            launch(stream, ONE, kernel("add"), memory.address, number)
            pinned.allocate(1 << 16).close()

    def capture(number):
        device.set_current()
        stream, memory = device.create_stream(), HostMemory(4)
        try:
            while time.monotonic() < end:
                builder = stream.create_graph_builder().begin_building("relaxed")
                launch(builder, ONE, kernel("add"), memory.address, number)
                builder.end_building().close()
                launch(stream, ONE, kernel("add"), memory.address, number)
        finally:
            has_ended.set()

    with warnings.catch_warnings():
        warnings.simplefilter("error", CUDAWarning)
        assert run_in_threads(lambda number: (capture if number % 2 else drop_resources)(number)) == []


def test_another_thread_can_close_a_builder(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    in_thread(builder.close)
    assert can_capture(stream)
