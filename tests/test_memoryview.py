# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""StridedMemoryView: attributes, other layouts and types of the same memory, export, proxies and lifetime."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from cuda.core import Buffer
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory
from support.contract import _StridedLayout as Layout
from support.contract import view_as_array_interface, view_as_cai
from support.memory import HostMemoryResource
from support.tensors import CudaInterface


def view_of(array):
    return StridedMemoryView.from_dlpack(array, -1)


def as_numpy(view):
    """Return the array that NumPy makes through DLPack."""
    return np.from_dlpack(view)


def test_view_has_address_shape_and_strides_of_the_array():
    array = np.arange(24, dtype=np.int16).reshape(4, 6)[::2, 1:]
    view = view_of(array)
    assert (view.ptr, view.shape, view.strides) == (array.ctypes.data, (2, 5), (12, 1))
    assert (view.size, view.dtype, view.readonly) == (10, np.dtype(np.int16), False)
    assert (view.device_id, view.is_device_accessible) == (-1, False)
    assert view.exporting_obj is array
    assert view._layout == Layout((2, 5), (12, 1), 2)
    assert view.__dlpack_device__() == (1, 0)


def test_attributes_are_read_only():
    view = view_of(np.zeros(3))
    for name in ("ptr", "device_id", "is_device_accessible", "readonly", "exporting_obj", "shape", "strides", "dtype"):
        with pytest.raises(AttributeError):
            setattr(view, name, getattr(view, name))
    with pytest.raises(AttributeError):
        view.other = 1


def test_repr_of_an_untyped_view_has_one_line_per_attribute(device, stream):
    text = repr(StridedMemoryView.from_buffer(device.allocate(24, stream=stream), (2, 3), itemsize=4))
    assert text.startswith("StridedMemoryView(ptr=")
    assert [line.strip().partition("=")[0] for line in text.splitlines()[1:]] == [
        "shape",
        "strides",
        "itemsize",
        "dtype",
        "device_id",
        "is_device_accessible",
        "readonly",
        "exporting_obj",
    ]
    assert text.endswith("exporting_obj=cuda.core._memory._buffer.Buffer)")


def test_views_compare_by_identity():
    array = np.zeros(3)
    view = view_of(array)
    assert view == view
    assert view != view_of(array)
    assert len({view, view}) == 1


@pytest.mark.parametrize("call", [weakref.ref, pickle.dumps, copy.copy])
def test_view_is_neither_weakly_referenced_nor_copied(call):
    with pytest.raises(TypeError):
        call(view_of(np.zeros(3)))


def test_methods_of_a_subclass_return_the_subclass():
    class Mine(StridedMemoryView):
        pass

    array = np.zeros(4)
    mine = Mine.from_dlpack(array, -1)
    assert type(mine) is Mine
    assert type(mine.view(dtype=np.dtype("i8"))) is Mine


def test_constructor_is_deprecated():
    array = np.ones((2, 3))
    with pytest.warns(DeprecationWarning) as warnings:
        view = StridedMemoryView(array, -1)
    assert warnings[0].filename == __file__
    assert (view.shape, view.exporting_obj is array) == ((2, 3), True)


def test_empty_view_rejects_each_use():
    with pytest.warns(DeprecationWarning):
        view = StridedMemoryView()
    assert (view.ptr, view.dtype, view.exporting_obj) == (0, None, None)
    for use in (lambda: view.shape, lambda: view.size, lambda: view.__dlpack__()):
        with pytest.raises(ValueError, match="empty"):
            use()
    assert repr(view) == "StridedMemoryView(empty)"


def test_view_cannot_be_initialized_again():
    view = view_of(np.zeros(3))
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="already initialized"):
        view.__init__(np.zeros(4), -1)
    with pytest.raises(RuntimeError, match="already initialized"):
        view_as_array_interface(np.zeros(4), view)
    with pytest.raises(RuntimeError, match="already initialized"):
        view_as_cai(CudaInterface(np.zeros(4)), -1, view)
    assert view.shape == (3,)


def test_helpers_fill_an_empty_view():
    with pytest.warns(DeprecationWarning):
        empty = StridedMemoryView()
    assert view_as_array_interface(np.zeros(4), empty) is empty
    assert empty.shape == (4,)
    assert view_as_array_interface(np.zeros(5)).shape == (5,)
    assert view_as_cai(CudaInterface(np.zeros((2, 3), np.float32)), -1).shape == (2, 3)
    with pytest.raises(TypeError, match="view must be"):
        view_as_array_interface(np.zeros(4), 3)


def test_views_and_capsules_keep_the_array_alive():
    class Array(np.ndarray):
        pass

    array = np.zeros(8).view(Array)
    alive = weakref.ref(array)
    view = view_of(array)
    derived = view.view(dtype=np.dtype("i8")).view(Layout((2,), None, 8))
    capsule = derived.__dlpack__()
    del array, view, derived
    gc.collect()
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


# --- from_buffer ---


@pytest.fixture
def buffer():
    return HostMemoryResource().allocate(96)


def test_buffer_is_viewed_as_an_array(buffer):
    memoryview(buffer)[:] = np.arange(24, dtype=np.int32).tobytes()
    view = StridedMemoryView.from_buffer(buffer, (4, 6), dtype=np.dtype(np.int32))
    assert (view.ptr, view.strides, view.exporting_obj is buffer) == (buffer.handle, None, True)
    assert np.array_equal(as_numpy(view), np.arange(24).reshape(4, 6))
    other = StridedMemoryView.from_buffer(buffer, (6, 4), (1, 6), dtype=np.dtype(np.int32))
    assert np.array_equal(as_numpy(other), np.arange(24).reshape(4, 6).T)


def test_view_with_only_an_item_size_needs_a_dtype_for_export(buffer):
    view = StridedMemoryView.from_buffer(buffer, (24,), itemsize=4, is_readonly=True)
    assert (view.dtype, view._layout.itemsize, view.readonly) == (None, 4, True)
    with pytest.raises(BufferError, match="type"):
        view.__dlpack__()
    assert np.array_equal(as_numpy(view.view(dtype=np.dtype("f4"))), np.zeros(24, np.float32))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"shape": (4,)}, ValueError),
        ({"shape": (4,), "itemsize": 4, "dtype": np.dtype("f8")}, ValueError),
        ({"shape": (25,), "itemsize": 4}, ValueError),
        ({"shape": (5, 5), "strides": (5, 1), "itemsize": 4}, ValueError),
        ({"shape": (4,), "strides": (-1,), "itemsize": 4}, ValueError),
        ({"shape": (-4,), "itemsize": 4}, ValueError),
        ({"shape": (4,), "itemsize": 0}, ValueError),
        ({"shape": (4,), "strides": (1, 1), "itemsize": 4}, ValueError),
        ({"shape": (4,), "dtype": np.float32}, TypeError),
        ({"shape": (4,), "dtype": "f4"}, TypeError),
        ({"shape": [4], "itemsize": 4}, TypeError),
        ({"shape": 4, "itemsize": 4}, TypeError),
    ],
)
def test_bad_arguments_for_a_buffer_are_rejected(buffer, arguments, error):
    with pytest.raises(error):
        StridedMemoryView.from_buffer(buffer, **arguments)


def test_other_types_and_closed_buffers_are_rejected(buffer):
    with pytest.raises(TypeError, match="buffer must be"):
        StridedMemoryView.from_buffer(3, (4,), itemsize=1)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        StridedMemoryView.from_buffer(buffer, (4,), itemsize=1)


def test_size_of_wrapped_memory_is_not_a_limit(buffer):
    wrapped = Buffer.from_handle(buffer.handle, 8, owner=buffer)
    view = StridedMemoryView.from_buffer(wrapped, (96,), itemsize=1)
    assert view.size == 96
    assert view.view(Layout((2000,), None, 1)).size == 2000


def test_memory_of_a_closed_buffer_lives_as_long_as_its_views(buffer):
    mr = buffer.memory_resource
    view = StridedMemoryView.from_buffer(buffer, (96,), dtype=np.dtype("u1"))
    part = view.view(view._layout[3:])
    buffer.close()
    del view
    assert mr.freed == []
    assert as_numpy(part).sum() == 0
    del part
    gc.collect()
    assert len(mr.freed) == 1


def test_views_past_the_end_of_a_buffer_are_rejected(buffer):
    for view in (
        StridedMemoryView.from_buffer(buffer, (24,), itemsize=4),
        StridedMemoryView.from_dlpack(buffer, -1).view(Layout((24,), None, 4), np.dtype("f4")),
    ):
        with pytest.raises(ValueError, match="needs 100 bytes"):
            view.view(Layout((25,), None, 4))


# --- export ---


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("source", [StridedMemoryView.from_array_interface, view_of])
def test_every_type_of_dlpack_is_exported(dtype, source):
    array = np.arange(12).astype(dtype).reshape(3, 4).T
    result = as_numpy(source(array))
    assert (result.dtype, result.strides) == (array.dtype, array.strides)
    assert np.array_equal(result, array)
    assert result.ctypes.data == array.ctypes.data


@pytest.mark.parametrize("dtype", ["M8[s]", ">i4", "g", "U3", "O", [("a", "i4"), ("b", "f8")]])
def test_other_types_are_not_exported(dtype):
    view = StridedMemoryView.from_array_interface(np.zeros(2, dtype))
    assert view.dtype == np.dtype(dtype)
    with pytest.raises(BufferError, match="cannot be exported"):
        view.__dlpack__()


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3)), np.array(3.0), np.arange(6)[::-1], np.broadcast_to(np.ones(3), (2, 3))]
)
def test_unusual_shapes_are_exported(array):
    result = as_numpy(view_of(array))
    assert result.shape == array.shape
    assert np.array_equal(result, array)
    assert result.flags.writeable == array.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"max_version": (1,)}, BufferError),
        ({"max_version": [1, 0]}, TypeError),
        ({"dl_device": (2, 0)}, BufferError),
        ({"dl_device": [1, 0]}, TypeError),
        ({"copy": 1}, TypeError),
        ({"stream": "x"}, TypeError),
        ({"stream": 0}, ValueError),
    ],
)
def test_bad_arguments_of_the_export_are_rejected(arguments, error):
    with pytest.raises(error):
        view_of(np.zeros(3)).__dlpack__(**arguments)


# --- proxies ---


@args_viewable_as_strided_memory((1,))
def decorated(first, second=None, third=3):
    """A function."""
    return second


def test_proxy_makes_the_view_when_the_stream_is_known():
    array = np.zeros((2, 3))
    proxy = decorated(1, array)
    assert (proxy.obj is array, proxy.has_dlpack) == (True, True)
    assert proxy.view(-1).shape == (2, 3)
    with pytest.raises(BufferError, match="ambiguous"):
        proxy.view()
    with pytest.raises(AttributeError):
        proxy.obj = 3
    assert decorated.__doc__ == "A function."
    assert decorated.__wrapped__ is not decorated


def test_proxy_views_an_array_with_a_cuda_interface():
    proxy = decorated(1, CudaInterface(np.zeros(3)))
    assert not proxy.has_dlpack
    assert proxy.view(-1).shape == (3,)


def test_proxy_needs_a_protocol_and_a_positional_argument():
    with pytest.raises(BufferError, match="int has neither"):
        decorated(1, 2)
    with pytest.raises(IndexError):
        decorated(1)
    with pytest.raises(IndexError):
        decorated(1, second=np.zeros(3))
    with pytest.raises(TypeError, match="arg_indices"):
        args_viewable_as_strided_memory([0])


# --- Arrays without a stream ----------------------------------------------------------------------


def test_copies_without_a_stream_are_complete(device, stream):
    array, host = device.zeros(3, np.int32), np.empty(3, np.int32)
    array.fill(1, stream=stream)
    array[1:].copy_from(np.array([2, 3], np.int32))
    array.copy_to(host)
    assert host.tolist() == [1, 2, 3]
    other = device.empty(3, np.int32)
    other.copy_from(array[::-1])
    assert other.tolist() == [3, 2, 1]


def test_reshape_shares_the_memory(device):
    array = device.zeros((2, 6), np.int32)
    array.reshape(3, -1)[1].fill(4)
    assert array.tolist() == [[0, 0, 0, 0, 4, 4], [4, 4, 0, 0, 0, 0]]
    assert array.reshape((12,)).shape == array.reshape(-1).shape == (12,)
    assert array[:, 0].reshape(1, 2).strides == (12, 6)
    with pytest.raises(ValueError, match="without a copy"):
        array[:, 1:].reshape(-1)
    with pytest.raises(ValueError, match="5"):
        array.reshape(5)
    with pytest.raises(TypeError, match="shape must be"):
        array.reshape(1.5)


def test_list_of_an_array_without_axes_is_a_scalar(device):
    assert device.to_device(np.array(3)).tolist() == 3
