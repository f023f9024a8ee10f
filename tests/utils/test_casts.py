# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conversions of arrays to other element types."""

import itertools

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def test_values_convert_as_in_numpy(device, stream):
    host = np.array([0, 1, 2, 100])
    for source, target in itertools.product(TYPES, TYPES[:: len(TYPES) - 1]):
        array = device.to_device(host.astype(source), stream=stream).astype(target, stream=stream)
        assert array.dtype == np.dtype(target)
        np.testing.assert_array_equal(array.to_host(stream=stream), host.astype(source).astype(target))


def test_strided_views_become_arrays_in_c_order(device):
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = device.to_device(host)[::2, 1::2].astype(np.int16)
    assert array.shape == (2, 3)
    np.testing.assert_array_equal(array.to_host(), host[::2, 1::2].astype(np.int16))


def test_same_type_and_empty_arrays_are_copied(device, stream):
    array = device.to_device(np.arange(3), stream=stream)
    copy = array.astype(array.dtype, stream=stream)
    array.fill(0, stream=stream)
    assert copy.tolist(stream=stream) == [0, 1, 2]
    assert array[:0].astype("f4").tolist() == []


def test_cast_is_enqueued_on_the_used_stream(device, stream):
    array = device.to_device(np.arange(3))
    with stream.use():
        assert array.astype("f8").tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("dtype", ["f2", "c8", ">i4", "S3", "M8[s]"])
def test_other_types_are_rejected(device, dtype):
    array = device.zeros(2, np.int32)
    with pytest.raises(TypeError, match="elements must be bool, integers, or"):
        array.astype(dtype)
    with pytest.raises(TypeError, match="elements must be bool, integers, or"):
        device.zeros(2, dtype).astype("f4")


def test_untyped_and_host_views_are_rejected(device, stream):
    with pytest.raises(TypeError, match="host memory"):
        StridedMemoryView.from_any_interface(np.zeros(2), -1).astype("f4")
    untyped = StridedMemoryView.from_buffer(device.allocate(8, stream=stream), (2,), itemsize=4)
    with pytest.raises(TypeError, match="element type is unknown"):
        untyped.astype("f4")
