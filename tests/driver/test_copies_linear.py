# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of linear copies and fills: accepted memory and numbers, and rejected values."""

import array
import ctypes
import mmap
import threading

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]", "?", "f2", "c16", "S5", "U3", "V7", [("a", "i1"), ("b", "f8")]])
def test_elements_of_each_type_are_copied(dtype):
    source = np.zeros(6, dtype)
    source.view(np.uint8)[:] = np.arange(source.nbytes) % 2
    memory = drv.mem_alloc(source.nbytes)
    drv.memcpy_htod(memory, source)
    target = np.zeros(6, dtype)
    drv.memcpy_dtoh(target, memory)
    assert (target.view(np.uint8) == source.view(np.uint8)).all()


def test_memory_of_the_standard_library_is_copied():
    memory = drv.mem_alloc(8)
    mapped = mmap.mmap(-1, 8)
    for source in (b"12345678", bytearray(b"12345678"), array.array("d", [1.5]), (ctypes.c_int * 2)(3, 4)):
        drv.memcpy_htod(memory, source)
        drv.memcpy_dtoh(mapped, memory)
        assert mapped[:] == bytes(memoryview(source).cast("B"))
    drv.memcpy_dtoh(memoryview(mapped)[4:], memory)
    assert mapped[4:] == bytes(memoryview(source).cast("B"))[:4]
    mapped.close()


@pytest.mark.parametrize("copy", [drv.memcpy_htod, drv.memcpy_htod_async])
def test_sources_without_memory_are_rejected(copy):
    memory = drv.mem_alloc(8)
    for source in (5, None, [1, 2], 1.5):
        with pytest.raises(TypeError, match="bytes-like"):
            copy(memory, source)
    with pytest.raises(TypeError, match="Python objects"):
        copy(memory, np.array([None]))
    with pytest.raises(ValueError, match="not contiguous"):
        copy(memory, np.zeros((4, 4), "i1")[:2, :2])
    with pytest.raises(drv.LogicError, match="the destination has 8 bytes, fewer than the 9 to copy"):
        copy(memory, bytes(9))
    for dest in (None, "text", 1.5):
        with pytest.raises(TypeError, match="device pointer"):
            copy(dest, bytes(8))
    for dest in (-1, 2**64):
        with pytest.raises(drv.LogicError, match="an address must be"):
            copy(dest, bytes(8))
    memory.free()
    with pytest.raises(drv.LogicError, match="freed"):
        copy(memory, bytes(8))


@pytest.mark.parametrize("copy", [drv.memcpy_dtoh, drv.memcpy_dtoh_async])
def test_destinations_that_cannot_be_written_are_rejected(copy):
    memory = drv.to_device(bytes(8))
    fixed = np.zeros(8, "i1")
    fixed.flags.writeable = False
    for dest in (b"12345678", fixed, memoryview(b"1234")):
        with pytest.raises(ValueError, match="read-only"):
            copy(dest, memory)
    with pytest.raises(drv.LogicError, match="the source has 8 bytes, fewer than the 9 to copy"):
        copy(bytearray(9), memory)
    with pytest.raises(TypeError, match="stream must be"):
        drv.memcpy_dtoh_async(bytearray(8), memory, 5)


def test_buffer_is_released_after_a_copy_and_after_an_error():
    memory = drv.mem_alloc(8)
    source = bytearray(8)
    drv.memcpy_htod(memory, source)
    drv.memcpy_dtoh(source, memory)
    with pytest.raises(drv.LogicError):
        drv.memcpy_htod(0, source)
    source.extend(b"more")  # an exported buffer would forbid that
    with pytest.raises(drv.LogicError):
        drv.memcpy_htod(memory, source)
    source.extend(b"more")
    assert len(source) == 16


def test_sizes_and_counts_are_whole_numbers_within_the_memory():
    memory = drv.mem_alloc(64)
    copies = [
        lambda size: drv.memcpy_dtod(memory, memory, size),
        lambda size: drv.memcpy_dtod_async(memory, memory, size),
    ]
    fills = [
        drv.memset_d8,
        drv.memset_d16,
        drv.memset_d32,
        drv.memset_d8_async,
        drv.memset_d16_async,
        drv.memset_d32_async,
    ]
    calls = [*copies, *(lambda count, fill=fill: fill(memory, 1, count) for fill in fills)]
    for call in calls:
        with pytest.raises(drv.LogicError, match="must not be negative"):
            call(-1)
        with pytest.raises(drv.LogicError, match="has 64 bytes, fewer than the (65|130|260)"):
            call(65)
        for much in (2**62, 2**63, 2**200):
            with pytest.raises(drv.LogicError, match="exceed the address space|fewer than"):
                call(much)
        for other in (1.5, "4", None):
            with pytest.raises(TypeError):
                call(other)
        call(0)
        call(np.int64(4))


@pytest.mark.parametrize("width", [1, 2, 4])
def test_patterns_are_the_bits_of_a_number(width):
    bits = 8 * width
    memory, found = drv.mem_alloc(width), np.zeros(1, f"u{width}")

    def pattern(number):
        getattr(drv, f"memset_d{bits}")(memory, number, 1)
        drv.memcpy_dtoh(found, memory)
        return int(found[0])

    assert pattern(2**bits - 1) == pattern(-1) == 2**bits - 1
    assert pattern(-(2 ** (bits - 1))) == 2 ** (bits - 1) and pattern(0) == 0
    for number in (2**bits, -(2 ** (bits - 1)) - 1, 2**100):
        with pytest.raises(drv.LogicError, match=f"data must fit in {bits} bits"):
            pattern(number)
    with pytest.raises(TypeError, match="data must be an int"):
        pattern(1.0)


def test_arrays_are_accepted_as_device_pointers():
    x = gpuarray.to_gpu(np.arange(8, dtype="i4"))
    drv.memcpy_htod(x, np.full(8, 5, "i4"))
    drv.memset_d32(x[4:].gpudata, 6, 2)
    drv.memcpy_dtod(x[6:], x[4:], 8)
    assert x.get().tolist() == [5, 5, 5, 5, 6, 6, 6, 6]
    drv.memset_d8(np.intp(x.ptr), 0, 4)
    assert x.get()[0] == 0


def test_memory_is_not_freed_during_a_copy():
    mine = drv.Context.get_current()
    memory = drv.mem_alloc(1 << 20)
    host = np.zeros(1 << 20, np.uint8)
    errors = []

    def copy():
        mine.push()
        try:
            for _ in range(200):
                drv.memcpy_dtoh(host, memory)
        except drv.LogicError as error:
            errors.append(str(error))
        finally:
            mine.pop()

    thread = threading.Thread(target=copy)
    thread.start()
    memory.free()
    thread.join()
    assert all("freed" in error for error in errors) and len(errors) <= 1
