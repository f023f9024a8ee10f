# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory, with results that an H200 returned."""

import ctypes
import os

import numpy as np
import pytest

UNIT = 2 << 20


def properties(driver, device=0, location=1, file=False):
    value = driver.CUmemAllocationProp()
    value.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    value.location.type = driver.CUmemLocationType(location)
    value.location.id = device
    value.requestedHandleTypes = driver.CUmemAllocationHandleType(1 if file else 0)
    return value


def access(driver, device=0, flags=3, location=1):
    row = driver.CUmemAccessDesc()
    row.location.type = driver.CUmemLocationType(location)
    row.location.id = device
    row.flags = driver.CUmemAccess_flags(flags)
    return row


def location_of(driver, device=0):
    return access(driver, device, 0).location


@pytest.fixture
def space(driver, context):
    """The address of eight reserved units; the mappings of the test are removed at its end."""
    address = int(driver.cuMemAddressReserve(8 * UNIT, 0, 0, 0))
    yield address
    driver.cuMemUnmap(address, 8 * UNIT)
    driver.cuMemAddressFree(address, 8 * UNIT)


@pytest.fixture
def back(driver, context):
    """Return a function that maps new memory to addresses."""

    def run(address, size, rows=None, **options):
        handle = driver.cuMemCreate(size, properties(driver, **options), 0)
        driver.cuMemMap(address, size, 0, handle, 0)
        driver.cuMemRelease(handle)
        if rows is None:
            rows = [access(driver)]
        if rows:
            driver.cuMemSetAccess(address, size, rows, len(rows))

    return run


def read(driver, address, count=4):
    out = np.zeros(count, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, address, count)
    return out.tolist()


def test_granularity_is_2_mib(driver, context):
    for flags in driver.CUmemAllocationGranularity_flags:
        assert driver.cuMemGetAllocationGranularity(properties(driver), flags) == UNIT


def test_mapped_memory_is_used_by_kernels_and_counted(driver, space, back, kernel):
    free = driver.cuMemGetInfo()[0]
    back(space, 2 * UNIT)
    assert free - driver.cuMemGetInfo()[0] == 2 * UNIT
    driver.cuMemsetD8(space, 0, 2 * UNIT)
    values = (space + UNIT, 41), (ctypes.c_void_p, ctypes.c_int)
    driver.cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, driver.CUstream(0), values, 0)
    assert read(driver, space + UNIT) == [41, 0, 0, 0]
    free = driver.cuMemGetInfo()[0]
    driver.cuMemUnmap(space, 2 * UNIT)
    assert driver.cuMemGetInfo()[0] - free == 2 * UNIT


def test_copies_can_span_several_mappings(driver, space, back):
    for i in range(2):
        back(space + i * UNIT, UNIT)
    driver.cuMemsetD8(space, 9, 2 * UNIT)
    assert read(driver, space + UNIT - 2) == [9] * 4
    assert driver.result("cuMemsetD8", space + 2 * UNIT - 2, 1, 4) == "INVALID_VALUE"


def test_memory_can_be_mapped_at_two_addresses(driver, space):
    handle = driver.cuMemCreate(UNIT, properties(driver), 0)
    for i in range(2):
        driver.cuMemMap(space + i * UNIT, UNIT, 0, handle, 0)
    driver.cuMemRelease(handle)
    driver.cuMemSetAccess(space, 2 * UNIT, [access(driver)], 1)
    driver.cuMemsetD8(space, 5, 4)
    assert read(driver, space + UNIT) == [5] * 4


def test_access_must_be_granted(driver, space, back):
    back(space, UNIT, rows=[])
    assert driver.cuMemGetAccess(location_of(driver), space) == 0
    assert driver.result("cuMemsetD8", space, 1, 4) == "INVALID_VALUE"
    assert driver.result("cuMemGetAddressRange", space) == "NOT_FOUND"
    names = driver.CUpointer_attribute
    assert driver.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, space) == 2
    driver.cuMemSetAccess(space, UNIT, [access(driver)], 1)
    driver.cuMemsetD8(space, 1, 4)
    assert driver.cuMemGetAccess(location_of(driver), space + 100) == 3
    assert driver.cuMemGetAccess(location_of(driver, 1), space) == 0
    driver.cuMemSetAccess(space, UNIT, [access(driver, flags=1)], 1)
    assert driver.result("cuMemsetD8", space, 1, 4) == "INVALID_VALUE"
    assert read(driver, space) == [1] * 4


def test_kernels_of_other_devices_need_access(child):
    text = child(
        """
import ctypes
from cuda.bindings import driver as d, nvrtc
d.cuInit(0); c = d.cuDevicePrimaryCtxRetain(1)[1]; d.cuCtxSetCurrent(c)
p = nvrtc.nvrtcCreateProgram(b'extern "C" __global__ void put(int *p) { *p = 1; }', b"put.cu", 0, [], [])[1]
nvrtc.nvrtcCompileProgram(p, 1, [b"--gpu-architecture=sm_90"])
image = b" " * nvrtc.nvrtcGetCUBINSize(p)[1]; nvrtc.nvrtcGetCUBIN(p, image)
lib = d.cuLibraryLoadData(image, [], [], 0, [], [], 0)[1]; k = d.CUfunction(int(d.cuLibraryGetKernel(lib, b"put")[1]))
prop = d.CUmemAllocationProp(); prop.type = d.CUmemAllocationType(1); prop.location.type = d.CUmemLocationType(1)
va = d.cuMemAddressReserve(2 << 20, 0, 0, 0)[1]; h = d.cuMemCreate(2 << 20, prop, 0)[1]
d.cuMemMap(va, 2 << 20, 0, h, 0)
def run(*devices):
    rows = []
    for device in devices:
        row = d.CUmemAccessDesc(); row.location.type = d.CUmemLocationType(1); row.location.id = device
        row.flags = d.CUmemAccess_flags(3); rows.append(row)
    d.cuMemSetAccess(va, 2 << 20, rows, len(rows))
    d.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, ((int(va),), (ctypes.c_void_p,)), 0)
    print(d.cuCtxSynchronize()[0].name)
run(0, 1); run()
row = d.CUmemAccessDesc(); row.location.type = d.CUmemLocationType(1); row.location.id = 1
row.flags = d.CUmemAccess_flags(0)
d.cuMemSetAccess(va, 2 << 20, [row], 1)
d.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, ((int(va),), (ctypes.c_void_p,)), 0)
print(d.cuCtxSynchronize()[0].name)
"""
    )
    results = [line for line in text.splitlines() if line.startswith("CUDA_")]
    assert results == ["CUDA_SUCCESS", "CUDA_SUCCESS", "CUDA_ERROR_ILLEGAL_ADDRESS"]


def test_invalid_access_is_rejected(driver, space, back):
    back(space, 2 * UNIT, rows=[])
    good = access(driver)
    assert driver.result("cuMemSetAccess", space, UNIT, [good], 1) == "INVALID_VALUE"
    assert driver.result("cuMemSetAccess", space + 4 * UNIT, UNIT, [good], 1) == "INVALID_VALUE"
    assert driver.result("cuMemSetAccess", space, 2 * UNIT, [access(driver, 99)], 1) == "INVALID_VALUE"
    assert driver.result("cuMemSetAccess", space, 2 * UNIT, [access(driver, location=2)], 1) == "NOT_SUPPORTED"
    assert driver.result("cuMemGetAccess", location_of(driver), space + 4 * UNIT) == "INVALID_VALUE"


def test_requested_free_address_is_reserved(driver, space):
    behind = driver.cuMemAddressReserve(UNIT, 0, space + 8 * UNIT, 0)
    assert int(behind) == space + 8 * UNIT
    other = driver.cuMemAddressReserve(UNIT, 0, space, 0)
    assert int(other) != space
    for address in (behind, other):
        driver.cuMemAddressFree(address, UNIT)


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ((1000, 0, 0, 0), "INVALID_VALUE"),
        ((0, 0, 0, 0), "INVALID_VALUE"),
        ((UNIT, 3, 0, 0), "INVALID_VALUE"),
        ((UNIT, 0, 0, 1), "INVALID_VALUE"),
        ((1 << 60, 0, 0, 0), "OUT_OF_MEMORY"),
    ],
)
def test_invalid_reservations_are_rejected(driver, context, arguments, result):
    assert driver.result("cuMemAddressReserve", *arguments) == result


def test_invalid_allocations_are_rejected(driver, context):
    assert driver.result("cuMemCreate", 1000, properties(driver), 0) == "INVALID_VALUE"
    assert driver.result("cuMemCreate", 0, properties(driver), 0) == "INVALID_VALUE"
    assert driver.result("cuMemCreate", 1 << 45, properties(driver), 0) == "OUT_OF_MEMORY"
    assert driver.result("cuMemCreate", UNIT, properties(driver, 99), 0) == "INVALID_DEVICE"
    assert driver.result("cuMemRelease", 12345) == "INVALID_VALUE"


def test_invalid_mappings_are_rejected(driver, space):
    handle = driver.cuMemCreate(2 * UNIT, properties(driver), 0)
    assert driver.result("cuMemMap", space, UNIT, UNIT, handle, 0) == "NOT_SUPPORTED"
    assert driver.result("cuMemMap", space, UNIT, 0, handle, 0) == "NOT_SUPPORTED"
    assert driver.result("cuMemMap", space + 4096, 2 * UNIT, 0, handle, 0) == "INVALID_VALUE"
    assert driver.result("cuMemMap", 0x7F0000000000, 2 * UNIT, 0, handle, 0) == "INVALID_VALUE"
    driver.cuMemMap(space, 2 * UNIT, 0, handle, 0)
    assert driver.result("cuMemMap", space + UNIT, 2 * UNIT, 0, handle, 0) == "INVALID_VALUE"
    assert driver.result("cuMemUnmap", space, UNIT) == "INVALID_VALUE"
    assert driver.result("cuMemAddressFree", space, 8 * UNIT) == "INVALID_VALUE"
    assert driver.result("cuMemFree", space) == "INVALID_VALUE"
    driver.cuMemRelease(handle)
    driver.cuMemUnmap(space, 2 * UNIT)
    assert driver.result("cuMemAddressFree", space, UNIT) == "INVALID_VALUE"


def test_handle_of_an_address_can_be_retained(driver, space, back):
    back(space, UNIT)
    handle = driver.cuMemRetainAllocationHandle(space + 100)
    driver.cuMemMap(space + UNIT, UNIT, 0, handle, 0)
    assert driver.cuMemGetAllocationPropertiesFromHandle(handle).location.id == 0
    driver.cuMemRelease(handle)
    assert driver.result("cuMemRelease", handle) == "INVALID_VALUE"
    assert driver.result("cuMemRetainAllocationHandle", space + 4 * UNIT) == "INVALID_VALUE"


def test_memory_is_imported_by_a_file_descriptor(driver, space):
    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    plain = driver.cuMemCreate(UNIT, properties(driver), 0)
    assert driver.result("cuMemExportToShareableHandle", plain, kind, 0) == "INVALID_VALUE"
    driver.cuMemRelease(plain)
    handle = driver.cuMemCreate(UNIT, properties(driver, file=True), 0)
    file = int(driver.cuMemExportToShareableHandle(handle, kind, 0))
    imported = driver.cuMemImportFromShareableHandle(file, kind)
    os.close(file)
    for i, memory in enumerate((handle, imported)):
        driver.cuMemMap(space + i * UNIT, UNIT, 0, memory, 0)
        driver.cuMemRelease(memory)
    driver.cuMemSetAccess(space, 2 * UNIT, [access(driver)], 1)
    driver.cuMemsetD8(space, 6, 4)
    assert read(driver, space + UNIT) == [6] * 4


def test_other_file_descriptors_are_rejected(driver, context):
    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    file = os.open("/dev/null", os.O_RDWR)
    assert driver.result("cuMemImportFromShareableHandle", file, kind) == "UNKNOWN"
    os.close(file)
    assert driver.result("cuMemImportFromShareableHandle", file, kind) == "UNKNOWN"


def test_host_reads_memory_of_a_host_location(driver, space, back):
    back(space, UNIT, rows=[access(driver), access(driver, location=3)], location=3)
    driver.cuMemsetD8(space, 4, 16)
    assert list((ctypes.c_uint8 * 16).from_address(space)) == [4] * 16


def test_host_has_no_access_to_memory_of_a_device(child):
    text = child(
        """
import ctypes
from cuda.bindings import driver as d
d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])
prop = d.CUmemAllocationProp(); prop.type = d.CUmemAllocationType(1); prop.location.type = d.CUmemLocationType(1)
va = d.cuMemAddressReserve(2 << 20, 0, 0, 0)[1]; h = d.cuMemCreate(2 << 20, prop, 0)[1]
d.cuMemMap(va, 2 << 20, 0, h, 0)
row = d.CUmemAccessDesc(); row.location.type = d.CUmemLocationType(1); row.flags = d.CUmemAccess_flags(3)
d.cuMemSetAccess(va, 2 << 20, [row], 1)
with open("/proc/self/maps") as f:
    rows = [line.split() for line in f]
found = [r for r in rows if int(r[0].split("-")[0], 16) <= int(va) < int(r[0].split("-")[1], 16)]
print(found[0][1])
"""
    )
    assert text.startswith("---")
