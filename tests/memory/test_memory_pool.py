# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools: attributes, allocation, trimming, and when pools are destroyed."""

import pickle
import threading

import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CUDAWarning,
    DeviceMemoryResource,
    LimitingMemoryResource,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    use_memory_resource,
)
from support.contract import _MemPoolAttributes
from support.internals import has_pending_destructions
from support.interpreter import run
from support.memory import HostMemoryResource
from support.work import busy

FLAGS = ("reuse_follow_event_dependencies", "reuse_allow_opportunistic", "reuse_allow_internal_dependencies")
COUNTERS = ("release_threshold", "reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device, {})


@pytest.fixture
def unopened():
    """A resource without a pool, which needs no driver."""
    return DeviceMemoryResource.__new__(DeviceMemoryResource)


def test_attributes_reject_direct_construction():
    with pytest.raises(RuntimeError, match="attributes"):
        _MemPoolAttributes()


def test_resource_without_pool_is_closed(unopened):
    assert unopened.is_closed
    assert unopened.is_handle_owned is False
    assert int(unopened.handle) == 0
    assert "closed" in repr(unopened)
    unopened.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda mr: mr.allocate(8, stream=LEGACY_DEFAULT_STREAM),
        lambda mr: mr.attributes,
        lambda mr: mr.trim(),
        lambda mr: mr.allocation_count,
    ],
)
def test_closed_resource_rejects_work(unopened, use):
    with pytest.raises(RuntimeError, match="closed"):
        use(unopened)


def test_resource_cannot_be_pickled(unopened):
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(unopened)


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), (None, TypeError)])
def test_bad_sizes_are_rejected(unopened, size, error):
    with pytest.raises(error, match="size"):
        unopened.allocate(size, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("stream", [None, 1, "stream"])
def test_streams_of_wrong_type_are_rejected(unopened, stream):
    with pytest.raises(TypeError, match="stream"):
        unopened.allocate(8, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        unopened.deallocate(4096, 8, stream=stream)


def test_fast_path_calls_allocate_of_a_python_subclass(unopened):
    class Counting(DeviceMemoryResource):
        def allocate(self, size, *, stream):
            return Buffer.from_handle(4096, size, owner="counted")

    mr = Counting.__new__(Counting)
    source = Buffer.from_handle(0, 0, mr=mr, stream=None)
    assert source.copy_to(stream=LEGACY_DEFAULT_STREAM).owner == "counted"


@pytest.mark.parametrize("base", [DeviceMemoryResource, ManagedMemoryResource, PinnedMemoryResource])
def test_fast_path_calls_allocate_that_is_a_cython_method(base):
    class Borrowing(base):
        allocate = MemoryResource.allocate  # a Cython method, like the methods of the pools

    source = Buffer.from_handle(0, 0, mr=Borrowing.__new__(Borrowing), stream=None)
    with pytest.raises(TypeError, match=r"Borrowing must define allocate\(\)"):
        source.copy_to(stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.requires(mempool=True)
def test_subclass_without_its_own_allocate_allocates(device, stream):
    class Named(DeviceMemoryResource):
        name = "mine"

    mr = Named(device)
    with use_memory_resource(mr):
        assert device.allocate(64, stream=stream).memory_resource is mr


@pytest.mark.requires(mempool=True)
def test_attributes_have_their_types(pool):
    attributes = pool.attributes
    for name in FLAGS:
        assert type(getattr(attributes, name)) is bool
    for name in COUNTERS:
        assert type(getattr(attributes, name)) is int
        assert getattr(attributes, name) >= 0


@pytest.mark.requires(mempool=True)
def test_attributes_are_live_and_read_only(stream, pool):
    attributes = pool.attributes
    assert attributes.used_mem_current == 0
    buffer = pool.allocate(1 << 20, stream=stream)
    assert attributes.used_mem_current == attributes.used_mem_high >= 1 << 20
    assert attributes.reserved_mem_current >= attributes.used_mem_current
    buffer.close()
    stream.sync()
    assert (attributes.used_mem_current, attributes.used_mem_high >= 1 << 20) == (0, True)
    with pytest.raises(AttributeError):
        attributes.release_threshold = 1


@pytest.mark.requires(mempool=True)
def test_repr_of_attributes_lists_all(pool):
    text = repr(pool.attributes)
    assert text.startswith("_MemPoolAttributes(reuse_")
    assert all(f"{name}={getattr(pool.attributes, name)}" in text for name in (*FLAGS, *COUNTERS))


@pytest.mark.requires(mempool=True)
def test_wrapped_memory_is_freed_by_its_resource(stream, pool):
    buffer = pool.allocate(1 << 20, stream=stream)
    wrapped = Buffer.from_handle(buffer.handle, buffer.size, mr=pool, stream=stream)
    assert wrapped.memory_resource is pool
    with pytest.warns(CUDAWarning):
        # Both have the same address, so only the first free succeeds.
        wrapped.close()
        stream.sync()
        buffer.close()
    assert pool.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_deallocate_still_works_after_close(stream, pool):
    attributes = pool.attributes
    buffer = pool.allocate(1 << 20, stream=stream)
    pool.close()
    assert pool.is_closed
    pool.close()
    pool.deallocate(buffer.handle, buffer.size, stream=stream)
    stream.sync()
    assert attributes.used_mem_current == 0
    with pytest.warns(CUDAWarning):
        buffer.close()


@pytest.mark.requires(mempool=True)
def test_allocations_of_0_bytes_have_the_address_0(stream, pool):
    with pool.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    assert buffer.is_closed


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), (None, TypeError)])
def test_trim_rejects_bad_sizes(unopened, size, error):
    with pytest.raises(error, match="size"):
        unopened.trim(size)


@pytest.mark.requires(mempool=True)
def test_high_water_marks_can_be_reset(stream, pool):
    attributes = pool.attributes
    pool.allocate(1 << 20, stream=stream).close()
    stream.sync()
    assert attributes.used_mem_high >= 1 << 20
    for name in ("used_mem_high", "reserved_mem_high"):
        with pytest.raises(AttributeError, match=name):
            setattr(attributes, name, 1)
        setattr(attributes, name, 0)
    assert attributes.used_mem_high == 0
    assert attributes.reserved_mem_high == attributes.reserved_mem_current


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("options", [None, {}], ids=["current", "own"])
def test_live_allocations_are_counted(device, stream, options):
    pool = DeviceMemoryResource(device, options)
    attributes = pool.attributes
    assert pool.allocation_count == 0
    buffers = [pool.allocate(size, stream=stream) for size in (8, 8, 0, 1 << 20)]
    assert pool.allocation_count == 3
    assert DeviceMemoryResource(device, options).allocation_count == 0
    capsule = buffers[0].__dlpack__()
    buffers[0].close()
    assert pool.allocation_count == 3
    del capsule
    assert pool.allocation_count == 2
    buffers.clear()
    assert (pool.allocation_count, attributes.release_threshold > 0) == (0, True)


@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (2**64, ValueError), (True, TypeError), ("1", TypeError)]
)
def test_options_of_bytes_are_checked(value, error):
    with pytest.raises(error, match="limit"):
        LimitingMemoryResource(HostMemoryResource(), value)


@pytest.mark.requires(mempool=True)
def test_own_pool_keeps_its_memory_until_it_is_trimmed(stream, pool):
    pool.allocate(8 << 20, stream=stream).close()
    stream.sync()
    assert pool.attributes.reserved_mem_current >= 8 << 20
    pool.trim(1 << 40)
    assert pool.attributes.reserved_mem_current >= 8 << 20
    pool.trim()
    assert pool.attributes.reserved_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_pool_with_a_threshold_of_0_keeps_no_memory(device, stream):
    pool = DeviceMemoryResource(device, {"release_threshold": 0})
    pool.allocate(8 << 20, stream=stream).close()
    stream.sync()
    device.sync()
    assert pool.attributes.reserved_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_own_pool_outlives_its_resource_while_it_has_allocations(stream, pool):
    buffer = pool.allocate(64, stream=stream)
    attributes = pool.attributes
    pool.close()
    buffer.fill(1, stream=stream)
    stream.sync()
    assert attributes.used_mem_current > 0
    buffer.close()
    stream.sync()
    assert attributes.used_mem_current == 0


@pytest.mark.requires(software=True)  # lists the driver calls
def test_pool_is_destroyed_when_its_streams_are_idle(tmp_path):
    trace = tmp_path / "trace"
    code = (
        "import ctypes; from cuda.core import *\n"
        "device = Device(); device.set_current(); stream = device.create_stream(); idle = device.create_stream()\n"
        "source = 'extern \"C\" __global__ void wait(volatile int* p) { p[1] = 1; while (p[0] == 0) {} }'\n"
        "kernel = Program(source, 'c++').compile('cubin').get_kernel('wait')\n"
        "flag = LegacyPinnedMemoryResource().allocate(64); seen = (ctypes.c_int * 2).from_address(int(flag.handle))\n"
        "seen[0] = seen[1] = 0\n"
        f"def destroyed(): return open({str(trace)!r}).read().count('cuMemPoolDestroy')\n"
        "def end(stream):\n"
        "    resource = DeviceMemoryResource(device, {}); buffer = resource.allocate(64, stream=stream)\n"
        "    resource.close(); buffer.close()\n"
        "def look(): pools.append(DeviceMemoryResource(device, {})); print(destroyed())\n"
        "pools = []; end(idle); idle.sync(); look()\n"
        "launch(stream, LaunchConfig(grid=1, block=1), kernel, flag)\n"
        "while not seen[1]: pass\n"
        "end(stream); idle.sync(); look()\n"
        "seen[0] = 1; stream.sync(); look()\n"
    )
    assert run(code, CUDA_EMULATOR_TRACE=str(trace)).split() == ["1", "1", "2"]


def test_threads_make_and_end_pools_while_others_synchronize(device):
    def work():
        device.set_current()
        stream = device.create_stream()
        for _ in range(20):
            with DeviceMemoryResource(device, {}).allocate(64, stream=stream) as buffer:
                buffer.fill(1, stream=stream)
            device.sync()
        done.append(buffer.is_closed)

    done = []
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert done == [True] * 8


def pool_with_pending_free(device, stream):
    pool = DeviceMemoryResource(device, {})
    pool.allocate(64, stream=stream).close()
    return pool


def test_pool_is_destroyed_after_work_of_default_streams(device):
    device.sync()
    with busy(LEGACY_DEFAULT_STREAM) as release:
        pool_with_pending_free(device, LEGACY_DEFAULT_STREAM).close()
        assert has_pending_destructions()
        release()
        LEGACY_DEFAULT_STREAM.sync()
    assert not has_pending_destructions()


def test_pool_is_destroyed_after_the_work_of_closed_streams(device):
    device.sync()
    stream = device.create_stream()
    with busy(stream) as release:
        pool = pool_with_pending_free(device, stream)
        event = stream.record()
        stream.close()
        pool.close()
        assert has_pending_destructions()
        release()
        event.sync()
    device.sync()
    assert not has_pending_destructions()
