# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every public enum is mapped to the driver's enum and back."""

from enum import StrEnum
from typing import get_args

import pytest

from cuda.core._utils import enums
from cuda.core._utils.enums import ADDRESS_MODE, MEMORY_POOL_ACCESS, PROCESS_STATE
from cuda.core.typing import AddressModeType, MemoryPoolAccessType

# Driver names, without their prefix, that maps leave out on purpose; SENTINELS mark the ends of enums.
SENTINELS = {"NONE", "INVALID", "INVISIBLE", "MAX"}
LEFT_OUT = {
    # Formats of compressed and video textures, for whose elements NumPy has no type.
    "ARRAY_FORMAT": (
        *("UNORM_INT", "SNORM_INT", "UINT8_", "UINT16_", "BC", "P0", "P2", "NV1"),
        *("YUY2", "Y2", "Y4", "AYUV", "YUV"),
    ),
    # Managed pools have a fixed location, so not the current NUMA node.
    "MANAGED_MEMORY_LOCATION": ("HOST_NUMA_CURRENT", "DEVICE_LOCALITY_DOMAIN"),
    "VIRTUAL_MEMORY_LOCATION": ("DEVICE_LOCALITY_DOMAIN",),
    # Needs security attributes, which options cannot carry.
    "VIRTUAL_MEMORY_HANDLE": ("WIN32",),
    # Transitions between states. The four public states describe a process at rest.
    "PROCESS_STATE": ("CHECKPOINTING", "RESTORING"),
}


def identify(enum_map):
    return next(name for name, value in vars(enums).items() if value is enum_map)


ALL_MAPS = [value for value in vars(enums).values() if isinstance(value, enums.EnumMap)]


def strings(public):
    return set(get_args(public)) or {member.value for member in public}


def test_all_maps_are_exported():
    assert {identify(enum_map) for enum_map in ALL_MAPS} == set(enums.__all__) - {"EnumMap", "EnumTable"}


@pytest.mark.parametrize("enum_map", ALL_MAPS, ids=identify)
def test_map_is_complete(enum_map):
    assert set(enum_map.names) == strings(enum_map.public)


@pytest.mark.requires(bindings=(13, 0))
@pytest.mark.parametrize("enum_map", ALL_MAPS, ids=identify)
def test_map_has_every_driver_value(enum_map):
    from cuda.bindings import driver

    members = getattr(driver, enum_map.driver_enum).__members__
    named = {members[name] for name in enum_map.names.values()}
    rest = {name.removeprefix(enum_map.prefix) for name, member in members.items() if member not in named}
    left_out = LEFT_OUT.get(identify(enum_map), ())
    new = {name for name in rest - SENTINELS if not name.startswith(left_out)}
    assert new == set(), f"{enum_map.driver_enum} has values that have no public string"
    # Each entry of LEFT_OUT is still needed.
    assert all(any(name.startswith(part) for name in rest) for part in left_out)


@pytest.mark.requires(bindings=(13, 0))
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
def test_error_of_a_bad_choice_lists_the_choices(wrong):
    with pytest.raises(ValueError, match="'border', 'clamp', 'mirror' or 'wrap'"):
        ADDRESS_MODE.to_driver(wrong)
    with pytest.raises(ValueError, match="valid address_mode"):
        ADDRESS_MODE.to_driver(wrong, "address_mode")


def test_unknown_driver_value_is_rejected():
    with pytest.raises(RuntimeError, match="unknown CUaddress_mode, 99"):
        ADDRESS_MODE.from_driver(99)


@pytest.mark.parametrize("enum", ["CUaddress_mode", "CUnoSuchEnum"])
def test_value_that_older_bindings_lack_is_named(enum):
    choices = enums.EnumMap(AddressModeType, enum, "CU_TR_ADDRESS_MODE_", {"wrap": "NO_SUCH"})
    for value in ("wrap", AddressModeType.WRAP):
        with pytest.raises(NotImplementedError, match="'?wrap'? needs newer cuda-bindings.*CU_TR_ADDRESS_MODE_NO_SUCH"):
            choices.to_driver(value)
