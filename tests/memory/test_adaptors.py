# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Behavior of all resources that wrap another one, over host memory, so that most tests need no driver."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CachingMemoryResource,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
)
from support import child_calls
from support.graphs import capture
from support.memory import HostMemoryResource, read, write
from support.processes import Child
from support.threads import in_thread


def limited(upstream):
    return LimitingMemoryResource(upstream, 2**40)


MemoryResourceAdaptor = CachingMemoryResource.__base__
KINDS = [
    MemoryResourceAdaptor,
    CachingMemoryResource,
    limited,
    StatisticsMemoryResource,
    LoggingMemoryResource,
    TrackingMemoryResource,
]
adaptors = pytest.mark.parametrize("adaptor", KINDS)
pairs = pytest.mark.parametrize(("outer", "inner"), [(outer, inner) for outer in KINDS for inner in KINDS])


def finish(mr, upstream):
    """Close a resource, and check that all memory of its upstream is freed."""
    mr.close()
    assert upstream.blocks == {}


@adaptors
def test_adaptor_has_the_properties_of_its_upstream(adaptor):
    upstream = HostMemoryResource()
    upstream.attributes = "attributes"
    mr = adaptor(upstream)
    assert mr.upstream is upstream
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.is_managed, mr.device_id) == (False, True, False, -1)
    assert mr.attributes == "attributes"
    assert type(upstream).__name__ in repr(mr)
    assert weakref.ref(mr)() is mr


@adaptors
def test_attributes_that_the_upstream_lacks_are_missing(adaptor):
    with pytest.raises(AttributeError, match="attributes"):
        assert adaptor(HostMemoryResource()).attributes


@adaptors
@pytest.mark.parametrize("upstream", [None, 0, "mr", object(), HostMemoryResource])
def test_other_upstreams_are_rejected(adaptor, upstream):
    with pytest.raises(TypeError, match="upstream must be a MemoryResource"):
        adaptor(upstream)


@adaptors
def test_upstream_without_its_properties_is_rejected(adaptor):
    with pytest.raises(TypeError, match="is_device_accessible"):
        adaptor(MemoryResource())


def test_subclass_must_call_the_base_constructor():
    class Uninitialized(StatisticsMemoryResource):
        def __init__(self):
            pass

    mr = Uninitialized()
    for use in (lambda: mr.allocate(8, stream=LEGACY_DEFAULT_STREAM), lambda: mr.device_id, lambda: mr.upstream):
        with pytest.raises(RuntimeError, match=r"super\(\).__init__"):
            use()


@adaptors
def test_buffer_belongs_to_the_outer_resource(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    buffer = mr.allocate(100, stream=LEGACY_DEFAULT_STREAM)
    assert buffer.memory_resource is mr
    assert (buffer.size, buffer.is_host_accessible, buffer.device_id) == (100, True, -1)
    np.asarray(buffer)[:] = 7
    assert bytes(memoryview(buffer)) == b"\7" * 100
    buffer.close()
    assert (buffer.handle, buffer.size, buffer.memory_resource) == (0, 0, None)
    finish(mr, upstream)


@pairs
def test_any_two_can_be_stacked(outer, inner):
    upstream = HostMemoryResource()
    middle = inner(upstream)
    mr = outer(middle)
    with mr.allocate(100, stream=LEGACY_DEFAULT_STREAM) as buffer:
        assert (buffer.memory_resource, buffer.size) == (mr, 100)
    mr.close()
    finish(middle, upstream)


@adaptors
def test_allocations_of_0_bytes_are_passed_on(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    buffer = mr.allocate(0, stream=LEGACY_DEFAULT_STREAM)
    assert (buffer.size, buffer.is_closed, buffer.memory_resource) == (0, False, mr)
    buffer.close()
    finish(mr, upstream)


@adaptors
@pytest.mark.parametrize(
    ("size", "error"), [(-1, OverflowError), (1 << 64, OverflowError), (1.5, TypeError), ("1", TypeError)]
)
def test_bad_sizes_are_rejected(adaptor, size, error):
    with pytest.raises(error):
        adaptor(HostMemoryResource()).allocate(size, stream=LEGACY_DEFAULT_STREAM)


@adaptors
@pytest.mark.parametrize("stream", [None, 1, "stream"])
def test_other_streams_are_rejected(adaptor, stream):
    with pytest.raises(TypeError, match="stream"):
        adaptor(HostMemoryResource()).allocate(8, stream=stream)


@adaptors
def test_closed_resource_allocates_no_more(adaptor):
    mr = adaptor(HostMemoryResource())
    assert mr.is_closed is False
    with mr as same:
        assert same is mr
    assert mr.is_closed is True
    mr.close()
    assert "closed" in repr(mr)
    for user in (mr, StatisticsMemoryResource(mr)):
        with pytest.raises(RuntimeError, match="closed"):
            user.allocate(8, stream=LEGACY_DEFAULT_STREAM)


@adaptors
@pytest.mark.filterwarnings("ignore:not freed")
def test_buffers_outlive_the_resource(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    buffers = [mr.allocate(size, stream=LEGACY_DEFAULT_STREAM) for size in (10, 10000)]
    mr.close()
    del mr
    assert len(upstream.blocks) == 2
    for buffer in buffers:
        buffer.close()
    assert upstream.blocks == {}


@adaptors
def test_dropped_resource_frees_its_cached_memory(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    mr.allocate(10, stream=LEGACY_DEFAULT_STREAM).close()
    alive = weakref.ref(mr)
    del mr
    gc.collect()
    assert alive() is None
    assert upstream.blocks == {}


@adaptors
def test_memory_is_not_reused_while_dlpack_consumers_have_it(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    buffer = mr.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    array = np.from_dlpack(buffer)
    buffer.close()
    other = mr.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    assert other.handle != array.ctypes.data
    other.close()
    del array
    finish(mr, upstream)


@adaptors
def test_error_of_the_upstream_is_raised_and_leaks_nothing(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    upstream.error = ZeroDivisionError("midway")
    with pytest.raises(ZeroDivisionError, match="midway"):
        mr.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    upstream.error = None
    mr.allocate(64, stream=LEGACY_DEFAULT_STREAM).close()
    finish(mr, upstream)


@adaptors
@pytest.mark.parametrize("result", [None, 4096])
def test_upstream_that_returns_no_buffer_is_an_error(adaptor, result):
    class Wrong(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return result

    with pytest.raises(TypeError, match="Wrong.allocate.* must return a Buffer"):
        adaptor(Wrong()).allocate(8, stream=LEGACY_DEFAULT_STREAM)


@adaptors
def test_upstream_that_returns_a_closed_buffer_is_an_error(adaptor):
    class Wrong(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            buffer = super().allocate(size, stream=stream)
            buffer.close()
            return buffer

    with pytest.raises(RuntimeError, match="Wrong.allocate.* returned a closed Buffer"):
        adaptor(Wrong()).allocate(8, stream=LEGACY_DEFAULT_STREAM)


class ShortMemoryResource(HostMemoryResource):
    def allocate(self, size, *, stream=None):
        return super().allocate(size // 2, stream=stream)


@adaptors
def test_upstream_that_returns_too_small_a_buffer_is_an_error(adaptor):
    with pytest.raises(RuntimeError, match=r"ShortMemoryResource.allocate\(\) returned a Buffer of \d+ bytes"):
        adaptor(ShortMemoryResource()).allocate(512, stream=LEGACY_DEFAULT_STREAM)


def test_copy_to_a_too_small_new_buffer_is_rejected():
    buffer = ShortMemoryResource().allocate(128)
    with pytest.raises(RuntimeError, match="ShortMemoryResource.* 32 bytes, but the requested size is 64 bytes"):
        buffer.copy_to(stream=LEGACY_DEFAULT_STREAM)


@adaptors
def test_error_in_deallocate_is_reported_and_not_raised(adaptor, unraisable):
    class Wrong(HostMemoryResource):
        def deallocate(self, ptr, size, *, stream):
            super().deallocate(ptr, size, stream=stream)
            raise ZeroDivisionError("in deallocate")

    upstream = Wrong()
    mr = adaptor(upstream)
    mr.allocate(8, stream=LEGACY_DEFAULT_STREAM).close()
    mr.close()
    assert [report.text for report in unraisable] == ["in deallocate"]
    assert upstream.blocks == {}


@adaptors
def test_deallocate_calls_the_upstream(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    address = upstream.allocate(8).handle
    assert upstream.freed
    upstream.blocks[address] = None
    Buffer.from_handle(address, 8, mr=mr).close()
    assert upstream.blocks == {}


@adaptors
def test_adaptor_cannot_be_pickled_or_copied(adaptor):
    mr = adaptor(HostMemoryResource())
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(RuntimeError, match="cannot be pickled"):
            attempt(mr)


@adaptors
def test_buffers_are_not_shared_with_processes(adaptor):
    buffer = adaptor(HostMemoryResource()).allocate(8, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(RuntimeError, match="not shared"):
        assert buffer.ipc_descriptor
    buffer.close()


@adaptors
def test_outer_adaptors_call_allocate_of_a_python_subclass(adaptor):
    base = LimitingMemoryResource if adaptor is limited else adaptor

    class Counting(base):
        count = 0

        def allocate(self, size, *, stream):
            self.count += 1
            return super().allocate(size, stream=stream)

    mr = Counting(HostMemoryResource(), 2**20) if base is LimitingMemoryResource else Counting(HostMemoryResource())
    outer = StatisticsMemoryResource(mr)
    outer.allocate(8, stream=LEGACY_DEFAULT_STREAM).close()
    assert mr.count == 1
    mr.close()


@adaptors
def test_threads_allocate_and_free_each_others_memory(adaptor):
    upstream = HostMemoryResource()
    mr = adaptor(upstream)
    handed = [[] for _ in range(4)]

    def work(number):
        for i in range(200):
            buffer = mr.allocate(100 + 1000 * (i % 5), stream=LEGACY_DEFAULT_STREAM)
            memoryview(buffer)[:4] = bytes([number, i, 1, 2])
            assert bytes(memoryview(buffer)[:4]) == bytes([number, i, 1, 2])
            handed[(number + 1) % 4].append(buffer)
            if handed[number]:
                handed[number].pop().close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handed.clear()
    finish(mr, upstream)


@adaptors
def test_free_during_an_exception_keeps_the_exception(adaptor):
    mr = adaptor(HostMemoryResource())

    def fail():
        buffer = mr.allocate(8, stream=LEGACY_DEFAULT_STREAM)
        raise ZeroDivisionError(buffer.size)

    with pytest.raises(ZeroDivisionError, match="8"):
        fail()
    mr.close()


# --- With a device ---------------------------------------------------------------------------------


@adaptors
def test_memory_of_a_device_holds_data(device, stream, adaptor):
    mr = adaptor(device.memory_resource)
    assert (mr.device_id, mr.is_device_accessible, mr.is_host_accessible) == (0, True, False)
    for _ in range(3):
        buffer = mr.allocate(256, stream=stream)
        write(buffer, bytes(range(256)), stream)
        assert read(buffer, stream) == bytes(range(256))
        assert buffer.__dlpack_device__() == (2, 0)
        buffer.close()
    mr.close()


@adaptors
def test_copy_without_destination_allocates_from_outer_resource(device, stream, adaptor):
    mr = adaptor(device.memory_resource)
    source = mr.allocate(64, stream=stream)
    source.fill(3, stream=stream)
    target = source.copy_to(stream=stream)
    assert target.memory_resource is mr
    assert read(target, stream) == b"\3" * 64
    source.close()
    target.close()
    mr.close()


@adaptors
@pytest.mark.requires(mempool=True)
def test_closed_pool_rejects_to_allocate_for_the_adaptor(device, stream, adaptor):
    pool = DeviceMemoryResource(device, {})
    mr = adaptor(pool)
    pool.close()
    with pytest.raises(RuntimeError, match="DeviceMemoryResource is closed"):
        mr.allocate(64, stream=stream)


@adaptors
@pytest.mark.requires(mempool=True)
def test_memory_is_freed_after_its_pool_was_closed(device, stream, adaptor):
    pool = DeviceMemoryResource(device, {})
    attributes = pool.attributes
    mr = adaptor(pool)
    buffer = mr.allocate(4096, stream=stream)
    pool.close()
    buffer.close()
    mr.close()
    stream.sync()
    assert attributes.used_mem_current == 0


@adaptors
@pytest.mark.requires(mempool=True)
def test_memory_is_freed_on_the_stream_of_the_close(device, stream, adaptor):
    pool = DeviceMemoryResource(device, {})
    mr = adaptor(pool)
    first = device.create_stream()
    buffer = mr.allocate(4096, stream=first)
    other = mr.allocate(4096, stream=first)
    other.set_deallocation_stream(stream)
    buffer.close(stream)
    other.close()
    first.close()
    mr.close()
    stream.sync()
    assert pool.allocation_count == 0
    assert pool.attributes.used_mem_current == 0


@adaptors
@pytest.mark.requires(mempool=True)
def test_threads_without_a_context_free_memory(device, stream, adaptor):
    pool = DeviceMemoryResource(device, {})
    mr = adaptor(pool)
    held = [mr.allocate(4096, stream=LEGACY_DEFAULT_STREAM), mr.allocate(4096, stream=stream)]
    in_thread(held.clear)
    in_thread(mr.close)
    device.sync()
    assert pool.attributes.used_mem_current == 0


@adaptors
@pytest.mark.requires(mempool=True)
def test_default_stream_without_context_is_rejected(device, adaptor):
    mr = adaptor(device.memory_resource)
    with pytest.raises(RuntimeError, match="set_current"):
        in_thread(lambda: mr.allocate(64, stream=LEGACY_DEFAULT_STREAM))


@adaptors
@pytest.mark.requires(mempool=True)
def test_memory_of_a_graph_is_allocated_through_the_adaptor(device, stream, adaptor):
    mr = adaptor(GraphMemoryResource(0))
    with pytest.raises(RuntimeError, match="must be capturing"):
        mr.allocate(64, stream=stream)
    result = device.allocate(4096, stream=stream)
    stream.sync()
    with capture(stream) as graph:
        buffer = mr.allocate(4096, stream=stream)
        assert (buffer.memory_resource, buffer.size) == (mr, 4096)
        buffer.fill(7, stream=stream)
        result.copy_from(buffer, stream=stream)
        buffer.close()
    assert graph.node_kinds() == ["MEMCPY", "MEMSET", "MEM_ALLOC", "MEM_FREE"]
    graph.launch(stream)
    assert read(result, stream) == b"\7" * 4096
    graph.destroy()


@adaptors
@pytest.mark.requires(managed_mempool=True)
def test_managed_memory_stays_managed(device, stream, adaptor):
    mr = adaptor(ManagedMemoryResource())
    for _ in range(2):
        buffer = mr.allocate(4096, stream=stream)
        assert isinstance(buffer, ManagedBuffer)
        assert buffer.is_managed
        assert mr.is_managed
        buffer.prefetch(device, stream=stream)
        buffer.close()
    mr.close()


@adaptors
def test_pinned_memory_is_allocated_through_the_adaptor(device, stream, adaptor):
    mr = adaptor(LegacyPinnedMemoryResource())
    with mr.allocate(64, stream=stream) as buffer:
        buffer.fill(5, stream=stream)
        stream.sync()
        assert bytes(memoryview(buffer)) == b"\5" * 64
    assert mr.device_id == -1
    mr.close()


@adaptors
@pytest.mark.requires(vmm=True)
def test_virtual_memory_is_allocated_through_the_adaptor(device, stream, adaptor):
    mr = adaptor(VirtualMemoryResource(device))
    with mr.allocate(100, stream=stream) as buffer:
        assert buffer.size >= 100
        write(buffer, bytes(buffer.size), stream)
    mr.close()


@adaptors
@pytest.mark.requires(mempool=True, software=True)
@pytest.mark.parametrize("call", ["cuMemAllocFromPoolAsync", "cuStreamIsCapturing", "cuCtxGetCurrent"])
def test_failing_driver_call_leaks_nothing(device, stream, adaptor, call):
    from cuda import emulator

    pool = DeviceMemoryResource(device, {})
    mr = adaptor(pool)
    target = LEGACY_DEFAULT_STREAM if call == "cuCtxGetCurrent" else stream
    gc.collect()  # what other tests have left is not released in between, whose calls would fail as well
    with emulator.fail(call, "CUDA_ERROR_UNKNOWN") as plan, pytest.raises(Exception, match="UNKNOWN"):
        mr.allocate(64, stream=target)
    assert plan.fired
    mr.allocate(64, stream=target).close()
    mr.close()
    device.sync()
    assert pool.attributes.used_mem_current == 0


def exit_with_memory_in_use(kind):
    """Return the exit status and the messages of a process that exits with memory of an adaptor in use."""
    code = (
        "from cuda.core import *\n"
        "from cuda.core import LEGACY_DEFAULT_STREAM\n"
        "device = Device(0); device.set_current(); stream = device.create_stream()\n"
        f"outer = {kind}\n"
        "cached = outer.allocate(100, stream=stream); cached.close()\n"
        "left = [outer.allocate(100, stream=s) for s in (stream, LEGACY_DEFAULT_STREAM)]\n"
        "import sys; sys.left = [outer, *left]\n"
    )
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    return done.returncode, done.stderr


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize(
    "kind",
    [
        "CachingMemoryResource(TrackingMemoryResource(device.memory_resource))",
        "StatisticsMemoryResource(CachingMemoryResource(LimitingMemoryResource(DeviceMemoryResource(0, {}), 9999)))",
        "LoggingMemoryResource(CachingMemoryResource(LegacyPinnedMemoryResource()))",
    ],
)
def test_interpreter_exits_with_memory_in_use(device, kind):
    assert exit_with_memory_in_use(kind) == (0, "")


def test_forked_child_leaves_the_memory_of_its_parent_alone(device):
    # In a child process without threads, because a fork copies only the calling thread.
    child = Child()
    assert child.call(child_calls.allocate_after_fork) == (0, False, 512)
    assert child.stop() == 0


@pytest.mark.parametrize(
    "upstream", [LegacyPinnedMemoryResource, lambda: VirtualMemoryResource(0)], ids=["host", "virtual"]
)
@adaptors
def test_no_stream_is_needed_over_a_resource_that_needs_none(device, adaptor, upstream):
    mr = adaptor(adaptor(upstream()))
    for arguments in ({}, {"stream": None}):
        with mr.allocate(64, **arguments) as buffer:
            assert buffer.size >= 64
            assert buffer.memory_resource is mr


@pytest.mark.requires(mempool=True)
@adaptors
def test_stream_is_needed_over_a_resource_that_needs_one(device, adaptor):
    with pytest.raises(TypeError, match="stream must be a Stream"):
        adaptor(DeviceMemoryResource(device)).allocate(64)
