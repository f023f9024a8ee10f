# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every public enum beside its driver's, in both directions."""

from enum import StrEnum
from typing import get_args

import pytest

from cuda.core._utils import enums
from cuda.core._utils.enums import ADDRESS_MODE, ALL_MAPS, MEMORY_POOL_ACCESS, PROCESS_STATE
from cuda.core.typing import AddressModeType, MemoryPoolAccessType


def identify(enum_map):
    return next(name for name, value in vars(enums).items() if value is enum_map)


def strings(public):
    return set(get_args(public)) or {member.value for member in public}


def test_all_maps_are_exported():
    assert {identify(enum_map) for enum_map in ALL_MAPS} == set(enums.__all__) - {"ALL_MAPS", "EnumMap"}


@pytest.mark.parametrize("enum_map", ALL_MAPS, ids=identify)
def test_map_is_complete(enum_map):
    assert set(enum_map.names) == strings(enum_map.public)


@pytest.mark.parametrize("enum_map", ALL_MAPS, ids=identify)
def test_both_directions_agree(enum_map):
    from cuda.bindings import driver

    for text, name in enum_map.names.items():
        value = enum_map.to_driver(text)
        assert value == getattr(getattr(driver, enum_map.driver_enum), name)
        assert enum_map.to_driver(text.upper()) == value
        assert enum_map.from_driver(value) == text
        assert enum_map.from_driver(int(value)) == text


def test_members_are_accepted_and_returned():
    value = ADDRESS_MODE.to_driver(AddressModeType.WRAP)
    assert ADDRESS_MODE.from_driver(value) is AddressModeType.WRAP
    assert MEMORY_POOL_ACCESS.from_driver(0) is MemoryPoolAccessType.NONE
    assert not isinstance(PROCESS_STATE.from_driver(0), StrEnum)


@pytest.mark.parametrize("wrong", ["twist", "", None, 3, b"wrap"])
def test_bad_choice_is_told_the_choices(wrong):
    with pytest.raises(ValueError, match="'border', 'clamp', 'mirror' or 'wrap'"):
        ADDRESS_MODE.to_driver(wrong)
    with pytest.raises(ValueError, match="valid address_mode"):
        ADDRESS_MODE.to_driver(wrong, "address_mode")


def test_unknown_driver_value():
    with pytest.raises(RuntimeError, match="unknown CUaddress_mode, 99"):
        ADDRESS_MODE.from_driver(99)
