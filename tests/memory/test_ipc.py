# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sharing memory between processes."""

import contextlib
import gc
import itertools
import multiprocessing
import os
import pickle
import socket
import sys
import threading
import uuid
from multiprocessing import resource_sharer
from multiprocessing.reduction import ForkingPickler

import pytest

from cuda.core import Buffer, CUDAError, DeviceMemoryResource
from cuda.core.utils import StridedMemoryView
from support import shared_memory
from support.contract import IPCAllocationHandle, IPCBufferDescriptor, reset_fork_warning
from support.processes import Child, open_descriptors, start_method
from support.shared_memory import import_pool, make_pool, place_of
from support.threads import in_thread

# Child processes are spawned, so there is no warning about forks.
pytestmark = pytest.mark.usefixtures("spawned")

SIZE = 1 << 16
ROUND_TRIPS = int(os.environ.get("CUDA_CORE_TEST_IPC_ROUND_TRIPS", "25"))


@pytest.fixture
def buffer(pool, stream):
    """Shared memory filled with the byte 1."""
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    return buffer


# Allocation handles


def test_handle_owns_its_file_descriptor():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    handle = IPCAllocationHandle._init(descriptor, None)
    assert (handle.handle, int(handle), handle.uuid, handle.is_closed) == (descriptor, descriptor, None, False)
    handle.close()
    handle.close()
    assert (handle.handle, handle.is_closed) == (-1, True)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_dropped_handle_closes_its_file_descriptor():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    IPCAllocationHandle._init(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_closed_handle_has_no_descriptor():
    handle = IPCAllocationHandle._init(os.open(os.devnull, os.O_RDONLY))
    handle.close()
    with pytest.raises(ValueError, match="closed"):
        int(handle)
    assert "closed" in repr(handle)


@pytest.mark.parametrize(("handle", "error"), [(-1, ValueError), (True, TypeError), ("3", TypeError), (1.0, TypeError)])
def test_values_other_than_file_descriptors_are_rejected(handle, error):
    with pytest.raises(error, match="file descriptor"):
        IPCAllocationHandle._init(handle)


@pytest.mark.parametrize("cls", [IPCAllocationHandle, IPCBufferDescriptor])
def test_direct_construction_is_rejected(cls):
    with pytest.raises(RuntimeError, match="use"):
        cls()


def test_handle_is_pickled_by_multiprocessing_only():
    with IPCHandle() as handle, pytest.raises(TypeError, match="multiprocessing"):
        pickle.dumps(handle)


class IPCHandle:
    """A handle over any file, closed at the end of a block."""

    def __enter__(self):
        self.handle = IPCAllocationHandle._init(os.open(os.devnull, os.O_RDONLY), None)
        return self.handle

    def __exit__(self, *error):
        self.handle.close()


def test_handle_is_sent_by_multiprocessing():
    ends = multiprocessing.get_context("spawn").Pipe()
    before = None
    for _ in range(3):
        with IPCHandle() as handle:
            ends[0].send(handle)
            received = ends[1].recv()
            assert received.handle not in (handle.handle, -1)
            assert os.fstat(received.handle) == os.fstat(handle.handle)
            received.close()
        # A thread serves descriptors to other processes, and closes them a little later than they are received.
        resource_sharer.stop(timeout=20)
        before = before or open_descriptors()
    assert open_descriptors() <= before


# Buffer descriptors


def test_descriptor_is_pickled():
    descriptor = IPCBufferDescriptor._init(bytes(range(64)), 24)
    copy = pickle.loads(pickle.dumps(descriptor))
    assert (copy.size, copy.__reduce__()[1]) == (24, (bytes(range(64)), 24))
    assert "24" in repr(copy)


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), ("1", TypeError), (1.5, TypeError)])
def test_descriptor_checks_its_size(size, error):
    with pytest.raises(error, match="size"):
        IPCBufferDescriptor._init(bytes(64), size)


@pytest.mark.requires(ipc=True)
def test_descriptor_is_made_once(buffer):
    assert buffer.ipc_descriptor is buffer.ipc_descriptor
    assert buffer.ipc_descriptor.size == SIZE
    assert buffer.is_mapped is False


@pytest.mark.requires(ipc=True)
def test_wrong_arguments_of_imports_are_rejected(shareable, pool, buffer, stream):
    imported = import_pool(shareable, int(pool.allocation_handle))
    descriptor = buffer.ipc_descriptor
    with pytest.raises(TypeError, match="IPCBufferDescriptor, not bytes"):
        Buffer.from_ipc_descriptor(imported, b"", stream=stream)
    with pytest.raises(TypeError, match="memory resource, not int"):
        Buffer.from_ipc_descriptor(3, descriptor, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        Buffer.from_ipc_descriptor(imported, descriptor, stream=None)
    with pytest.raises(ValueError, match="64 bytes, not 3"):
        Buffer.from_ipc_descriptor(imported, IPCBufferDescriptor._init(b"abc", 3), stream=stream)
    with pytest.raises(RuntimeError, match="not shared"):
        Buffer.from_ipc_descriptor(shareable(*shared_memory.place_of(shareable)), descriptor, stream=stream)
    imported.close()
    with pytest.raises(RuntimeError, match="closed"):
        Buffer.from_ipc_descriptor(imported, descriptor, stream=stream)


@pytest.mark.requires(ipc=True)
def test_invalid_descriptor_is_rejected(child, pool):
    assert child.call(shared_memory.echo, 1) == 1
    with pytest.raises(AssertionError, match="CUDA_ERROR"):
        child.call(shared_memory.import_twice, pool, IPCBufferDescriptor._init(b"\xff" * 64, 8))


@pytest.mark.requires(ipc=True)
def test_descriptor_with_too_large_a_size_is_rejected(child, pool, buffer, stream):
    claim = IPCBufferDescriptor._init(buffer.ipc_descriptor.__reduce__()[1][0], 1 << 40)
    with pytest.raises(AssertionError, match=f"for {1 << 40} bytes"):
        child.call(shared_memory.import_twice, pool, claim)
    with pytest.raises(ValueError, match="ipc_descriptor is for"):
        Buffer.from_ipc_descriptor(pool, claim, stream=stream)
    assert child.call(shared_memory.read_and_answer, buffer, 3)[0] == b"\1" * SIZE


# Between processes


@pytest.mark.requires(ipc=True)
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_both_processes_use_the_same_memory(method, buffer):
    child = Child(method)
    try:
        answer = child.call(shared_memory.read_and_answer, buffer, 2)
    finally:
        assert child.stop() == 0
    assert answer == (b"\1" * SIZE, True, SIZE)
    assert shared_memory.contents(buffer) == b"\2" * SIZE


@pytest.mark.requires(ipc=True)
def test_buffer_can_be_an_argument_of_a_process(buffer):
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=shared_memory.put, args=(buffer, 5))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert shared_memory.contents(buffer) == b"\5" * SIZE


@pytest.mark.requires(ipc=True)
def test_shared_objects_pickle_on_a_thread_without_a_context(pool, buffer):
    objects = (buffer, pool, pool.allocation_handle)
    same, resource, handle = in_thread(lambda: ForkingPickler.loads(bytes(ForkingPickler.dumps(objects))))
    assert (same, resource, handle.uuid) == (buffer, pool, pool.uuid)
    handle.close()


@pytest.mark.requires(ipc=True)
def test_shared_objects_can_be_closed_right_after_queue_put(pool, buffer, stream):
    context = multiprocessing.get_context("spawn")
    there, back = context.Queue(), context.Queue()
    process = context.Process(target=shared_memory.pass_on, args=(there, back))
    process.start()
    event = stream.record(options={"ipc_enabled": True})
    for sent in (buffer, event):
        there.put(sent)
        assert back.get(timeout=60) == sent
    there.put([pool, pool.allocation_handle])
    resource, handle = back.get(timeout=60)
    assert (resource, handle.uuid) == (pool, pool.uuid)
    handle.close()
    there.put(None)
    process.join()
    assert process.exitcode == 0


@pytest.mark.requires(ipc=True)
def test_buffer_can_be_argument_and_result_of_a_process_pool(buffer):
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        assert workers.apply(shared_memory.fill_and_return, (buffer, 7)) == buffer
    assert shared_memory.contents(buffer) == b"\7" * SIZE


@pytest.mark.requires(ipc=True)
def test_received_buffer_can_be_pickled_after_its_close(child, buffer):
    returned = child.call(shared_memory.close_and_return, buffer)
    assert returned == buffer
    buffer.close()
    assert shared_memory.contents(returned) == b"\1" * SIZE


@pytest.mark.requires(ipc=True)
def test_exported_buffer_can_be_pickled_after_its_close(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    descriptor = buffer.ipc_descriptor
    buffer.close()
    _, (cls, resource, sent) = buffer.__reduce__()
    assert (cls, resource, sent) == (Buffer, pool, descriptor)
    with pytest.raises(RuntimeError, match="closed"):
        assert buffer.ipc_descriptor


@pytest.mark.requires(ipc=True)
def test_closed_buffer_pickles_while_a_view_borrows_its_memory(child, buffer):
    view = StridedMemoryView.from_buffer(buffer, (SIZE,), itemsize=1)
    buffer.close()
    answer, is_mapped, _ = child.call(shared_memory.read_and_answer, buffer, 2)
    assert (answer, is_mapped) == (b"\1" * SIZE, True)
    del view


@pytest.mark.requires(ipc=True)
def test_closed_buffer_whose_memory_is_freed_is_not_pickled(buffer):
    buffer.close()
    with pytest.raises(RuntimeError, match="cannot be pickled: this Buffer is closed; .*ipc_descriptor before"):
        ForkingPickler.dumps(buffer)


@pytest.mark.requires(ipc=True)
def test_plain_pickle_finds_the_registered_pool(child, pool, buffer):
    data = pickle.dumps(buffer)
    child.call(shared_memory.keep, "pool", pool)
    assert child.call(shared_memory.load, data) == (b"\1" * SIZE, True)
    child.call(shared_memory.close_kept, "pool")


@pytest.mark.requires(ipc=True)
def test_pool_and_buffer_can_be_sent_by_a_socket(child, pool, buffer, tmp_path):
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            with connection:
                socket.send_fds(connection, [pickle.dumps(buffer.ipc_descriptor)], [int(pool.allocation_handle)])

        thread = threading.Thread(target=serve)
        thread.start()
        assert child.call(shared_memory.import_by_socket, type(pool), path, SIZE) == b"\1" * SIZE
        thread.join()


@pytest.mark.requires(ipc=True)
def test_buffer_sent_back_is_equal(child, pool, buffer):
    returned = child.call(shared_memory.echo, buffer)
    assert returned == buffer
    assert returned.memory_resource is pool
    assert returned.is_mapped is False
    buffer.close()
    assert shared_memory.contents(returned) == b"\1" * SIZE


@pytest.mark.requires(ipc=True)
def test_descriptor_of_freed_own_memory_is_rejected(pool, buffer, stream):
    descriptor = buffer.ipc_descriptor
    buffer.close()
    with pytest.raises(RuntimeError, match="freed"):
        Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)


@pytest.mark.requires(ipc=True)
def test_receiver_can_send_the_buffer_to_others(child, buffer):
    other = Child()
    try:
        mine, theirs = multiprocessing.get_context("spawn").Pipe()
        child.call(shared_memory.keep, "buffer", buffer)
        child.call(shared_memory.send_kept, mine, "buffer")
        assert other.call(shared_memory.receive_contents, theirs) == b"\1" * SIZE
        child.call(shared_memory.close_kept, "buffer")
    finally:
        assert other.stop() == 0


@pytest.mark.requires(ipc=True)
def test_receiver_keeps_the_memory_after_the_sender_has_ended(shareable):
    sender = Child()
    try:
        buffer = sender.call(shared_memory.export, shareable, SIZE, 7)
        assert buffer.is_mapped is True
        assert shared_memory.contents(buffer) == b"\7" * SIZE
    finally:
        sender.stop()
    assert shared_memory.contents(buffer) == b"\7" * SIZE
    buffer.close()
    assert (buffer.is_closed, buffer.is_mapped) == (True, False)


@pytest.mark.requires(ipc=True)
@pytest.mark.parametrize("order", list(itertools.permutations(["their buffer", "their pool", "my pool"])))
def test_buffers_and_pools_may_be_closed_in_any_order(child, device, order, shareable):
    pool = make_pool(shareable)
    stream = device.create_stream()
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(9, stream=stream)
    stream.sync()
    child.call(shared_memory.keep, "their pool", pool)
    child.call(shared_memory.keep, "their buffer", buffer)
    for name in order:
        if name == "my pool":
            pool.close()
        else:
            child.call(shared_memory.close_kept, name)
    assert shared_memory.contents(buffer) == b"\x09" * SIZE
    buffer.close()
    stream.sync()


@pytest.mark.requires(ipc=True)
def test_imports_of_one_buffer_share_one_mapping(child, pool, buffer):
    assert child.call(shared_memory.import_twice, pool, buffer.ipc_descriptor) == (True, b"\1" * SIZE)


@pytest.mark.requires(ipc=True)
def test_threads_may_import_one_buffer_at_the_same_time(child, pool, buffer):
    assert child.call(shared_memory.import_in_threads, pool, buffer.ipc_descriptor) == {b"\1" * SIZE}


@pytest.mark.requires(ipc=True)
def test_new_pools_work_after_imported_ones_were_closed(child, shareable, stream):
    for trip in range(20):
        with contextlib.closing(make_pool(shareable)) as pool, pool.allocate(SIZE, stream=stream) as buffer:
            buffer.fill(trip, stream=stream)
            stream.sync()
            assert child.call(shared_memory.use_new_pool, buffer) == (bytes([trip]) * SIZE, b"\3" * 8)


@pytest.mark.requires(ipc=True)
def test_unpickling_makes_a_context_current_if_there_is_none(child, buffer):
    assert child.call(shared_memory.load_without_context, pickle.dumps(buffer), buffer.memory_resource) == b"\1" * SIZE


@pytest.mark.requires(ipc=True)
def test_round_trips_leak_no_descriptor(child, pool, stream):
    counts = []
    for trip in range(ROUND_TRIPS):
        buffer = pool.allocate(4096, stream=stream)
        buffer.fill(trip % 256, stream=stream)
        stream.sync()
        returned = child.call(shared_memory.echo, buffer)
        assert returned == buffer
        returned.close()
        buffer.close()
        if trip in (5, ROUND_TRIPS - 1):
            gc.collect()
            counts.append((open_descriptors(), child.call(shared_memory.descriptors)))
    assert counts[0] == counts[-1]


# Memory that cannot be shared


@pytest.mark.requires(mempool=True)
def test_memory_of_an_unshared_pool_is_rejected(device, stream):
    buffer = device.allocate(64, stream=stream)
    with pytest.raises(RuntimeError, match="not shared"):
        buffer.ipc_descriptor  # noqa: B018
    with pytest.raises(RuntimeError, match=r"pickled.*not shared"):
        pickle.dumps(buffer)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.ipc_descriptor  # noqa: B018


def test_wrapped_memory_has_no_descriptor():
    with pytest.raises(RuntimeError, match="it wraps memory"):
        Buffer.from_handle(1, 1).ipc_descriptor  # noqa: B018


@pytest.mark.requires(ipc=True)
def test_forking_is_warned_about_once(buffer):
    with start_method("fork"):
        reset_fork_warning()
        with pytest.warns(UserWarning, match="fork"):
            pickle.dumps(buffer)
        pickle.dumps(buffer)
    reset_fork_warning()


@pytest.mark.requires(ipc=True)
def test_failed_imports_leak_no_descriptor(shareable):
    descriptor = os.open(os.devnull, os.O_RDONLY)
    gc.collect()
    resource_sharer.stop(timeout=20)  # a thread still closes descriptors that earlier tests have sent
    try:
        before = open_descriptors()
        for _ in range(10):
            with pytest.raises(CUDAError):
                import_pool(shareable, descriptor)
        gc.collect()
        assert open_descriptors() <= before
    finally:
        os.close(descriptor)


@pytest.mark.requires(mempool=True)
def test_sharing_needs_linux(device, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(RuntimeError, match="Linux"):
        DeviceMemoryResource(device, {"ipc_enabled": True})


@pytest.mark.requires(ipc=True)
def test_shared_pool_has_an_identity(pool):
    assert (pool.is_ipc_enabled, pool.is_mapped, pool.is_handle_owned) == (True, False, True)
    assert isinstance(pool.uuid, uuid.UUID)
    assert pool.allocation_handle is pool.allocation_handle
    assert pool.allocation_handle.uuid == pool.uuid
    assert os.get_inheritable(int(pool.allocation_handle)) is False


@pytest.mark.requires(mempool=True)
def test_other_pools_have_no_identity(shareable):
    pool = shareable(*place_of(shareable))
    assert (pool.is_ipc_enabled, pool.is_mapped, pool.uuid) == (False, False, None)
    with pytest.raises(RuntimeError, match="not shared"):
        pool.allocation_handle  # noqa: B018
    with pytest.raises(RuntimeError, match="not shared"):
        pool.register(uuid.uuid4())
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(pool)


@pytest.mark.requires(ipc=True)
def test_closed_pool_is_not_shared(pool):
    handle = pool.allocation_handle
    pool.close()
    assert (pool.is_ipc_enabled, pool.uuid, pool.is_handle_owned) == (False, None, False)
    assert not handle.is_closed
    with pytest.raises(RuntimeError, match="closed"):
        pool.allocation_handle  # noqa: B018


@pytest.mark.requires(ipc=True)
def test_import_by_descriptor_leaves_it_to_the_caller(shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    assert (imported.is_mapped, imported.is_ipc_enabled, imported.uuid) == (True, True, None)
    assert (imported.is_handle_owned, imported.device_id) == (True, pool.device_id)
    assert int(imported.allocation_handle) != int(pool.allocation_handle)
    imported.close()
    del imported
    assert not pool.allocation_handle.is_closed
    assert os.fstat(int(pool.allocation_handle))


@pytest.mark.requires(ipc=True)
def test_imported_pool_cannot_allocate(stream, shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    with pytest.raises(TypeError, match="another process"):
        imported.allocate(8, stream=stream)
    assert pool.allocate(8, stream=stream).size == 8


@pytest.mark.requires(ipc=True)
def test_import_by_handle_is_registered(shareable, pool):
    imported = import_pool(shareable, pool.allocation_handle)
    assert imported is not pool
    assert imported.uuid == pool.uuid
    assert shareable.from_registry(pool.uuid) is imported
    assert import_pool(shareable, pool.allocation_handle) is imported
    assert pickle.loads(pickle.dumps(imported)) is imported


@pytest.mark.requires(ipc=True)
def test_registry_drops_dropped_or_closed_pools(shareable, pool):
    identity = pool.uuid
    imported = import_pool(shareable, pool.allocation_handle)
    del imported
    gc.collect()
    with pytest.raises(RuntimeError, match=str(identity)):
        shareable.from_registry(identity)
    imported = import_pool(shareable, pool.allocation_handle)
    imported.close()
    with pytest.raises(RuntimeError, match=str(identity)):
        shareable.from_registry(identity)
    assert import_pool(shareable, pool.allocation_handle) is not imported


@pytest.mark.requires(ipc=True)
def test_register_returns_the_first_registered_pool(shareable, pool):
    identity = uuid.uuid4()
    first = import_pool(shareable, int(pool.allocation_handle))
    second = import_pool(shareable, int(pool.allocation_handle))
    assert first.register(identity) is first
    assert second.register(identity) is first
    assert (first.uuid, second.uuid) == (identity, None)
    with pytest.raises(ValueError, match="must be the UUID of this pool"):
        first.register(uuid.uuid4())
    with pytest.raises(TypeError, match="UUID"):
        first.register("one")


@pytest.mark.requires(ipc=True)
def test_registered_resource_of_another_class_is_rejected(shareable, pool):
    class Other(shareable):
        pass

    imported = import_pool(shareable, pool.allocation_handle)
    with pytest.raises(TypeError, match="not a Other"):
        import_pool(Other, imported.allocation_handle)
    with pytest.raises(TypeError, match="not a Other"):
        Other.from_registry(pool.uuid)


@pytest.mark.requires(ipc=True)
def test_exporter_unpickles_to_itself(pool):
    assert pickle.loads(pickle.dumps(pool)) is pool


@pytest.mark.requires(ipc=True)
def test_unknown_pool_is_not_unpickled(pool):
    data = pickle.dumps(pool)
    pool.close()
    with pytest.raises(RuntimeError, match="registered"):
        pickle.loads(data)


@pytest.mark.requires(ipc=True)
def test_imported_pool_without_identity_is_not_pickled(shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(imported)


@pytest.mark.parametrize("handle", [None, "3", 3.0, True])
@pytest.mark.requires(mempool=True)
def test_handles_of_wrong_type_are_rejected(handle, shareable):
    with pytest.raises(TypeError, match="alloc_handle"):
        import_pool(shareable, handle)


@pytest.mark.requires(mempool=True)
def test_closed_descriptors_are_rejected(shareable):
    with pytest.raises(ValueError, match="alloc_handle"):
        import_pool(shareable, -1)
    with pytest.raises(OSError, match="Bad file descriptor"):
        import_pool(shareable, 1 << 20)
    handle = IPCAllocationHandle._init(os.open(os.devnull, os.O_RDONLY))
    handle.close()
    with pytest.raises(ValueError, match="closed"):
        import_pool(shareable, handle)


@pytest.mark.requires(ipc=True)
def test_pools_leak_no_descriptor(shareable):
    def make():
        pool = make_pool(shareable)
        return import_pool(shareable, pool.allocation_handle)

    make()
    gc.collect()
    before = open_descriptors()
    for _ in range(20):
        make()
    gc.collect()
    assert open_descriptors() == before
