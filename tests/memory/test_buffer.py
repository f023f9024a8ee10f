# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: creation, state, exports, copies and closing."""

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Buffer, MemoryResource, Stream
from support.contract import default_stream
from support.memory import HostMemoryResource, read, write
from support.threads import in_thread


@pytest.fixture
def buffer(mr):
    return mr.allocate(64)


class Accessible(HostMemoryResource):
    """Claims that devices can access the memory, so that frees are ordered on a stream."""

    is_device_accessible = True


class SubBuffer(Buffer):
    pass


# Construction


def test_direct_construction_is_rejected():
    with pytest.raises(RuntimeError, match="from_handle"):
        Buffer()


def test_from_handle_without_owner_borrows():
    block = ctypes.create_string_buffer(16)
    buffer = Buffer.from_handle(ctypes.addressof(block), 16)
    assert (buffer.handle, buffer.size) == (ctypes.addressof(block), 16)
    assert buffer.owner is None
    assert buffer.memory_resource is None


def test_from_handle_accepts_objects_with_int():
    class Address:
        def __int__(self):
            return 4096

    assert Buffer.from_handle(Address(), np.int64(8)).handle == 4096


def test_from_handle_keeps_owner_until_close():
    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    buffer = Buffer.from_handle(4096, 8, owner=owner)
    assert buffer.owner is owner
    del owner
    assert alive() is not None
    buffer.close()
    assert alive() is None
    assert buffer.owner is None


@pytest.mark.parametrize("ptr", [None, "1", b"1", 1.0, object()])
def test_from_handle_rejects_non_integer_pointers(ptr):
    with pytest.raises(TypeError, match="ptr"):
        Buffer.from_handle(ptr, 8)


@pytest.mark.parametrize("ptr", [-1, 1 << 64])
def test_from_handle_rejects_pointers_out_of_range(ptr):
    with pytest.raises(OverflowError, match="ptr"):
        Buffer.from_handle(ptr, 8)


@pytest.mark.parametrize(
    ("size", "error"), [(-1, OverflowError), (1 << 64, OverflowError), (1.0, TypeError), (None, TypeError)]
)
def test_from_handle_rejects_bad_sizes(size, error):
    with pytest.raises(error):
        Buffer.from_handle(4096, size)


def test_from_handle_rejects_resource_with_owner(mr):
    with pytest.raises(ValueError, match="owner"):
        Buffer.from_handle(4096, 8, mr=mr, owner=object())


def test_from_handle_rejects_stream_without_resource():
    with pytest.raises(ValueError, match="stream"):
        Buffer.from_handle(4096, 8, stream=LEGACY_DEFAULT_STREAM)


def test_from_handle_rejects_resources_of_wrong_type():
    with pytest.raises(TypeError, match="mr"):
        Buffer.from_handle(4096, 8, mr=object())


def test_from_handle_rejects_streams_of_wrong_type(mr):
    with pytest.raises(TypeError, match="stream"):
        Buffer.from_handle(4096, 8, mr=mr, stream=1)


def test_from_handle_of_a_subclass_returns_a_plain_buffer():
    assert type(SubBuffer.from_handle(4096, 8)) is Buffer


def test_init_of_a_subclass_returns_its_instance(mr):
    buffer = SubBuffer._init(4096, 8, owner=mr)
    assert type(buffer) is SubBuffer
    assert buffer.owner is mr


def test_default_stream_without_context_is_rejected():
    def wrap():
        return Buffer.from_handle(4096, 8, mr=Accessible())

    with pytest.raises(RuntimeError, match="set_current"):
        in_thread(wrap)


# Freeing


@pytest.mark.parametrize("end", ["close", "drop"])
def test_resource_frees_once(mr, end):
    buffer = mr.allocate(24, stream=PER_THREAD_DEFAULT_STREAM)
    address = buffer.handle
    if end == "close":
        buffer.close()
        buffer.close()
    del buffer
    [(ptr, size, stream)] = mr.freed
    assert type(ptr) is int
    assert (ptr, size) == (address, 24)
    assert isinstance(stream, Stream)
    assert stream == PER_THREAD_DEFAULT_STREAM


def test_resource_without_stream_gets_the_default_one(mr, buffer):
    buffer.close()
    assert mr.freed[0][2] == default_stream()


def test_memory_is_freed_on_the_last_stream_set(mr):
    buffers = [mr.allocate(8, stream=LEGACY_DEFAULT_STREAM) for _ in range(2)]
    for buffer in buffers:
        buffer.set_deallocation_stream(PER_THREAD_DEFAULT_STREAM)
    buffers[0].close()
    buffers[1].close(LEGACY_DEFAULT_STREAM)
    assert [stream for _, _, stream in mr.freed] == [PER_THREAD_DEFAULT_STREAM, LEGACY_DEFAULT_STREAM]


def test_default_deallocation_stream_without_context_is_rejected():
    mr = Accessible()
    buffer = mr.allocate(8, stream=Stream.from_handle(4096))
    for change in (buffer.set_deallocation_stream, buffer.close):
        with pytest.raises(RuntimeError, match="set_current"):
            in_thread(lambda change=change: change(LEGACY_DEFAULT_STREAM))
    buffer.close()
    assert mr.freed[0][2].__cuda_stream__() == (0, 4096)


@pytest.mark.parametrize("stream", [None, 1, object()])
def test_deallocation_streams_of_wrong_type_are_rejected(buffer, stream):
    with pytest.raises(TypeError, match="stream"):
        buffer.set_deallocation_stream(stream)
    assert not buffer.is_closed


def test_close_rejects_streams_of_wrong_type(mr, buffer):
    with pytest.raises(TypeError, match="stream"):
        buffer.close(1)
    assert not buffer.is_closed
    assert mr.freed == []


def test_error_in_deallocate_is_reported_once_and_not_raised(unraisable, capsys):
    class Failing(HostMemoryResource):
        def deallocate(self, ptr, size, *, stream):
            raise ValueError("cannot free")

    resource = Failing()
    buffer = resource.allocate(8)
    resource.allocate(8).close()
    del buffer
    assert [(report.text, report.object) for report in unraisable] == [("cannot free", resource)] * 2
    assert capsys.readouterr().err == ""


def test_free_during_an_exception_keeps_the_exception(mr):
    def fail():
        buffer = mr.allocate(8)
        raise KeyError(buffer.size)

    with pytest.raises(KeyError, match="8"):
        fail()
    gc.collect()
    assert len(mr.freed) == 1


def test_buffer_keeps_its_resource_alive():
    mr = HostMemoryResource()
    alive = weakref.ref(mr)
    buffer = mr.allocate(8)
    del mr
    gc.collect()
    assert alive() is buffer.memory_resource
    buffer.close()
    gc.collect()
    assert alive() is None


def test_free_gets_the_grown_size(mr, buffer):
    buffer._size = 128
    assert buffer.size == buffer._size == 128
    buffer.close()
    assert mr.freed[0][1] == 128


def test_context_manager_closes_and_lets_errors_pass(mr):
    with pytest.raises(KeyError), mr.allocate(8) as buffer:
        raise KeyError
    assert buffer.is_closed
    assert len(mr.freed) == 1


def test_threads_free_each_buffer_once():
    mr = HostMemoryResource()

    def work():
        for _ in range(200):
            mr.allocate(8).close()
            mr.allocate(8)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(mr.freed) == 8 * 400
    assert mr.blocks == {}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_frees_nothing(mr, buffer):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        buffer.close()
        os.write(writer, b"%d" % len(mr.freed))
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert answer.read() == "0"
    assert mr.freed == []


def run_to_exit(program):
    """Run a program in a new process; return its exit status and its error output."""
    path = os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path])
    program = f"from support.memory import HostMemoryResource\nmr = HostMemoryResource()\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_exit_with_open_buffers_is_silent():
    program = """
kept = [mr.allocate(8) for _ in range(3)]
kept.append(kept)
capsule = kept[0].__dlpack__()
view = memoryview(kept[1])
"""
    assert run_to_exit(program) == (0, "")


def test_exit_while_other_threads_free_is_silent():
    program = """
import threading, time
def work():
    while True:
        mr.allocate(8)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
    assert run_to_exit(program) == (0, "")


# Closed buffers


def test_closed_buffer_can_be_inspected(buffer):
    buffer.close()
    assert buffer.is_closed
    assert (buffer.handle, buffer.size, buffer.owner, buffer.memory_resource) == (0, 0, None, None)
    assert buffer.is_mapped is False
    assert repr(buffer) == "<Buffer closed>"
    assert buffer == buffer
    assert isinstance(hash(buffer), int)
    buffer.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda b, other: b.device_id,
        lambda b, other: b.is_device_accessible,
        lambda b, other: b.is_host_accessible,
        lambda b, other: b.is_managed,
        lambda b, other: b.copy_to(other, stream=LEGACY_DEFAULT_STREAM),
        lambda b, other: other.copy_to(b, stream=LEGACY_DEFAULT_STREAM),
        lambda b, other: b.copy_from(other, stream=LEGACY_DEFAULT_STREAM),
        lambda b, other: other.copy_from(b, stream=LEGACY_DEFAULT_STREAM),
        lambda b, other: b.fill(0, stream=LEGACY_DEFAULT_STREAM),
        lambda b, other: b.set_deallocation_stream(LEGACY_DEFAULT_STREAM),
        lambda b, other: b.__dlpack__(),
        lambda b, other: b.__dlpack_device__(),
        lambda b, other: memoryview(b),
        lambda b, other: pickle.dumps(b),
        lambda b, other: setattr(b, "_size", 3),
    ],
)
def test_closed_buffer_rejects_work(mr, buffer, use):
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        use(buffer, mr.allocate(64))


# Identity


def test_equality_follows_address_and_size():
    first, same, longer = (Buffer.from_handle(4096, size) for size in (8, 8, 9))
    assert first == same
    assert hash(first) == hash(same)
    assert first != longer
    assert first != 4096
    assert SubBuffer._init(4096, 8) == first


def test_repr_shows_address_and_size():
    assert repr(Buffer.from_handle(4096, 8)) == "<Buffer ptr=0x1000 size=8>"


def test_weak_reference_and_read_only_attributes(buffer):
    assert weakref.ref(buffer)() is buffer
    for name in ("size", "handle", "owner", "memory_resource", "is_closed"):
        with pytest.raises(AttributeError):
            setattr(buffer, name, 1)


@pytest.mark.parametrize("use", [pickle.dumps, copy.copy, copy.deepcopy])
def test_pickle_and_copy_are_rejected(buffer, use):
    with pytest.raises(RuntimeError, match="pickled"):
        use(buffer)


# Where the memory is


def test_buffer_has_the_properties_of_its_resource(buffer):
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (-1, False, True)
    assert buffer.is_managed is False
    assert buffer.is_mapped is False


def test_wrapped_host_memory_is_plain():
    block = ctypes.create_string_buffer(16)
    buffer = Buffer.from_handle(ctypes.addressof(block), 16, owner=block)
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (-1, False, True)
    assert buffer.is_managed is False
    assert buffer.__dlpack_device__() == (1, 0)


def test_managed_resource_makes_managed_buffers():
    class Managed(HostMemoryResource):
        is_managed = True

    assert Managed().allocate(8).is_managed is True


def test_wrapped_device_memory_has_the_drivers_properties(device, stream):
    owned = device.allocate(64, stream=stream)
    wrapped = Buffer.from_handle(owned.handle, 64, owner=owned)
    assert (wrapped.device_id, wrapped.is_device_accessible, wrapped.is_host_accessible) == (0, True, False)
    assert wrapped.is_managed is False
    assert wrapped.__dlpack_device__() == (2, 0)


# MemoryResource


def test_resource_that_returns_no_buffer_is_rejected(mr, buffer):
    mr.allocate = lambda size, *, stream: bytearray(size)
    with pytest.raises(TypeError, match="must return a Buffer"):
        buffer.copy_to(stream=LEGACY_DEFAULT_STREAM)


# Contents, on a device


def test_resource_in_python_allocates_device_memory(device, stream):
    class Wrapping(MemoryResource):
        is_device_accessible = True
        is_host_accessible = False
        device_id = 0

        def __init__(self):
            self.freed = []
            self.inner = []

        def allocate(self, size, *, stream):
            self.inner.append(device.allocate(size, stream=stream))
            return Buffer.from_handle(self.inner[-1].handle, size, mr=self, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            self.freed.append((ptr, size, stream))

    mr = Wrapping()
    buffer = mr.allocate(256, stream=stream)
    write(buffer, bytes(range(256)), stream)
    other = buffer.copy_to(stream=stream)
    assert other.memory_resource is mr
    assert read(other, stream) == bytes(range(256))
    address = buffer.handle
    buffer.close()
    assert mr.freed == [(address, 256, stream)]


def test_default_stream_is_chosen_when_memory_is_wrapped(device):
    mr = Accessible()
    buffer = mr.allocate(8)
    assert in_thread(buffer.close) is None
    assert mr.freed[0][2] == default_stream()


ARRAY = np.zeros(64, np.uint8)


@pytest.fixture
def wrapped():
    return Buffer.from_handle(ARRAY.ctypes.data, 64, owner=ARRAY)


def test_members_are_the_same_objects_at_each_access(wrapped):
    assert wrapped.handle is wrapped.handle
    assert (int(wrapped.handle), wrapped.size) == (ARRAY.ctypes.data, 64)


def test_members_follow_growth_and_closing(wrapped):
    wrapped._size = 32
    assert wrapped.size == 32
    wrapped.close()
    assert (int(wrapped.handle), wrapped.size, wrapped.is_closed) == (0, 0, True)


def test_members_are_read_only(wrapped):
    for name in ("handle", "size"):
        with pytest.raises(AttributeError):
            setattr(wrapped, name, 1)


def test_members_outlive_the_buffer(wrapped):
    handle, size = wrapped.handle, wrapped.size
    del wrapped
    assert (int(handle), size) == (ARRAY.ctypes.data, 64)


def test_slice_does_not_grow(wrapped):
    with pytest.raises(RuntimeError, match="cannot grow"):
        wrapped[8:]._size = 16


def test_threads_that_close_and_read_see_one_of_two_sizes(wrapped):
    sizes = set()
    reader = threading.Thread(target=lambda: sizes.update(wrapped.size for _ in range(2000)))
    reader.start()
    wrapped.close()
    reader.join()
    assert sizes <= {0, 64}


# Access for other libraries: the buffer protocol, NumPy, DLPack


@pytest.fixture
def block(mr):
    return mr.allocate(64)


def test_memoryview_reads_and_writes(block):
    view = memoryview(block)
    assert (view.nbytes, view.format, view.readonly) == (64, "B", False)
    view[:3] = b"abc"
    assert ctypes.string_at(block.handle, 3) == b"abc"


def test_numpy_shares_the_memory(block):
    array = np.asarray(block)
    array[:] = np.arange(64)
    assert (array.dtype, array.shape) == (np.uint8, (64,))
    assert ctypes.string_at(block.handle, 64) == bytes(range(64))


def test_array_method_converts_and_copies(block):
    array = block.__array__(np.float32, copy=True)
    np.asarray(block)[:] = 7
    assert (array.dtype, array.sum()) == (np.float32, 0)


def test_empty_buffer_exports_no_bytes(mr):
    assert memoryview(mr.allocate(0)).tobytes() == b""
    assert np.asarray(Buffer.from_handle(0, 0)).shape == (0,)


def test_close_is_rejected_while_a_view_borrows_the_memory(mr, block):
    view = memoryview(block)
    with pytest.raises(BufferError, match="1 memoryviews"):
        block.close()
    assert not block.is_closed
    view.release()
    block.close()
    assert len(mr.freed) == 1


def test_view_keeps_the_memory_alive(mr):
    wrapped = mr.allocate(8)
    view = memoryview(wrapped)
    view[:] = b"12345678"
    del wrapped
    gc.collect()
    assert mr.freed == []
    assert bytes(view) == b"12345678"
    view.release()
    del view
    gc.collect()
    assert len(mr.freed) == 1


def test_host_cannot_view_device_memory(device, stream):
    wrapped = device.allocate(64, stream=stream)
    for view in (memoryview, np.asarray, bytes):
        with pytest.raises(BufferError, match="is device memory"):
            view(wrapped)
    wrapped.close()


def test_view_of_a_slice_blocks_closing_the_parent(block):
    view = memoryview(block[16:32])
    with pytest.raises(BufferError, match="1 memoryviews"):
        block.close()
    view.release()
    block.close()
    assert block.is_closed


def test_dlpack_shares_the_memory_after_closing(mr, block):
    array = np.from_dlpack(block)
    block.close()
    array[:] = np.arange(64, dtype=np.int8)
    assert (array.dtype, array.sum(), mr.freed) == (np.int8, 2016, [])
    del array
    gc.collect()
    assert len(mr.freed) == 1
