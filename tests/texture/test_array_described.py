# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The properties that arrays and mipmapped arrays have in common."""

import pytest

from cuda.core.texture import MipmappedArray, OpaqueArray
from cuda.core.typing import ArrayFormatType

DescribedArray = OpaqueArray.__base__
FLAGS = ("is_surface_load_store", "is_layered", "is_cubemap")


@pytest.fixture(params=["array", "mipmapped array"])
def create(request, device):
    def create_array(**options):
        if request.param == "array":
            return device.create_opaque_array(options)
        return device.create_mipmapped_array({"num_levels": 2} | options)

    return create_array


@pytest.mark.parametrize("cls", [OpaqueArray, MipmappedArray])
def test_common_properties_are_defined_in_the_base_class(cls):
    shared = {name for name in vars(DescribedArray) if not name.startswith("_")}
    assert shared >= {"handle", "shape", "format", "num_channels", "device", *FLAGS}
    assert shared.isdisjoint(vars(cls)) and issubclass(cls, DescribedArray)


def test_properties_describe_the_elements_also_after_closing(create, device):
    with create(shape=(8, 4), format="float32", num_channels=2) as array:
        assert (array.shape, array.format, array.num_channels) == ((8, 4), ArrayFormatType.FLOAT32, 2)
        assert array.device is device and array.handle != 0
        assert [getattr(array, flag) for flag in FLAGS] == [False, False, False]
    assert array.handle == 0 and array.shape == (8, 4)  # the description stays


@pytest.mark.parametrize(
    "shape, flag", [((8, 4), "is_surface_load_store"), ((8, 4, 3), "is_layered"), ((8, 8, 6), "is_cubemap")]
)
def test_flags_match_the_options(create, shape, flag):
    with create(shape=shape, format="uint8", num_channels=1, **{flag: True}) as array:
        assert {name for name in FLAGS if getattr(array, name)} == {flag} and array.shape == shape


def test_arrays_with_equal_options_are_not_equal(create):
    with create(shape=(4,), format="uint8", num_channels=1) as one:
        with create(shape=(4,), format="uint8", num_channels=1) as other:
            assert one != other and one == one and len({one, other}) == 2


def test_base_class_cannot_be_constructed():
    with pytest.raises(RuntimeError, match="DescribedArray"):
        DescribedArray()
