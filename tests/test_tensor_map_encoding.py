# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The values that the driver's encoders get, read from descriptors of the software device, whose format is known."""

import ctypes
import struct

import numpy as np
import pytest

import support.tensor_maps as tma
from cuda.core import TensorMapDescriptor
from support.contract import ParamHolder, TensorMapSwizzle

pytestmark = pytest.mark.requires(software=True, compute=(9, 0))


def fields(descriptor):
    """Return the fields of a descriptor of the software device (exec/tensor_map.hpp)."""
    holder = ParamHolder((descriptor,))
    data = ctypes.string_at(ctypes.c_void_p.from_address(holder.ptr).value, 128)
    names = "mark kind rank type interleave swizzle fill mode steps address pitches last tile lower upper more"
    values = struct.unpack_from("<I7B5s Q 4Q 5I 5H 3h 3h 2H", data)
    found = dict(zip(names.split()[:8], values[:8], strict=True))
    found["steps"], found["address"], rest = [*values[8]], values[9], values[10:]
    for name, count in (("pitches", 4), ("last", 5), ("tile", 5), ("lower", 3), ("upper", 3), ("more", 2)):
        found[name], rest = [*rest[:count]], rest[count:]
    return found


def test_tiled_maps_pass_all_values_to_the_encoder(device, stream):
    view = tma.on_device(np.zeros((3, 5, 8, 32), np.float16), stream)
    found = fields(
        view.as_tensor_map((1, 2, 4, 16), element_strides=(1, 2, 3, 1), swizzle=TensorMapSwizzle.SWIZZLE_32B)
    )
    assert found["address"] == view.ptr
    assert (found["kind"], found["rank"], found["type"], found["swizzle"]) == (1, 4, 6, 1)
    assert (found["steps"], found["tile"]) == ([1, 3, 2, 1, 0], [16, 4, 2, 1, 0])
    assert found["last"] == [31, 7, 4, 2, 0]
    assert found["pitches"] == [64, 512, 2560, 0]


def test_im2col_maps_pass_all_values_to_the_encoder(device, stream):
    view = tma.on_device(np.zeros((3, 5, 8, 9, 32), np.float16), stream)
    found = fields(TensorMapDescriptor._from_im2col(view, (-1, -2, -3), (1, 2, 3), 16, 100))
    assert (found["kind"], found["rank"], found["more"]) == (2, 5, [16, 100])
    assert (found["lower"], found["upper"]) == ([-3, -2, -1], [3, 2, 1])
    assert found["last"] == [31, 8, 7, 4, 2]
