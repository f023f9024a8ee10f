# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device arrays: to_device, to_host, empty and zeros, and the arrays' own methods."""

import gc
import importlib
import threading

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, Device, LaunchConfig, launch
from cuda.core.utils import StridedMemoryView
from support.kernels import compiled
from support.threads import in_thread
from support.work import busy

SAMPLES = [
    np.arange(24, dtype=np.float32).reshape(4, 6),
    np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-1],
    np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
    np.array(2.5),
    np.empty((0, 3), np.uint8),
    np.arange(3) * 1j,
    np.array([(1, 2.5)], [("a", "<i4"), ("b", "<f8")]),
    np.float32(3),
    np.zeros(4, [("a", "<i4"), ("b", "<f8")])["b"],
    memoryview(b"bytes"),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_arrays_return_from_the_device_as_they_went(device, stream, sample):
    array = device.to_device(sample, stream=stream)
    expected = np.asarray(sample)
    assert type(array) is StridedMemoryView
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    assert array.is_device_accessible
    result = array.to_host(stream=stream)
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected)


def test_masked_elements_are_not_copied_in_silence(device, stream):
    array = np.ma.masked_greater(np.arange(4.0), 2)
    with pytest.raises(ValueError, match=r"masked elements; pass array.filled\(value\)"):
        device.to_device(array, stream=stream)
    none_masked = np.ma.masked_greater(np.arange(4.0), 9)
    assert device.to_device(none_masked, stream=stream).to_host(stream=stream).tolist() == [0, 1, 2, 3]


def test_arrays_of_devices_are_copied(device, stream):
    first = device.to_device(np.arange(6), stream=stream)
    second = device.to_device(first[::2], stream=stream)
    first.fill(0, stream=stream)
    assert second.to_host(stream=stream).tolist() == [0, 2, 4]


@pytest.mark.parametrize("value", [[1, 2], 3, "text", None])
def test_only_arrays_are_copied_to_a_device(device, stream, value):
    with pytest.raises((TypeError, BufferError)):
        device.to_device(value, stream=stream)


def test_references_to_objects_are_not_copied_to_a_device(device, stream):
    with pytest.raises(TypeError, match="Python objects"):
        device.to_device(np.array([object()]), stream=stream)


def test_array_of_unknown_elements_is_not_copied(device, stream):
    array = StridedMemoryView.from_buffer(device.allocate(8, stream=stream), (2,), itemsize=4)
    with pytest.raises(TypeError, match="element type"):
        device.to_device(array, stream=stream)
    with pytest.raises(TypeError, match="element type"):
        array.to_host(stream=stream)
    with pytest.raises(TypeError, match="element type"):
        array.fill(0, stream=stream)
    with pytest.raises(TypeError, match="element type"):
        np.asarray(array)


def test_to_host_fills_a_given_array(device, stream):
    array = device.to_device(np.arange(12.0).reshape(3, 4), stream=stream)
    out = np.zeros((3, 8))
    assert array.to_host(out[:, ::2], stream=stream).base is out
    assert out[:, ::2].tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert not out[:, 1::2].any()
    staging = device.empty((3, 4), np.float64, pinned=True)
    assert array.to_host(staging, stream=stream) is staging
    assert np.asarray(staging).sum() == 66


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (np.zeros(3), ValueError, "the shapes differ"),
        (np.zeros(2, np.float32), ValueError, "types of the elements differ"),
        ([0.0, 0.0], TypeError, "out must be a view or an array"),
    ],
)
def test_to_host_rejects_other_arrays(device, stream, out, error, text):
    array = device.to_device(np.arange(2.0), stream=stream)
    with pytest.raises(error, match=text):
        array.to_host(out, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        array.to_host(stream="default")


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("shape", [5, (2, 3), (), (0, 4), [3]])
def test_zeros_are_zero(device, stream, shape, pinned):
    array = device.zeros(shape, np.int32, stream=stream, pinned=pinned)
    assert array.shape == np.zeros(shape).shape
    assert array.to_host(stream=stream).tolist() == np.zeros(shape, np.int32).tolist()


def test_pinned_arrays_need_no_stream_and_share_their_memory(device):
    array = device.zeros(3, np.float32, pinned=True)
    np.asarray(array)[1] = 7
    assert np.asarray(array).tolist() == [0, 7, 0]
    assert array.is_device_accessible


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((-1, "f4"), ValueError, "non-negative"),
        (((2, 1.5), "f4"), TypeError, "shape must be an int"),
        ((3, "no type"), TypeError, "dtype"),
        ((3, object), TypeError, "Python objects"),
        (((1,) * 65, "u1"), ValueError, "at most 64 axes"),
    ],
)
def test_shapes_and_types_of_new_arrays_are_checked(device, stream, arguments, error, text):
    for make in (device.empty, device.zeros):
        with pytest.raises(error, match=text):
            make(*arguments, stream=stream)


def test_arrays_without_a_stream_are_complete_on_return(device, stream):
    x = device.to_device(np.arange(3, dtype=np.float32))
    y = device.zeros(3, np.float32)
    z = device.empty(3, np.float32)
    assert device.default_stream.is_done
    z.copy_from(x, stream, blocking=False)
    assert (x.to_host().tolist(), y.to_host().tolist(), z.to_host().tolist()) == ([0, 1, 2], [0] * 3, [0, 1, 2])


def test_to_host_without_stream_waits_for_other_streams(device, stream):
    x = device.zeros(3, np.int32)
    with busy(stream) as release:
        x.fill(7, stream=stream)
        threading.Timer(0.02, release).start()
        assert x.to_host().tolist() == [7, 7, 7]
    staging = device.empty(3, np.int32, pinned=True)
    assert x.to_host(staging) is staging
    assert StridedMemoryView.from_any_interface(np.ones(3, np.int32), stream_ptr=-1).to_host(staging) is staging
    assert np.asarray(staging).tolist() == [1, 1, 1]


NUMBERS = np.arange(16).reshape(4, 4)
COPIES = {  # each with the part that it copies
    "from the host": (lambda x, y, stream: y.copy_from(NUMBERS, stream=stream), np.s_[:]),
    "of an array": (lambda x, y, stream: y.copy_from(x, stream=stream), np.s_[:]),
    "of columns": (lambda x, y, stream: y[:, 1:3].copy_from(x[:, 1:3], stream=stream), np.s_[:, 1:3]),
    "of every other row": (lambda x, y, stream: y[::2].copy_from(x[::2], stream=stream), np.s_[::2]),
}


@pytest.mark.requires(devices=2)
@pytest.mark.parametrize("copy", COPIES)
def test_arrays_are_copied_while_another_device_is_current(device, copy):
    with Device(1) as other:
        stream = other.create_stream()
        x = other.to_device(NUMBERS, stream=stream)
        y = other.zeros((4, 4), NUMBERS.dtype, stream=stream)
    device.set_current()
    copies, part = COPIES[copy]
    copies(x, y, stream)
    expected = np.zeros_like(NUMBERS)
    expected[part] = NUMBERS[part]
    assert y.to_host(stream=stream).tolist() == expected.tolist()


@pytest.mark.requires(devices=2)
def test_arrays_without_stream_leave_the_current_device_alone():
    def check():
        Device(0).set_current()
        with pytest.raises(CUDAError, match="set_current"):
            Device(1).to_device(np.arange(3))
        Device(1).set_current()
        Device(0).set_current()
        x = Device(1).to_device(np.arange(3))
        zeros = Device(1).zeros(3, np.int32)
        assert (x.device_id, x.to_host().tolist(), zeros.to_host().tolist()) == (1, [0, 1, 2], [0] * 3)
        assert Device().device_id == 0

    in_thread(check)


@pytest.mark.parametrize(
    "use",
    [
        lambda device: device.to_device(np.arange(3)),
        lambda device: device.zeros(3, np.int32),
        lambda device: device.empty(3, np.int32),
        lambda device: device.empty(3, np.int32, pinned=True),
    ],
)
def test_arrays_make_their_device_current_on_a_new_thread(use):
    def check():
        device = Device.get_all_devices()[-1]
        with pytest.raises(CUDAError, match="set_current"):
            device.sync()
        kept = use(device)
        assert (Device().device_id, kept.size) == (device.device_id, 3)
        device.sync()

    in_thread(check)


def test_pinned_must_be_a_bool(device):
    with pytest.raises(TypeError, match="pinned must be a bool"):
        device.empty(3, np.float32, pinned=1)


def test_memory_is_freed_with_the_last_view(device, stream):
    array = device.empty(100, np.float32, stream=stream)
    buffer = array.exporting_obj
    part = array[10:]
    del array
    gc.collect()
    assert not buffer.is_closed
    assert part.exporting_obj is buffer
    buffer.close(stream)
    assert buffer.is_closed


# --- slices ---


KEYS = [
    0,
    -1,
    (1, 2, 3),
    slice(1, None),
    slice(None, None, -2),
    (slice(None), 1),
    (..., 0),
    (0, ...),
    (slice(1), ..., slice(2, 0, -1)),
    ...,
    (),
    np.int64(1),
    (slice(5, 2), 0),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_match_numpy(device, stream, key):
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    array = device.to_device(host, stream=stream)
    part = array[key]
    assert part.shape == host[key].shape
    assert np.array_equal(part.to_host(stream=stream), host[key])
    assert part.exporting_obj is array.exporting_obj


@pytest.mark.parametrize(
    ("key", "error"),
    [(2, IndexError), (-3, IndexError), ((0, 0, 0, 0), IndexError), ((0, 3), IndexError), (1.5, TypeError),
     (None, TypeError), (True, TypeError), ([0], TypeError), ((..., ...), TypeError), ("a", TypeError)],
)  # fmt: skip
def test_other_indices_are_rejected(device, stream, key, error):
    array = device.empty((2, 3, 4), np.int32, stream=stream)
    with pytest.raises(error):
        array[key]


def test_views_have_a_length_and_rows(device, stream):
    array = device.to_device(np.arange(6).reshape(3, 2), stream=stream)
    assert len(array) == 3
    assert [row.to_host(stream=stream).tolist() for row in array] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(TypeError, match="0 dimensions"):
        len(array[0, 0])


def test_empty_view_is_true_as_every_object(device, stream):
    assert device.empty(0, np.int32, stream=stream)
    assert device.empty((), np.int32, stream=stream)


# --- fills ---


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.float32, np.float64, np.complex128, [("a", "i4"), ("b", "f8")]]
)
@pytest.mark.parametrize(
    "key",
    [..., np.s_[1:4, ::2], np.s_[:, 1], np.s_[::-2, 3:0:-1], np.s_[2, 2], np.s_[:, 1:3], np.s_[0:0, 0]],
    ids=str,
)  # fmt: skip
def test_fills_match_numpy(device, stream, dtype, key):
    host = np.zeros((5, 6), dtype)
    array = device.to_device(host, stream=stream)
    value = (1, 2.5) if host.dtype.names else 3 + 1j if host.dtype.kind == "c" else 77
    array[key].fill(value, stream=stream)
    host[key] = value
    assert np.array_equal(array.to_host(stream=stream), host)


def test_fills_of_three_strided_axes(device, stream):
    host = np.zeros((4, 5, 6, 7), np.float64)
    array = device.to_device(host, stream=stream)
    for key in [np.s_[::2, 1::2, ::3, 1:6:2], np.s_[1:3, :, 2, :], np.s_[:, ::4]]:
        array[key].fill(1 / 3, stream=stream)
        host[key] = 1 / 3
    assert np.array_equal(array.to_host(stream=stream), host)


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        (np.uint8, 256, OverflowError),
        (np.uint8, -1, OverflowError),
        (np.int8, np.int64(200), OverflowError),
        (np.int64, 2**64, OverflowError),
        (np.int32, 2.5, TypeError),
        (np.float32, 1e300, OverflowError),
        (np.float32, 1j, TypeError),
        (np.float32, "1", TypeError),
        (np.float32, [1, 2], TypeError),
        (np.float32, None, TypeError),
        (np.bool_, 2, TypeError),
    ],
)
def test_values_that_do_not_convert_are_not_filled(device, stream, dtype, value, error):
    array = device.zeros(3, dtype, stream=stream)
    with pytest.raises(error):
        array.fill(value, stream=stream)
    assert not array.to_host(stream=stream).any()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(np.float32, 2), (np.float32, np.float64(0.5)), (np.uint64, 2**63), (np.int32, True), (np.float16, np.inf)],
)  # fmt: skip
def test_values_that_convert_are_filled(device, stream, dtype, value):
    array = device.empty(3, dtype, stream=stream)
    array.fill(value, stream=stream)
    assert array.to_host(stream=stream).tolist() == [value] * 3


@pytest.mark.parametrize("pinned", [False, True])
def test_fill_without_a_stream_waits_for_all_work(device, stream, pinned):
    array = device.empty((2, 3), np.float32, pinned=pinned)
    array.fill(7)
    array[1:, ::2].fill(-1)
    assert array.to_host().tolist() == [[7, 7, 7], [-1, 7, -1]]
    with busy(stream) as release:
        array.fill(1, stream=stream)
        threading.Timer(0.05, release).start()
        array.fill(2)  # a fill that did not wait would come first
    assert array.to_host(stream=stream).tolist() == [[2] * 3] * 2


def test_fill_without_a_stream_makes_its_device_current():
    def work():
        array = Device().to_device(np.zeros(3, np.int32))
        array.fill(5)
        return array.to_host().tolist()

    assert in_thread(work) == [5, 5, 5]


def test_host_memory_is_not_filled_without_a_stream(device):
    with pytest.raises(TypeError, match="fill it with NumPy"):
        StridedMemoryView.from_any_interface(np.zeros(3), -1).fill(0)


def test_host_and_read_only_memory_is_not_filled(device, stream):
    with pytest.raises(TypeError, match="fill it with NumPy"):
        StridedMemoryView.from_any_interface(np.zeros(3), -1).fill(0, stream=stream)
    buffer = device.allocate(4, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.dtype("u1"), is_readonly=True)
    with pytest.raises(ValueError, match="read-only"):
        view.fill(0, stream=stream)


# --- NumPy and other libraries ---


@pytest.mark.parametrize("shape", [0, (0,), (3, 0), (0, 3), (2, 0, 4)])
@pytest.mark.parametrize("make", ["empty", "zeros"])
def test_empty_pinned_arrays_become_numpy_arrays(device, make, shape):
    array = getattr(device, make)(shape, np.float32, pinned=True)
    expected = np.empty(shape, np.float32)
    for converted in (np.asarray(array), np.from_dlpack(array), np.asarray(array[...]), array.to_host()):
        assert (converted.shape, converted.dtype) == (expected.shape, expected.dtype)
    assert array.__dlpack_device__() == array.exporting_obj.__dlpack_device__()


def test_empty_device_arrays_stay_device_memory(device, stream):
    array = device.empty(0, np.float32, stream=stream)
    with pytest.raises(TypeError, match="is in device memory"):
        np.asarray(array)


def test_device_arrays_do_not_become_arrays_of_objects(device, stream):
    array = device.zeros(3, np.float32, stream=stream)
    for convert in (np.asarray, np.array):
        with pytest.raises(TypeError, match=r"to_host\(stream=stream\)"):
            convert(array)


def test_host_arrays_are_shared_or_copied(device):
    array = device.zeros((2, 3), np.int16, pinned=True)
    shared = np.asarray(array[:, ::2])
    shared[...] = 5
    assert np.asarray(array).tolist() == [[5, 0, 5], [5, 0, 5]]
    assert np.array(array, np.float64).tolist() == [[5, 0, 5], [5, 0, 5]]
    copy = array.__array__(copy=True)
    copy[...] = 0
    assert np.asarray(array).max() == 5
    with pytest.raises(ValueError, match="needs a copy"):
        array.__array__(np.float64, copy=False)


def test_arrays_of_views_keep_the_memory(device):
    array = np.asarray(device.zeros(1000, np.int64, pinned=True))
    gc.collect()
    assert not array.any()


def test_arrays_of_read_only_views_are_read_only():
    source = np.arange(3)
    source.flags.writeable = False
    assert not np.asarray(StridedMemoryView.from_array_interface(source)).flags.writeable


def test_cuda_array_interface_describes_the_view(device, stream):
    array = device.zeros((4, 6), np.float32, stream=stream)
    interface = array[:, ::2].__cuda_array_interface__
    assert interface == {
        "version": 3, "shape": (4, 3), "strides": (24, 8), "typestr": "<f4", "data": (array.ptr, False),
        "stream": int(stream.handle),
    }  # fmt: skip
    assert array.__cuda_array_interface__["strides"] is None
    assert device.zeros(0, np.int8, stream=stream).__cuda_array_interface__["data"] == (0, False)
    record = device.zeros(2, [("a", "<i4"), ("b", "<f4")], stream=stream)
    assert record.__cuda_array_interface__["descr"] == [("a", "<i4"), ("b", "<f4")]


def test_cuda_array_interface_is_imported(device, stream):
    array = device.to_device(np.arange(6.0).reshape(2, 3), stream=stream)[:, ::2]
    view = StridedMemoryView.from_cuda_array_interface(array, -1)
    assert (view.ptr, view.shape, view.strides, view.dtype) == (array.ptr, (2, 2), (3, 2), np.float64)


def test_host_memory_has_no_cuda_array_interface():
    assert not hasattr(StridedMemoryView.from_any_interface(np.zeros(3), -1), "__cuda_array_interface__")


@pytest.mark.requires(module="ml_dtypes")
def test_extension_types_have_no_cuda_array_interface(device, stream):
    ml_dtypes = importlib.import_module("ml_dtypes")
    array = device.zeros(3, ml_dtypes.bfloat16, stream=stream)
    array.fill(1.5, stream=stream)
    assert array.to_host(stream=stream).tolist() == [1.5] * 3
    assert not hasattr(array, "__cuda_array_interface__")


def test_views_copy_from_and_to_any_array(device, stream):
    array = device.zeros((2, 3), np.float32, stream=stream)
    array.copy_from(np.ones((2, 3), np.float32), stream)
    array[0].copy_from(device.to_device(np.arange(3, dtype=np.float32), stream=stream), stream)
    out = np.empty((2, 3), np.float32)
    array.copy_to(out, stream)
    assert out.tolist() == [[0, 1, 2], [1, 1, 1]]
    with pytest.raises(TypeError, match="other must be a view or an array"):
        array.copy_from([1], stream)
    with pytest.raises(TypeError, match="other must be a view or an array"):
        array.copy_to(None, stream)


def test_arrays_go_straight_to_launches(device, stream):
    code = compiled('extern "C" __global__ void add(const float* x, float* y, int n)'
                    "{ if (threadIdx.x < n) y[threadIdx.x] += x[threadIdx.x]; }")  # fmt: skip
    x = device.to_device(np.arange(8, dtype=np.float32), stream=stream)
    y = device.zeros(4, np.float32, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=4), code.get_kernel("add"), x[4:], y, len(y))
    assert y.to_host(stream=stream).tolist() == [4, 5, 6, 7]


def test_arrays_on_the_default_stream(device):
    array = device.to_device(np.arange(3), stream=LEGACY_DEFAULT_STREAM)
    array[1:].fill(9, stream=LEGACY_DEFAULT_STREAM)
    array[:1].copy_from(np.array([4]), LEGACY_DEFAULT_STREAM)
    assert array.to_host(stream=LEGACY_DEFAULT_STREAM).tolist() == [4, 9, 9]


@pytest.mark.parametrize("shape", [b"abc", "12", bytearray(3)])
def test_text_is_not_a_shape(device, stream, shape):
    with pytest.raises(TypeError, match="shape must be an int or a tuple of int"):
        device.zeros(shape, np.int8, stream=stream)


def test_arrays_have_at_most_64_axes(device, stream):
    with pytest.raises(ValueError, match="shape must have at most 64 axes, not 65"):
        device.empty((1,) * 65, np.int8, stream=stream)


class Malformed:
    """An object whose array interface NumPy cannot read."""

    __array_interface__ = {"version": 3, "shape": (1.5,), "typestr": "<f4", "data": (0, False)}


def test_malformed_array_is_not_filled(device, stream):
    with pytest.raises(TypeError, match="value must be a scalar"):
        device.zeros(3, np.float32, stream=stream).fill(Malformed(), stream=stream)
