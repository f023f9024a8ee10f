# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Attributes, names and peers of the devices."""

import pytest

# The values of an H200, except for capabilities that the software device lacks, which are tested below.
NUMBERS = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2147483647,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
    "WARP_SIZE": 32,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
    "L2_CACHE_SIZE": 62914560,
    "TEXTURE_ALIGNMENT": 512,
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "UNIFIED_ADDRESSING": 1,
    "COOPERATIVE_LAUNCH": 1,
    "TENSOR_MAP_ACCESS_SUPPORTED": 1,
    "MEMORY_POOLS_SUPPORTED": 1,
    "MEMPOOL_SUPPORTED_HANDLE_TYPES": 1,
    "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 1,
    "IPC_EVENT_SUPPORTED": 1,
    "CAN_USE_STREAM_MEM_OPS_V1": 0,
}
ABSENT = ["GPU_DIRECT_RDMA_SUPPORTED", "HANDLE_TYPE_FABRIC_SUPPORTED", "MPS_ENABLED"]


def attribute(driver, name, device=0):
    return driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device)


@pytest.mark.parametrize(("name", "value"), NUMBERS.items())
def test_attributes_match_compute_capability(driver, name, value):
    assert attribute(driver, name) == value


@pytest.mark.parametrize("name", ABSENT)
def test_missing_capabilities_are_0(driver, name):
    assert attribute(driver, name) == 0


def test_every_attribute_can_be_queried(driver):
    for known in driver.CUdevice_attribute:
        if known != driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX:
            driver.cuDeviceGetAttribute(known, 0)
    last = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX
    assert driver.result("cuDeviceGetAttribute", last, 0) == "INVALID_VALUE"


def test_devices_have_names_and_identifiers(driver):
    assert driver.cuDeviceGetCount() == 2
    assert b"software" in driver.cuDeviceGetName(64, 0)
    assert driver.cuDeviceGetName(5, 0).rstrip(b"\0") == b"CUDA"
    uuids = {bytes(driver.cuDeviceGetUuid(i).bytes) for i in range(2)}
    assert len(uuids) == 2
    for ordinal in range(2):
        text = driver.cuDeviceGetPCIBusId(32, ordinal).rstrip(b"\0")
        assert int(driver.cuDeviceGetByPCIBusId(text)) == ordinal
    assert driver.cuDeviceTotalMem(0) == 4 << 30


@pytest.mark.parametrize("ordinal", [-1, 2, 99])
def test_unknown_devices_are_rejected(driver, ordinal):
    assert driver.result("cuDeviceGet", ordinal) == "INVALID_DEVICE"
    assert driver.result("cuDevicePrimaryCtxRetain", ordinal) == "INVALID_DEVICE"


def test_devices_are_peers_of_each_other(driver):
    attributes = driver.CUdevice_P2PAttribute
    assert driver.cuDeviceCanAccessPeer(0, 1) == 1
    assert driver.cuDeviceCanAccessPeer(0, 0) == 0
    access = attributes.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
    assert driver.cuDeviceGetP2PAttribute(access, 0, 1) == 1
    assert driver.result("cuDeviceGetP2PAttribute", access, 0, 0) == "INVALID_DEVICE"


def test_environment_sets_compute_capability_and_device_count(child):
    out = child(
        "from cuda.bindings import driver as d; d.cuInit(0); a = d.CUdevice_attribute\n"
        "get = lambda n: d.cuDeviceGetAttribute(getattr(a, 'CU_DEVICE_ATTRIBUTE_' + n), 0)[1]\n"
        "print(get('COMPUTE_CAPABILITY_MAJOR'), get('COMPUTE_CAPABILITY_MINOR'),"
        " get('MAX_SHARED_MEMORY_PER_BLOCK_OPTIN'), get('MAX_THREADS_PER_MULTIPROCESSOR'), d.cuDeviceGetCount()[1])",
        COMPUTE_CAPABILITY="8.6",
        DEVICES=3,
    )
    assert out.split() == ["8", "6", "101376", "1536", "3"]
