# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice about managed memory, as attributes of its buffers."""

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, Host, ManagedBuffer, ManagedMemoryResource
from support.bindings import handle_return
from support.contract import AccessedBySetProxy
from support.memory import HostMemoryResource

managed = pytest.mark.requires(managed_mempool=True)


@pytest.fixture
def buffer(device, stream):
    """Managed memory that belongs to no pool, because drivers reject advice about pool memory."""
    size = 64 << 10
    pointer = handle_return(driver.cuMemAllocManaged(size, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    buffer = ManagedBuffer.from_handle(pointer, size)
    yield buffer
    stream.sync()
    buffer.close()
    handle_return(driver.cuMemFree(pointer))


def test_direct_construction_is_rejected():
    with pytest.raises(RuntimeError, match="ManagedMemoryResource"):
        ManagedBuffer()


def test_wrapped_memory_has_the_class():
    owner = bytearray(8)
    buffer = ManagedBuffer.from_handle(4096, 8, owner=owner)
    assert type(buffer) is ManagedBuffer
    assert (buffer.handle, buffer.size, buffer.owner) == (4096, 8, owner)
    mr = HostMemoryResource()
    mr.blocks[4096] = None
    ManagedBuffer.from_handle(4096, 8, mr).close()
    assert [ptr for ptr, *_ in mr.freed] == [4096]
    assert buffer == Buffer.from_handle(4096, 8)


USES = {
    "read_mostly": lambda b: b.read_mostly,
    "set read_mostly": lambda b: setattr(b, "read_mostly", True),
    "preferred_location": lambda b: b.preferred_location,
    "set preferred_location": lambda b: setattr(b, "preferred_location", Host()),
    "unset preferred_location": lambda b: setattr(b, "preferred_location", None),
    "accessed_by": lambda b: set(b.accessed_by),
    "set accessed_by": lambda b: setattr(b, "accessed_by", []),
    "prefetch": lambda b: b.prefetch(Host(), stream=LEGACY_DEFAULT_STREAM),
    "discard": lambda b: b.discard(stream=LEGACY_DEFAULT_STREAM),
    "discard_prefetch": lambda b: b.discard_prefetch(Host(), stream=LEGACY_DEFAULT_STREAM),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_closed_and_unmanaged_memory_is_rejected(device, use):
    array = np.zeros(8, np.uint8)
    buffer = ManagedBuffer.from_handle(array.ctypes.data, 8, owner=array)
    with pytest.raises(ValueError, match="of managed memory"):
        use(buffer)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        use(buffer)


@managed
def test_read_mostly_is_read_back(buffer):
    assert buffer.read_mostly is False
    buffer.read_mostly = True
    assert buffer.read_mostly is True
    buffer.read_mostly = False
    assert buffer.read_mostly is False


@managed
def test_preferred_location_is_read_back(buffer, device):
    assert buffer.preferred_location is None
    for location in (device, Host()):
        buffer.preferred_location = location
        assert buffer.preferred_location == location
    buffer.preferred_location = None
    assert buffer.preferred_location is None


def test_last_prefetch_location_is_the_target_of_all_pages(buffer, device, stream):
    assert buffer.last_prefetch_location is None
    for location in (device, Host()):
        buffer.prefetch(location, stream=stream)
        stream.sync()
        assert buffer.last_prefetch_location == location
    with pytest.raises(AttributeError):
        buffer.last_prefetch_location = device
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.last_prefetch_location.__class__  # noqa: B018


@pytest.mark.requires(managed_mempool=True, numa_advice=True)
def test_preferred_node_is_read_back(buffer):
    buffer.preferred_location = Host(0)
    assert buffer.preferred_location == Host(0)


@managed
@pytest.mark.parametrize("location", [0, "host", object()])
def test_other_locations_are_rejected(buffer, stream, location):
    with pytest.raises(TypeError, match="location"):
        buffer.preferred_location = location
    with pytest.raises(TypeError, match="location"):
        buffer.prefetch(location, stream=stream)


@managed
def test_no_location_is_rejected(buffer, stream):
    for move in (buffer.prefetch, buffer.discard_prefetch):
        with pytest.raises(ValueError, match="location"):
            move(None, stream=stream)


@managed
def test_accessed_by_is_a_live_set(buffer, device):
    members = buffer.accessed_by
    assert isinstance(members, AccessedBySetProxy)
    assert len(members) == 0
    members.add(device)
    assert device in buffer.accessed_by
    assert set(members) == {device}
    buffer.accessed_by = [Host()]
    assert members == {Host()}
    assert "Host()" in repr(members)
    assert type(members | {device}) is set
    assert members | {device} == {device, Host()}
    members.discard(Host())
    for absent in (Host(), Host(0), 3, None):
        members.discard(absent)
    assert set(members) == set()


@managed
def test_wrong_member_leaves_the_set_unchanged(buffer, device):
    buffer.accessed_by = [device]
    for wrong, error in ((0, TypeError), ("host", TypeError), (Host(0), ValueError), (Host.numa_current(), ValueError)):
        with pytest.raises(error, match="accessed_by"):
            buffer.accessed_by = [Host(), wrong]
        with pytest.raises(error, match="accessed_by"):
            buffer.accessed_by.add(wrong)
    assert buffer.accessed_by == {device}


@managed
def test_contents_survive_migration(device, stream):
    buffer = ManagedMemoryResource({}).allocate(64 << 10, stream=stream)
    memoryview(buffer)[:] = b"\5" * buffer.size
    buffer.prefetch(device, stream=stream)
    copy = buffer.copy_to(stream=stream)
    assert type(copy) is ManagedBuffer
    copy.prefetch(Host(), stream=stream)
    copy.prefetch(Host(0), stream=stream)
    copy.prefetch(Host.numa_current(), stream=stream)
    stream.sync()
    assert set(bytes(memoryview(copy))) == {5}


@managed
def test_discarded_memory_can_be_written_again(buffer, device, stream):
    buffer.discard(stream=stream)
    buffer.discard_prefetch(device, stream=stream)
    buffer.fill(6, stream=stream)
    stream.sync()
    assert set(bytes(memoryview(buffer))) == {6}


@managed
def test_advice_about_an_empty_buffer_is_ignored(device, stream):
    empty = ManagedMemoryResource({}).allocate(0, stream=stream)
    empty.read_mostly = True
    empty.preferred_location = device
    empty.accessed_by = [device]
    empty.prefetch(device, stream=stream)
    assert (empty.read_mostly, empty.preferred_location, set(empty.accessed_by)) == (False, None, set())
