# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Access to memory of another device, managed memory, and the driver's linker."""

import ctypes

import numpy as np
import pytest

from support.compiled import Program


@pytest.fixture
def peer_memory(driver, there):
    """Eight zero bytes on device 1."""
    driver.cuCtxPushCurrent(there)
    pointer = driver.zeros(8)
    driver.cuCtxPopCurrent()
    return int(pointer)


def add(driver, kernel, pointer, stream=0):
    arguments = ((pointer, 3), (ctypes.c_void_p, ctypes.c_int))
    driver.cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, driver.CUstream(stream), arguments, 0)


def value(driver, pointer):
    array = np.zeros(1, "i4")
    driver.cuMemcpyDtoH(array.ctypes.data, pointer, 4)
    return array[0]


def test_kernels_cannot_use_another_devices_memory(driver, kernel, peer_memory, capfd):
    add(driver, kernel, peer_memory)
    assert driver.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert "device 1" in capfd.readouterr().err


def test_kernels_use_peer_memory_while_access_is_enabled(driver, kernel, there, peer_memory):
    driver.cuCtxEnablePeerAccess(there, 0)
    add(driver, kernel, peer_memory)
    driver.cuCtxSynchronize()
    assert value(driver, peer_memory) == 3
    driver.cuCtxDisablePeerAccess(there)
    add(driver, kernel, peer_memory)
    assert driver.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"


def test_access_to_a_pool_is_not_access_to_other_memory(driver, kernel, there, peer_memory):
    props = driver.CUmemPoolProps()
    props.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    props.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    props.location.id = 1
    pool = driver.cuMemPoolCreate(props)
    row = driver.CUmemAccessDesc()
    row.location.type, row.location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    row.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    driver.cuMemPoolSetAccess(pool, [row], 1)
    driver.cuCtxPushCurrent(there)
    stream = driver.cuStreamCreate(0)
    shared = driver.cuMemAllocFromPoolAsync(8, pool, stream)
    driver.cuMemsetD8Async(shared, 0, 8, stream)
    driver.cuStreamSynchronize(stream)
    driver.cuCtxPopCurrent()
    add(driver, kernel, int(shared))
    driver.cuCtxSynchronize()
    assert value(driver, shared) == 3
    driver.cuMemFree(shared)
    driver.cuMemPoolDestroy(pool)
    add(driver, kernel, peer_memory)
    assert driver.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"


# --------------------------------------------------------------------------------- managed


@pytest.fixture
def managed(driver, context):
    pointer = driver.cuMemAllocManaged(1 << 16, int(driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    yield int(pointer)
    driver.raw.cuMemFree(pointer)


def location_of(driver, kind, number=0):
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType(kind)
    location.id = number
    return location


def range_attribute(driver, name, pointer, size):
    attribute = getattr(driver.CUmem_range_attribute, f"CU_MEM_RANGE_ATTRIBUTE_{name}")
    return driver.cuMemRangeGetAttribute(4, attribute, pointer, size)


def test_kernels_and_host_share_managed_memory(driver, kernel, managed):
    array = np.ctypeslib.as_array((ctypes.c_int32 * 4).from_address(managed))
    array[:] = 5
    add(driver, kernel, managed)
    driver.cuCtxSynchronize()
    assert list(array) == [8, 5, 5, 5]


def test_advice_applies_to_ranges(driver, managed):
    advise = driver.CUmem_advise
    half = 1 << 15
    driver.cuMemAdvise(managed, half, advise.CU_MEM_ADVISE_SET_READ_MOSTLY, location_of(driver, 1))
    driver.cuMemAdvise(managed, 1 << 16, advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location_of(driver, 1, 1))
    assert range_attribute(driver, "READ_MOSTLY", managed, half) == 1
    assert range_attribute(driver, "READ_MOSTLY", managed, 1 << 16) == 0
    assert range_attribute(driver, "READ_MOSTLY", managed + half, half) == 0
    assert range_attribute(driver, "PREFERRED_LOCATION", managed, 1 << 16) == 1
    assert range_attribute(driver, "LAST_PREFETCH_LOCATION", managed, 1 << 16) == -2
    driver.cuMemPrefetchAsync(managed, half, location_of(driver, 2), 0, driver.CUstream(0))
    assert range_attribute(driver, "LAST_PREFETCH_LOCATION", managed, half) == -1
    assert range_attribute(driver, "LAST_PREFETCH_LOCATION", managed, 1 << 16) == -2


def test_advice_ends_with_the_memory(driver, context):
    for _ in range(2):
        pointer = driver.cuMemAllocManaged(4096, 1)
        assert range_attribute(driver, "READ_MOSTLY", pointer, 4096) == 0
        driver.cuMemAdvise(pointer, 4096, driver.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY, location_of(driver, 1))
        driver.cuMemFree(pointer)


def test_only_managed_memory_can_be_advised_and_prefetched(driver, context, managed):
    plain = driver.cuMemAlloc(64)
    advice = driver.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY
    assert driver.result("cuMemAdvise", plain, 64, advice, location_of(driver, 1)) == "INVALID_VALUE"
    stream = driver.CUstream(0)
    for memory, size, ordinal in ((plain, 64, 0), (managed, 1 << 20, 0), (managed, 64, 7)):
        location = location_of(driver, 1, ordinal)
        assert driver.result("cuMemPrefetchAsync", memory, size, location, 0, stream) == "INVALID_VALUE"
    driver.cuMemFree(plain)


# ---------------------------------------------------------------------------------- linker


def test_driver_links_relocatable_code(driver, context):
    kinds = driver.CUjitInputType
    parts = [
        "__device__ int twice(int x) { return 2 * x; }",
        'extern __device__ int twice(int);\nextern "C" __global__ void f(int *p) { *p = twice(21); }',
    ]
    state = driver.cuLinkCreate(0, [], [])
    for source in parts:
        image = Program(source, "--gpu-architecture=sm_90", "--relocatable-device-code=true").image
        driver.cuLinkAddData(state, kinds.CU_JIT_INPUT_CUBIN, image, len(image), b"part", 0, [], [])
    image, size = driver.cuLinkComplete(state)
    module = driver.cuModuleLoadData(ctypes.string_at(int(image), size))
    driver.cuLinkDestroy(state)
    pointer = driver.cuMemAlloc(4)
    function = driver.cuModuleGetFunction(module, b"f")
    driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, driver.CUstream(0), ((int(pointer),), (ctypes.c_void_p,)), 0)
    assert value(driver, pointer) == 42


def test_driver_linker_rejects_other_data(driver, context):
    state = driver.cuLinkCreate(0, [], [])
    kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
    junk, cubin = b"junk" * 10, b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\x00" + bytes(44)
    assert driver.result("cuLinkAddData", state, kind, junk, len(junk), b"a", 0, [], []) == "INVALID_IMAGE"
    assert driver.result("cuLinkAddData", state, kind, cubin, len(cubin), b"a", 0, [], []) == "NO_BINARY_FOR_GPU"
    driver.cuLinkDestroy(state)
    assert driver.result("cuLinkDestroy", state) == "INVALID_HANDLE"
