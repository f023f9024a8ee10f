# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays in managed memory."""

import gc
import weakref

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver._host_memory import _ManagedMemoryResource
from cuda.core.driver.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

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


def test_memory_that_is_freed_lasts_as_long_as_its_arrays(context):
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


def test_the_memory_resource_of_managed_memory_refuses_to_allocate():
    resource = _ManagedMemoryResource(0)
    with pytest.raises(NotImplementedError, match="managed_empty"):
        resource.allocate(4)
    assert resource.is_device_accessible and resource.is_host_accessible and resource.is_managed
    assert resource.device_id == 0
