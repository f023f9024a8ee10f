# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream-ordered memory pools."""

import ctypes

import numpy as np
import pytest

from support.driver import pool_properties

CHUNK = 32 << 20


@pytest.fixture
def pool(driver, context):
    pool = driver.cuMemPoolCreate(pool_properties(driver))
    yield pool
    driver.raw.cuMemPoolDestroy(pool)


def attribute(driver, pool, name):
    return int(driver.cuMemPoolGetAttribute(pool, getattr(driver.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")))


def set_attribute(driver, pool, name, value):
    key = getattr(driver.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")
    driver.cuMemPoolSetAttribute(pool, key, driver.cuuint64_t(value))


def test_default_pool_is_current_and_cannot_be_destroyed(driver, context):
    pool = driver.cuDeviceGetDefaultMemPool(0)
    assert int(driver.cuDeviceGetMemPool(0)) == int(pool)
    assert attribute(driver, pool, "REUSE_ALLOW_OPPORTUNISTIC") == 1
    assert driver.result("cuMemPoolDestroy", pool) == "INVALID_VALUE"


def test_new_pool_reserves_no_memory(driver, pool):
    assert attribute(driver, pool, "RELEASE_THRESHOLD") == 0
    assert attribute(driver, pool, "RESERVED_MEM_CURRENT") == 0


def test_use_is_counted_in_bytes_and_reserved_in_steps(driver, pool, queue):
    pointer = driver.cuMemAllocFromPoolAsync(1000, pool, queue)
    assert attribute(driver, pool, "USED_MEM_CURRENT") == 1000
    assert attribute(driver, pool, "RESERVED_MEM_CURRENT") == CHUNK
    driver.cuMemFreeAsync(pointer, queue)
    assert attribute(driver, pool, "USED_MEM_CURRENT") == 0
    driver.cuStreamSynchronize(queue)
    assert attribute(driver, pool, "RESERVED_MEM_CURRENT") == 0
    assert attribute(driver, pool, "USED_MEM_HIGH") == 1000
    set_attribute(driver, pool, "USED_MEM_HIGH", 0)
    assert attribute(driver, pool, "USED_MEM_HIGH") == 0


def test_threshold_keeps_memory_until_the_pool_is_trimmed(driver, pool, queue):
    set_attribute(driver, pool, "RELEASE_THRESHOLD", 2**64 - 1)
    driver.cuMemFreeAsync(driver.cuMemAllocFromPoolAsync(1000, pool, queue), queue)
    driver.cuStreamSynchronize(queue)
    assert attribute(driver, pool, "RESERVED_MEM_CURRENT") == CHUNK
    driver.cuMemPoolTrimTo(pool, 0)
    assert attribute(driver, pool, "RESERVED_MEM_CURRENT") == 0


def test_only_allocations_can_be_freed_and_only_once(driver, context, queue):
    pointer = driver.cuMemAllocAsync(1000, queue)
    assert driver.result("cuMemFreeAsync", int(pointer) + 1, queue) == "INVALID_VALUE"
    driver.cuMemFreeAsync(pointer, queue)
    assert driver.result("cuMemFreeAsync", pointer, queue) == "INVALID_VALUE"
    assert driver.result("cuMemFreeAsync", 0, queue) == "SUCCESS"
    plain = driver.cuMemAlloc(64)
    driver.cuMemFreeAsync(plain, queue)
    driver.cuStreamSynchronize(queue)
    assert driver.result("cuMemFree", plain) == "INVALID_VALUE"


def test_allocation_of_0_bytes_is_null(driver, queue):
    assert int(driver.cuMemAllocAsync(0, queue)) == 0


def test_allocations_larger_than_device_memory_fail(driver, pool, queue):
    assert driver.result("cuMemAllocFromPoolAsync", 1 << 50, pool, queue) == "OUT_OF_MEMORY"
    assert driver.result("cuMemAllocFromPoolAsync", 2**64 - 1, pool, queue) == "OUT_OF_MEMORY"


def test_allocation_waits_for_memory_being_freed(driver, pool, queue):
    half = driver.cuMemGetInfo()[0] // 2 + CHUNK
    first = driver.cuMemAllocFromPoolAsync(half, pool, queue)
    driver.cuMemsetD8Async(first, 1, 1 << 24, queue)
    driver.cuMemFreeAsync(first, queue)
    second = driver.cuMemAllocFromPoolAsync(half, pool, queue)
    assert attribute(driver, pool, "USED_MEM_CURRENT") == half
    driver.cuMemFreeAsync(second, queue)
    driver.cuStreamSynchronize(queue)


def test_memory_outlives_its_pool(driver, context, queue):
    pool = driver.cuMemPoolCreate(pool_properties(driver))
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    free = driver.cuMemGetInfo()[0]
    driver.cuMemPoolDestroy(pool)
    assert driver.result("cuMemAllocFromPoolAsync", 64, pool, queue) == "INVALID_VALUE"
    driver.cuMemsetD8Async(pointer, 1, 64, queue)
    driver.cuMemFreeAsync(pointer, queue)
    driver.cuStreamSynchronize(queue)
    assert driver.cuMemGetInfo()[0] == free + CHUNK


def test_pool_memory_can_be_freed_without_a_stream(driver, pool, queue):
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    driver.cuMemFree(pointer)
    assert attribute(driver, pool, "USED_MEM_CURRENT") == 0


def test_pointer_attribute_is_the_pool(driver, pool, queue):
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    names = driver.CUpointer_attribute
    handle = driver.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer)
    assert int(handle) == int(pool)
    driver.cuMemFreeAsync(pointer, queue)


def test_current_pool_of_a_device_can_be_set(driver, pool, queue):
    driver.cuDeviceSetMemPool(0, pool)
    driver.cuMemFreeAsync(driver.cuMemAllocAsync(64, queue), queue)
    assert attribute(driver, pool, "USED_MEM_HIGH") == 64
    driver.cuMemPoolDestroy(pool)
    assert int(driver.cuDeviceGetMemPool(0)) == int(driver.cuDeviceGetDefaultMemPool(0))


@pytest.mark.parametrize("location", [2, 3], ids=["host", "node"])
def test_device_needs_access_to_fill_host_pool_memory(driver, context, queue, location):
    pool = driver.cuMemPoolCreate(pool_properties(driver, 0, location))
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    assert driver.result("cuMemsetD8Async", pointer, 5, 64, queue) == "INVALID_VALUE"
    grant_access(driver, pool, 0)
    driver.cuMemsetD8Async(pointer, 5, 64, queue)
    driver.cuStreamSynchronize(queue)
    assert ctypes.string_at(int(pointer), 64) == b"\x05" * 64
    driver.cuMemFreeAsync(pointer, queue)
    driver.cuMemPoolDestroy(pool)


def test_devices_can_use_memory_of_the_default_host_pool(driver, context, queue):
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    pool = driver.cuMemGetMemPool(location, driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED)
    there = driver.CUmemLocation()
    there.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    assert driver.cuMemPoolGetAccess(pool, there) == driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    driver.cuMemsetD8Async(pointer, 5, 64, queue)
    driver.cuStreamSynchronize(queue)
    assert ctypes.string_at(int(pointer), 64) == b"\x05" * 64
    driver.cuMemFreeAsync(pointer, queue)


# As an H200: what names the memory by its address alone is copied by the host; a fill or a typed copy is not.
@pytest.mark.parametrize("location", [2, 3], ids=["host", "node"])
def test_host_pool_memory_is_copied_without_access(driver, context, queue, location):
    pool = driver.cuMemPoolCreate(pool_properties(driver, 0, location))
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    there = driver.cuMemAlloc(64)
    driver.cuMemsetD8Async(there, 5, 64, queue)
    driver.cuMemcpyAsync(pointer, there, 64, queue)
    driver.cuStreamSynchronize(queue)
    assert ctypes.string_at(int(pointer), 64) == b"\x05" * 64
    driver.cuMemcpy(there, pointer, 64)
    assert driver.result("cuMemcpyDtoDAsync", there, pointer, 64, queue) == "INVALID_VALUE"
    driver.cuMemFreeAsync(pointer, queue)
    driver.cuMemPoolDestroy(pool)


def test_invalid_properties_are_rejected(driver, context):
    assert driver.result("cuMemPoolCreate", pool_properties(driver, 9)) == "INVALID_VALUE"
    assert driver.result("cuMemPoolCreate", pool_properties(driver, -1)) == "INVALID_VALUE"
    shared = pool_properties(driver, 0, 2)
    shared.handleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    assert driver.result("cuMemPoolCreate", shared) == "INVALID_VALUE"
    shared = pool_properties(driver)
    shared.handleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC
    assert driver.result("cuMemPoolCreate", shared) == "NOT_SUPPORTED"


def test_access_of_peers_can_be_granted(driver, pool):
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = 1
    access = driver.CUmemAccess_flags
    assert driver.cuMemPoolGetAccess(pool, location) == access.CU_MEM_ACCESS_FLAGS_PROT_NONE
    grant_access(driver, pool, 1)
    assert driver.cuMemPoolGetAccess(pool, location) == access.CU_MEM_ACCESS_FLAGS_PROT_READWRITE


def test_thousand_allocations_and_frees_use_bounded_memory(driver, pool, queue):
    for _ in range(1000):
        driver.cuMemFreeAsync(driver.cuMemAllocFromPoolAsync(1 << 20, pool, queue), queue)
    driver.cuStreamSynchronize(queue)
    assert attribute(driver, pool, "USED_MEM_CURRENT") == 0
    assert attribute(driver, pool, "RESERVED_MEM_HIGH") <= 1100 << 20


@pytest.fixture
def stream_there(driver, there):
    """A stream of device 1."""
    driver.cuCtxPushCurrent(there)
    stream = driver.cuStreamCreate(0)
    driver.cuCtxPopCurrent()
    return stream


def grant_access(driver, pool, device, flags="READWRITE"):
    row = driver.CUmemAccessDesc()
    row.location = driver.CUmemLocation()
    row.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    row.location.id = device
    row.flags = getattr(driver.CUmemAccess_flags, f"CU_MEM_ACCESS_FLAGS_PROT_{flags}")
    driver.cuMemPoolSetAccess(pool, [row], 1)


def test_only_devices_with_access_can_use_memory_of_a_pool(driver, context, there, pool, queue, stream_there):
    memory, host = driver.cuMemAllocFromPoolAsync(64, pool, queue), np.zeros(64, "u1")
    driver.cuMemsetD8Async(memory, 3, 64, queue)
    driver.cuStreamSynchronize(queue)
    calls = [
        ("cuMemcpyAsync", memory, memory, 64, stream_there),
        ("cuMemcpyDtoDAsync", memory, memory, 64, stream_there),
        ("cuMemcpyDtoHAsync", host.ctypes.data, memory, 64, stream_there),
        ("cuMemcpyHtoDAsync", memory, host.ctypes.data, 64, stream_there),
        ("cuMemsetD8Async", memory, 3, 64, stream_there),
    ]
    # Copies need access for the current context's device, fills for the stream's device.
    assert [driver.result(*call) for call in calls[1:3]] == ["SUCCESS"] * 2
    driver.cuStreamSynchronize(stream_there)
    assert (host == 3).all()
    host[:] = 0
    assert driver.result(*calls[-1]) == "INVALID_VALUE"
    driver.cuCtxPushCurrent(there)
    assert {driver.result(*call) for call in calls} == {"INVALID_VALUE"}
    assert driver.result("cuMemcpyDtoDAsync", memory, memory, 64, queue) == "INVALID_VALUE"
    assert not host.any()
    peer = driver.cuMemAlloc(64)
    driver.cuCtxPopCurrent()
    # Each device accesses the memory of its own context.
    driver.cuMemcpyPeerAsync(peer, there, memory, context, 64, stream_there)
    driver.cuStreamSynchronize(stream_there)
    driver.cuMemcpyDtoH(host.ctypes.data, peer, 64)
    assert (host == 3).all()
    grant_access(driver, pool, 1)
    assert {driver.result(*call) for call in calls} == {"SUCCESS"}
    driver.cuStreamSynchronize(stream_there)
    grant_access(driver, pool, 1, "NONE")
    driver.cuCtxPushCurrent(there)
    assert {driver.result(*call) for call in calls} == {"INVALID_VALUE"}
    driver.cuCtxPopCurrent()
    driver.cuMemFree(peer)
    driver.cuMemFreeAsync(memory, queue)


def test_stream_of_another_device_copies_plain_memory(driver, context, there, stream_there):
    memory, back = driver.cuMemAlloc(64), np.zeros(64, "u1")
    driver.cuMemsetD8(memory, 5, 64)
    driver.cuCtxSynchronize()  # the stream of the other device does not wait for this one
    driver.cuMemcpyDtoHAsync(back.ctypes.data, memory, 64, stream_there)
    driver.cuStreamSynchronize(stream_there)
    assert (back == 5).all()
    driver.cuMemFree(memory)


def domain_of(driver, device, domain):
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN
    location.localized.deviceId, location.localized.localityDomainId = device, domain
    return location


def test_only_domain_of_a_device_is_the_device(driver, context):
    kinds, attributes = driver.CUmemLocationType, driver.CUmemPool_attribute
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = domain_of(driver, 1, 0)
    pool = driver.cuMemPoolCreate(properties)
    read = {
        name: int(driver.cuMemPoolGetAttribute(pool, getattr(attributes, f"CU_MEMPOOL_ATTR_{name}")))
        for name in ("LOCATION_TYPE", "LOCATION_ID", "LOCALITY_DOMAIN_ID")
    }
    device = int(kinds.CU_MEM_LOCATION_TYPE_DEVICE)
    assert read == {"LOCATION_TYPE": device, "LOCATION_ID": 1, "LOCALITY_DOMAIN_ID": -1}
    driver.cuMemPoolDestroy(pool)
    default = driver.cuMemGetDefaultMemPool(domain_of(driver, 0, 0), properties.allocType)
    assert int(default) == int(driver.cuDeviceGetDefaultMemPool(0))
    assert driver.result("cuMemGetMemPool", domain_of(driver, 0, 1), properties.allocType) == "INVALID_VALUE"


def test_missing_domains_are_rejected(driver, context):
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = domain_of(driver, 0, 1)
    assert driver.result("cuMemPoolCreate", properties) == "INVALID_VALUE"
    properties.location = domain_of(driver, 7, 0)
    assert driver.result("cuMemPoolCreate", properties) == "INVALID_VALUE"
    properties.location = domain_of(driver, 0, 0)
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
    assert driver.result("cuMemPoolCreate", properties) == "INVALID_VALUE"


def test_managed_memory_is_where_it_was_prefetched(driver, context, queue):
    pointer = driver.cuMemAllocManaged(4 << 20, 1)
    kinds = driver.CUmemLocationType
    device = driver.CUmemLocation()
    device.type, device.id = kinds.CU_MEM_LOCATION_TYPE_DEVICE, 0
    driver.cuMemPrefetchAsync(pointer, 2 << 20, device, 0, queue)
    driver.cuStreamSynchronize(queue)
    out = (ctypes.c_int * 8)()

    def locations(size, summary, sampling):
        function = driver.cuGetProcAddress(b"cuMemGetLocationInfo", 13050, 0)[0]
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, *[ctypes.c_size_t] * 3, ctypes.c_void_p)(int(function))
        return call(int(pointer), size, summary, sampling, ctypes.addressof(out)), list(out)

    assert locations(4 << 20, 2 << 20, 0) == (0, [1, 0, 2, 0, 0, 0, 0, 0])
    assert locations(4 << 20, 4 << 20, 1 << 20)[0] == 0
    for size, summary, sampling in ((4096, 0, 0), (4096, 8192, 0), (4096, 1024, 4096)):
        assert locations(size, summary, sampling)[0] == 1
    driver.cuMemFree(pointer)
