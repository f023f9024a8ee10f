# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocations, copies and fills of device and host memory."""

import ctypes

import numpy as np
import pytest


@pytest.fixture
def block(driver, context):
    """1000 bytes of device memory."""
    pointer = driver.cuMemAlloc(1000)
    yield int(pointer)
    driver.raw.cuMemFree(pointer)


def attribute(driver, name, pointer):
    return driver.cuPointerGetAttribute(getattr(driver.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}"), pointer)


def test_invalid_sizes_and_pointers_are_rejected(driver, block):
    assert driver.result("cuMemAlloc", 0) == "INVALID_VALUE"
    assert driver.result("cuMemFree", 0) == "SUCCESS"
    assert driver.result("cuMemFree", 4096) == "INVALID_VALUE"
    assert driver.result("cuMemFree", block + 1) == "INVALID_VALUE"


def test_double_free_fails(driver, context):
    pointer = driver.cuMemAlloc(64)
    driver.cuMemFree(pointer)
    assert driver.result("cuMemFree", pointer) == "INVALID_VALUE"


def test_memory_runs_out(driver, context):
    free, total = driver.cuMemGetInfo()
    assert driver.result("cuMemAlloc", total + 1) == "OUT_OF_MEMORY"
    assert driver.result("cuMemAlloc", 1 << 62) == "OUT_OF_MEMORY"
    half = driver.cuMemAlloc(free // 2 + 1024)
    assert driver.result("cuMemAlloc", free // 2 + 1024) == "OUT_OF_MEMORY"
    driver.cuMemFree(half)
    driver.cuMemFree(driver.cuMemAlloc(free // 2 + 1024))
    assert driver.cuMemGetInfo() == (free, total)


def test_environment_limits_the_memory(child):
    out = child(
        "from cuda.bindings import driver as d; d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])\n"
        "print(d.cuDeviceTotalMem(0)[1], d.cuMemAlloc(1 << 25)[0].name, d.cuMemAllocAsync(1 << 24, 0)[0].name)",
        MEMORY="16M",
    )
    assert out.split() == [str(1 << 24), "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_SUCCESS"]


def test_allocation_of_an_address_is_found(driver, block):
    assert [int(n) for n in driver.cuMemGetAddressRange(block + 5)] == [block, 1000]
    assert driver.result("cuMemGetAddressRange", block + 1000) == "NOT_FOUND"
    assert driver.result("cuMemGetAddressRange", 8) == "NOT_FOUND"


def test_attributes_of_a_device_pointer_describe_its_allocation(driver, block, context):
    assert int(attribute(driver, "CONTEXT", block)) == int(context)
    assert int(attribute(driver, "MEMORY_TYPE", block)) == 2
    assert int(attribute(driver, "DEVICE_POINTER", block + 8)) == block + 8
    assert attribute(driver, "DEVICE_ORDINAL", block) == 0
    assert int(attribute(driver, "RANGE_START_ADDR", block + 8)) == block
    assert attribute(driver, "RANGE_SIZE", block) == 1000
    assert not attribute(driver, "IS_MANAGED", block)
    host = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER
    assert driver.result("cuPointerGetAttribute", host, block) == "INVALID_VALUE"


def test_plain_host_memory_has_no_attributes(driver, context):
    names = driver.CUpointer_attribute
    array = np.zeros(4)
    assert driver.result("cuPointerGetAttribute", names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, array.ctypes.data) == (
        "INVALID_VALUE"
    )
    kinds = [names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
    values = driver.cuPointerGetAttributes(2, kinds, array.ctypes.data)
    assert [int(value) for value in values] == [0, -2]


def test_buffer_ids_are_not_reused(driver, context):
    seen = set()
    for _ in range(5):
        pointer = driver.cuMemAlloc(64)
        seen.add(attribute(driver, "BUFFER_ID", pointer))
        driver.cuMemFree(pointer)
    assert len(seen) == 5


def test_pinned_memory_has_one_address_on_host_and_device(driver, context):
    address = driver.cuMemHostAlloc(100, 2)
    (ctypes.c_char * 100).from_address(address)[:] = b"x" * 100
    assert int(driver.cuMemHostGetDevicePointer(address, 0)) == address
    assert driver.cuMemHostGetFlags(address) & 2
    assert int(attribute(driver, "MEMORY_TYPE", address)) == 1
    assert attribute(driver, "HOST_POINTER", address) == address
    assert driver.result("cuMemFree", address) == "INVALID_VALUE"
    driver.cuMemFreeHost(address)
    assert driver.result("cuMemFreeHost", address) == "INVALID_VALUE"


def test_host_memory_is_registered_once(driver, context):
    array = np.zeros(4096, "u1")
    driver.cuMemHostRegister(array.ctypes.data, 4096, 0)
    assert driver.result("cuMemHostRegister", array.ctypes.data, 4096, 0) == "HOST_MEMORY_ALREADY_REGISTERED"
    assert int(attribute(driver, "MEMORY_TYPE", array.ctypes.data + 100)) == 1
    driver.cuMemHostUnregister(array.ctypes.data)
    assert driver.result("cuMemHostUnregister", array.ctypes.data) == "HOST_MEMORY_NOT_REGISTERED"
    assert driver.result("cuMemHostRegister", 4096, 4096, 0) == "INVALID_VALUE"


def test_host_reads_managed_memory(driver, context):
    flags = int(driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    pointer = driver.cuMemAllocManaged(64, flags)
    driver.cuMemsetD8(pointer, 3, 64)
    driver.cuCtxSynchronize()
    assert (ctypes.c_char * 64).from_address(int(pointer)).raw == b"\3" * 64
    assert attribute(driver, "IS_MANAGED", pointer)
    driver.cuMemFree(pointer)


def test_host_crashes_if_it_reads_device_memory(child):
    child(
        "from cuda.bindings import driver as d; import ctypes; d.cuInit(0)\n"
        "d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1]); p = d.cuMemAlloc(64)[1]\n"
        "ctypes.c_char.from_address(int(p)).value",
        status=-11,
    )


def test_rows_of_pitched_memory_are_aligned(driver, context):
    assert driver.result("cuMemAllocPitch", 100, 5, 3) == "INVALID_VALUE"
    pointer, pitch = driver.cuMemAllocPitch(100, 5, 4)
    assert pitch == 512
    driver.cuMemFree(pointer)


# ---------------------------------------------------------------------------------- copies


def test_copies_between_host_and_device_keep_the_data(driver, block, queue):
    source, target = np.arange(250, dtype="i4"), np.zeros(250, "i4")
    driver.cuMemcpyHtoD(block, source.ctypes.data, 1000)
    driver.cuMemcpyDtoH(target.ctypes.data, block, 1000)
    assert (source == target).all()
    other = driver.cuMemAlloc(1000)
    driver.cuMemcpyDtoDAsync(other, block, 1000, queue)
    driver.cuMemcpyDtoHAsync(target.ctypes.data, int(other) + 400, 600, queue)
    driver.cuStreamSynchronize(queue)
    assert (target[:150] == source[100:]).all()
    driver.cuMemFree(other)


def test_host_source_can_change_after_the_call(driver, block, queue):
    source, target = np.ones(250, "i4"), np.zeros(250, "i4")
    driver.cuMemcpyHtoDAsync(block, source.ctypes.data, 1000, queue)
    source[:] = 5
    driver.cuMemcpyDtoH(target.ctypes.data, block, 1000)
    driver.cuStreamSynchronize(queue)
    driver.cuMemcpyDtoH(target.ctypes.data, block, 1000)
    assert (target == 1).all()


@pytest.mark.parametrize("size", [1001, 3000, 1 << 40])
def test_copy_past_the_end_is_rejected(driver, block, size):
    array = np.zeros(4000, "u1")
    assert driver.result("cuMemcpyDtoH", array.ctypes.data, block, size) == "INVALID_VALUE"
    assert driver.result("cuMemcpyHtoD", block, array.ctypes.data, size) == "INVALID_VALUE"


def test_null_and_unknown_addresses_are_rejected(driver, block):
    array = np.zeros(8, "u1")
    assert driver.result("cuMemcpyDtoH", 0, block, 8) == "INVALID_VALUE"
    assert driver.result("cuMemcpyHtoD", 0, array.ctypes.data, 8) == "INVALID_VALUE"
    assert driver.result("cuMemcpyHtoD", 8, array.ctypes.data, 8) == "INVALID_VALUE"
    assert driver.result("cuMemcpyHtoD", 0, array.ctypes.data, 0) == "SUCCESS"


def test_invalid_host_pointer_is_an_error_instead_of_a_crash(driver, block, queue):
    for bad in (16, 0x7FFF00000000, (1 << 64) - 4096):
        assert driver.result("cuMemcpyHtoD", block, bad, 1000) == "INVALID_VALUE"
        assert driver.result("cuMemcpyDtoH", bad, block, 1000) == "INVALID_VALUE"
        assert driver.result("cuMemcpyHtoDAsync", block, bad, 1000, queue) == "INVALID_VALUE"
    driver.cuCtxSynchronize()


def test_unified_copies_find_the_direction_by_the_addresses(driver, block):
    source, target = np.arange(10), np.zeros(10, int)
    driver.cuMemcpy(block, source.ctypes.data, 80)
    driver.cuMemcpy(target.ctypes.data, block, 80)
    assert (source == target).all()


@pytest.mark.parametrize(("bits", "value"), [(8, 0xAB), (16, 0xABCD), (32, 0xABCD1234)])
def test_fills_set_each_element(driver, block, bits, value):
    array = np.zeros(1000 * 8 // bits, f"u{bits // 8}")
    getattr(driver, f"cuMemsetD{bits}")(block, value, array.size)
    driver.cuMemcpyDtoH(array.ctypes.data, block, 1000)
    assert (array == value).all()


def test_memset_rejects_invalid_ranges(driver, block):
    assert driver.result("cuMemsetD32", block + 1, 0, 2) == "INVALID_VALUE"
    assert driver.result("cuMemsetD8", block, 0, 1 << 30) == "INVALID_VALUE"
    assert driver.result("cuMemsetD8", 0, 0, 8) == "INVALID_VALUE"
    assert driver.result("cuMemsetD8", block, 0, 0) == "SUCCESS"


def test_fill_of_a_rectangle_keeps_the_rest(driver, block):
    array = np.zeros((10, 20), "u1")
    driver.cuMemsetD8(block, 1, 200)
    driver.cuMemsetD2D8(block + 22, 20, 7, 5, 3)
    driver.cuMemcpyDtoH(array.ctypes.data, block, 200)
    expected = np.ones((10, 20), "u1")
    expected[1:4, 2:7] = 7
    assert (array == expected).all()


def box(driver, host, device, shape, pitch):
    """Return a copy of the part [1:1+d, 1:1+h, 2:2+w] of a host volume to the start of a device volume."""
    copy = driver.CUDA_MEMCPY3D()
    copy.srcMemoryType, copy.dstMemoryType = driver.CUmemorytype(1), driver.CUmemorytype(2)
    copy.srcHost, copy.dstDevice = host.ctypes.data, device
    copy.srcXInBytes, copy.srcY, copy.srcZ = 2, 1, 1
    copy.srcPitch, copy.srcHeight = host.shape[2], host.shape[1]
    copy.dstPitch, copy.dstHeight = pitch, 8
    copy.Depth, copy.Height, copy.WidthInBytes = shape
    return copy


def test_copy_of_a_box_keeps_the_rest_and_checks_pitch_and_depth(driver, context):
    host = np.random.default_rng(1).integers(0, 255, (5, 7, 11)).astype("u1")
    back = np.zeros((4, 8, 16), "u1")
    device = driver.cuMemAlloc(back.size)
    driver.cuMemsetD8(device, 0, back.size)
    driver.cuMemcpy3D(box(driver, host, device, (3, 5, 6), 16))
    driver.cuMemcpyDtoH(back.ctypes.data, device, back.size)
    expected = np.zeros_like(back)
    expected[:3, :5, :6] = host[1:4, 1:6, 2:8]
    assert (back == expected).all()
    narrow = box(driver, host, device, (3, 5, 6), 5)
    assert driver.result("cuMemcpy3D", narrow) == "INVALID_VALUE"
    deep = box(driver, host, device, (5, 5, 6), 16)
    assert driver.result("cuMemcpy3D", deep) == "INVALID_VALUE"
    driver.cuMemFree(device)


def test_rectangle_is_copied_between_pitches(driver, block):
    host = np.arange(100, dtype="u1").reshape(10, 10)
    copy = driver.CUDA_MEMCPY2D()
    copy.srcMemoryType, copy.dstMemoryType = driver.CUmemorytype(1), driver.CUmemorytype(2)
    copy.srcHost, copy.srcPitch, copy.dstDevice, copy.dstPitch = host.ctypes.data, 10, block, 32
    copy.WidthInBytes, copy.Height = 10, 10
    driver.cuMemcpy2D(copy)
    back = np.zeros((10, 32), "u1")
    driver.cuMemcpyDtoH(back.ctypes.data, block, 320)
    assert (back[:, :10] == host).all()


def test_peer_copy_waits_for_the_work_of_both_contexts(driver, context, there, kernel):
    driver.cuCtxPushCurrent(there)
    stream, peer = driver.cuStreamCreate(0), driver.cuMemAlloc(4)
    driver.cuMemsetD8(peer, 0, 4)
    arguments = ((int(peer), 7), (ctypes.c_void_p, ctypes.c_int))
    driver.cuLaunchKernel(kernel("slow"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0)
    driver.cuCtxPopCurrent()
    own = driver.cuMemAlloc(4)
    driver.cuMemcpyPeer(own, context, peer, there, 4)
    value = np.zeros(1, "i4")
    driver.cuMemcpyDtoH(value.ctypes.data, own, 4)
    assert value[0] == 7
    driver.cuMemFree(own)


def test_peer_copies_write_memory_of_the_other_device(driver, context, there):
    driver.cuCtxPushCurrent(there)
    peer = driver.cuMemAlloc(64)
    driver.cuCtxPopCurrent()
    own = driver.cuMemAlloc(64)
    driver.cuMemsetD8(own, 9, 64)
    driver.cuMemcpyPeer(peer, there, own, context, 64)
    values = np.zeros(64, "u1")
    driver.cuMemcpyDtoH(values.ctypes.data, peer, 64)
    assert (values == 9).all()
    assert attribute(driver, "DEVICE_ORDINAL", peer) == 1
    driver.cuMemFree(peer)
    driver.cuMemFree(own)
