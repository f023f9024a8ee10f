# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Batched copies, which fail in the same cases as on an H200."""

import numpy as np
import pytest


@pytest.fixture
def memory(driver, context):
    pointers = driver.zeros(4096), driver.cuMemAlloc(4096)
    values = np.arange(256, dtype=np.uint8)
    driver.cuMemcpyHtoD(pointers[1], values.ctypes.data, 256)
    yield tuple(map(int, pointers))
    for pointer in pointers:
        driver.cuMemFree(pointer)


@pytest.fixture
def attributes(driver):
    value = driver.CUmemcpyAttributes()
    value.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    return value


def read(driver, pointer, count):
    out = np.zeros(count, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, count)
    return out


def operand(driver, pointer, row=0, layer=0):
    value = driver.CUmemcpy3DOperand()
    value.type = driver.CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER
    value.op.ptr.ptr, value.op.ptr.rowLength, value.op.ptr.layerHeight = pointer, row, layer
    return value


def box(driver, target, source, width, height, depth, order=1):
    value = driver.CUDA_MEMCPY3D_BATCH_OP()
    value.dst, value.src = target, source
    value.extent.width, value.extent.height, value.extent.depth = width, height, depth
    value.srcAccessOrder = driver.CUmemcpySrcAccessOrder(order)
    return value


def test_batch_makes_all_its_copies(driver, queue, memory, attributes):
    target, source = memory
    pairs = [(target, source + 16), (target + 100, source + 32)]
    targets, sources = ([driver.CUdeviceptr(pair[i]) for pair in pairs] for i in range(2))
    driver.cuMemcpyBatchAsync(targets, sources, [4, 8], 2, [attributes], [0], 1, queue)
    driver.cuStreamSynchronize(queue)
    assert read(driver, target, 4).tolist() == [16, 17, 18, 19]
    assert read(driver, target + 100, 8).tolist() == list(range(32, 40))


def test_batch_rejects_invalid_arguments(driver, queue, memory, attributes):
    target, source = (driver.CUdeviceptr(pointer) for pointer in memory)

    def result(size=4, attribute=attributes, index=0, stream=queue):
        return driver.result("cuMemcpyBatchAsync", [target], [source], [size], 1, [attribute], [index], 1, stream)

    assert result() == "SUCCESS"
    assert result(attribute=driver.CUmemcpyAttributes()) == "INVALID_VALUE"
    assert result(size=0) == "INVALID_VALUE"
    assert result(index=1) == "INVALID_VALUE"
    assert result(stream=driver.CUstream(0)) == "INVALID_VALUE"


def test_batch_copies_boxes(driver, queue, memory):
    target, source = memory
    copied = box(driver, operand(driver, target, 16, 4), operand(driver, source, 8, 4), 4, 2, 2)
    driver.cuMemcpy3DBatchAsync(1, [copied], 0, queue)
    driver.cuStreamSynchronize(queue)
    out = read(driver, target, 128).reshape(2, 4, 16)
    expected = np.zeros((2, 4, 16), dtype=np.uint8)
    expected[:, :2, :4] = np.arange(64, dtype=np.uint8).reshape(2, 4, 8)[:, :2, :4]
    assert (out == expected).all()


def test_batch_rejects_invalid_boxes(driver, queue, memory):
    target, source = (operand(driver, pointer) for pointer in memory)
    good = box(driver, target, source, 4, 2, 2)
    assert driver.result("cuMemcpy3DBatchAsync", 1, [good], 0, queue) == "SUCCESS"
    assert driver.result("cuMemcpy3DBatchAsync", 1, [good], 1, queue) == "INVALID_VALUE"
    assert driver.result("cuMemcpy3DBatchAsync", 1, [good], 0, driver.CUstream(0)) == "INVALID_VALUE"
    short = box(driver, operand(driver, memory[0], 2, 4), source, 4, 2, 2)
    empty = box(driver, target, source, 0, 2, 2)
    for bad in (short, empty):
        assert driver.result("cuMemcpy3DBatchAsync", 1, [bad], 0, queue) == "INVALID_VALUE"


@pytest.fixture
def array(driver, context):
    description = driver.CUDA_ARRAY3D_DESCRIPTOR()
    description.Width, description.Height, description.NumChannels = 8, 4, 2
    description.Format = driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT16
    array = driver.cuArray3DCreate(description)
    yield array
    driver.cuArrayDestroy(array)


def in_array(driver, array, x=0, y=0):
    value = driver.CUmemcpy3DOperand()
    value.type = driver.CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_ARRAY
    value.op.array.array, value.op.array.offset.x, value.op.array.offset.y = array, x, y
    return value


@pytest.mark.parametrize("is_batch", [False, True])
def test_copies_of_arrays_count_elements(driver, queue, memory, array, is_batch):
    target, source = memory

    def copy(operation):
        if is_batch:
            driver.cuMemcpy3DBatchAsync(1, [operation], 0, queue)
        else:
            driver.cuMemcpy3DWithAttributesAsync(operation, 0, queue)

    copy(box(driver, in_array(driver, array), operand(driver, source), 8, 4, 1))
    # Two elements of 4 bytes in each of two rows, to rows of 3 elements.
    copy(box(driver, operand(driver, target, 3, 2), in_array(driver, array, 1, 2), 2, 2, 1))
    driver.cuStreamSynchronize(queue)
    first, second = range(2 * 32 + 4, 2 * 32 + 12), range(3 * 32 + 4, 3 * 32 + 12)
    assert read(driver, target, 20).tolist() == [*first, *[0] * 4, *second]


def test_copies_of_arrays_reject_invalid_boxes(driver, queue, memory, array):
    _, source = memory

    def result(operation, flags=0):
        return driver.result("cuMemcpy3DWithAttributesAsync", operation, flags, queue)

    whole = in_array(driver, array)
    assert result(box(driver, whole, operand(driver, source), 8, 4, 1), 1) == "INVALID_VALUE"
    assert result(box(driver, whole, operand(driver, source), 9, 4, 1)) == "INVALID_VALUE"
    assert result(box(driver, whole, operand(driver, source, 7), 8, 4, 1)) == "INVALID_VALUE"
    assert result(box(driver, whole, operand(driver, source), 8, 0, 1)) == "INVALID_VALUE"
    gone = in_array(driver, driver.CUarray(0x77))
    assert result(box(driver, gone, operand(driver, source), 8, 4, 1)) == "INVALID_HANDLE"
