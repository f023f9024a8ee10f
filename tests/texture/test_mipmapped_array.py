# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mipmapped arrays: their levels, their lifetime, and rejected arguments."""

import gc

import numpy as np
import pytest

from cuda.core import CUDAError
from cuda.core.texture import MipmappedArray, MipmappedArrayOptions, ResourceDescriptor
from cuda.core.typing import ArrayFormatType
from support.images import contents


def made(device, shape=(16, 8), format="uint8", num_channels=4, num_levels=3, **options) -> MipmappedArray:
    return device.create_mipmapped_array(MipmappedArrayOptions(shape, format, num_channels, num_levels, **options))


def test_mipmapped_array_returns_its_options(device):
    mipmap = made(device, is_surface_load_store=True)
    assert (mipmap.shape, mipmap.format, mipmap.num_channels) == ((16, 8), ArrayFormatType.UINT8, 4)
    assert mipmap.num_levels == 3 and mipmap.is_surface_load_store
    assert not mipmap.is_layered and not mipmap.is_cubemap
    assert mipmap.device is device and mipmap.handle != 0
    assert repr(mipmap) == "MipmappedArray(shape=(16, 8), format=UINT8, num_channels=4, num_levels=3)"
    assert not hasattr(mipmap, "element_bytes") and not hasattr(mipmap, "size_bytes")
    with pytest.raises(RuntimeError, match="create_mipmapped_array"):
        MipmappedArray()


@pytest.mark.parametrize("shape", [(16,), (16, 5), (9, 6, 5)])
def test_levels_are_halved(device, shape):
    mipmap = made(device, shape, num_levels=4)
    for level in range(4):
        array = mipmap.get_level(level)
        assert array.shape == tuple(max(1, extent >> level) for extent in shape)
        assert (array.format, array.num_channels) == (ArrayFormatType.UINT8, 4)


def test_layers_and_faces_are_not_halved(device):
    assert made(device, (8, 8, 3), is_layered=True).get_level(2).shape == (2, 2, 3)
    cube = made(device, (8, 8, 6), is_cubemap=True)
    assert cube.is_cubemap and cube.get_level(1).is_cubemap
    assert cube.get_level(1).shape == (4, 4, 6)


def test_levels_have_separate_memory(device, stream):
    mipmap = made(device, (8, 8), "float32", 1, 4)
    for level in range(4):
        array = mipmap.get_level(level)
        array.copy_from(np.full(array.shape[::-1], level, np.float32), stream=stream)
    for level in range(4):
        assert (contents(mipmap.get_level(level), stream) == level).all()


@pytest.mark.parametrize("level", [-1, 3, 1 << 70])
def test_level_out_of_range_is_rejected(device, level):
    with pytest.raises(ValueError, match="level must be from 0 to 2"):
        made(device).get_level(level)


@pytest.mark.parametrize("level", [1.0, int], ids=["float", "class"])
def test_level_of_another_type_is_rejected(device, level):
    with pytest.raises(TypeError, match=f"level must be an int, not {type(level).__name__}"):
        made(device).get_level(level)


def test_each_level_is_a_new_object(device):
    mipmap = made(device)
    first, second = mipmap.get_level(1), mipmap.get_level(1)
    assert first != second and first.handle == second.handle


def test_level_keeps_the_memory(device, stream):
    values = np.arange(8 * 4 * 4, dtype=np.uint8).reshape(4, 8, 4)
    mipmap = made(device)
    level = mipmap.get_level(1)
    level.copy_from(values, stream=stream)
    mipmap.close()
    del mipmap
    gc.collect()
    assert (contents(level, stream) == values).all()


def test_closed_mipmapped_array_is_rejected(device):
    mipmap = made(device)
    mipmap.close()
    mipmap.close()
    assert mipmap.is_closed and mipmap.handle == 0
    assert (mipmap.shape, mipmap.num_levels, mipmap.device) == ((16, 8), 3, device)
    with pytest.raises(RuntimeError, match="MipmappedArray is closed"):
        mipmap.get_level(0)
    with pytest.raises(RuntimeError, match="MipmappedArray is closed"):
        ResourceDescriptor.from_mipmapped_array(mipmap)


@pytest.mark.parametrize("shape, most", [((16,), 5), ((16, 5), 5), ((3, 9, 4), 4), ((1, 1), 1)])
def test_levels_end_where_nothing_can_be_halved(device, shape, most):
    assert made(device, shape, num_levels=most).num_levels == most
    mipmap = made(device, shape, num_levels=most + 3)  # the driver creates fewer levels, without an error
    assert mipmap.num_levels == most
    assert set(mipmap.get_level(most - 1).shape) == {1}
    with pytest.raises(ValueError, match="level must be"):
        mipmap.get_level(most)


def test_layers_do_not_count_for_levels(device):
    assert made(device, (4, 4, 64), num_levels=9, is_layered=True).num_levels == 3
    assert made(device, (4, 4, 6), num_levels=9, is_cubemap=True).num_levels == 3


def test_driver_rejects_extents_over_the_device_limits(device):
    with pytest.raises(CUDAError):
        made(device, (1 << 30, 1 << 30))


def test_surface_can_be_created_on_a_level(device):
    level = made(device, is_surface_load_store=True).get_level(1)
    assert level.is_surface_load_store
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(level))
    assert surface.handle != 0


def test_options_may_be_a_dict_but_not_missing(device):
    fields = {"shape": (4,), "format": "uint8", "num_channels": 1, "num_levels": 2}
    with device.create_mipmapped_array(fields) as mipmap:
        assert mipmap.num_levels == 2
    assert mipmap.is_closed
    for wrong in (None, 4):
        with pytest.raises(TypeError):
            device.create_mipmapped_array(wrong)
