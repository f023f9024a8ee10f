# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory that several processes map."""

import gc
import multiprocessing
import os
import pickle
import socket

import pytest

from cuda.core import Buffer, CUDAError, DeviceMemoryResource, VirtualMemoryBuffer, VirtualMemoryResource
from support import shared_memory
from support.contract import VirtualMemoryFabricBufferDescriptor, VirtualMemoryIPCBufferDescriptor
from support.memory import read
from support.processes import Child, open_descriptors
from support.shared_memory import put
from support.threads import close_beside

pytestmark = [
    pytest.mark.usefixtures("spawned"),
    pytest.mark.requires(vmm=True, property="handle_type_posix_file_descriptor_supported"),
]


@pytest.fixture
def resource(device):
    """A resource whose memory other processes can map."""
    return VirtualMemoryResource(device)


@pytest.fixture
def buffer(resource):
    """Virtual memory filled with the byte 1."""
    with resource.allocate(1) as buffer:
        put(buffer, 1)
        yield buffer


@pytest.fixture
def child():
    """Another process."""
    child = Child()
    yield child
    assert child.stop() == 0


def first_bytes(buffer, stream):
    """Return the first two bytes of a buffer."""
    return read(buffer, stream)[:2]


def test_buffers_are_sent_to_other_processes(child, buffer, stream):
    before, is_mapped, size = child.call(shared_memory.read_and_answer, buffer, 3)
    assert (before[:2], is_mapped, size) == (b"\1\1", True, buffer.size)
    assert first_bytes(buffer, stream) == b"\3\3"
    assert not buffer.is_mapped


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_buffers_are_arguments_of_new_processes(resource, buffer, stream, method):
    process = multiprocessing.get_context(method).Process(target=shared_memory.put, args=(buffer, 8))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert first_bytes(buffer, stream) == b"\10\10"


def test_imported_buffers_outlive_the_exporter(child, resource, stream):
    with resource.allocate(1) as buffer:
        put(buffer, 5)
        child.call(shared_memory.keep, "virtual", buffer)
    assert child.call(shared_memory.kept_contents, "virtual", 2) == b"\5\5"
    child.call(shared_memory.close_kept, "virtual")


def test_buffers_of_several_allocations_are_shared(child, resource, buffer, stream):
    with resource.modify_allocation(buffer, buffer.size * 3) as grown:
        put(grown, 6)
        descriptor = grown.ipc_descriptor
        assert len(descriptor.sizes) == len(descriptor.handles) == len(descriptor.fds) == 2
        assert (sum(descriptor.sizes), descriptor.size) == (grown.size, grown.size)
        before, _, size = child.call(shared_memory.read_and_answer, grown, 7)
        assert (before, size) == (b"\6" * grown.size, grown.size)
        assert read(grown, stream) == b"\7" * grown.size


def test_process_can_import_its_own_memory(resource, buffer, stream):
    with Buffer.from_ipc_descriptor(resource, buffer.ipc_descriptor, stream=stream) as other:
        assert type(other) is VirtualMemoryBuffer
        assert (other.is_mapped, other.size, other.memory_resource) == (True, buffer.size, resource)
        assert other.handle != buffer.handle
        put(other, 9)
        assert first_bytes(buffer, stream) == b"\11\11"


def test_imported_memory_larger_than_its_buffer_grows(resource, stream):
    with resource.allocate(1) as first, resource.modify_allocation(first, 2 * first.size) as buffer:
        unit = first.size
        put(buffer, 4)
        source = buffer.ipc_descriptor
        part = VirtualMemoryIPCBufferDescriptor.from_fds(source.fds, source.sizes, size=unit)
        with Buffer.from_ipc_descriptor(resource, part, stream=stream) as other:
            assert other.size == unit
            for factor in (2, 3):
                with resource.modify_allocation(other, factor * unit) as grown:
                    assert grown.size == factor * unit
                    assert set(read(grown, stream)[: 2 * unit]) == {4}


def test_descriptors_are_rebuilt_from_their_files(resource, buffer, stream):
    source = buffer.ipc_descriptor
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], list(source.fds))
    _, received, _, _ = socket.recv_fds(ends[1], 1, 4)
    descriptor = VirtualMemoryIPCBufferDescriptor.from_fds(received, source.sizes, size=4096)
    source.close()
    for item in received:
        os.close(item)  # the descriptor has its own
    for end in ends:
        end.close()
    assert (descriptor.handle_type, descriptor.size, descriptor.sizes) == ("posix_fd", 4096, (buffer.size,))
    with Buffer.from_ipc_descriptor(resource, descriptor, stream=stream) as other:
        assert read(other, stream) == b"\1" * 4096


def test_descriptor_keeps_the_memory(resource, stream):
    buffer = resource.allocate(1)
    put(buffer, 4)
    descriptor = buffer.ipc_descriptor
    buffer.close()
    with Buffer.from_ipc_descriptor(resource, descriptor, stream=stream) as other:
        assert first_bytes(other, stream) == b"\4\4"


def test_descriptors_own_their_files(resource, buffer):
    gc.collect()
    before = open_descriptors()
    descriptors = [buffer.ipc_descriptor for _ in range(5)]
    assert open_descriptors() == before + 5
    descriptors[0].close()
    descriptors[0].close()
    with pytest.raises(ValueError, match="closed"):
        descriptors[0].fds  # noqa: B018
    del descriptors
    assert open_descriptors() == before


def test_only_multiprocessing_pickles_file_descriptors(buffer):
    with pytest.raises(TypeError, match="multiprocessing"):
        pickle.dumps(buffer.ipc_descriptor)
    with pytest.raises(TypeError, match="multiprocessing"):
        pickle.dumps(buffer)
    ends = multiprocessing.get_context("spawn").Pipe()
    ends[0].send(buffer.ipc_descriptor)
    assert ends[1].recv().sizes == (buffer.size,)


def test_failed_imports_leave_nothing(resource, buffer, stream):
    gc.collect()
    before = open_descriptors()
    source = buffer.ipc_descriptor
    wrong = VirtualMemoryIPCBufferDescriptor.from_fds(source.fds, [source.size * 2])
    with open(os.devnull) as file:
        foreign = VirtualMemoryIPCBufferDescriptor.from_fds([file.fileno()], [source.size])
    closed = buffer.ipc_descriptor
    closed.close()
    for descriptor, error in ((wrong, CUDAError), (foreign, CUDAError), (closed, ValueError)):
        for _ in range(3):
            with pytest.raises(error):
                Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    del source, wrong, foreign, closed
    assert open_descriptors() == before


def test_wrong_descriptors_are_rejected(device, resource, buffer, stream):
    for value in (None, 3, b"x", object()):
        with pytest.raises(TypeError, match="must be of virtual memory"):
            Buffer.from_ipc_descriptor(resource, value, stream=stream)
    with pytest.raises(RuntimeError, match="not shared between processes"):
        Buffer.from_ipc_descriptor(DeviceMemoryResource(device), buffer.ipc_descriptor, stream=stream)
    for kind in (VirtualMemoryIPCBufferDescriptor, VirtualMemoryFabricBufferDescriptor):
        with pytest.raises(RuntimeError, match=r"use Buffer\.ipc_descriptor"):
            kind()


@pytest.mark.parametrize(
    ("fds", "sizes", "size", "error", "text"),
    [
        ([0], [], None, ValueError, "one size for each"),
        ([], [], None, ValueError, "at least one handle"),
        ([0], [1, 2], None, ValueError, "one size for each"),
        ([0], [8], 9, ValueError, "size must be from 1 to the sum"),
        ([0], [8], 0, ValueError, "size must be from 1 to the sum"),
        ([0], [-1], None, OverflowError, "size"),
        ([0], ["8"], None, TypeError, "size"),
        ([-1], [8], None, ValueError, "at least 0"),
        ([True], [8], None, TypeError, "file descriptor"),
        ([1 << 40], [8], None, OverflowError, "file descriptor"),
        ([1 << 20], [8], None, OSError, "Bad file descriptor"),
    ],
)
def test_wrong_files_are_rejected(fds, sizes, size, error, text):
    with pytest.raises(error, match=text):
        VirtualMemoryIPCBufferDescriptor.from_fds(fds, sizes, size=size)


def test_fabric_descriptors_are_pickled():
    descriptor = VirtualMemoryFabricBufferDescriptor.from_handles([bytes(64), b"\1" * 64], [8, 8], owner_uuid="me")
    copy = pickle.loads(pickle.dumps(descriptor))
    assert copy.__reduce__()[1] == ((bytes(64), b"\1" * 64), (8, 8), 16, "me")
    assert (copy.handle_type, copy.sizes, copy.size) == ("fabric", (8, 8), 16)
    assert repr(copy) == "<VirtualMemoryFabricBufferDescriptor of 16 bytes in 2 allocations>"


@pytest.mark.parametrize(
    ("handles", "owner", "error", "text"),
    [
        ([bytes(63)], None, ValueError, "64 bytes each, not 63"),
        (["x" * 64], None, TypeError, "must contain bytes"),
        ([], None, ValueError, "at least one"),
        ([bytes(64)], 3, TypeError, "owner_uuid"),
    ],
)
def test_wrong_fabric_handles_are_rejected(handles, owner, error, text):
    with pytest.raises(error, match=text):
        VirtualMemoryFabricBufferDescriptor.from_handles(handles, [8] * len(handles), owner_uuid=owner)


@pytest.mark.requires(software=True)
def test_fabric_handles_need_support(device, resource, stream):
    with pytest.raises(CUDAError, match="NOT_SUPPORTED"):
        VirtualMemoryResource(device, {"handle_type": "fabric"}).allocate(1)
    with pytest.raises(CUDAError, match="cuMemImportFromShareableHandle"):
        descriptor = VirtualMemoryFabricBufferDescriptor.from_handles([bytes(64)], [1 << 21])
        Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)


def test_memory_without_a_handle_type_is_not_shared(device):
    resource = VirtualMemoryResource(device, {"handle_type": None})
    assert not resource.is_ipc_enabled
    with resource.allocate(1) as buffer:
        with pytest.raises(RuntimeError, match="set handle_type='posix_fd'"):
            buffer.ipc_descriptor  # noqa: B018
        with pytest.raises(RuntimeError, match="set handle_type='posix_fd'"):
            pickle.dumps(buffer)


def test_only_whole_open_buffers_are_shared(resource, buffer):
    closed = resource.allocate(1)
    closed.close()
    wrapped = VirtualMemoryBuffer.from_handle(buffer.handle, 8, owner=buffer)
    for item in (closed, buffer[:4096], resource.allocate(0), wrapped):
        with pytest.raises((RuntimeError, AttributeError), match="can be shared between processes|wraps memory"):
            item.ipc_descriptor  # noqa: B018


def test_threads_export_and_import_while_the_buffer_closes(resource, stream):
    def use(buffer):
        for _ in range(20):
            with Buffer.from_ipc_descriptor(resource, buffer.ipc_descriptor, stream=stream) as other:
                assert other.is_mapped

    for _ in range(3):
        for error in close_beside(resource.allocate(1), 3, use):
            assert "open" in str(error) or "closed" in str(error)
