# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The C exchange table of views, which other libraries call instead of making capsules."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView
from support.contract import _StridedLayout as Layout
from support.memory import HostMemoryResource
from support.tensors import CudaInterface, Tensor

Pointer = ctypes.c_void_p
SetError = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_char_p, ctypes.c_char_p)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", Pointer),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Pointer, Pointer, SetError)),
        ("managed_from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Pointer))),
        ("object_from_managed", ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, ctypes.POINTER(ctypes.py_object))),
        ("borrow_from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))),
        (
            "current_work_stream",
            ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(Pointer)),
        ),
    ]


@pytest.fixture
def table():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    return Table.from_address(get(StridedMemoryView.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


def view_of(array):
    return StridedMemoryView.from_dlpack(array, -1)


def extents(address, count):
    return list((ctypes.c_int64 * count).from_address(address))


def test_both_names_are_one_table_of_version_1(table):
    assert StridedMemoryView.__c_dlpack_exchange_api__ is StridedMemoryView.__dlpack_c_exchange_api__
    assert (table.major, table.previous) == (1, None)


def test_tensor_is_borrowed(table):
    array = np.zeros((2, 3, 4), np.int16)[:, ::2]
    view = view_of(array)
    tensor = Tensor()
    for _ in range(2):
        assert table.borrow_from_object(view, tensor) == 0
        assert (tensor.data, tensor.ndim, tensor.device_type) == (array.ctypes.data, 3, 1)
        assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (0, 16, 1, 0)
        assert extents(tensor.shape, 3) == [2, 2, 4]
        assert extents(tensor.strides, 3) == [12, 8, 1]


def test_scalars_and_empty_tensors_are_borrowed(table):
    tensor = Tensor()
    table.borrow_from_object(view_of(np.array(1.0)), tensor)
    assert (tensor.ndim, tensor.shape, tensor.strides) == (0, None, None)
    empty = view_of(np.zeros((0, 3)))
    table.borrow_from_object(empty, tensor)
    assert (tensor.ndim, tensor.data) == (2, None)


def test_views_without_a_type_are_rejected(table):
    untyped = StridedMemoryView.from_buffer(HostMemoryResource().allocate(8), (8,), itemsize=1)
    for function, result in [(table.borrow_from_object, Tensor()), (table.managed_from_object, Pointer())]:
        with pytest.raises(BufferError, match="type"):
            function(untyped, result)
        with pytest.raises(TypeError):
            function(3, result)


@pytest.mark.parametrize("is_writeable", [False, True])
def test_tensor_is_exported_and_imported_again(table, is_writeable):
    array = np.arange(6, dtype=np.float32).reshape(2, 3).view(type("Array", (np.ndarray,), {}))
    array.flags.writeable = is_writeable
    alive = weakref.ref(array)
    managed, back = Pointer(), ctypes.py_object()
    assert table.managed_from_object(view_of(array), managed) == 0
    assert table.object_from_managed(managed, back) == 0
    view = back.value
    ctypes.pythonapi.Py_DecRef(back)  # the function returned a new reference
    del back
    assert type(view) is StridedMemoryView
    assert (view.ptr, view.shape, view.strides, view.dtype) == (array.ctypes.data, (2, 3), (3, 1), np.dtype("f4"))
    assert view.readonly is not is_writeable
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="already initialized"):
        view.__init__(array, -1)
    del array
    part = view.view(Layout((3,), None, 4))
    del view
    gc.collect()
    assert np.from_dlpack(part).tolist() == [0, 1, 2]
    del part
    gc.collect()
    assert alive() is None


def test_table_has_no_work_stream_and_does_not_allocate(table):
    stream = Pointer(77)
    assert table.current_work_stream(2, 0, stream) == 0
    assert stream.value is None
    errors = []
    report = SetError(lambda context, kind, message: errors.append((context, kind, message)))
    assert table.allocate(None, None, 5, report) == -1
    assert [(context, kind) for context, kind, _ in errors] == [(5, b"NotImplementedError")]


Raw = ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, Pointer)


@pytest.mark.parametrize("name", ["managed_from_object", "object_from_managed", "borrow_from_object"])
def test_null_tensors_and_results_are_rejected(table, name):
    function = ctypes.cast(getattr(table, name), Raw)
    room = (ctypes.c_char * 256)()
    with pytest.raises(ValueError, match="the (tensor|object) must not be a null pointer"):
        function(None, ctypes.addressof(room))
    with pytest.raises(ValueError, match="the result must not be a null pointer"):
        function(id(view_of(np.zeros(3))), None)
    with pytest.raises(ValueError, match="the result must not be a null pointer"):
        table.current_work_stream(2, 0, None)


def test_tensor_without_its_shape_is_rejected(table):
    managed = (ctypes.c_int64 * 32)()
    tensor = Tensor.from_address(ctypes.addressof(managed) + 32)  # after version, context, deleter and flags
    tensor.device_type, tensor.ndim, tensor.code, tensor.bits, tensor.lanes = 1, 2, 0, 8, 1
    with pytest.raises(ValueError, match="a tensor with 2 axes must have a shape"):
        table.object_from_managed(ctypes.addressof(managed), ctypes.py_object())


def test_no_allocation_without_a_way_to_report_it(table):
    allocate = ctypes.cast(table.allocate, ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, Pointer, Pointer, Pointer))
    with pytest.raises(NotImplementedError, match="cannot allocate"):
        allocate(None, None, None, None)


def test_borrowed_interface_tensors_have_strides_in_elements(table):
    """The interface has strides in bytes, and may omit C-order strides."""
    for strides, expected in (((4, 8), [1, 2]), (None, [3, 1])):
        array = CudaInterface(np.zeros((2, 3), np.float32), strides=strides)
        view = StridedMemoryView.from_cuda_array_interface(array, -1)
        tensor = Tensor()
        for _ in range(2):
            assert table.borrow_from_object(view, ctypes.byref(tensor)) == 0
            assert (ctypes.c_int64 * 2).from_address(tensor.strides)[:] == expected
            assert (ctypes.c_int64 * 2).from_address(tensor.shape)[:] == [2, 3]
        assert view.shape == (2, 3)
