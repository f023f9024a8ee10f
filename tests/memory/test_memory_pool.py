# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What all resources over pools share."""

import pickle

import pytest

from cuda.core._memory import Buffer, DeviceMemoryResource
from cuda.core._memory._memory_pool import _MemPoolAttributes
from cuda.core._stream import LEGACY_DEFAULT_STREAM

FLAGS = ("reuse_follow_event_dependencies", "reuse_allow_opportunistic", "reuse_allow_internal_dependencies")
FIGURES = ("release_threshold", "reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device, {})


@pytest.fixture
def unopened():
    """A resource over no pool at all, which needs no driver."""
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


@pytest.mark.parametrize("use", [lambda mr: mr.allocate(8, stream=LEGACY_DEFAULT_STREAM), lambda mr: mr.attributes])
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
def test_other_streams_are_refused(unopened, stream):
    with pytest.raises(TypeError, match="stream"):
        unopened.allocate(8, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        unopened.deallocate(4096, 8, stream=stream)


def test_python_subclass_is_asked_on_the_fast_path(unopened):
    class Counting(DeviceMemoryResource):
        def allocate(self, size, *, stream):
            return Buffer.from_handle(4096, size, owner="counted")

    mr = Counting.__new__(Counting)
    source = Buffer.from_handle(0, 0, mr=mr, stream=None)
    assert source.copy_to(stream=LEGACY_DEFAULT_STREAM).owner == "counted"


@pytest.mark.requires(mempool=True)
def test_attributes_have_their_types(pool):
    attributes = pool.attributes
    for name in FLAGS:
        assert type(getattr(attributes, name)) is bool
    for name in FIGURES:
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
def test_attributes_repr_lists_all(pool):
    text = repr(pool.attributes)
    assert all(f"{name}=" in text for name in (*FLAGS, *FIGURES))


@pytest.mark.requires(mempool=True)
def test_deallocate_frees_what_was_taken_over(stream, pool):
    buffer = pool.allocate(1 << 20, stream=stream)
    wrapped = Buffer.from_handle(buffer.handle, buffer.size, mr=pool, stream=stream)
    assert wrapped.memory_resource is pool
    with pytest.warns(ResourceWarning):
        # Twice the same address: only the first free succeeds.
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
def test_no_bytes_have_the_address_zero(stream, pool):
    with pool.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    assert buffer.is_closed
