# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of copies, and their enums."""

import dataclasses
import pickle

import pytest
from cuda.bindings import driver

from cuda.core import utils
from cuda.core.utils import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder


def test_options_have_defaults():
    options = CopyOptions()
    assert (options.src_access_order, options.overlap_mode) == ("stream", "default")
    assert (options.src_location_hint, options.dst_location_hint) == (None, None)


def test_strings_become_members():
    options = CopyOptions("ANY", overlap_mode="prefer_overlap_with_compute")
    assert options.src_access_order is MemcpySrcAccessOrder.ANY
    assert options.overlap_mode is MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE


@pytest.mark.parametrize("fields", [{"src_access_order": "later"}, {"overlap_mode": "never"}, {"overlap_mode": None}])
def test_other_strings_are_rejected(fields):
    with pytest.raises(ValueError, match="not a valid Memcpy"):
        CopyOptions(**fields)


def test_options_compare_by_value():
    options = CopyOptions("any", src_location_hint="anything")
    assert options == CopyOptions(MemcpySrcAccessOrder.ANY, src_location_hint="anything") != CopyOptions()
    assert hash(options) == hash(CopyOptions("any", src_location_hint="anything"))
    assert pickle.loads(pickle.dumps(options)) == options
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.overlap_mode = "default"


def test_members_have_the_driver_names():
    orders = {f"CU_MEMCPY_SRC_ACCESS_ORDER_{member.name}" for member in MemcpySrcAccessOrder}
    assert orders <= set(driver.CUmemcpySrcAccessOrder.__members__)
    modes = {f"CU_MEMCPY_FLAG_{member.name}" for member in MemcpyOverlapMode}
    assert modes <= set(driver.CUmemcpyFlags.__members__)


def test_other_modules_export_the_same_classes():
    assert utils.CopyOptions is CopyOptions


@pytest.mark.parametrize("kind", [MemcpyOverlapMode, MemcpySrcAccessOrder])
def test_enums_are_public_and_pickled_by_their_module(kind):
    assert getattr(utils, kind.__name__) is kind
    for choice in kind:
        assert pickle.loads(pickle.dumps(choice)) is choice
        assert choice == choice.value == choice.name.lower()
