# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments that every memory resource rejects with a clear error, and still works."""

import copy
import os
import pickle
import socket

import numpy as np
import pytest

from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    Host,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    OutOfMemoryError,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuda.core.utils import copy_batch, discard_batch, prefetch_batch
from support import shared_memory
from support.graphs import capture
from support.kernels import compiled
from support.memory import _SynchronousMemoryResource, read
from support.processes import Child, open_descriptors, start_method

RESOURCES = [
    pytest.param(lambda: DeviceMemoryResource(0), marks=pytest.mark.requires(mempool=True), id="device"),
    pytest.param(lambda: DeviceMemoryResource(0, {}), marks=pytest.mark.requires(mempool=True), id="device-own"),
    pytest.param(PinnedMemoryResource, marks=pytest.mark.requires(host_mempool=True), id="pinned"),
    pytest.param(ManagedMemoryResource, marks=pytest.mark.requires(managed_mempool=True), id="managed"),
    pytest.param(LegacyPinnedMemoryResource, id="legacy"),
    pytest.param(lambda: _SynchronousMemoryResource(0), id="synchronous"),
    pytest.param(lambda: VirtualMemoryResource(0), marks=pytest.mark.requires(vmm=True), id="virtual"),
]


@pytest.fixture(params=RESOURCES)
def resource(request, device, stream):
    """A resource, which is checked to work after the test."""
    resource = request.param()
    yield resource
    with resource.allocate(4096, stream=stream) as buffer:
        buffer.fill(3, stream=stream)
        assert read(buffer, stream)[:4096] == b"\3" * 4096


# Sizes


@pytest.mark.parametrize("size", [-1, -(1 << 80), 1 << 63, 1 << 80])
def test_sizes_out_of_range_are_rejected(resource, stream, size):
    with pytest.raises(OverflowError, match=rf"size must be a number of bytes, from 0 to 2\*\*63 - 1, not {size}"):
        resource.allocate(size, stream=stream)


@pytest.mark.parametrize("size", [1.0, "1", None, b"1", [1]])
def test_non_integer_sizes_are_rejected(resource, stream, size):
    with pytest.raises(TypeError, match=f"size must be an int, a number of bytes, not {type(size).__name__}"):
        resource.allocate(size, stream=stream)


# More than the address space of a process: smaller managed memory is allocated without backing pages.
@pytest.mark.parametrize("size", [1 << 50, 1 << 62, (1 << 63) - 1])
def test_sizes_over_the_memory_are_out_of_memory(resource, device, stream, size):
    with pytest.raises(OutOfMemoryError, match="The device has .* bytes free") as caught:
        resource.allocate(size, stream=stream)
    assert isinstance(caught.value, MemoryError)
    assert 0 < caught.value.free <= caught.value.total < size


def test_allocations_of_0_bytes_have_the_address_0(resource, device, stream):
    with resource.allocate(0, stream=stream) as buffer, resource.allocate(0, stream=stream) as other:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
        assert (buffer.memory_resource, buffer == other) == (resource, True)
        buffer.fill(0, stream=stream)
        buffer.copy_to(other, stream=stream)
        assert buffer.copy_to(stream=stream).size == 0
    assert buffer.is_closed


# Streams


@pytest.mark.parametrize("other", [None, 1, "stream", object()])
def test_streams_of_wrong_type_are_rejected(resource, stream, other):
    if other is not None or isinstance(resource, DeviceMemoryResource | PinnedMemoryResource | ManagedMemoryResource):
        with pytest.raises(TypeError, match=f"stream must be a Stream or a GraphBuilder, not {type(other).__name__}"):
            resource.allocate(8, stream=other)
    with resource.allocate(8, stream=stream) as buffer, pytest.raises(TypeError, match="stream must be"):
        buffer.fill(0, stream=other)


def test_closed_streams_are_rejected(resource, device, stream):
    closed = device.create_stream()
    closed.close()
    with resource.allocate(8, stream=stream) as buffer, resource.allocate(8, stream=stream) as other:
        for use in (
            lambda: resource.allocate(8, stream=closed),
            lambda: resource.deallocate(buffer.handle, 8, stream=closed),
            lambda: buffer.fill(0, stream=closed),
            lambda: buffer.copy_to(other, stream=closed),
            lambda: buffer.copy_to(stream=closed),
            lambda: buffer.copy_from(bytes(8), stream=closed),
            lambda: buffer.set_deallocation_stream(closed),
            lambda: buffer.close(closed),
            lambda: copy_batch(closed, [buffer], [other]),
            lambda: prefetch_batch(closed, [buffer], Host()),
            lambda: discard_batch(closed, [buffer]),
        ):
            with pytest.raises(RuntimeError, match="this Stream is closed"):
                use()
        assert not buffer.is_closed


@pytest.mark.requires(devices=2)
def test_streams_of_another_device_can_order_the_memory(devices, resource):
    devices[1].set_current()
    other = devices[1].create_stream()
    for current in (1, 0):
        devices[current].set_current()
        with resource.allocate(4096, stream=other) as buffer:
            assert buffer.size >= 4096
        other.sync()
    other.close()


@pytest.mark.requires(devices=2)
def test_graph_memory_needs_a_stream_of_its_device(devices):
    devices[1].set_current()
    other = devices[1].create_stream()
    with (
        capture(other) as graph,
        pytest.raises(ValueError, match="stream must be a stream of device 0, not of device 1"),
    ):
        GraphMemoryResource(0).allocate(8, stream=other)
    graph.destroy()
    other.close()
    devices[0].set_current()


# Addresses


def test_foreign_memory_is_not_freed(resource, stream):
    foreign = np.zeros(1 << 20, np.uint8)
    address = (foreign.ctypes.data + 4095) // 4096 * 4096
    for _ in range(2):
        with pytest.raises(CUDAError, match=r"INVALID_VALUE[^$]*\(cuMem"):
            resource.deallocate(address, 4096, stream=stream)
    assert not foreign.any()


def test_second_free_is_an_error(resource, stream, unraisable):
    buffer = resource.allocate(4096, stream=stream)
    resource.deallocate(buffer.handle, buffer.size, stream=stream)
    stream.sync()
    with pytest.raises(CUDAError, match="INVALID_VALUE"):
        resource.deallocate(buffer.handle, buffer.size, stream=stream)
    # close() cannot raise, and reports the error like a destructor.
    buffer.close()
    assert len(unraisable) == 1
    assert "INVALID_VALUE" in unraisable[0].text


@pytest.mark.requires(vmm=True)
def test_buffer_of_another_resource_is_not_grown(resource, stream):
    virtual = VirtualMemoryResource(0)
    with resource.allocate(4096, stream=stream) as buffer, pytest.raises(ValueError, match="buffer of this resource"):
        virtual.modify_allocation(buffer, 8192)


# Closed resources

CLOSED_USES = {
    "allocate": lambda pool, stream: pool.allocate(8, stream=stream),
    "allocate nothing": lambda pool, stream: pool.allocate(0, stream=stream),
    "trim": lambda pool, stream: pool.trim(),
    "attributes": lambda pool, stream: pool.attributes,
    "allocation_count": lambda pool, stream: pool.allocation_count,
    "handle of the pool": lambda pool, stream: pool.allocation_handle,
    "register": lambda pool, stream: pool.register(None),
    "import": lambda pool, stream: Buffer.from_ipc_descriptor(pool, None, stream=stream),
    "pickle": lambda pool, stream: pickle.dumps(pool),
}


@pytest.mark.requires(ipc=True)
@pytest.mark.parametrize("use", CLOSED_USES.values(), ids=CLOSED_USES)
def test_closed_pools_reject_work_and_keep_their_buffers(pool, stream, use):
    buffer = pool.allocate(8, stream=stream)
    pool.close()
    pool.close()
    with pytest.raises(RuntimeError, match="closed|pickled"):
        use(pool, stream)
    assert (pool.is_closed, pool.is_ipc_enabled, pool.uuid, int(pool.handle)) == (True, False, None, 0)
    # Buffers allocated before can still be used.
    buffer.fill(1, stream=stream)
    assert read(buffer, stream) == b"\1" * 8
    with pytest.raises(RuntimeError, match="closed"):
        buffer.copy_to(stream=stream)
    buffer.close()


# Objects that cannot be shared


@pytest.fixture
def things(device, stream):
    """Objects of this process by name."""
    code = compiled('extern "C" __global__ void f() {}')
    kernel, config = code.get_kernel("f"), LaunchConfig(grid=1, block=1)
    pool = DeviceMemoryResource(0, {})
    return {
        "stream": stream,
        "event": stream.record(),
        "context": device.context,
        "kernel": kernel,
        "kernel attributes": kernel.attributes,
        "occupancy": kernel.occupancy,
        "bound kernel": kernel.bind(config, stream=stream),
        "config": config,
        "pool": pool,
        "pool attributes": pool.attributes,
        "peers": pool.peer_accessible_by,
        "buffer": pool.allocate(8, stream=stream),
        "pinned buffer": LegacyPinnedMemoryResource().allocate(8),
        "wrapped memory": Buffer.from_handle(4096, 8),
    }


THINGS = (
    "stream", "event", "context", "kernel", "kernel attributes", "occupancy", "bound kernel", "config", "pool",
    "pool attributes", "peers", "buffer", "pinned buffer", "wrapped memory",
)  # fmt: skip


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("use", [pickle.dumps, copy.deepcopy])
def test_objects_of_this_process_are_not_pickled(things, name, use):
    with pytest.raises((TypeError, RuntimeError), match=r"^(an? )?\w+ (objects )?cannot be pickled"):
        use(things[name])


@pytest.mark.parametrize(
    "make",
    [
        LegacyPinnedMemoryResource,
        lambda: GraphMemoryResource(0),
        lambda: VirtualMemoryResource(0, {"peers": [0]}),
    ],
)
def test_resources_without_a_pool_pickle_as_their_configuration(device, stream, make):
    resource = make()
    same = pickle.loads(pickle.dumps(resource))
    assert type(same) is type(resource)
    assert getattr(same, "config", None) == getattr(resource, "config", None)
    if not isinstance(resource, GraphMemoryResource):
        with resource.allocate(8) as buffer, copy.deepcopy(resource).allocate(8) as other:
            assert buffer.handle != other.handle


# File descriptors


@pytest.fixture
def descriptors(tmp_path):
    """File descriptors of wrong kinds, by name."""
    path = tmp_path / "text"
    path.write_text("no pool")
    ends, pair = os.pipe(), socket.socketpair()
    opened = [os.open(path, os.O_RDONLY), os.open(tmp_path, os.O_RDONLY), os.open(os.devnull, os.O_RDWR), *ends]
    names = ("text file", "folder", "device", "pipe to read", "pipe to write")
    yield {**dict(zip(names, opened, strict=True)), "socket": pair[0].fileno()}
    for descriptor in opened:
        os.close(descriptor)
    for end in pair:
        end.close()


@pytest.mark.requires(ipc=True)
@pytest.mark.parametrize("kind", ["text file", "folder", "device", "pipe to read", "pipe to write", "socket"])
def test_descriptors_of_wrong_kinds_are_rejected(shareable, pool, stream, descriptors, kind):
    before = open_descriptors()
    for _ in range(3):
        with pytest.raises(CUDAError, match=r"\(cuMemPoolImportFromShareableHandle\)"):
            shared_memory.import_pool(shareable, descriptors[kind])
    assert open_descriptors() == before
    assert os.fstat(descriptors[kind])  # still open
    assert shared_memory.import_pool(shareable, int(pool.allocation_handle)).is_mapped


@pytest.mark.requires(ipc=True)
def test_closed_descriptors_are_rejected(shareable, device):
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        shared_memory.import_pool(shareable, descriptor)


@pytest.mark.requires(ipc=True)
def test_messages_of_an_exited_process_are_rejected(shareable, device):
    with start_method("spawn"):
        child = Child()
        try:
            by_multiprocessing, plain, descriptor = child.call(shared_memory.export_messages, shareable)
        finally:
            assert child.stop() == 0
    with pytest.raises(RuntimeError, match="the process that sent it has ended"):
        pickle.loads(by_multiprocessing)
    with pytest.raises(RuntimeError, match="no memory resource is registered"):
        pickle.loads(plain)
    pool = shared_memory.make_pool(shareable)
    with pytest.raises(RuntimeError, match="freed or never exported"):
        Buffer.from_ipc_descriptor(pool, descriptor, stream=Device(0).create_stream())


@pytest.mark.requires(ipc=True)
def test_messages_cannot_be_unpickled_twice(shareable, device):
    with start_method("spawn"):
        child = Child()
        try:
            message, _, _ = child.call(shared_memory.export_messages, shareable)
            buffer = pickle.loads(message)
            with pytest.raises(RuntimeError, match="the same message was unpickled before"):
                pickle.loads(message)
            assert shared_memory.contents(buffer) == b"\7" * 4096
            buffer.close()
            device.sync()  # the importer must be done before the exporter frees the memory
        finally:
            child.stop()


@pytest.mark.requires(device=True)
def test_views_have_at_most_64_axes(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    with pytest.raises(ValueError, match="at most 64 axes are supported, not 1000000"):
        buffer.view(b"\xff" * 1_000_000)


@pytest.mark.parametrize("name", ["addr_hint", "addr_align"])
def test_addresses_of_virtual_memory_above_64_bits_are_rejected(name):
    with pytest.raises(OverflowError, match=f"{name} must be at most"):
        VirtualMemoryResourceOptions(**{name: 1 << 64})


@pytest.mark.parametrize("numa_id", [-1, 1 << 31, 10**5000], ids=["negative", "31 bits", "huge"])
def test_out_of_range_numa_nodes_are_rejected(numa_id):
    for make in (Host, lambda numa_id: PinnedMemoryResourceOptions(numa_id=numa_id)):
        with pytest.raises(ValueError, match="numa_id must be"):
            make(numa_id)


@pytest.mark.requires(device=True, vmm=True)
def test_virtual_memory_config_is_checked_on_assignment(device):
    resource = VirtualMemoryResource(device)
    resource.config = {"granularity": "minimum"}
    assert resource.config.granularity == "minimum"
    with pytest.raises(TypeError, match="virtual memory resource options must be"):
        resource.config = 5
