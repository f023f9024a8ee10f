# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of graphs, captured through the bindings."""

import gc
import pickle
import threading

import pytest

from cuda.core import GraphMemoryResource
from support.contract import GraphMemoryResourceAttributes
from support.graphs import capture
from support.memory import read

MIB = 1 << 20
COUNTERS = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")


@pytest.fixture
def resource(device):
    """The resource, without reserved but unused memory."""
    resource = GraphMemoryResource(device)
    gc.collect()
    device.sync()
    resource.trim()
    return resource


@pytest.fixture
def used(resource):
    """The bytes that graphs of other tests allocated and did not free."""
    return resource.attributes.used_mem_current


def test_there_is_one_resource_per_device(device):
    assert GraphMemoryResource(device) is GraphMemoryResource(0)
    assert pickle.loads(pickle.dumps(GraphMemoryResource(0))) is GraphMemoryResource(0)
    found = []
    threads = [threading.Thread(target=lambda: found.append(GraphMemoryResource(0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(map(id, found)) == {id(GraphMemoryResource(0))}


@pytest.mark.parametrize(
    ("device_id", "error"), [(-1, ValueError), (1000, ValueError), ("0", TypeError), (None, TypeError)]
)
def test_other_devices_are_rejected(device, device_id, error):
    with pytest.raises(error, match="device_id"):
        GraphMemoryResource(device_id)


def test_resource_has_the_properties_of_device_memory(device, resource, used):
    assert (resource.device_id, resource.is_device_accessible, resource.is_host_accessible) == (0, True, False)
    assert resource.is_managed is False
    assert "device 0" in repr(resource)
    resource.close()
    assert resource.attributes.used_mem_current == used


@pytest.mark.parametrize("size", [0, 64])
def test_noncapturing_stream_is_rejected(stream, resource, size):
    with pytest.raises(RuntimeError, match="must be capturing"):
        resource.allocate(size, stream=stream)


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), ("1", TypeError)])
def test_bad_sizes_are_rejected(stream, resource, size, error):
    with pytest.raises(error, match="size"):
        resource.allocate(size, stream=stream)


def test_missing_stream_is_rejected(resource):
    with pytest.raises(TypeError, match="stream"):
        resource.allocate(64, stream=None)


@pytest.mark.requires(devices=2)
def test_stream_of_another_device_is_rejected(devices, resource):
    devices[1].set_current()
    other = devices[1].create_stream()
    devices[0].set_current()
    with pytest.raises(ValueError, match="device 1"):
        resource.allocate(64, stream=other)


@pytest.mark.requires(mempool=True)
def test_memory_is_allocated_and_freed_by_nodes(device, stream, resource):
    result = device.allocate(4096, stream=stream)
    stream.sync()
    with capture(stream) as graph:
        buffer = resource.allocate(4096, stream=stream)
        assert (buffer.memory_resource, buffer.size, buffer.device_id) == (resource, 4096, 0)
        buffer.fill(7, stream=stream)
        result.copy_from(buffer, stream=stream)
        buffer.close()
    assert graph.node_kinds() == ["MEMCPY", "MEMSET", "MEM_ALLOC", "MEM_FREE"]
    graph.launch(stream)
    assert read(result, stream) == b"\7" * 4096
    graph.launch(stream)
    graph.destroy()


@pytest.mark.requires(mempool=True)
def test_allocations_of_0_bytes_need_no_node(stream, resource):
    with capture(stream) as graph:
        buffer = resource.allocate(0, stream=stream)
        assert (buffer.handle, buffer.size) == (0, 0)
        buffer.close()
    assert graph.node_kinds() == []
    graph.destroy()


@pytest.mark.requires(mempool=True)
def test_deallocate_adds_a_node(stream, resource):
    with capture(stream) as graph:
        buffer = resource.allocate(4096, stream=stream)
        resource.deallocate(buffer.handle, buffer.size, stream=stream)
    assert graph.node_kinds() == ["MEM_ALLOC", "MEM_FREE"]
    graph.destroy()
    # The graph is destroyed and was never launched, so there is no memory to free.
    buffer.close()
    assert buffer.is_closed


@pytest.mark.requires(mempool=True)
def test_buffer_dropped_before_any_launch_frees_nothing(stream, resource, used):
    with capture(stream) as graph:
        buffer = resource.allocate(4096, stream=stream)
    del buffer
    gc.collect()
    assert graph.node_kinds() == ["MEM_ALLOC"]
    assert resource.attributes.used_mem_current == used
    graph.destroy()


@pytest.mark.requires(mempool=True)
def test_buffer_closed_after_a_launch_frees_the_memory(stream, resource, used):
    with capture(stream) as graph:
        buffer = resource.allocate(MIB, stream=stream)
    graph.launch(stream)
    assert resource.attributes.used_mem_current >= used + MIB
    buffer.close()
    stream.sync()
    graph.destroy()
    # Memory reserved for graphs counts as used until it is trimmed.
    resource.trim()
    assert resource.attributes.used_mem_current == used


@pytest.mark.requires(mempool=True)
def test_attributes_count_the_memory(stream, resource, used):
    attributes = resource.attributes
    attributes.used_mem_high = 0
    with capture(stream) as graph:
        resource.allocate(MIB, stream=stream).close()
    graph.launch(stream)
    stream.sync()
    assert attributes.used_mem_high >= attributes.used_mem_current >= used + MIB
    assert attributes.reserved_mem_high >= attributes.reserved_mem_current >= used + MIB
    graph.destroy()
    resource.trim()
    attributes.used_mem_high = 0
    assert (attributes.used_mem_current, attributes.used_mem_high) == (used, used)
    attributes.reserved_mem_high = 0
    assert attributes.reserved_mem_current == attributes.reserved_mem_high
    assert used > 0 or attributes.reserved_mem_current == 0


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_are_ints_and_can_only_be_set_to_0(resource, name):
    attributes = resource.attributes
    assert type(getattr(attributes, name)) is int
    assert f"{name}=" in repr(attributes)
    with pytest.raises(AttributeError):
        setattr(attributes, name, 3)


def test_attributes_reject_direct_construction():
    with pytest.raises(RuntimeError, match="use"):
        GraphMemoryResourceAttributes()
