# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers and arrays from other libraries."""

import ctypes
import gc
import importlib

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, LegacyPinnedMemoryResource
from cuda.core.utils import CopyOptions, StridedMemoryView
from support.memory import HostMemoryResource, read, write
from support.tensors import BAD_TENSORS, DLPackExporter, broken_tensor

SOURCE = np.arange(4 * 6 * 5, dtype=np.int16).reshape(4, 6, 5)

PARTS = {
    "contiguous": lambda a: a,
    "rows": lambda a: a[:, :, 1:3],
    "planes": lambda a: a[1:3, 1:4, 1:3],
    "steps": lambda a: a[::2, ::3, ::2],
    "backwards": lambda a: a[::-1, :, ::-1],
    "transposed": lambda a: a.transpose(2, 0, 1),
    "scalar": lambda a: a[1, 2, 3:4].reshape(()),
    "none": lambda a: a[:0],
}


@pytest.fixture
def mr():
    """A resource over host memory, which needs no driver."""
    return HostMemoryResource()


class Capsule:
    """An array of a library that supports DLPack only."""

    def __init__(self, exporter, **changes):
        self.exporter = exporter
        self.changes = changes
        self.streams = []

    def __dlpack_device__(self):
        return self.changes.get("device", self.exporter.__dlpack_device__())

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return self.exporter.__dlpack__(max_version=max_version)


class OldCapsule(Capsule):
    """An array of a library from before DLPack 1.0."""

    def __dlpack__(self, *, stream=None):
        return super().__dlpack__(stream=stream)


class Interface:
    """An array of a library that supports the CUDA array interface only."""

    def __init__(self, address, shape, typestr="|u1", **more):
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": typestr,
            "version": 3,
            **more,
        }


@pytest.mark.parametrize("other", [4096, "12345678", [1] * 8])
def test_objects_without_memory_are_rejected(mr, other):
    buffer = mr.allocate(8)
    with pytest.raises(TypeError, match="dst must be a Buffer, or an array"):
        buffer.copy_to(other, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(TypeError, match="src must be a Buffer, or an array"):
        buffer.copy_from(other, stream=LEGACY_DEFAULT_STREAM)


def frozen():
    array = np.zeros(8, np.uint8)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"12345678",
        frozen,
        lambda: Capsule(frozen()),
        lambda: Interface(4096, (8,), data=(4096, True)),
    ],
    ids=["bytes", "numpy", "dlpack", "interface"],
)
def test_read_only_memory_is_rejected_as_destination(mr, make):
    with pytest.raises(TypeError, match="dst must be writable"):
        mr.allocate(8).copy_to(make(), stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("other", [np.zeros(7, np.uint8), np.zeros((2, 3), np.float32), Interface(4096, (3, 3))])
def test_different_sizes_are_rejected(mr, other):
    buffer = mr.allocate(8)
    with pytest.raises(ValueError, match="same size"):
        buffer.copy_to(other, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(ValueError, match="same size"):
        buffer.copy_from(other, stream=LEGACY_DEFAULT_STREAM)


def test_overlaps_are_rejected(mr):
    array = np.zeros((4, 4), np.uint8)
    address = array.ctypes.data
    with pytest.raises(ValueError, match="overlap"):
        Buffer.from_handle(address + 1, 16).copy_from(array, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(ValueError, match="overlap"):
        Buffer.from_handle(address, 8).copy_from(array[:, ::2], stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(ValueError, match="overlap"):
        Buffer.from_handle(address, 16).copy_to(array[::-1], stream=LEGACY_DEFAULT_STREAM)


def test_arrays_of_python_objects_are_rejected(mr):
    objects = np.array([None] * 8)
    for array in (objects, memoryview(objects), np.zeros(8, "O,i4"), (ctypes.py_object * 8)()):
        buffer = mr.allocate(memoryview(array).nbytes)
        with pytest.raises(TypeError, match="dst must have elements of plain data"):
            buffer.copy_to(array, stream=LEGACY_DEFAULT_STREAM)
        with pytest.raises(TypeError, match="src must have elements of plain data"):
            buffer.copy_from(array, stream=LEGACY_DEFAULT_STREAM)


def test_overlapping_elements_are_rejected_as_destination(mr):
    with pytest.raises(ValueError, match="overlap"):
        mr.allocate(8).copy_to(Interface(4096, (8,), strides=(0,)), stream=LEGACY_DEFAULT_STREAM)


def test_options_are_rejected_for_arrays_with_gaps(mr):
    with pytest.raises(ValueError, match="contiguous"):
        mr.allocate(8).copy_from(np.zeros(16, np.uint8)[::2], stream=LEGACY_DEFAULT_STREAM, options=CopyOptions())


def test_other_devices_are_rejected(mr):
    with pytest.raises(BufferError, match="device type 10"):
        mr.allocate(8).copy_from(Capsule(np.zeros(8, np.uint8), device=(10, 0)), stream=LEGACY_DEFAULT_STREAM)


BAD_INTERFACES = [
    ({"shape": (-8,)}, ValueError, "shape must not have negative extents"),
    ({"shape": (-2, -4)}, ValueError, "shape must not have negative extents"),
    ({"shape": (8.0,)}, TypeError, "shape must be a tuple of int, but has a float"),
    ({"shape": (0.5, 16)}, TypeError, "shape must be a tuple of int, but has a float"),
    ({"shape": 8}, TypeError, "shape must be a tuple of int"),
    ({"shape": (10**5000,)}, OverflowError, "but is .an int of 16610 bits"),
    ({"shape": (2**62, 2**62)}, ValueError, "larger than the address space"),
    ({"shape": (2**62, 2**62, 0)}, ValueError, "larger than the address space"),
    ({"strides": (0.5,)}, TypeError, "strides must be a tuple of int, but has a float"),
    ({"strides": (1, 1)}, ValueError, "strides must have 1 items, one per axis, not 2"),
    ({"strides": (2**70,)}, OverflowError, "strides must be from"),
    ({"strides": (2**62,)}, ValueError, "larger than the address space"),
    ({"typestr": "<f0"}, ValueError, "itemsize must be positive"),
    ({"typestr": "<f-4"}, BufferError, "'typestr' must be like"),
    ({"typestr": "<f" + 5000 * "4"}, BufferError, "'typestr' must be like"),
    ({"typestr": 5}, BufferError, "'typestr' must be like"),
    ({"typestr": "|O"}, TypeError, "elements of plain data"),
    ({"data": (-1, False)}, OverflowError, "address in the entry 'data' must be from 0"),
    ({"data": (1.5, False)}, TypeError, "address in the entry 'data' must be an int"),
    ({"data": 4096}, BufferError, "'data' must be a tuple"),
    ({"stream": 1.5}, TypeError, "the stream of .* must be an int"),
    ({"stream": 10**5000}, OverflowError, "the stream of .* not an int of 16610 bits"),
    ({"mask": object()}, BufferError, "mask"),
]


@pytest.mark.parametrize(("entries", "error", "message"), BAD_INTERFACES, ids=lambda value: type(value).__name__)
def test_wrong_interfaces_are_rejected(mr, entries, error, message):
    array = Interface(4096, (8,))
    array.__cuda_array_interface__ |= entries
    with pytest.raises(error, match=message):
        mr.allocate(8).copy_from(array, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(error, match=message):
        mr.allocate(8).copy_to(array, stream=LEGACY_DEFAULT_STREAM)


def test_interface_without_an_entry_is_rejected(mr):
    array = Interface(4096, (8,))
    del array.__cuda_array_interface__["typestr"]
    with pytest.raises(BufferError, match="lacks the entry 'typestr'"):
        mr.allocate(8).copy_from(array, stream=LEGACY_DEFAULT_STREAM)
    array.__cuda_array_interface__ = [1]
    with pytest.raises(BufferError, match="must be a dict, not list"):
        mr.allocate(8).copy_from(array, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(("changes", "message"), BAD_TENSORS)
def test_impossible_tensors_are_rejected(mr, changes, message):
    exporter = broken_tensor(changes)
    with pytest.raises(ValueError, match=message):
        mr.allocate(24).copy_from(exporter, stream=LEGACY_DEFAULT_STREAM)
    gc.collect()
    assert exporter.released == 1


@pytest.mark.parametrize(("bits", "lanes"), [(0, 1), (32, 0), (4, 1)])
def test_tensors_with_sub_byte_elements_are_rejected(mr, bits, lanes):
    with pytest.raises(TypeError, match=f"whole bytes, not of {bits * lanes} bits"):
        mr.allocate(24).copy_from(DLPackExporter(bits=bits, lanes=lanes), stream=LEGACY_DEFAULT_STREAM)


def test_stream_zero_is_rejected(mr):
    with pytest.raises(BufferError, match="stream 0"):
        mr.allocate(8).copy_from(Interface(4096, (8,), stream=0), stream=LEGACY_DEFAULT_STREAM)


def test_errors_of_the_array_are_raised(mr):
    class Broken(Capsule):
        def __dlpack__(self, **kwargs):
            raise BufferError("requires grad")

    with pytest.raises(BufferError, match="requires grad"):
        mr.allocate(8).copy_from(Broken(np.zeros(8, np.uint8)), stream=LEGACY_DEFAULT_STREAM)


# Contents, on a device


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("wrap", [lambda a: a, Capsule, OldCapsule], ids=["buffer", "dlpack", "old dlpack"])
def test_host_arrays_are_copied(device, stream, part, wrap):
    source, target = part(SOURCE), np.zeros_like(SOURCE)
    buffer = device.allocate(source.nbytes, stream=stream)
    buffer.copy_from(wrap(source), stream=stream)
    assert read(buffer, stream) == source.tobytes()
    wrapped = wrap(part(target))
    assert buffer.copy_to(wrapped, stream=stream) is wrapped
    stream.sync()
    assert np.array_equal(part(target), source)
    assert target.sum() == source.sum()


@pytest.mark.parametrize(
    "make", [lambda: bytearray(64), lambda: (ctypes.c_int * 16)(), lambda: memoryview(bytearray(64))]
)
def test_objects_with_the_buffer_protocol_are_copied(device, stream, make):
    data = make()
    buffer = device.allocate(64, stream=stream)
    buffer.fill(b"abcd", stream=stream)
    buffer.copy_to(data, stream=stream)
    stream.sync()
    assert bytes(data) == b"abcd" * 16
    buffer.copy_from(b"wxyz" * 16, stream=stream)
    assert read(buffer, stream) == b"wxyz" * 16


@pytest.mark.parametrize("dtype", ["M8[s]", ">i4", "S5", "U2", [("a", "i1"), ("b", ">f8")]], ids=str)
def test_elements_of_any_type_are_copied_as_bytes(device, stream, dtype):
    array = np.frombuffer(bytes(range(200)), np.uint8)[: 8 * np.dtype(dtype).itemsize].view(dtype)
    buffer = device.allocate(array.nbytes, stream=stream)
    buffer.copy_from(array, stream=stream)
    target = np.zeros_like(array)
    buffer.copy_to(target, stream=stream)
    stream.sync()
    assert target.tobytes() == array.tobytes()


def test_fields_of_records_are_copied(device, stream):
    records = np.zeros(100, np.dtype([("tag", "u1"), ("value", "<f4"), ("more", "u1")]))
    records["value"] = np.arange(100)
    buffer = device.allocate(400, stream=stream)
    buffer.copy_from(records["value"], stream=stream)
    assert read(buffer, stream) == np.arange(100, dtype=np.float32).tobytes()


def test_exporter_gets_the_stream(device, stream):
    source = device.allocate(64, stream=stream)
    source.fill(3, stream=stream)
    capsule = Capsule(source)
    target = device.allocate(64, stream=stream)
    target.copy_from(capsule, stream=stream)
    assert capsule.streams == [int(stream.handle)]
    assert read(target, stream) == bytes([3]) * 64
    capsule.streams.clear()
    target.copy_to(capsule, stream=LEGACY_DEFAULT_STREAM)
    assert capsule.streams == [1]
    LEGACY_DEFAULT_STREAM.sync()


def test_exporter_of_host_memory_gets_no_stream(device, stream):
    capsule = Capsule(np.zeros(64, np.uint8))
    device.allocate(64, stream=stream).copy_from(capsule, stream=stream)
    assert capsule.streams == [None]
    stream.sync()


def test_cuda_arrays_are_copied(device, stream):
    data = np.arange(48, dtype=np.uint8).reshape(6, 8)
    memory = device.allocate(48, stream=stream)
    write(memory, data.tobytes(), stream)
    buffer = device.allocate(12, stream=stream)
    buffer.copy_from(Interface(memory.handle, (3, 4), strides=(16, 2)), stream=stream)
    assert read(buffer, stream) == data[::2, ::2].tobytes()
    whole = device.allocate(48, stream=stream)
    whole.copy_from(Interface(memory.handle, (12,), "<i4", strides=None), stream=stream)
    assert read(whole, stream) == data.tobytes()


def test_copy_waits_for_the_stream_of_a_cuda_array(device, stream):
    other = device.create_stream()
    memory = device.allocate(1 << 20, stream=other)
    memory.fill(1, stream=other)
    memory.fill(2, stream=other)
    buffer = device.allocate(1 << 20, stream=stream)
    buffer.copy_from(Interface(memory.handle, (1 << 20,), stream=int(other.handle)), stream=stream)
    assert set(read(buffer, stream)) == {2}
    other.sync()


def test_pinned_arrays_are_copied(device, stream):
    pinned = LegacyPinnedMemoryResource().allocate(64)
    array = np.from_dlpack(pinned)
    array[:] = np.arange(64)
    buffer = device.allocate(64, stream=stream)
    buffer.copy_from(array, stream=stream)
    assert read(buffer, stream) == bytes(range(64))


def test_buffer_between_the_rows_of_an_array_is_copied(device, stream):
    memory = device.allocate(64, stream=stream)
    write(memory, bytes(range(64)), stream)
    memory[16:32].copy_from(Interface(memory.handle, (2, 8), strides=(48, 1)), stream=stream)
    assert read(memory, stream) == bytes([*range(16), *range(8), *range(48, 56), *range(32, 64)])
    with pytest.raises(ValueError, match="overlap"):
        memory[4:20].copy_from(Interface(memory.handle, (2, 8), strides=(48, 1)), stream=stream)


@pytest.mark.parametrize("part", [PARTS[name] for name in ("contiguous", "planes", "steps", "transposed")])
def test_views_of_buffers_are_copied(device, stream, part):
    chosen = part(SOURCE)
    memory = device.allocate(SOURCE.nbytes, stream=stream)
    write(memory, SOURCE.tobytes(), stream)
    start = chosen.__array_interface__["data"][0] - SOURCE.ctypes.data
    strides = tuple(stride // 2 for stride in chosen.strides)
    view = StridedMemoryView.from_buffer(memory[start:], chosen.shape, strides, dtype=SOURCE.dtype)
    packed = device.allocate(chosen.nbytes, stream=stream)
    packed.copy_from(view, stream=stream)
    assert read(packed, stream) == chosen.tobytes()
    packed.fill(0, stream=stream)
    packed.copy_to(view, stream=stream)
    expected = SOURCE.copy()
    part(expected)[...] = 0
    assert read(memory, stream) == expected.tobytes()


@pytest.mark.requires(device=True, module="cupy", software=False)
def test_arrays_of_cupy_are_copied(device, stream):
    cupy = importlib.import_module("cupy")
    source = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)
    cupy.cuda.get_current_stream().synchronize()
    buffer = device.allocate(48, stream=stream)
    buffer.copy_from(source[:, ::2], stream=stream)
    assert read(buffer, stream) == source.get()[:, ::2].tobytes()
