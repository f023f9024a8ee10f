# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Namespaces of flags and attributes: names, values, and how members look."""

import pytest
from cuda.bindings import driver

import cuda.core.driver as drv

# The prefix that the driver's header gives to the members of each namespace.
PREFIXES = {
    "address_mode": "CU_TR_ADDRESS_MODE_",
    "array_cubemap_face": "CU_CUBEMAP_FACE_",
    "array_format": "CU_AD_FORMAT_",
    "compute_mode": "CU_COMPUTEMODE_",
    "ctx_flags": "CU_CTX_",
    "device_attribute": "CU_DEVICE_ATTRIBUTE_",
    "event_flags": "CU_EVENT_",
    "filter_mode": "CU_TR_FILTER_MODE_",
    "func_cache": "CU_FUNC_CACHE_",
    "function_attribute": "CU_FUNC_ATTRIBUTE_",
    "graphics_register_flags": "CU_GRAPHICS_REGISTER_FLAGS_",
    "ipc_mem_flags": "CU_IPC_MEM_",
    "jit_fallback": "CU_",
    "jit_input_type": "CU_JIT_INPUT_",
    "jit_option": "CU_JIT_",
    "jit_target": "CU_TARGET_",
    "limit": "CU_LIMIT_",
    "mem_attach_flags": "CU_MEM_ATTACH_",
    "memory_type": "CU_MEMORYTYPE_",
    "pointer_attribute": "CU_POINTER_ATTRIBUTE_",
    "stream_flags": "CU_STREAM_",
}


def header_values():
    kinds = [kind for kind in vars(driver).values() if isinstance(kind, type) and hasattr(kind, "__members__")]
    return {name: int(member) for kind in kinds for name, member in kind.__members__.items()}


@pytest.mark.parametrize("space", PREFIXES)
def test_members_have_the_values_of_the_header(space):
    header = header_values()
    # Names of older headers, and a flag that all have now.
    older = {"BLOCKING_SYNC", "SHARED_MEMORY_PER_BLOCK", "REGISTERS_PER_BLOCK", "GPU_OVERLAP"}
    for name, member in getattr(drv, space).names.items():
        full = PREFIXES[space] + name
        if name not in older and "TEXTURE2D_ARRAY" not in name and full in header:
            assert member == header[full], full
        else:
            assert name in older or "TEXTURE2D_ARRAY" in name or name in (
                "ARRAY", "NONE", "MAX", "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED",
            ), full  # fmt: skip


def test_all_attributes_of_devices_have_a_name():
    known = {int(member) for member in drv.device_attribute}
    missing = {member.name for member in driver.CUdevice_attribute if int(member) not in known}
    assert missing == {"CU_DEVICE_ATTRIBUTE_MAX"}


def test_members_are_ints_with_a_bare_text_and_a_qualified_repr():
    member = drv.device_attribute.WARP_SIZE
    assert isinstance(member, int) and member == 10
    assert str(member) == member.name == "WARP_SIZE"
    assert repr(member) == "cuda.core.driver.device_attribute.WARP_SIZE"


def test_namespaces_have_names_and_values():
    assert drv.device_attribute.names["SHARED_MEMORY_PER_BLOCK"] is drv.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK
    assert drv.device_attribute.values[10] is drv.device_attribute.WARP_SIZE
    assert drv.ctx_flags.BLOCKING_SYNC is drv.ctx_flags.SCHED_BLOCKING_SYNC


def test_flags_of_host_memory_have_both_spellings():
    flags = drv.host_alloc_flags
    assert (flags.PORTABLE, flags.DEVICEMAP, flags.WRITECOMBINED) == (1, 2, 4)
    assert (flags.DEVICE_MAP, flags.WRITE_COMBINED) == (2, 4)
    assert (drv.mem_host_register_flags.PORTABLE, drv.mem_host_register_flags.DEVICEMAP) == (1, 2)


def test_flags_of_arrays_are_plain_ints():
    flags = drv.array3d_flags
    assert getattr(flags, "2DARRAY") == flags.ARRAY3D_2DARRAY == flags.ARRAY3D_LAYERED == flags.LAYERED == 1
    assert (flags.SURFACE_LDST, flags.CUBEMAP, flags.TEXTURE_GATHER) == (2, 4, 8)


def test_the_version_can_be_compared():
    assert drv.VERSION >= (2013, 1)
    assert drv.VERSION_TEXT.startswith(".".join(map(str, drv.VERSION)))
    assert drv.VERSION_STATUS == ""


def test_plain_numbers_are_those_of_the_driver():
    from cuda.bindings import driver

    assert drv.TRSA_OVERRIDE_FORMAT == driver.CU_TRSA_OVERRIDE_FORMAT
    assert drv.TRSF_READ_AS_INTEGER == driver.CU_TRSF_READ_AS_INTEGER
    assert drv.TRSF_NORMALIZED_COORDINATES == driver.CU_TRSF_NORMALIZED_COORDINATES
    assert drv.TR_DEFAULT == -1
