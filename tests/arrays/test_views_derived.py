# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Other layouts and types of the memory of a view."""

import gc
import weakref

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView


class Array(np.ndarray):
    """A NumPy array that can be weakly referenced."""


def view_of(array):
    return StridedMemoryView.from_dlpack(array, -1)


def as_numpy(view):
    """Return the array that NumPy makes by DLPack."""
    return np.from_dlpack(view)


def test_view_without_arguments_is_the_same():
    view = view_of(np.zeros(3))
    assert view.view() is view


def test_view_with_another_type_shares_the_memory():
    array = np.arange(6, dtype=np.float32)
    view = view_of(array).view(dtype=np.dtype(np.int32))
    assert np.array_equal(as_numpy(view), array.view(np.int32))
    assert (view.ptr, view.exporting_obj is array, view.dtype) == (array.ctypes.data, True, np.dtype(np.int32))
    assert view_of(array).view(dtype="i4").dtype == np.dtype(np.int32)


def test_view_with_another_layout_and_type():
    array = np.arange(12, dtype=np.int32)
    view = view_of(array)
    assert np.array_equal(as_numpy(view.view(view._layout.reshaped((3, 4)))), array.reshape(3, 4))
    assert np.array_equal(as_numpy(view.view(view._layout.repacked(8), np.dtype(np.int64))), array.view(np.int64))
    with pytest.raises(ValueError, match="8 bytes .dtype., 4 bytes"):
        view.view(dtype=np.dtype(np.int64))
    with pytest.raises(ValueError, match="4 bytes .dtype., 8 bytes"):
        view.view(view._layout.repacked(8))
    with pytest.raises(TypeError, match="layout must be .* not 3; pass a type as dtype="):
        view.view(3)


def test_slices_count_from_the_base():
    array = np.arange(20, dtype=np.int64).reshape(4, 5)
    view = view_of(array)
    part = view.view(view._layout[1:, 2])
    assert np.array_equal(as_numpy(part), array[1:, 2])
    assert part.view(part._layout).ptr == part.ptr
    assert np.array_equal(as_numpy(part.view(part._layout[1:])), array[2:, 2])
    assert part.view(view._layout).ptr == view.ptr


def test_derived_views_stay_read_only():
    array = np.zeros(4)
    array.flags.writeable = False
    view = view_of(array).view(dtype=np.dtype("i8"))
    assert view.readonly
    assert not as_numpy(view).flags.writeable


def test_derived_view_keeps_only_the_exporter():
    array = np.arange(12).view(Array)
    seen = weakref.ref(array)
    view = view_of(array)
    part = view.view(view._layout[2:]).view(dtype=np.dtype("u8"))
    del array, view
    gc.collect()
    assert seen() is part.exporting_obj
    assert as_numpy(part).tolist() == [*range(2, 12)]
    del part
    gc.collect()
    assert seen() is None
