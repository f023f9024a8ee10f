# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device memory, and objects accepted as device pointers."""

import ctypes

import numpy as np
import pytest

import cuda.core
import cuda.core.driver as drv
from cuda.core import CUDAError

pytestmark = pytest.mark.usefixtures("context")


class Holder(drv.PointerHolderBase):
    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def get_pointer(self):
        return int(self.memory)


def test_memory_is_allocated_and_freed():
    free, total = drv.mem_get_info()
    memory = drv.mem_alloc(1 << 20)
    assert isinstance(memory, drv.DeviceAllocation) and len(memory) == 1 << 20
    # The free memory is not compared: other processes also allocate.
    assert 0 < free <= total and drv.mem_get_info()[1] == total
    memory.free()
    with pytest.raises(drv.LogicError, match="cuMemFree failed: invalid resource handle"):
        memory.free()


def test_free_that_the_driver_rejects_raises_the_classic_error(monkeypatch):
    def fail(self):
        raise CUDAError("failed", code=3, name="CUDA_ERROR_NOT_INITIALIZED", api="cuMemFree")

    memory = drv.mem_alloc(64)
    with monkeypatch.context() as patch:
        patch.setattr(drv.DeviceAllocation, "close", fail, raising=False)
        with pytest.raises(drv.LogicError, match="cuMemFree failed"):
            memory.free()
    memory.free()


@pytest.mark.parametrize("size", [np.int64(64), np.uint8(64), 64])
def test_sizes_may_be_numpy_ints(size):
    assert len(drv.mem_alloc(size)) == 64


@pytest.mark.parametrize("size", [0, -1])
def test_memory_has_at_least_one_byte(size):
    with pytest.raises(drv.LogicError, match="cuMemAlloc failed: invalid argument"):
        drv.mem_alloc(size)


@pytest.mark.parametrize("size", [1.5, "8", None])
def test_sizes_must_be_ints(size):
    with pytest.raises(TypeError):
        drv.mem_alloc(size)


def test_too_much_memory_is_a_memory_error():
    with pytest.raises(drv.MemoryError, match="cuMemAlloc failed"):
        drv.mem_alloc(1 << 50)


def test_allocation_is_an_address():
    memory = drv.mem_alloc(64)
    address = int(memory)
    assert address == memory.__index__() == np.intp(memory) == np.uintp(memory)
    assert np.intp(memory) + 4 == address + 4
    assert drv.mem_get_address_range(address + 8) == (address, 64)


def test_allocation_is_a_buffer():
    memory = drv.mem_alloc_like(np.zeros(4, np.float32))
    assert isinstance(memory, cuda.core.Buffer) and memory.size == 16
    memory.copy_from(np.arange(4, dtype=np.float32), stream=cuda.core.LEGACY_DEFAULT_STREAM)
    assert drv.from_device(memory, 4, np.float32).tolist() == [0, 1, 2, 3]


def test_rows_begin_at_a_pitch():
    memory, pitch = drv.mem_alloc_pitch(100, 5, 4)
    assert pitch >= 100 and pitch % 4 == 0 and len(memory) == pitch * 5
    with pytest.raises(drv.LogicError):
        drv.mem_alloc_pitch(100, 5, 3)


def test_memoryview_shows_the_device_address():
    memory = drv.mem_alloc(64)
    view = memory.as_buffer(16, 8)
    address = np.frombuffer(view, np.uint8).ctypes.data
    assert (address, view.nbytes) == (int(memory) + 8, 16)
    for size, offset in ((65, 0), (1, 64), (-1, 0), (1, -1)):
        with pytest.raises(drv.LogicError, match="not within the allocation"):
            memory.as_buffer(size, offset)


def test_objects_with_an_address_are_device_pointers():
    memory = drv.mem_alloc(64)
    address = int(memory)

    class Array:
        gpudata = memory

    class Empty:
        gpudata = None

    class Interface:
        __cuda_array_interface__ = {"data": (address, False)}

    plain = cuda.core.Device(0).allocate(8, stream=cuda.core.LEGACY_DEFAULT_STREAM)
    pointers = (memory, address, np.intp(address), np.uint64(address), Holder(memory), Array(), Interface(), plain)
    for value, pointer in enumerate(pointers):
        drv.memset_d8(pointer, value, 8)
        assert drv.from_device(pointer, 8, np.uint8).tolist() == [value] * 8
    assert drv.from_device(memory, 1, np.uint8)[0] == 6
    with pytest.raises(drv.LogicError, match="cuMemGetAddressRange failed"):
        drv.mem_get_address_range(Empty())
    assert int(Holder(memory)) == address
    plain.close()


@pytest.mark.parametrize("pointer", [None, 1.5, "0x10", True, b"", np.zeros(3), [1]])
def test_other_objects_are_not_device_pointers(pointer):
    with pytest.raises(TypeError, match="a device pointer must be"):
        drv.memset_d8(pointer, 0, 1)


class Interfaced:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


def test_address_alone_is_read_from_an_incomplete_interface():
    memory = drv.mem_alloc(8)
    for address in (int(memory), np.uint64(int(memory))):
        drv.memset_d8(Interfaced({"data": (address, False)}), 3, 8)
    assert drv.from_device(memory, 8, np.uint8).tolist() == [3] * 8
    with pytest.raises(drv.LogicError, match="cuMemGetAddressRange failed"):
        drv.mem_get_address_range(Interfaced({"data": (None, True)}))


@pytest.mark.parametrize(
    "interface", [None, [], {}, {"data": 4096}, {"data": (1, 2, 3)}, {"data": ("1", False)}], ids=str
)
def test_interface_without_an_address_is_rejected(interface):
    with pytest.raises(TypeError):
        drv.memset_d8(Interfaced(interface), 0, 1)


def test_freed_memory_is_rejected():
    memory = drv.mem_alloc(4)
    memory.free()
    for use in (int, np.intp, lambda gone: drv.memset_d8(gone, 0, 1)):
        with pytest.raises(drv.LogicError, match="the memory was freed"):
            use(memory)


def test_pointer_holders_must_define_get_pointer():
    with pytest.raises(NotImplementedError, match="must define get_pointer"):
        int(drv.PointerHolderBase())


def test_as_buffer_exports_a_ctypes_array():
    memory = drv.mem_alloc(8)
    assert isinstance(memory.as_buffer(8).obj, ctypes.Array)
