# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor map options: enum values, normalization, and rejected values."""

import numpy as np
import pytest

import support.tensor_maps as tma
from cuda.core import TensorMapDescriptorOptions
from cuda.core.utils import StridedMemoryView
from support.contract import (
    _NUMPY_DTYPE_TO_TMA,
    TensorMapDataType,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)

pytestmark = pytest.mark.requires(compute=(9, 0))

F32 = np.dtype(np.float32)


@pytest.fixture
def view(device, stream):
    """A view of shape (64, 96) of float32 on the device."""
    return tma.on_device(np.arange(64 * 96, dtype=np.float32).reshape(64, 96), stream)


def test_enums_have_the_driver_values():
    from cuda.bindings import driver

    names = {
        TensorMapDataType: ("CUtensorMapDataType", "CU_TENSOR_MAP_DATA_TYPE_"),
        TensorMapInterleave: ("CUtensorMapInterleave", "CU_TENSOR_MAP_"),
        TensorMapSwizzle: ("CUtensorMapSwizzle", "CU_TENSOR_MAP_"),
        TensorMapL2Promotion: ("CUtensorMapL2promotion", "CU_TENSOR_MAP_L2_PROMOTION_"),
        TensorMapOOBFill: ("CUtensorMapFloatOOBfill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_"),
        TensorMapIm2ColWideMode: ("CUtensorMapIm2ColWideMode", "CU_TENSOR_MAP_IM2COL_WIDE_MODE_"),
    }
    for enum, (theirs, prefix) in names.items():
        for member in enum:
            middle = {TensorMapInterleave: "INTERLEAVE_", TensorMapSwizzle: "SWIZZLE_"}.get(enum, "")
            name = prefix + (middle if member.name == "NONE" else "") + member.name
            assert getattr(getattr(driver, theirs), name) == member


def test_options_are_normalized_and_compared():
    options = TensorMapDescriptorOptions([16, 32], element_strides=[1, 2], data_type="float32", swizzle=None)
    assert (options.box_dim, options.element_strides) == ((16, 32), (1, 2))
    assert options.data_type == F32 and isinstance(options.data_type, np.dtype)
    assert options.swizzle is TensorMapSwizzle.NONE
    assert options == TensorMapDescriptorOptions((16, 32), (1, 2), np.float32)
    with pytest.raises(TypeError, match="unhashable"):
        hash(options)
    assert TensorMapDescriptorOptions((8,), data_type=TensorMapDataType.TFLOAT32).data_type == 11


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"box_dim": 16}, "box_dim must be a tuple of int, not int"),
        ({"box_dim": None}, "box_dim must be a tuple of int, not None"),
        ({"box_dim": (16, 2.0)}, "box_dim must be a tuple of int, not"),
        ({"element_strides": 2}, "element_strides must be a tuple of int, not int"),
        ({"element_strides": ("1",)}, "element_strides must be a tuple of int"),
        ({"data_type": 7}, "not the int 7"),
        ({"data_type": "float33"}, "data_type must be a TensorMapDataType or a dtype, not 'float33'"),
        ({"interleave": 1}, "interleave must be a TensorMapInterleave, not 1"),
        ({"swizzle": "SWIZZLE_32B"}, "swizzle must be a TensorMapSwizzle"),
        ({"l2_promotion": TensorMapSwizzle.SWIZZLE_32B}, "l2_promotion must be a TensorMapL2Promotion"),
        ({"oob_fill": True}, "oob_fill must be a TensorMapOOBFill"),
    ],
)
def test_options_of_the_wrong_type_are_rejected(view, changes, message):
    with pytest.raises(TypeError, match=message):
        TensorMapDescriptorOptions(**{"box_dim": (16,), **changes})
    if changes.get("box_dim", 0) is not None:
        with pytest.raises(TypeError, match=message):
            view.as_tensor_map(**{"box_dim": (4, 16), **changes})


def test_assigned_fields_are_checked_when_the_options_are_used(view):
    options = TensorMapDescriptorOptions((4, 16))
    options.box_dim = [2, 16]
    view.as_tensor_map(options=options)
    assert options.box_dim == (2, 16)
    options.swizzle = "SWIZZLE_32B"
    with pytest.raises(TypeError, match="swizzle must be a TensorMapSwizzle"):
        view.as_tensor_map(options=options)


def test_options_exclude_other_arguments(view):
    options = TensorMapDescriptorOptions((4, 16))
    assert repr(view.as_tensor_map(options=options)) == repr(view.as_tensor_map(options={"box_dim": [4, 16]}))
    # Arguments that have their defaults are allowed beside options.
    view.as_tensor_map(options=options, swizzle=TensorMapSwizzle.NONE, element_strides=None)
    for arguments in (
        {},
        {"box_dim": (4, 16), "options": options},
        {"options": options, "data_type": np.float32},
        {"options": options, "swizzle": TensorMapSwizzle.SWIZZLE_64B},
    ):
        with pytest.raises(TypeError, match="pass"):
            view.as_tensor_map(**arguments)
    with pytest.raises(TypeError, match="unknown tensor map options: 'box'"):
        view.as_tensor_map(options={"box": (4, 16)})
    with pytest.raises(TypeError, match="unknown tensor map options: 'box', an int of 16610 bits"):
        view.as_tensor_map(options={"box": (4, 16), 10**5000: 1})
    with pytest.raises(TypeError, match="options must be"):
        view.as_tensor_map(options=(4, 16))


@pytest.mark.parametrize("dtype", [d for d in _NUMPY_DTYPE_TO_TMA if d.kind != "V"], ids=str)
def test_types_of_elements_are_taken_from_the_view(stream, dtype):
    array = np.arange(64).astype(dtype).reshape(4, 16)
    descriptor = tma.on_device(array, stream).as_tensor_map((2, 16))
    assert f"dtype={_NUMPY_DTYPE_TO_TMA[dtype].name}," in repr(descriptor)
    assert np.array_equal(tma.load_tile(descriptor, (1, 0), (2, 16), dtype, stream), array[1:3])


def test_data_types_without_a_dtype_are_passed_by_enum(stream):
    view = tma.on_device(np.arange(64, dtype=np.int16), stream)
    for wrong in (None, np.int8, "complex64", bool, ">f4"):
        with pytest.raises(ValueError, match="tensor maps have no data type for"):
            view.as_tensor_map((16,), data_type=wrong)
    assert "dtype=BFLOAT16" in repr(view.as_tensor_map((16,), data_type=TensorMapDataType.BFLOAT16))
    untyped = StridedMemoryView.from_buffer(view.exporting_obj, (64,), itemsize=2)
    with pytest.raises(ValueError, match="pass data_type"):
        untyped.as_tensor_map((16,))
    assert "dtype=UINT16" in repr(untyped.as_tensor_map((16,), data_type=np.uint16))


def test_bfloat16_needs_no_ml_dtypes(stream):
    class Bfloats:
        def __init__(self, view):
            self.view = view

        def __dlpack_device__(self):
            return self.view.__dlpack_device__()

        def __dlpack__(self, **arguments):
            from support.tensors import DLPackExporter

            exporter = DLPackExporter(self.__dlpack_device__(), code=4, bits=16, shape=(64,), data=self.view.ptr)
            self.exporter = exporter
            return exporter.__dlpack__(**arguments)

    view = StridedMemoryView.from_dlpack(Bfloats(tma.on_device(np.zeros(64, np.uint16), stream)), -1)
    assert "dtype=BFLOAT16" in repr(view.as_tensor_map((16,)))


@pytest.mark.parametrize("name", ["swizzle", "interleave", "l2_promotion", "oob_fill"])
def test_choices_that_cannot_be_written_out_are_rejected_by_name(name):
    with pytest.raises(TypeError, match=f"{name} must be a TensorMap.*, not a dict that cannot be written out"):
        TensorMapDescriptorOptions(box_dim=(1,), **{name: {"number": 10**5000}})


def test_unprintable_data_type_is_rejected_by_name():
    with pytest.raises(TypeError, match="data_type must be .*, not a dict that cannot be written out"):
        TensorMapDescriptorOptions(box_dim=(1,), data_type={"number": 10**5000})
