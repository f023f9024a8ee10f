# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Extents, formats and channels of arrays: conversions and checks of options."""

import numpy as np
import pytest

from cuda.core.texture import MipmappedArrayOptions, OpaqueArray, OpaqueArrayOptions
from cuda.core.typing import ArrayFormatType
from support.bindings import call_driver

WITHOUT_A_MEMBER = ["i2", "float64", 3, None, np.dtype(">i2"), np.float64, np.dtype("i8"), int, b"int16"]
FORMATS = {
    "member": ArrayFormatType.INT16,
    "string": "int16",
    "scalar type": np.int16,
    "dtype": np.dtype("int16"),
    "native order": np.dtype("=i2"),
}


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_format_becomes_a_member(format):
    options = OpaqueArrayOptions(shape=(2,), format=format, num_channels=1)
    assert options.format is ArrayFormatType.INT16
    assert MipmappedArrayOptions((2,), format, 1, 1).format is ArrayFormatType.INT16


@pytest.mark.parametrize("format", WITHOUT_A_MEMBER, ids=str)
def test_format_without_a_member_is_rejected(format):
    with pytest.raises(ValueError):
        OpaqueArrayOptions((2,), format, 1)


@pytest.mark.parametrize("member", ArrayFormatType)
def test_element_size_matches_numpy(device, member):
    with device.create_opaque_array(OpaqueArrayOptions((2,), member, 4)) as array:
        assert array.element_bytes == 4 * np.dtype(member.value).itemsize


@pytest.mark.parametrize("channels", [3, 0, -1, 5, True, "1", 2.0, None])
def test_channels_other_than_1_2_and_4_are_rejected(channels):
    with pytest.raises(ValueError, match="num_channels must be 1, 2 or 4"):
        OpaqueArrayOptions((2,), "uint8", channels)


def test_channels_of_numpy_become_ints():
    assert type(OpaqueArrayOptions((2,), "uint8", np.int64(4)).num_channels) is int


@pytest.mark.parametrize("shape", [[3, 4], (np.int32(3), np.uint8(4)), iter([3, 4]), range(3, 5)])
def test_shape_becomes_a_tuple_of_ints(shape):
    made = OpaqueArrayOptions(shape, "uint8", 1).shape
    assert made == (3, 4)
    assert [type(extent) for extent in made] == [int, int]


@pytest.mark.parametrize("shape", [(), (1, 2, 3, 4), (0,), (4, -1), (1 << 63,), (1 << 200, 2)])
def test_shape_out_of_range_is_rejected(shape):
    with pytest.raises(ValueError, match="shape"):
        OpaqueArrayOptions(shape, "uint8", 1)


@pytest.mark.parametrize("shape", [7, None, (1.5,), ("8",), (None, 2)])
def test_shape_of_another_type_is_rejected(shape):
    with pytest.raises(TypeError, match="shape"):
        OpaqueArrayOptions(shape, "uint8", 1)


@pytest.mark.parametrize("shape", [(4, 4), (4, 5, 6), (4, 4, 5), (4, 4, 12)])
def test_shape_of_a_cube_map_has_six_square_faces(shape):
    with pytest.raises(ValueError, match="cube map"):
        OpaqueArrayOptions(shape, "uint8", 1, is_cubemap=True)


def test_several_cubes_have_a_multiple_of_six_faces():
    assert OpaqueArrayOptions((4, 4, 12), "uint8", 1, is_cubemap=True, is_layered=True).shape == (4, 4, 12)
    with pytest.raises(ValueError, match="multiple of 6"):
        OpaqueArrayOptions((4, 4, 8), "uint8", 1, is_cubemap=True, is_layered=True)


def test_layers_need_an_axis():
    with pytest.raises(ValueError, match="must be .width, layers. or .width, height, layers."):
        OpaqueArrayOptions((4,), "uint8", 1, is_layered=True)


@pytest.mark.parametrize("levels, error", [(0, ValueError), (-3, ValueError), (1 << 40, ValueError), (1.0, TypeError)])
def test_out_of_range_level_count_is_rejected(levels, error):
    with pytest.raises(error, match="num_levels"):
        MipmappedArrayOptions((4,), "uint8", 1, levels)


def test_assigned_fields_are_checked_when_the_options_are_used(device):
    options = OpaqueArrayOptions((4,), "uint8", 1)
    options.shape = [5, 6]
    with device.create_opaque_array(options) as array:
        assert array.shape == options.shape == (5, 6)
    options.num_channels = 3
    with pytest.raises(ValueError, match="num_channels"):
        device.create_opaque_array(options)


@pytest.mark.parametrize(
    ("shape", "is_layered"), [((7,), False), ((7, 8), False), ((7, 8, 9), False), ((7, 8), True), ((7, 8, 9), True)]
)
def test_shapes_become_driver_extents_and_back(device, shape, is_layered):
    with device.create_opaque_array(OpaqueArrayOptions(shape, "uint8", 1, is_layered=is_layered)) as array:
        described = call_driver("cuArray3DGetDescriptor", array.handle)
        depth = (*shape, 0, 0)[2]
        extents = (shape[0], 0, shape[1]) if is_layered and len(shape) == 2 else (*shape, 0, 0)[:2] + (depth,)
        assert (described.Width, described.Height, described.Depth) == extents
        assert OpaqueArray._from_handle(int(array.handle), False).shape == shape
