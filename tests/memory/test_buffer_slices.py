# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Slices of buffers."""

import ctypes
import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    VirtualMemoryResource,
    launch,
)
from cuda.core.utils import StridedMemoryView, copy_batch
from support.bindings import call_driver
from support.kernels import compiled
from support.memory import HostMemoryResource, read, write

SLICES = [
    slice(None),
    slice(3, 9),
    slice(5),
    slice(5, None),
    slice(-4, None),
    slice(None, -4),
    slice(-7, -2),
    slice(9, 3),
    slice(16, 16),
    slice(7, 7),
    slice(100, 200),
    slice(-100, 100),
    slice(2, 5, 1),
    slice(2, 5, None),
    slice(np.int64(2), np.uint8(5)),
]


@pytest.fixture
def buffer(mr):
    buffer = mr.allocate(16)
    memoryview(buffer)[:] = bytes(range(16))
    return buffer


# Which bytes


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slice_has_its_bytes(buffer, key):
    part = buffer[key]
    start, stop, _ = key.indices(16)
    assert type(part) is Buffer
    assert (part.handle, part.size) == (buffer.handle + start, max(stop - start, 0))
    assert bytes(part) == bytes(range(16))[key]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slice_of_a_slice_counts_from_its_start(buffer, key):
    assert bytes(buffer[2:13][key]) == bytes(range(2, 13))[key]


def test_writing_to_a_slice_writes_to_the_parent(buffer):
    memoryview(buffer[4:8])[:] = b"abcd"
    assert bytes(buffer)[3:9] == b"\x03abcd\x08"


def test_slice_of_an_empty_buffer_is_empty(mr):
    part = mr.allocate(0)[0:10]
    assert (part.size, part.is_closed) == (0, False)


@pytest.mark.parametrize("key", [3, -1, None, ..., (slice(1), slice(2)), "1:2", np.int32(1)], ids=repr)
def test_other_indices_are_rejected(buffer, key):
    with pytest.raises(TypeError, match="must be a slice"):
        buffer[key]


@pytest.mark.parametrize("step", [2, -1, 3])
def test_steps_are_rejected(buffer, step):
    with pytest.raises(ValueError, match=f"Buffer slice must be 1, not {step}"):
        buffer[::step]


@pytest.mark.parametrize("key", [slice(1.5), slice("1", None), slice(None, None, 0)], ids=str)
def test_non_integer_bounds_are_rejected(buffer, key):
    with pytest.raises((TypeError, ValueError), match="slice"):
        buffer[key]


def test_buffers_are_not_sequences(buffer):
    with pytest.raises(TypeError, match="must be a slice"):
        list(buffer)
    with pytest.raises(TypeError):
        len(buffer)
    with pytest.raises(TypeError):
        buffer[1:2] = b"a"
    assert buffer[0:0]


def test_slices_of_the_same_bytes_are_equal(buffer):
    assert buffer[:] == buffer
    assert hash(buffer[:]) == hash(buffer)
    assert buffer[2:4] == buffer[1:][1:3]
    assert buffer[2:4] != buffer[2:5]


# Properties


def test_slice_has_the_properties_of_its_parent(mr, buffer):
    part = buffer[4:]
    nested = part[2:]
    assert part.owner is nested.owner is buffer
    assert part.memory_resource is mr
    assert (part.device_id, part.is_device_accessible, part.is_host_accessible) == (-1, False, True)
    assert (part.is_managed, part.is_mapped) == (False, False)
    assert part.__dlpack_device__() == (1, 0)
    assert repr(part) == f"<Buffer ptr={part.handle:#x} size=12>"


def test_empty_slice_at_the_end_has_the_device_of_its_parent(device, stream):
    whole = device.allocate(64, stream=stream)
    wrapped = Buffer.from_handle(whole.handle, 64, owner=whole)
    end = wrapped[64:]
    assert (end.device_id, end.is_device_accessible, end.is_host_accessible) == (0, True, False)


def test_slice_is_not_shared_between_processes(buffer):
    with pytest.raises(RuntimeError, match="sub-buffer"):
        assert buffer[:4].ipc_descriptor is None
    with pytest.raises(RuntimeError, match="cannot be pickled: it is a sub-buffer"):
        pickle.dumps(buffer[:4])


@pytest.mark.requires(device=True, ipc=True)
def test_slice_of_shared_memory_is_not_shared(device, stream):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True, max_size=1 << 21))
    buffer = pool.allocate(64, stream=stream)
    assert buffer.ipc_descriptor is not None
    with pytest.raises(RuntimeError, match="sub-buffer"):
        assert buffer[:4].ipc_descriptor is None
    buffer.close()
    pool.close()


def test_slice_has_no_deallocation_stream(mr, buffer):
    with pytest.raises(RuntimeError, match="does not own its memory"):
        buffer[:4].set_deallocation_stream(LEGACY_DEFAULT_STREAM)
    with pytest.raises(TypeError, match="stream"):
        buffer[:4].set_deallocation_stream(1)
    part = buffer[:4]
    part.close(LEGACY_DEFAULT_STREAM)
    assert part.is_closed
    assert mr.freed == []


def test_slice_of_a_subclass_has_its_class(mr):
    class Special(Buffer):
        pass

    assert type(Special._init(4096, 8, owner=mr)[2:]) is Special


# Lifetime


def test_closing_a_slice_frees_nothing(mr, buffer):
    part, other = buffer[2:8], buffer[2:8]
    nested = part[1:]
    with part:
        assert not part.is_closed
    part.close()
    assert part.is_closed
    assert (part.handle, part.size, part.owner, part.memory_resource) == (0, 0, None, None)
    assert mr.freed == []
    assert bytes(other) == bytes(range(2, 8))
    assert bytes(nested) == bytes(range(3, 8))


def test_slice_keeps_the_allocation_alive(mr):
    buffer = mr.allocate(8)
    memoryview(buffer)[:] = b"12345678"
    part = buffer[2:4][1:]
    del buffer
    gc.collect()
    assert mr.freed == []
    assert bytes(part) == b"4"
    part.close()
    assert len(mr.freed) == 1


def test_parent_keeps_no_dropped_slices(mr, buffer):
    for _ in range(1000):
        buffer[2:4][1:]
    part = buffer[1:]
    alive = weakref.ref(part)
    assert alive() is part
    del part
    gc.collect()
    assert alive() is None
    buffer.close()
    assert len(mr.freed) == 1


def test_closing_the_parent_closes_slices_and_frees_immediately(mr, buffer):
    parts = [buffer[i:] for i in range(16)]
    parts.append(parts[3][2:])
    buffer.close()
    assert len(mr.freed) == 1
    assert all(part.is_closed for part in parts)
    assert {(part.handle, part.size) for part in parts} == {(0, 0)}


USES = [
    lambda b, other: b.device_id,
    lambda b, other: b.is_device_accessible,
    lambda b, other: b.is_host_accessible,
    lambda b, other: b.is_managed,
    lambda b, other: b.ipc_descriptor,
    lambda b, other: b.copy_to(other, stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: b.copy_to(np.zeros(8), stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: other.copy_to(b, stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: b.copy_from(other, stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: other.copy_from(b, stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: b.fill(0, stream=LEGACY_DEFAULT_STREAM),
    lambda b, other: b.set_deallocation_stream(LEGACY_DEFAULT_STREAM),
    lambda b, other: b.__dlpack__(),
    lambda b, other: b.__dlpack_device__(),
    lambda b, other: memoryview(b),
    lambda b, other: np.asarray(b),
    lambda b, other: np.from_dlpack(b),
    lambda b, other: pickle.dumps(b),
    lambda b, other: b[1:],
    lambda b, other: b.view(),
    lambda b, other: StridedMemoryView.from_buffer(b, (1,), itemsize=1),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("nested", [False, True])
def test_slice_of_a_closed_buffer_rejects_work(mr, buffer, use, nested):
    part = buffer[4:][2:] if nested else buffer[4:]
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        use(part, mr.allocate(12))


def test_slice_of_a_closed_buffer_is_rejected_as_kernel_argument(device, stream):
    kernel = compiled('extern "C" __global__ void set(int* a) { *a = 7; }').get_kernel("set")
    config = LaunchConfig(grid=1, block=1)
    buffer = device.allocate(64, stream=stream)
    buffer.fill(0, stream=stream)
    part = buffer[8:12]
    launch(stream, config, kernel, part)
    assert np.frombuffer(read(buffer, stream), np.int32).tolist() == [0, 0, 7] + 13 * [0]
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        launch(stream, config, kernel, part)
    with pytest.raises(RuntimeError, match="closed"):
        copy_batch(stream, [part], [part])


def test_buffer_cannot_be_sliced_while_it_is_freed(mr):
    answers = []

    class Slicing(HostMemoryResource):
        def deallocate(self, ptr, size, *, stream):
            for old in (buffer, part):
                try:
                    answers.append(old[:])
                except RuntimeError as error:
                    answers.append(str(error))
            super().deallocate(ptr, size, stream=stream)

    buffer = Slicing().allocate(8)
    part = buffer[1:]
    buffer.close()
    assert answers == ["this Buffer is closed"] * 2


def test_bounds_that_close_the_buffer_are_an_error(mr, buffer):
    class Closing:
        def __index__(self):
            buffer.close()
            return 2

    for whole in (buffer, buffer[4:]):
        with pytest.raises(RuntimeError, match="closed"):
            whole[Closing() :]
    assert len(mr.freed) == 1


def test_close_is_rejected_while_a_view_borrows_a_slice(mr, buffer):
    part = buffer[4:8]
    view = memoryview(part)
    for open_one in (buffer, part):
        with pytest.raises(BufferError, match="1 memoryviews"):
            open_one.close()
    other = buffer[4:8]
    other.close()
    del part
    gc.collect()
    assert bytes(view) == b"\x04\x05\x06\x07"
    view.release()
    buffer.close()
    assert len(mr.freed) == 1


def test_dlpack_of_a_slice_keeps_the_memory_when_all_is_closed(mr, buffer):
    array = np.from_dlpack(buffer[4:8])
    buffer.close()
    assert mr.freed == []
    assert array.tobytes() == b"\x04\x05\x06\x07"
    del array
    gc.collect()
    assert len(mr.freed) == 1


def test_cycles_through_slices_are_collected(mr):
    class Knot(Buffer):
        pass

    block = ctypes.create_string_buffer(8)
    whole = Knot._init(ctypes.addressof(block), 8, owner=block)
    whole.part = whole[2:]
    whole.part.whole = whole
    alive = weakref.ref(whole)
    del whole
    gc.collect()
    assert alive() is None


def test_slice_may_close_its_parent_while_it_is_dropped():
    class Closing(Buffer):
        def __del__(self):
            if self.owner is whole:
                whole.close()

    block = ctypes.create_string_buffer(8)
    whole = Closing._init(ctypes.addressof(block), 8, owner=block)
    part, other = whole[1:], whole[2:]
    del part
    assert whole.is_closed
    assert other.is_closed


def test_closing_while_other_threads_slice_is_safe(mr):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    open_ones = []
    seen = []

    def work():
        while not done.is_set():
            whole = open_ones[-1]
            try:
                parts = [whole[1:4], whole[2:][1:]]
            except RuntimeError as error:
                seen.append(str(error))
            else:
                seen.extend(part.size for part in parts)

    done = threading.Event()
    open_ones.append(mr.allocate(8))
    threads = [threading.Thread(target=work) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(200):
            closing = open_ones[-1]
            open_ones.append(mr.allocate(8))
            closing.close()
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert set(seen) <= {0, 3, 5, "this Buffer is closed"}
    assert len(mr.freed) == 200


# On a device


def test_slices_are_copied_and_filled(device, stream):
    buffer = device.allocate(64, stream=stream)
    buffer.fill(0, stream=stream)
    buffer[4:8].fill(1, stream=stream)
    buffer[9:17].fill(b"abcd", stream=stream)
    buffer[32:].copy_from(buffer[:32], stream=stream)
    expected = b"\0" * 4 + b"\1" * 4 + b"\0" + b"abcdabcd" + b"\0" * 15
    assert read(buffer, stream) == expected * 2
    assert read(buffer[5:13], stream) == expected[5:13]
    target = np.zeros(4, np.uint8)
    buffer[9:13].copy_to(target, stream=stream)
    stream.sync()
    assert target.tobytes() == b"abcd"
    write(buffer[1:4], b"xyz", stream)
    assert read(buffer[:5], stream) == b"\0xyz\1"
    assert buffer[8:8].copy_to(stream=stream).size == 0


def test_copy_of_a_slice_is_allocated_by_its_resource(device, stream):
    buffer = device.allocate(64, stream=stream)
    buffer.fill(7, stream=stream)
    copy = buffer[8:24].copy_to(stream=stream)
    assert copy.memory_resource is device.memory_resource
    assert read(copy, stream) == b"\7" * 16


def test_overlapping_slices_are_not_copied(device, stream):
    buffer = device.allocate(64, stream=stream)
    with pytest.raises(ValueError, match="overlap"):
        buffer[:32].copy_to(buffer[16:48], stream=stream)
    with pytest.raises(ValueError, match="same size"):
        buffer[:32].copy_to(buffer[32:63], stream=stream)
    with pytest.raises(ValueError, match="overlaps|overlap"):
        copy_batch(stream, [buffer[:32]], [buffer[31:63]])


def test_slices_are_copied_in_batches(device, stream):
    source = LegacyPinnedMemoryResource().allocate(64)
    memoryview(source)[:] = bytes(range(64))
    target = device.allocate(64, stream=stream)
    copy_batch(stream, [source[:16], source[16:]], [target[48:], target[:48]])
    assert read(target, stream) == bytes([*range(16, 64), *range(16)])


def test_memory_of_dropped_slice_and_parent_outlives_the_work(device, stream):
    target = device.allocate(1 << 16, stream=stream)
    buffer = device.allocate(1 << 17, stream=stream)
    buffer.fill(3, stream=stream)
    buffer[1 << 16 :].copy_to(target, stream=stream)
    del buffer
    assert set(read(target, stream)) == {3}


@pytest.mark.requires(device=True, managed_mempool=True)
def test_slices_of_managed_buffers_are_managed(device, stream):
    # Not from a pool, because drivers reject advice about pool memory.
    pointer = call_driver("cuMemAllocManaged", 1 << 21, 1)
    buffer = ManagedBuffer.from_handle(pointer, 1 << 21)
    part = buffer[1 << 20 :]
    assert type(part) is ManagedBuffer
    assert part.is_managed
    part.read_mostly = True
    assert (part.read_mostly, buffer[: 1 << 20].read_mostly) == (True, False)
    part.prefetch(device, stream=stream)
    stream.sync()
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        part.read_mostly = False
    call_driver("cuMemFree", pointer)


@pytest.mark.requires(device=True, vmm=True)
def test_slice_of_virtual_memory_is_not_grown(device):
    resource = VirtualMemoryResource(device)
    buffer = resource.allocate(1 << 21)
    part = buffer[1 << 20 :]
    with pytest.raises(ValueError, match="whole buffer"):
        resource.modify_allocation(part, 1 << 22)
    grown = resource.modify_allocation(buffer, 2 * buffer.size)
    grown.close()
    assert not part.is_closed
    buffer.close()
    assert part.is_closed
