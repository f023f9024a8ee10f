# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Views of arrays of other libraries, by DLPack, the two array interfaces and PEP 3118, and rejected arrays."""

import array
import ctypes
import gc
import random
import subprocess
import sys
import time

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import LegacyPinnedMemoryResource, ManagedMemoryResource
from cuda.core.utils import StridedMemoryView
from support import interpreter
from support.memory import read, write
from support.tensors import (
    BAD_TENSORS,
    ArrayInterface,
    CudaInterface,
    DLPackExporter,
    OldExporter,
    VersionedExporter,
    broken_tensor,
)
from support.work import busy

PADDED = 4  # DLPack's flag for elements of less than 8 bits that have a byte each

from_any = StridedMemoryView.from_any_interface
from_dlpack = StridedMemoryView.from_dlpack
from_cuda_interface = StridedMemoryView.from_cuda_array_interface
from_interface = StridedMemoryView.from_array_interface


class Array(np.ndarray):
    """A NumPy array viewed by protocol only."""


def facts(view):
    return (view.ptr, view.shape, view.strides, view.dtype, view.readonly, view.device_id, view.is_device_accessible)


def test_importing_does_not_import_numpy():
    code = (
        "import sys, cuda.core.utils; assert 'numpy' not in sys.modules and 'cuda.bindings.driver' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind, tensor", [("DLPackExporter", "_managed"), ("VersionedExporter", "_versioned")])
def test_deleters_are_not_called_at_exit(kind, tensor):
    # A deleter's code may be gone by then: a ctypes function is freed with its module.
    code = (
        "import ctypes\n"
        "from cuda.core.utils import StridedMemoryView\n"
        f"from support.tensors import {kind}\n"
        f"exporter = {kind}()\n"
        f"exporter.{tensor}.deleter = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value\n"
        "view = StridedMemoryView.from_dlpack(exporter, stream_ptr=-1)\n"
    )
    interpreter.run(code)


# --- NumPy: direct reads and protocols agree ---


def random_array(rng):
    shape = tuple(rng.randint(0, 4) for _ in range(rng.randint(0, 4)))
    array = np.zeros(shape, rng.choice(["?", "i1", "u2", "i4", "f8", "c16", "f2"]))
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    array = array[(..., *[slice(None, None, rng.choice([1, 2, -1])) for _ in range(array.ndim)])]
    array.flags.writeable = rng.random() < 0.5
    return array


@pytest.mark.parametrize("seed", range(20))
def test_direct_reads_of_numpy_arrays_agree_with_the_protocols(seed):
    array = random_array(random.Random(seed))
    assert facts(from_any(array, -1)) == facts(from_any(array.view(Array), -1))
    assert facts(from_interface(array)) == facts(from_interface(array.view(Array)))


@pytest.mark.parametrize("dtype", ["M8[s]", ">i4", "g", "U3", "O", [("a", "i4"), ("b", "f8")]])
def test_arrays_that_numpy_does_not_export_are_rejected(dtype):
    with pytest.raises(BufferError):
        from_dlpack(np.zeros(2, dtype), -1)


def test_strides_must_be_multiples_of_the_element_size():
    field = np.zeros(3, [("a", "i4"), ("b", "i2")])["a"]
    with pytest.raises(BufferError):
        from_dlpack(field, -1)
    with pytest.raises(ValueError, match="multiples"):
        from_interface(field)


def test_structures_keep_their_fields():
    array = np.zeros(3, np.dtype([("a", "i1"), ("b", "f8")], align=True))
    view = from_interface(array)
    assert (view.dtype, view.shape, view.strides, view.readonly) == (array.dtype, (3,), None, False)
    assert from_interface(np.zeros(2, "U3"))._layout.itemsize == 12
    assert from_interface(np.zeros(2, "M8[ns]"))._layout.itemsize == 8


# --- DLPack ---


@pytest.mark.parametrize("place", [(1, 0), (2, 0), (2, 3)])
def test_missing_stream_is_ambiguous(place):
    exporter = DLPackExporter(place)
    for view in (from_any, from_dlpack):
        with pytest.raises(BufferError, match="ambiguous"):
            view(exporter)
    assert exporter.calls == []


@pytest.mark.parametrize(
    ("place", "stream_ptr", "passed"),
    [
        ((1, 0), -1, None),
        ((1, 0), 77, None),  # as in NumPy, streams do not order host memory
        ((2, 0), -1, -1),
        ((2, 0), 77, 77),
        ((3, 0), None, None),
        ((3, 0), -1, -1),
        ((3, 0), 77, 77),
        ((13, 0), None, None),
        ((13, 0), -1, -1),
        ((13, 0), 77, 77),
    ],
)
def test_exporter_gets_the_stream(place, stream_ptr, passed):
    exporter = DLPackExporter(place)
    view = from_dlpack(exporter, stream_ptr)
    assert exporter.calls == [{"stream": passed, "max_version": (1, 0)}]
    assert view.is_device_accessible == (place[0] != 1)
    assert view.device_id == (place[1] if place[0] != 1 else -1)
    assert view.__dlpack_device__() == place
    old = OldExporter(place)
    assert from_dlpack(old, stream_ptr).ptr == view.ptr
    assert old.calls == [{"stream": passed}]


@pytest.mark.parametrize("make", [from_any, from_dlpack])
def test_host_arrays_are_viewed_whatever_stream_is_given(device, stream, make):
    values = np.arange(3.0)
    for stream_ptr in (0, int(stream.handle), stream.handle):
        view = make(values, stream_ptr=stream_ptr)
        assert view.ptr == values.ctypes.data and not view.is_device_accessible


def test_tensor_is_released_once():
    exporter = DLPackExporter()
    view = from_dlpack(exporter, -1)
    derived = view.view(dtype=np.dtype("i4"))
    del view
    gc.collect()
    assert exporter.released == 0
    del derived
    gc.collect()
    assert exporter.released == 1


def test_tensors_are_read():
    view = from_dlpack(DLPackExporter((2, 1), shape=(2, 3), strides=(1, 2), offset=16, data=0x1000), -1)
    assert facts(view) == (0x1010, (2, 3), (1, 2), np.dtype("f4"), False, 1, True)
    assert from_dlpack(DLPackExporter(shape=(), data=0x1000), -1).shape == ()
    assert from_dlpack(DLPackExporter(shape=(0,), data=None), -1).ptr == 0


@pytest.mark.parametrize(
    ("description", "error"),
    [
        ({"lanes": 4}, NotImplementedError),
        ({"code": 3, "bits": 64}, TypeError),
        ({"code": 0, "bits": 128}, TypeError),
        ({"code": 2, "bits": 8}, TypeError),
    ],
)
def test_types_that_numpy_lacks_fail_when_asked_for(description, error):
    view = from_dlpack(DLPackExporter(**description), -1)
    assert view.shape == (2, 3)
    with pytest.raises(error):
        _ = view.dtype


@pytest.mark.parametrize(("code", "bits"), [(0, 4), (1, 2), (6, 1), (15, 6), (17, 4)])
def test_packed_elements_have_extents_but_no_layout(code, bits):
    exporter = VersionedExporter(code=code, bits=bits, shape=(2, 8), strides=(8, 1))
    view = from_dlpack(exporter, -1)
    assert (view.shape, view.strides, view.size, view.dlpack_dtype) == ((2, 8), (8, 1), 16, (code, bits, 1))
    assert f"dtype=({code}, {bits}, 1) of DLPack" in repr(view)
    with pytest.raises(TypeError, match=f"elements of {bits} bits packed"):
        _ = view.dtype
    for wrong in (lambda: view._layout, lambda: view.view(dtype=np.dtype("u1"))):
        with pytest.raises(ValueError, match="whole bytes"):
            wrong()
    again = from_dlpack(view, -1)  # the export is the same as the import
    assert (again.ptr, again.shape, again.dlpack_dtype) == (view.ptr, (2, 8), (code, bits, 1))


def test_vectors_have_a_layout_and_no_type():
    view = from_dlpack(DLPackExporter(lanes=4, strides=(3, 1)), -1)
    assert (view.dlpack_dtype, view._layout.itemsize, view.strides) == ((2, 32, 4), 16, (3, 1))
    assert from_dlpack(view, -1).dlpack_dtype == (2, 32, 4)
    assert from_dlpack(view, -1).view(view._layout[1:]).ptr == view.ptr + 48


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16"])
def test_types_have_the_codes_of_dlpack(dtype):
    kinds = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}
    expected = (kinds[np.dtype(dtype).kind], 8 * np.dtype(dtype).itemsize, 1)
    assert from_dlpack(np.zeros(2, dtype), -1).dlpack_dtype == expected
    assert from_interface(np.zeros(2, dtype)).view(dtype=np.dtype(dtype)).dlpack_dtype == expected
    assert from_interface(np.zeros(2, "M8[s]")).dlpack_dtype is None


ML_TYPES = [
    *[(4, 16, "bfloat16"), (7, 8, "float8_e3m4"), (8, 8, "float8_e4m3"), (9, 8, "float8_e4m3b11fnuz")],
    *[(10, 8, "float8_e4m3fn"), (11, 8, "float8_e4m3fnuz"), (12, 8, "float8_e5m2"), (13, 8, "float8_e5m2fnuz")],
    *[(14, 8, "float8_e8m0fnu"), (15, 6, "float6_e2m3fn"), (16, 6, "float6_e3m2fn"), (17, 4, "float4_e2m1fn")],
    *[(0, 4, "int4"), (0, 2, "int2"), (1, 4, "uint4"), (1, 2, "uint2")],
]


@pytest.mark.requires(module="ml_dtypes")
@pytest.mark.parametrize(("code", "bits", "name"), ML_TYPES)
def test_types_of_ml_dtypes_make_the_round_trip(code, bits, name):
    view = from_dlpack(VersionedExporter(code=code, bits=bits, flags=0 if bits % 8 == 0 else PADDED), -1)
    assert (view.dtype.name, view._layout.itemsize) == (name, view.dtype.itemsize)
    again = from_dlpack(view.view(dtype=view.dtype), -1)
    assert (again.dtype, again.dlpack_dtype) == (view.dtype, (code, bits, 1))
    assert again._layout == view._layout.to_dense()


def test_small_elements_with_a_byte_each_are_addressed():
    exporter = VersionedExporter(code=17, bits=4, shape=(2, 3), flags=PADDED)
    view = from_dlpack(exporter, -1)
    assert (view.shape, view._layout.itemsize, view.dlpack_dtype) == ((2, 3), 1, (17, 4, 1))
    part = view.view(view._layout[1:])
    assert (part.ptr - view.ptr, from_dlpack(part, -1)._layout.itemsize) == (3, 1)
    with pytest.raises(BufferError, match="elements of 4 bits in a byte each need a consumer that supports DLPack 1.0"):
        view.__dlpack__()


def test_flags_and_versions():
    assert from_dlpack(VersionedExporter(flags=1), -1).readonly
    assert from_dlpack(VersionedExporter(version=(1, 99)), -1).shape == (2, 3)
    exporter = VersionedExporter(version=(2, 0))
    with pytest.raises(BufferError, match="must have version 1.x, not 2.x"):
        from_dlpack(exporter, -1)


def test_missing_ml_dtypes_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(NotImplementedError, match="ml_dtypes"):
        # A type that no other test uses, because types are cached.
        _ = from_dlpack(VersionedExporter(code=1, bits=1, flags=PADDED), -1).dtype


@pytest.mark.parametrize("exporter", [DLPackExporter((10, 0)), DLPackExporter((10, 0), told=(1, 0))])
def test_other_devices_are_rejected(exporter):
    with pytest.raises(BufferError, match="type 10"):
        from_dlpack(exporter, -1)


@pytest.mark.parametrize("answer", [None, 1, (), (1,), (1, 2, 3), {0: 1}, ("cpu", 0), np.zeros(2), (1.0, 0)], ids=repr)
def test_device_must_be_a_pair(answer):
    exporter = DLPackExporter()
    exporter.device = answer
    with pytest.raises(BufferError, match=r"__dlpack_device__ must return a tuple \(device_type, device_id\)"):
        from_dlpack(exporter, -1)
    exporter.device = (2**40, 0)
    with pytest.raises(BufferError, match="device type 1099511627776 is not supported"):
        from_dlpack(exporter, -1)


@pytest.mark.parametrize(("changes", "message"), BAD_TENSORS)
def test_impossible_tensors_are_rejected(changes, message):
    exporter = broken_tensor(changes)
    with pytest.raises(ValueError, match=message):
        from_dlpack(exporter, -1)
    gc.collect()
    assert exporter.released == 1


def test_exports_other_than_capsules_are_rejected():
    class Exporter(DLPackExporter):
        def __dlpack__(self, **arguments):
            return 3

    with pytest.raises(BufferError, match="capsule"):
        from_dlpack(Exporter(), -1)


def test_errors_of_the_exporter_are_raised():
    class Exporter(DLPackExporter):
        def __dlpack__(self, **arguments):
            raise error

    for error in (TypeError("mine"), BufferError("mine"), ZeroDivisionError("mine")):
        with pytest.raises(type(error), match="mine"):
            from_dlpack(Exporter(), -1)


class Integral:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Handle(Integral):
    """Like a handle of cuda.bindings: int() converts it, but it is not an integer."""

    def __int__(self):
        return self.value

    __index__ = None


@pytest.mark.parametrize("kind", [int, np.int64, np.uintp, Integral, driver.CUstream], ids=lambda kind: kind.__name__)
def test_stream_may_be_anything_integer_like(kind):
    exporter = DLPackExporter((2, 0))
    for view in (from_dlpack, from_any):
        assert view(exporter, kind(77)).ptr
    assert exporter.calls == [{"stream": 77, "max_version": (1, 0)}] * 2
    assert type(exporter.calls[0]["stream"]) is int
    with pytest.warns(DeprecationWarning):
        assert StridedMemoryView(exporter, stream_ptr=kind(77)).ptr


@pytest.mark.parametrize("kind", [np.int64, Integral, Handle], ids=lambda kind: kind.__name__)
def test_value_for_no_ordering_may_be_anything_integer_like(kind):
    for obj in (np.zeros(3), DLPackExporter()):
        assert from_dlpack(obj, kind(-1)).size > 0


@pytest.mark.parametrize(
    "value", ["x", "7", b"7", 1.0, np.float32(1), object(), [1], np.zeros(2)], ids=lambda value: type(value).__name__
)
def test_streams_of_other_types_are_rejected(value):
    for exporter in (DLPackExporter(), np.zeros(3), DLPackExporter((2, 0))):
        with pytest.raises(TypeError, match="stream_ptr must be an int or a handle"):
            from_dlpack(exporter, value)


@pytest.mark.parametrize("value", [-2, 1 << 64])
def test_streams_other_than_addresses_are_rejected(value):
    with pytest.raises(ValueError, match="stream_ptr must be the address of a stream"):
        from_dlpack(DLPackExporter((2, 0)), value)


# --- PEP 3118 ---


@pytest.mark.parametrize(
    "obj",
    [bytearray(12), array.array("f", [1, 2, 3]), memoryview(bytearray(12)).cast("i"), (ctypes.c_double * 3)()],
    ids=lambda obj: type(obj).__name__,
)
def test_objects_with_the_buffer_protocol_are_viewed(obj):
    view = from_any(obj, -1)
    expected = np.asarray(memoryview(obj))
    assert facts(view)[:4] == (expected.ctypes.data, expected.shape, (1,), expected.dtype)
    assert facts(view)[4:] == (False, -1, False)
    assert np.array_equal(np.from_dlpack(view), expected)
    with pytest.raises(BufferError, match="ambiguous"):
        from_any(obj)


def test_viewed_memory_cannot_be_resized():
    obj = bytearray(8)
    view = from_any(obj, -1)
    with pytest.raises(BufferError, match="exports"):
        obj.clear()
    del view
    gc.collect()
    obj.clear()


def test_read_only_buffers_stay_so():
    assert from_any(b"abcd", -1).readonly
    assert not np.from_dlpack(from_any(b"abcd", -1)).flags.writeable


def test_buffer_protocol_structs_get_their_dtype_from_numpy():
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_double)]

    view = from_any((Point * 2)(), -1)
    assert view.dtype.names == ("x", "y")
    assert view._layout.itemsize == ctypes.sizeof(Point)


def test_buffers_that_cannot_be_viewed_are_rejected():
    closed = memoryview(bytearray(4))
    closed.release()
    with pytest.raises(ValueError, match="released"):
        from_any(closed, -1)
    with pytest.raises(ValueError, match="multiples of the item size"):
        from_any(np.zeros(3, [("a", "i4"), ("b", "i2")])["a"].data, -1)
    with pytest.raises(ValueError, match="itemsize of a memoryview must be positive"):
        from_any(memoryview(np.zeros(2, "V0")), -1)


def test_objects_without_a_protocol_are_rejected():
    with pytest.raises(BufferError, match="int has neither"):
        from_any(3, -1)
    for view in (from_dlpack, from_cuda_interface):
        with pytest.raises(AttributeError):
            view(3, -1)
    with pytest.raises(AttributeError):
        from_interface(3)


# --- array interfaces ---


def test_cuda_interface_is_read():
    array = np.zeros((2, 3), np.float32)
    address = array.ctypes.data
    view = from_any(CudaInterface(array), -1)
    assert (view.ptr, view.shape, view.strides, view.dtype) == (address, (2, 3), None, np.dtype("f4"))
    assert (view.readonly, view.is_device_accessible) == (False, True)
    assert from_cuda_interface(CudaInterface(array, data=(address, True)), -1).readonly
    assert from_cuda_interface(CudaInterface(array, strides=(4, 8)), -1).strides == (1, 2)
    assert from_cuda_interface(CudaInterface(array, typestr=">f4"), -1).dtype == np.dtype(">f4")
    empty = from_cuda_interface(CudaInterface(array, shape=(0, 3), data=(0, False)), -1)
    assert (empty.ptr, empty.size) == (0, 0)
    structure = CudaInterface(array, typestr="|V8", descr=[("a", "<i4"), ("b", "<f4")])
    assert from_cuda_interface(structure, -1).dtype == np.dtype([("a", "<i4"), ("b", "<f4")])


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ({"version": 2}, BufferError),
        ({"mask": np.zeros(3)}, BufferError),
        ({"data": b"12345678"}, BufferError),
        ({"typestr": "f"}, BufferError),
        ({"typestr": 4}, BufferError),
        ({"typestr": "<fx"}, BufferError),
        ({"strides": (3,)}, ValueError),
        ({"strides": (4, 4)}, ValueError),
        ({"shape": [3]}, TypeError),
        ({"shape": (-3,)}, ValueError),
    ],
)
def test_wrong_interfaces_are_rejected(entries, error):
    array = np.zeros(3, np.float32)
    with pytest.raises(error):
        from_cuda_interface(CudaInterface(array, **entries), -1)
    with pytest.raises(error):
        from_interface(ArrayInterface(array, **entries))


@pytest.mark.parametrize("entry", ["shape", "typestr", "data"])
def test_missing_entries_are_named(entry):
    exporter = CudaInterface(np.zeros(3))
    del exporter.__cuda_array_interface__[entry]
    with pytest.raises(BufferError, match=entry):
        from_cuda_interface(exporter, -1)


def test_cuda_interface_must_not_have_stream_0():
    array = np.zeros(3)
    with pytest.raises(BufferError, match="ambiguous"):
        from_cuda_interface(CudaInterface(array))
    with pytest.raises(BufferError, match="stream 0"):
        from_cuda_interface(CudaInterface(array, stream=0), 2)
    assert from_cuda_interface(CudaInterface(array, stream=0), -1).shape == (3,)  # nothing is ordered
    assert from_cuda_interface(CudaInterface(array, stream=2), -1).shape == (3,)
    assert from_cuda_interface(CudaInterface(array, stream=2), 2).shape == (3,)


# --- on a device ---


class DeviceArray:
    """A buffer as an array of another library, with the stream of its producer."""

    def __init__(self, buffer, shape, stream=None):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": "<f4",
            "data": (buffer.handle, False),
            "version": 3,
            "stream": None if stream is None else int(stream.handle),
        }


def finishes(event):
    """Return whether an event completes soon, without a wait that might never end."""
    limit = time.monotonic() + 2
    while not event.is_done and time.monotonic() < limit:
        time.sleep(0.001)
    return event.is_done


def test_consumer_waits_for_the_producer(device, stream):
    producer = device.create_stream()
    array = DeviceArray(device.allocate(64, stream=stream), (4, 4), producer)
    stream.sync()
    with busy(producer):
        from_cuda_interface(array, -1)
        assert finishes(stream.record())
        view = from_cuda_interface(array, int(stream.handle))
        assert not stream.is_done
    stream.sync()
    assert (view.device_id, view.ptr) == (device.device_id, array.buffer.handle)
    assert view.__dlpack_device__() == (2, device.device_id)


def test_views_of_device_memory_keep_their_device(device, stream):
    buffer = device.allocate(64, stream=stream)
    write(buffer, np.arange(16, dtype=np.float32).tobytes(), stream)
    for view in (
        StridedMemoryView.from_buffer(buffer, (4, 4), dtype=np.dtype("f4")),
        from_cuda_interface(DeviceArray(buffer, (4, 4)), int(stream.handle)),
    ):
        part = view.view(view._layout[1:])
        assert (part.device_id, part.is_device_accessible) == (device.device_id, True)
        assert part.__dlpack_device__() == (2, device.device_id)
        again = from_dlpack(part, int(stream.handle))
        assert (again.ptr, again.shape, again.device_id) == (buffer.handle + 16, (3, 4), device.device_id)
    assert np.frombuffer(read(buffer, stream), np.float32)[4] == 4


def test_page_locked_memory_is_accessible_from_both_sides(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    view = StridedMemoryView.from_buffer(buffer, (16,), dtype=np.dtype("f4"))
    assert (view.is_device_accessible, view.__dlpack_device__()) == (True, (3, 0))
    assert from_dlpack(buffer).is_device_accessible


@pytest.mark.parametrize(
    "resource",
    [
        LegacyPinnedMemoryResource,
        pytest.param(ManagedMemoryResource, marks=pytest.mark.requires(managed_mempool=True)),
    ],
)
@pytest.mark.parametrize("kind", [np.ndarray, Array])
def test_device_accessible_numpy_array_is_viewed_on_any_stream(device, stream, resource, kind):
    buffer = resource().allocate(64, stream=stream)
    stream.sync()
    array = np.from_dlpack(buffer).view(np.float32)[2:].view(kind)
    for stream_ptr in (-1, 0, int(stream.handle), stream.handle, None):
        for make in (from_any, from_dlpack):
            view = make(array, stream_ptr)
            assert (view.ptr, view.shape, view.dtype) == (int(buffer.handle) + 8, (14,), np.float32)
            assert (view.is_device_accessible, view.device_id) == (True, device.device_id)
            assert view.view(dtype=np.dtype("i4")).is_device_accessible


@pytest.mark.requires(module="cupy", software=False)
def test_arrays_of_cupy_are_viewed(device, stream):
    import cupy

    with cupy.cuda.Stream.from_external(stream):
        array = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)[:, ::2]
    for view in (
        from_any(array, int(stream.handle)),
        from_cuda_interface(array, int(stream.handle)),
        from_dlpack(array, -1),
    ):
        assert facts(view) == (array.data.ptr, (4, 3), (6, 2), np.dtype("f4"), False, device.device_id, True)
    back = cupy.from_dlpack(view)
    stream.sync()
    assert back.get().tolist() == array.get().tolist()
