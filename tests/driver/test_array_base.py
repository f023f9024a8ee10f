# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The storage of arrays: memory, layout, and the protocols of other libraries."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import GPUArray
from support.threads import in_thread

pytestmark = pytest.mark.usefixtures("context")


def test_attributes_describe_the_layout():
    d = GPUArray((3, 4), np.float32)
    assert (d.shape, d.strides, d.dtype, d.size, d.nbytes, d.itemsize, d.ndim, d.mem_size) == (
        *((3, 4), (16, 4), np.float32, 12, 48, 4, 2, 12),
    )
    assert isinstance(d.gpudata, drv.DeviceAllocation) and len(d.gpudata) == 48
    assert d.ptr == int(d.gpudata) and d.base is None and d.allocator is drv.mem_alloc
    assert d.flags.c_contiguous and not d.flags.f_contiguous and d.flags.forc
    assert d.flags["C_CONTIGUOUS"] and d.flags["C"] and not d.flags["F"] and "c_contiguous=True" in repr(d.flags)
    assert type(d.flags) is gpuarray.ArrayFlags
    with pytest.raises(KeyError, match="flag must be"):
        d.flags["OWNDATA"]


def test_order_and_strides_can_be_chosen():
    d = GPUArray((3, 4), np.float64, order="F")
    assert d.strides == (8, 24) and d.flags.f_contiguous
    assert GPUArray((3, 4), "f4", strides=(4, 12)).flags.f_contiguous
    with pytest.raises(ValueError, match="order must"):
        GPUArray(3, "f4", order="X")
    with pytest.raises(ValueError, match="one item per dimension"):
        GPUArray((3, 4), "f4", strides=(4,))
    with pytest.raises(ValueError, match="do not match a new array"):
        GPUArray((3, 4), "f4", strides=(160, 4))
    with pytest.raises(ValueError, match="do not match a new array"):
        GPUArray(3, "f4", strides=(-4,))


def test_array_without_elements_has_no_memory():
    for shape in (0, (3, 0), (0, 2)):
        d = GPUArray(shape, "f4")
        assert d.gpudata is None and d.ptr == 0 and d.size == 0
        assert d.get().shape == d.shape
        assert (d + d).get().shape == d.shape


def test_allocator_serves_arrays_and_their_results():
    sizes = []

    def allocate(nbytes):
        sizes.append(nbytes)
        return drv.mem_alloc(nbytes)

    d = GPUArray(100, "f4", allocator=allocate).fill(1)
    e = d + d
    assert e.allocator is allocate and sizes == [400, 400]
    assert e.get().tolist() == [2] * 100


def test_arrays_can_use_the_callers_memory():
    memory = drv.mem_alloc(64)
    d = GPUArray(16, "f4", gpudata=memory).fill(3)
    part = GPUArray(4, "f4", gpudata=int(memory) + 16, base=d)
    part.fill(5)
    assert d.get().tolist() == [3] * 4 + [5] * 4 + [3] * 8
    part.gpudata = int(memory)
    assert part.get().tolist() == [3] * 4


def test_pointer_holder_can_be_the_memory():
    class Holder(drv.PointerHolderBase):
        def __init__(self):
            super().__init__()
            self.memory = drv.mem_alloc(16)

        def get_pointer(self):
            return int(self.memory)

    d = GPUArray(4, "f4", gpudata=Holder()).fill(2)
    assert (d + d).get().tolist() == [4] * 4


def test_views_keep_the_memory_alive():
    d = gpuarray.to_gpu(np.arange(10, dtype="f4"))
    view = d[2:8][::2]
    assert view.base is d and view.gpudata == d.ptr + 8
    del d
    assert view.get().tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    "dtype", [object, ">f4", "V0", ("f4", 3), [("a", object)], np.longdouble, np.clongdouble], ids=repr
)
def test_types_that_devices_do_not_have_are_rejected(dtype):
    with pytest.raises(TypeError, match=r"dtype|elements"):
        GPUArray(3, dtype)


def test_failed_allocations_and_sizes_out_of_range_are_rejected():
    with pytest.raises(TypeError, match="must return device memory"):
        GPUArray(3, "f4", allocator=lambda nbytes: None)
    with pytest.raises(ValueError, match="has more than"):
        GPUArray((2**40, 2**40), "f4")
    with pytest.raises(drv.MemoryError):
        GPUArray(2**45, "f8")


def test_array_without_a_current_context_is_rejected():
    def make():
        with pytest.raises(drv.LogicError, match="no context is current"):
            GPUArray(3, "f4")
        return True

    assert in_thread(make) is True  # no context is current on a new thread


def test_using_an_array_of_a_detached_context_is_an_error():
    context = drv.Device(0).make_context()
    d = gpuarray.zeros(3, "f4")
    context.detach()
    for use in (d.get, lambda: d + d, lambda: d.ptr, lambda: d.fill(1), lambda: d.__cuda_array_interface__):
        with pytest.raises(drv.LogicError, match="detached"):
            use()


def test_other_libraries_read_the_array_interface():
    d = gpuarray.to_gpu(np.arange(12, dtype="i2").reshape(3, 4))
    interface = d[:, ::2].__cuda_array_interface__
    assert interface["shape"] == (3, 2) and interface["strides"] == (8, 4)
    assert interface["typestr"] == "<i2" and interface["data"] == (d.ptr, False)
    assert interface["version"] == 3 and interface["stream"] is None
    assert GPUArray(0, "f4").__cuda_array_interface__["data"] == (0, False)


def test_dlpack_shares_the_memory():
    d = gpuarray.to_gpu(np.arange(6, dtype="f4").reshape(2, 3))
    assert d.__dlpack_device__() == (2, 0)
    view = gpuarray.from_dlpack(d.T)
    assert view.shape == (3, 2) and view.strides == (4, 12)
    view += 1
    assert d.get().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_dlpack_copies_for_the_host():
    d = gpuarray.to_gpu(np.arange(6, dtype="f4").reshape(2, 3))

    class Copied:
        __dlpack__ = staticmethod(lambda **options: d.__dlpack__(dl_device=(1, 0), copy=True))
        __dlpack_device__ = staticmethod(lambda: (1, 0))

    found = np.from_dlpack(Copied())
    d += 1
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_splay_chooses_grid_and_block():
    assert gpuarray.splay(1) == ((1, 1), (32, 1, 1))
    assert gpuarray.splay(100) == ((1, 1), (128, 1, 1))
    (blocks, _), (threads, _, _) = gpuarray.splay(10**9, drv.Device(0))
    assert threads == 128 and blocks == gpuarray.splay(10**9)[0][0] < 10**5
    d = GPUArray(1000, "f4")
    assert d._grid == (8, 1) and d._block == (128, 1, 1)


def test_too_small_allocations_are_rejected():
    with pytest.raises(ValueError, match="gpudata has 12 bytes, but the array needs 16"):
        GPUArray(4, np.float32, gpudata=drv.mem_alloc(12))
    with pytest.raises(ValueError, match="gpudata has 16 bytes, but the array needs 28"):
        GPUArray(4, np.float32, gpudata=drv.mem_alloc(16), strides=(8,))
    with pytest.raises(ValueError, match="memory returned by allocator has 4 bytes, but the array needs 16"):
        GPUArray(4, np.float32, allocator=lambda size: drv.mem_alloc(4))
    small = iter([drv.mem_alloc(16), drv.mem_alloc(4)])
    array = GPUArray(4, np.float32, allocator=lambda size: next(small))
    with pytest.raises(ValueError, match="has 4 bytes, but the array needs 16"):
        array + array
    assert GPUArray(4, np.float32, gpudata=drv.mem_alloc(64)).size == 4


@pytest.mark.requires(devices=2)
def test_work_on_another_device_is_rejected():
    first = gpuarray.zeros(3, "f4")
    context = drv.Device(1).make_context()
    try:
        second = gpuarray.zeros(3, "f4")
        for use in (lambda: first + 1, lambda: first + second, lambda: second + first):
            with pytest.raises(drv.LogicError, match="the current context is on device|invalid device"):
                use()
    finally:
        context.detach()
