# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Typed views of buffers."""

import gc

import numpy as np
import pytest

from cuda.core import Buffer, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView
from support.memory import HostMemoryResource, read


@pytest.fixture
def mr():
    return HostMemoryResource()


@pytest.fixture
def buffer(mr):
    buffer = mr.allocate(48)
    memoryview(buffer)[:] = bytes(range(48))
    return buffer


@pytest.mark.parametrize(
    ("arguments", "shape", "dtype"),
    [
        ({}, (48,), "u1"),
        ({"dtype": "f4"}, (12,), "f4"),
        ({"dtype": np.int16}, (24,), "i2"),
        ({"dtype": np.dtype([("a", "<i4"), ("b", "<f8")])}, (4,), [("a", "<i4"), ("b", "<f8")]),
        ({"shape": 5}, (5,), "u1"),
        ({"shape": (3, 4), "dtype": "i4"}, (3, 4), "i4"),
        ({"shape": [2, 3], "dtype": "i4"}, (2, 3), "i4"),
        ({"shape": (-1, 4), "dtype": "i4"}, (3, 4), "i4"),
        ({"shape": (2, -1, 2), "dtype": "i4"}, (2, 3, 2), "i4"),
        ({"shape": (np.int64(2), -1)}, (2, 24), "u1"),
        ({"shape": -1, "dtype": "c16"}, (3,), "c16"),
        ({"shape": (), "dtype": "f8"}, (), "f8"),
        ({"shape": (0, 7), "dtype": "f8"}, (0, 7), "f8"),
    ],
)
def test_view_has_shape_and_type(buffer, arguments, shape, dtype):
    view = buffer.view(**arguments)
    assert type(view) is StridedMemoryView
    assert (view.shape, view.dtype, view.ptr) == (shape, np.dtype(dtype), buffer.handle)
    assert view.exporting_obj is buffer
    assert view.readonly is False


def test_view_shares_the_memory(buffer):
    array = np.from_dlpack(buffer.view((3, 4), "i4"))
    array[1] = 7
    assert bytes(buffer)[:16] == bytes(range(16))
    assert bytes(buffer)[16:32] == np.full(4, 7, "i4").tobytes()


def test_slice_is_viewed_from_its_start(buffer):
    view = buffer[8:24].view(dtype="i4")
    assert (view.shape, view.ptr) == ((4,), buffer.handle + 8)
    assert np.from_dlpack(view).tobytes() == bytes(range(8, 24))
    again = view.view(dtype=np.dtype("f4"))
    assert (again.ptr, again.dtype) == (view.ptr, np.float32)


def test_empty_buffer_has_an_empty_view(mr):
    assert mr.allocate(0).view(dtype="u1").shape == (0,)
    assert mr.allocate(0).view((-1, 3), "u1").shape == (0, 3)


@pytest.mark.parametrize("shape", [(13,), (4, 4), (49,), (2**40, 2**40)])
def test_shape_must_fit(buffer, shape):
    with pytest.raises(ValueError, match="but the buffer has 48"):
        buffer.view(shape, "i4")
    with pytest.raises(ValueError, match="but the buffer has 48"):
        Buffer.from_handle(buffer.handle, 48, owner=buffer).view(shape, "i4")


def test_view_past_the_end_of_a_slice_is_rejected(buffer):
    with pytest.raises(ValueError, match="but the buffer has 8"):
        buffer[:8].view(3, "i4")
    wrapped = Buffer.from_handle(buffer.handle, 48, owner=buffer)
    with pytest.raises(ValueError, match="the buffer has 8"):
        StridedMemoryView.from_buffer(wrapped[:8], (3,), itemsize=4)
    with pytest.raises(ValueError, match="the buffer has 8"):
        wrapped[:8].view().view(buffer.view()._layout)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "V5"},
        {"shape": (-1, 5)},
        {"shape": (-1, 0)},
        {"shape": (7, -1), "dtype": "i4"},
    ],
)
def test_open_extent_must_divide_the_size(buffer, arguments):
    with pytest.raises(ValueError, match="not a multiple"):
        buffer.view(**arguments)


@pytest.mark.parametrize("shape", [(-1, -1), (-2,), -2, (3, -5, -1)])
def test_negative_extents_are_rejected(buffer, shape):
    with pytest.raises(ValueError, match="at most one -1"):
        buffer.view(shape)


@pytest.mark.parametrize("shape", ["12", 1.5, (2, 1.5), (2, None), object()])
def test_shape_must_contain_integers(buffer, shape):
    with pytest.raises(TypeError, match="shape must be an int, a tuple"):
        buffer.view(shape)
    with pytest.raises(TypeError, match="not <class 'numpy.float32'>; pass a type as dtype="):
        buffer.view(np.float32)


def test_wrong_dtypes_are_rejected(buffer):
    with pytest.raises(TypeError):
        buffer.view(dtype="no type")
    with pytest.raises(TypeError, match="Python objects"):
        buffer.view(dtype=object)
    with pytest.raises(ValueError, match="item size above 0"):
        buffer.view(dtype="S")


def test_misaligned_elements_are_rejected(buffer):
    base = -buffer.handle % 8
    with pytest.raises(ValueError, match=r"address 0x[0-9a-f]+ is not aligned for float32"):
        buffer[base + 2 : base + 10].view(dtype="f4")
    with pytest.raises(ValueError, match="a multiple of 8"):
        buffer[base + 4 : base + 12].view(dtype="f8")
    assert buffer[base + 2 : base + 10].view(dtype="i2").shape == (4,)
    assert buffer[base + 1 : base + 11].view(dtype=np.dtype([("a", "u1"), ("b", "<i4")])[["a"]]).dtype.names == ("a",)


def test_closed_buffer_is_not_viewed(buffer):
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.view()


def test_view_keeps_the_memory_alive(mr, buffer):
    view = buffer[4:].view(dtype="u1")
    buffer.close()
    gc.collect()
    assert mr.freed == []
    assert np.from_dlpack(view).tobytes() == bytes(range(4, 48))
    del view
    gc.collect()
    assert len(mr.freed) == 1


def test_view_of_device_memory_is_copied(device, stream):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    buffer = device.allocate(64, stream=stream)
    view = buffer[16:].view((3, 4), np.float32)
    assert (view.is_device_accessible, view.device_id) == (True, 0)
    view.copy_from(StridedMemoryView.from_dlpack(values, -1), stream)
    assert read(buffer[16:], stream) == values.tobytes()
    pinned = LegacyPinnedMemoryResource().allocate(48).view((4, 3), "f4")
    pinned.copy_from(StridedMemoryView.from_buffer(buffer[16:], (4, 3), (1, 4), dtype=np.dtype("f4")), stream)
    assert np.array_equal(np.from_dlpack(pinned), values.T)
