# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Behaviour of all resources over pools."""

import pickle

import pytest

from cuda.core import ManagedMemoryResource, MemoryResource, PinnedMemoryResource, use_memory_resource
from cuda.core._memory import Buffer, DeviceMemoryResource
from cuda.core._memory._memory_pool import _MemPoolAttributes, check_byte_option
from cuda.core._stream import LEGACY_DEFAULT_STREAM

FLAGS = ("reuse_follow_event_dependencies", "reuse_allow_opportunistic", "reuse_allow_internal_dependencies")
COUNTERS = ("release_threshold", "reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device, {})


@pytest.fixture
def unopened():
    """A resource without a pool, which needs no driver."""
    return DeviceMemoryResource.__new__(DeviceMemoryResource)


def test_attributes_refuse_direct_construction():
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
def test_closed_resource_refuses_work(unopened, use):
    with pytest.raises(RuntimeError, match="closed"):
        use(unopened)


def test_resource_cannot_be_pickled(unopened):
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(unopened)


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), (None, TypeError)])
def test_bad_sizes_are_refused(unopened, size, error):
    with pytest.raises(error, match="size"):
        unopened.allocate(size, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("stream", [None, 1, "stream"])
def test_streams_of_wrong_type_are_refused(unopened, stream):
    with pytest.raises(TypeError, match="stream"):
        unopened.allocate(8, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        unopened.deallocate(4096, 8, stream=stream)


def test_allocate_of_a_python_subclass_is_called_on_the_fast_path(unopened):
    class Counting(DeviceMemoryResource):
        def allocate(self, size, *, stream):
            return Buffer.from_handle(4096, size, owner="counted")

    mr = Counting.__new__(Counting)
    source = Buffer.from_handle(0, 0, mr=mr, stream=None)
    assert source.copy_to(stream=LEGACY_DEFAULT_STREAM).owner == "counted"


@pytest.mark.parametrize("base", [DeviceMemoryResource, ManagedMemoryResource, PinnedMemoryResource])
def test_allocate_of_a_subclass_that_is_a_cython_method_is_called_on_the_fast_path(base):
    class Borrowing(base):
        allocate = MemoryResource.allocate  # a method of Cython, like those of the pools

    source = Buffer.from_handle(0, 0, mr=Borrowing.__new__(Borrowing), stream=None)
    with pytest.raises(TypeError, match=r"Borrowing must define allocate\(\)"):
        source.copy_to(stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.requires(mempool=True)
def test_subclass_without_an_allocate_of_its_own_allocates(device, stream):
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
    with pytest.warns(ResourceWarning):
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
    with pytest.warns(ResourceWarning):
        buffer.close()


@pytest.mark.requires(mempool=True)
def test_allocations_of_0_bytes_have_the_address_0(stream, pool):
    with pool.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    assert buffer.is_closed


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), (None, TypeError)])
def test_trim_refuses_bad_sizes(unopened, size, error):
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


@pytest.mark.parametrize(("value", "error"), [(-1, ValueError), (9, ValueError), (True, TypeError), ("1", TypeError)])
def test_options_of_bytes_are_checked(value, error):
    with pytest.raises(error, match="limit_of_something"):
        check_byte_option("limit_of_something", value, 8)
