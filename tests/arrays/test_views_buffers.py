# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Imports of buffers and views, which are read directly instead of by a protocol."""

import gc

import numpy as np
import pytest

from cuda.core import Buffer
from cuda.core.utils import StridedMemoryView
from support.memory import HostMemoryResource

from_any = StridedMemoryView.from_any_interface


@pytest.fixture
def buffer():
    return HostMemoryResource().allocate(96)


def test_imported_buffer_views_stay_inside_and_keep_the_memory(buffer):
    resource = buffer.memory_resource
    view = from_any(buffer, -1)
    assert (view.shape, view.dtype, view.exporting_obj is buffer) == ((96,), np.dtype(np.int8), True)
    with pytest.raises(ValueError, match="needs 97 bytes"):
        view.view(type(view._layout)((97,), None, 1))
    buffer.close()
    del buffer
    gc.collect()
    assert resource.freed == [] and np.from_dlpack(view).sum() == 0


def test_closed_buffer_is_not_an_array(buffer):
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        from_any(buffer, -1)


def test_view_of_a_view_has_the_same_attributes(buffer):
    for first in (
        StridedMemoryView.from_buffer(buffer, (4, 6), (1, 4), dtype=np.dtype("i4"), is_readonly=True),
        StridedMemoryView.from_buffer(buffer, (24,), itemsize=4),
        StridedMemoryView.from_array_interface(np.zeros(3, [("a", "i4"), ("b", "f8")])),
    ):
        view = from_any(first, -1)
        assert view.exporting_obj is first
        assert (view.ptr, view.shape, view.strides, view.dtype) == (first.ptr, first.shape, first.strides, first.dtype)
        assert (view.readonly, view._layout.itemsize) == (first.readonly, first._layout.itemsize)


def test_views_need_a_stream_like_other_arrays(buffer):
    with pytest.raises(BufferError, match="ambiguous"):
        from_any(StridedMemoryView.from_dlpack(np.zeros(3), -1))
    assert isinstance(from_any(Buffer.from_handle(0, 0), -1), StridedMemoryView)
