# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays in page-locked, aligned, registered and managed memory."""

import gc
import weakref

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

FUNCTIONS = {
    "pagelocked": (drv.pagelocked_empty, drv.pagelocked_zeros, drv.pagelocked_empty_like, drv.pagelocked_zeros_like),
    "aligned": (drv.aligned_empty, drv.aligned_zeros, drv.aligned_empty_like, drv.aligned_zeros_like),
}


@pytest.mark.parametrize("kind", ["pagelocked", "aligned"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, "i2", [("a", "i4"), ("b", "f8")], "M8[s]"])
def test_arrays_have_shape_type_and_order(kind, order, dtype):
    base = drv.PagelockedHostAllocation if kind == "pagelocked" else drv.AlignedHostAllocation
    make_empty, make_zeros, make_empty_like, make_zeros_like = FUNCTIONS[kind]
    zeros = make_zeros((3, 4), dtype, order)
    like, zeros_like = make_empty_like(zeros), make_zeros_like(zeros)
    for array in (zeros, like, zeros_like, make_empty((3, 4), dtype, order=order)):
        assert array.shape == (3, 4) and array.dtype == np.dtype(dtype) and isinstance(array.base, base)
        assert array.flags.c_contiguous == (order == "C") and array.flags.f_contiguous == (order == "F")
    assert zeros.tobytes() == zeros_like.tobytes() == bytes(zeros.nbytes)


@pytest.mark.parametrize("shape", [5, (5,), [5], np.int32(5), np.array([5])])
def test_shapes_come_in_many_forms(shape):
    assert drv.pagelocked_empty(shape, np.uint8).shape == drv.aligned_empty(shape, np.uint8).shape == (5,)


def test_arrays_may_be_empty():
    assert drv.pagelocked_zeros((0, 3), float).shape == (0, 3)
    assert drv.aligned_zeros(0, float).shape == (0,)


def test_bad_shapes_and_types_are_rejected():
    with pytest.raises(ValueError, match="must contain non-negative sizes"):
        drv.pagelocked_empty((2, -1), float)
    with pytest.raises(TypeError, match="Python objects"):
        drv.pagelocked_empty(3, object)
    with pytest.raises(ValueError, match="neither C nor F"):
        drv.pagelocked_empty_like(np.zeros((4, 4))[::2, ::2])
    with pytest.raises(TypeError):
        drv.pagelocked_empty(2.5, float)


def test_page_locked_memory_is_copied_asynchronously():
    source, target, stream = drv.pagelocked_empty(1000, float), drv.pagelocked_zeros(1000, float), drv.Stream()
    source[:] = np.arange(1000)
    memory = drv.mem_alloc(source.nbytes)
    drv.memcpy_htod_async(memory, source, stream)
    drv.memcpy_dtoh_async(target, memory, stream)
    stream.synchronize()
    assert (source == target).all()


def test_mapped_memory_has_an_address_on_the_device():
    array = drv.pagelocked_empty(4, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
    assert array.base.get_flags() & drv.host_alloc_flags.DEVICEMAP
    pointer = array.base.get_device_pointer()
    drv.memset_d32(np.intp(pointer), 7, 4)
    drv.Context.synchronize()
    assert array.tolist() == [7] * 4


def test_memory_is_freed_when_no_array_shows_it():
    array = drv.pagelocked_empty(16, np.uint8)
    alive = weakref.ref(array.base)
    view = array[4:8]
    del array
    gc.collect()
    assert alive() is not None
    del view
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("make", [drv.pagelocked_zeros, drv.aligned_zeros])
def test_freed_memory_lasts_as_long_as_its_arrays(make):
    array = make(1 << 16, np.uint8)
    array.base.free()
    assert not array.any()
    with pytest.raises(drv.LogicError, match="invalid resource handle"):
        array.base.free()


def test_memory_of_detached_context_lasts_as_long_as_its_arrays(context):
    array = drv.pagelocked_zeros(16, np.uint8)
    context.detach()
    assert not array.any()
    with pytest.raises(drv.LogicError):
        array.base.get_flags()


def test_page_locked_allocation_is_a_buffer_and_freed_once():
    memory = drv.mem_host_alloc(64, drv.host_alloc_flags.DEVICE_MAP)
    assert drv.HostAllocation is drv.PagelockedHostAllocation and isinstance(memory, drv.HostAllocation)
    assert len(memory) == 64 and memoryview(memory).nbytes == 64
    memory.free()
    with pytest.raises(drv.LogicError, match="cuMemFreeHost failed"):
        memory.free()
    with pytest.raises(drv.LogicError, match="cuMemHostAlloc failed"):
        drv.mem_host_alloc(0)
    with pytest.raises(drv.LogicError):
        drv.mem_host_alloc(16, 1 << 20)


@pytest.mark.parametrize("alignment", [1, 64, 4096, 1 << 16])
def test_aligned_memory_begins_at_a_multiple_of_the_alignment(alignment):
    array = drv.aligned_empty(100, np.uint8, alignment=alignment)
    assert array.__array_interface__["data"][0] % alignment == 0 and len(array.base) == 100


@pytest.mark.parametrize("alignment", [0, -4, 48])
def test_alignments_must_be_powers_of_two(alignment):
    with pytest.raises(drv.LogicError, match="must be a power of two"):
        drv.aligned_empty(4, float, alignment=alignment)


def test_arrays_are_registered():
    array = np.zeros((64, 64))
    registered = drv.register_host_memory(array, drv.mem_host_register_flags.DEVICEMAP)
    assert isinstance(registered.base, drv.RegisteredHostMemory) and registered.base.base is array
    registered[3, 4] = 5
    assert array[3, 4] == 5 and registered.shape == array.shape
    drv.memset_d8(registered.base.get_device_pointer(), 0, array.nbytes)
    drv.Context.synchronize()
    assert not array.any()
    with pytest.raises(drv.LogicError):
        drv.register_host_memory(array)
    registered.base.unregister()
    with pytest.raises(drv.LogicError, match="cuMemHostUnregister failed"):
        registered.base.unregister()
    assert not registered.any()


def test_unregistrable_memory_is_rejected():
    for bad in (np.zeros((8, 8))[::2, ::2], [1, 2], np.zeros(0)):
        with pytest.raises(drv.LogicError, match="cuMemHostRegister failed: invalid argument"):
            drv.register_host_memory(bad)
    with pytest.raises(drv.LogicError, match="flags must combine mem_host_register_flags"):
        drv.register_host_memory(np.zeros(8), 4)


def test_registration_ends_with_its_context(context):
    registered = drv.register_host_memory(np.zeros(512))
    context.detach()
    with pytest.raises(drv.LogicError):
        registered.base.unregister()


def test_memory_resource_of_host_memory_rejects_to_allocate():
    resource = drv.pagelocked_empty(4, np.uint8).base.memory_resource
    with pytest.raises(NotImplementedError, match="mem_host_alloc"):
        resource.allocate(4)
    assert resource.is_device_accessible and resource.is_host_accessible and resource.device_id == -1


def test_large_aligned_zeros_take_no_memory_until_they_are_used():
    array = drv.aligned_zeros(1 << 32, "u1")
    assert array.ctypes.data % 4096 == 0 and not array[:: 1 << 28].any()


def test_aligned_zeros_are_like_another_array():
    other = np.ones((3, 5), "f4", order="F")
    zeros = drv.aligned_zeros_like(other, alignment=512)
    assert zeros.shape == (3, 5) and zeros.flags.f_contiguous and not zeros.any() and zeros.ctypes.data % 512 == 0
    assert isinstance(zeros.base, drv.AlignedHostAllocation) and issubclass(
        drv.PagelockedHostAllocation, drv.HostPointer
    )


GLOBAL = drv.mem_attach_flags.GLOBAL


def test_host_and_device_use_one_address():
    array = drv.managed_empty((2, 3), np.float32, order="F", mem_flags=GLOBAL)
    array[...] = np.arange(6).reshape(2, 3)
    function = SourceModule("__global__ void f(float *x) { x[threadIdx.x] *= 2; }").get_function("f")
    function(array, block=(6, 1, 1))
    drv.Context.synchronize()
    assert (array == np.arange(6).reshape(2, 3) * 2).all() and array.flags.f_contiguous
    function(array[:, 1:], block=(4, 1, 1))
    drv.Context.synchronize()
    assert array[:, 0].tolist() == [0, 6] and array[:, 1].tolist() == [4, 16]
    assert isinstance(array.base, drv.ManagedAllocation)
    assert array.base.get_device_pointer() == int(array.base) == array.__array_interface__["data"][0]


def test_arrays_like_others():
    array = drv.managed_zeros((4, 2), np.int16, mem_flags=GLOBAL)
    for like in (drv.managed_empty_like(array, GLOBAL), drv.managed_zeros_like(array, mem_flags=GLOBAL)):
        assert like.shape == (4, 2) and like.dtype == np.int16 and isinstance(like.base, drv.ManagedAllocation)
    assert not array.any() and not drv.managed_zeros_like(array, GLOBAL).any()
    with pytest.raises(ValueError, match="neither C nor F"):
        drv.managed_empty_like(np.zeros((4, 4))[::2, ::2], GLOBAL)


def test_managed_memory_is_attached_to_a_stream():
    array, stream = drv.managed_zeros(16, np.uint8, mem_flags=GLOBAL), drv.Stream()
    array.base.attach(drv.mem_attach_flags.SINGLE, stream)
    stream.synchronize()
    array.base.attach(GLOBAL, stream=stream)
    stream.synchronize()
    with pytest.raises(drv.LogicError, match="cuStreamAttachMemAsync failed"):
        array.base.attach(99)


def test_managed_memory_needs_attach_flags():
    with pytest.raises(drv.LogicError, match="cuMemAllocManaged failed"):
        drv.managed_empty(4, float)


def test_freed_managed_memory_lasts_as_long_as_its_arrays(context):
    array = drv.managed_zeros(1 << 14, np.uint8, mem_flags=GLOBAL)
    alive = weakref.ref(array.base)
    array.base.free()
    assert not array.any()
    for name, arguments in (("free", ()), ("get_device_pointer", ()), ("attach", (GLOBAL,))):
        with pytest.raises(drv.LogicError, match="invalid resource handle"):
            getattr(array.base, name)(*arguments)
    del array
    gc.collect()
    assert alive() is None
    other = drv.managed_zeros(16, np.uint8, mem_flags=GLOBAL)
    context.detach()
    assert not other.any()
    with pytest.raises(drv.LogicError):
        other.base.free()


def test_memory_resource_of_managed_memory_rejects_to_allocate():
    resource = drv.managed_empty(4, np.uint8, mem_flags=GLOBAL).base.memory_resource
    with pytest.raises(NotImplementedError, match="managed_empty"):
        resource.allocate(4)
    assert resource.is_device_accessible and resource.is_host_accessible and resource.is_managed
    assert resource.device_id == 0
