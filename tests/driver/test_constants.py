# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Namespaces of flags and attributes: their names and values, and the text of members."""

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
# The members of each namespace that programs use, under the names of the classic interface.
MEMBERS = {
    "ctx_flags": "SCHED_AUTO SCHED_SPIN SCHED_YIELD SCHED_BLOCKING_SYNC BLOCKING_SYNC SCHED_MASK MAP_HOST "
    "LMEM_RESIZE_TO_MAX FLAGS_MASK",
    "event_flags": "DEFAULT BLOCKING_SYNC DISABLE_TIMING INTERPROCESS",
    "device_attribute": "WARP_SIZE SHARED_MEMORY_PER_BLOCK REGISTERS_PER_BLOCK GPU_OVERLAP "
    "MAXIMUM_TEXTURE2D_ARRAY_WIDTH MAXIMUM_TEXTURE2D_ARRAY_HEIGHT MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES",
    "function_attribute": "MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS "
    "PTX_VERSION BINARY_VERSION CACHE_MODE_CA MAX_DYNAMIC_SHARED_SIZE_BYTES PREFERRED_SHARED_MEMORY_CARVEOUT MAX",
    "pointer_attribute": "CONTEXT MEMORY_TYPE DEVICE_POINTER HOST_POINTER",
    "func_cache": "PREFER_NONE PREFER_SHARED PREFER_L1 PREFER_EQUAL",
    "shared_config": "DEFAULT_BANK_SIZE FOUR_BYTE_BANK_SIZE EIGHT_BYTE_BANK_SIZE",
    "array_format": "UNSIGNED_INT8 UNSIGNED_INT16 UNSIGNED_INT32 SIGNED_INT8 SIGNED_INT16 SIGNED_INT32 HALF FLOAT",
    "array3d_flags": "ARRAY3D_2DARRAY 2DARRAY ARRAY3D_LAYERED LAYERED SURFACE_LDST CUBEMAP TEXTURE_GATHER",
    "address_mode": "WRAP CLAMP MIRROR BORDER",
    "filter_mode": "POINT LINEAR",
    "memory_type": "HOST DEVICE ARRAY UNIFIED",
    "compute_mode": "DEFAULT PROHIBITED EXCLUSIVE_PROCESS",
    "host_alloc_flags": "PORTABLE DEVICEMAP WRITECOMBINED DEVICE_MAP WRITE_COMBINED",
    "mem_host_register_flags": "PORTABLE DEVICEMAP",
    "mem_attach_flags": "GLOBAL HOST SINGLE",
    "limit": "STACK_SIZE PRINTF_FIFO_SIZE MALLOC_HEAP_SIZE DEV_RUNTIME_SYNC_DEPTH DEV_RUNTIME_PENDING_LAUNCH_COUNT",
    "jit_option": "MAX_REGISTERS THREADS_PER_BLOCK WALL_TIME INFO_LOG_BUFFER INFO_LOG_BUFFER_SIZE_BYTES "
    "ERROR_LOG_BUFFER ERROR_LOG_BUFFER_SIZE_BYTES OPTIMIZATION_LEVEL TARGET_FROM_CUCONTEXT TARGET FALLBACK_STRATEGY",
    "jit_target": "COMPUTE_30 COMPUTE_75 COMPUTE_80 COMPUTE_90 COMPUTE_90A",
    "jit_fallback": "PREFER_PTX PREFER_BINARY",
    "jit_input_type": "CUBIN PTX FATBINARY OBJECT LIBRARY",
    "ipc_mem_flags": "LAZY_ENABLE_PEER_ACCESS",
    "graphics_register_flags": "NONE READ_ONLY WRITE_DISCARD SURFACE_LDST TEXTURE_GATHER",
    "array_cubemap_face": "POSITIVE_X NEGATIVE_X POSITIVE_Y NEGATIVE_Y POSITIVE_Z NEGATIVE_Z",
    "stream_flags": "DEFAULT NON_BLOCKING",
    "profiler_output_mode": "KEY_VALUE_PAIR CSV",
}


def header_values():
    kinds = [kind for kind in vars(driver).values() if isinstance(kind, type) and hasattr(kind, "__members__")]
    return {name: int(member) for kind in kinds for name, member in kind.__members__.items()}


@pytest.mark.requires(bindings=(13, 0))
@pytest.mark.parametrize("space", PREFIXES)
def test_members_have_the_values_of_the_header(space):
    header, members = header_values(), getattr(drv, space).names
    assert members and {name: header.get(PREFIXES[space] + name) for name in members} == members


@pytest.mark.requires(bindings=(13, 0))
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


@pytest.mark.parametrize("space", MEMBERS)
def test_namespaces_have_the_members_of_the_classic_interface(space):
    assert [name for name in MEMBERS[space].split() if not isinstance(getattr(getattr(drv, space), name), int)] == []


def test_flags_of_host_memory_have_both_spellings():
    flags = drv.host_alloc_flags
    assert (flags.PORTABLE, flags.DEVICEMAP, flags.WRITECOMBINED) == (1, 2, 4)
    assert (flags.DEVICE_MAP, flags.WRITE_COMBINED) == (2, 4)
    assert (drv.mem_host_register_flags.PORTABLE, drv.mem_host_register_flags.DEVICEMAP) == (1, 2)


def test_flags_of_arrays_are_plain_ints():
    flags = drv.array3d_flags
    assert getattr(flags, "2DARRAY") == flags.ARRAY3D_2DARRAY == flags.ARRAY3D_LAYERED == flags.LAYERED == 1
    assert (flags.SURFACE_LDST, flags.CUBEMAP, flags.TEXTURE_GATHER) == (2, 4, 8)


def test_version_can_be_compared():
    assert drv.VERSION >= (2013, 1)
    assert drv.VERSION_TEXT.startswith(".".join(map(str, drv.VERSION)))
    assert drv.VERSION_STATUS == ""


def test_plain_numbers_match_the_driver():
    assert drv.TRSA_OVERRIDE_FORMAT == driver.CU_TRSA_OVERRIDE_FORMAT
    assert drv.TRSF_READ_AS_INTEGER == driver.CU_TRSF_READ_AS_INTEGER
    assert drv.TRSF_NORMALIZED_COORDINATES == driver.CU_TRSF_NORMALIZED_COORDINATES
    assert drv.TR_DEFAULT == -1
