# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pools of device and of page-locked memory."""

import gc
import random

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver.tools import bitlog2
from support.threads import run_in_threads

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def pool():
    return drv.DeviceMemoryPool()


def counts(pool):
    return pool.active_blocks, pool.held_blocks, pool.active_bytes, pool.managed_bytes


def test_memory_goes_back_to_the_pool_and_is_reused(pool):
    memory = pool.allocate(1000)
    assert isinstance(memory, drv.PooledDeviceAllocation) and len(memory) == 1000
    address = int(memory)
    drv.memset_d8(memory, 3, 1000)
    assert counts(pool) == (1, 0, 1000, 1024)
    del memory
    gc.collect()
    assert counts(pool) == (0, 1, 0, 1024)
    memory = pool.allocate(1024)
    assert int(memory) == address
    memory.free()
    with pytest.raises(drv.LogicError, match="cuMemFree failed"):
        memory.free()
    pool.free_held()
    assert counts(pool) == (0, 0, 0, 0)


def test_stop_holding_frees_held_blocks_and_holds_no_more(pool):
    first, second = pool.allocate(100), pool.allocate(100)
    first.free()
    assert pool.held_blocks == 1
    pool.stop_holding()
    assert pool.held_blocks == 0
    second.free()
    assert counts(pool) == (0, 0, 0, 0)


def test_bins_waste_less_than_an_eighth_of_the_size():
    sizes = [*range(1, 3000), *(2**power + more for power in range(12, 45) for more in (-1, 0, 1, 77))]
    for size in sizes:
        number = drv.DeviceMemoryPool.bin_number(size)
        block = drv.DeviceMemoryPool.alloc_size(number)
        assert size <= block < size * 1.125 or block == size
        assert drv.DeviceMemoryPool.bin_number(block) == number
    numbers = [drv.DeviceMemoryPool.bin_number(size) for size in sorted(sizes)]
    assert numbers == sorted(numbers)
    assert drv.DeviceMemoryPool.alloc_size(drv.DeviceMemoryPool.bin_number(0)) == 1


def test_pool_frees_held_blocks_when_out_of_memory(pool, monkeypatch):
    small, large = pool.allocate(100), pool.allocate(5000)
    small.free()
    large.free()
    room = [0]

    def make(size):
        if pool.held_blocks > room[0]:
            raise drv.MemoryError("cuMemAlloc failed: out of memory")
        return drv.mem_alloc(size)

    room[0] = 1
    monkeypatch.setattr(pool._blocks, "_make", make)
    kept = pool.allocate(777)
    assert pool.held_blocks == 1 and pool.managed_bytes < 5000
    room[0] = -1
    with pytest.raises(drv.MemoryError, match="cuMemAlloc failed: out of memory"):
        pool.allocate(3333)
    assert pool.held_blocks == 0 and len(kept) == 777


def test_sizes_are_checked(pool):
    assert len(pool.allocate(np.int64(10))) == 10
    with pytest.raises(drv.LogicError, match="must not be negative"):
        pool.allocate(-1)
    with pytest.raises(TypeError):
        pool.allocate(1.5)


def test_memory_outlives_its_pool():
    memory = drv.DeviceMemoryPool().allocate(64)
    gc.collect()
    drv.memset_d8(memory, 1, 64)
    assert drv.from_device(memory, 64, "u1").sum() == 64
    memory.free()


def test_pool_can_be_used_in_another_context(pool, context):
    memory = pool.allocate(64)
    pool.allocate(128).free()
    other = drv.Device(0).retain_primary_context()
    context.detach()
    with pytest.raises(drv.LogicError):
        int(memory)
    other.push()
    again = pool.allocate(128)
    drv.memset_d8(again, 0, 128)
    assert pool.active_blocks == 1
    other.detach()


def test_threads_share_a_pool(pool, context):
    def work(seed):
        context.push()
        numbers = random.Random(seed)
        mine = []
        try:
            for _ in range(200):
                if mine and numbers.random() < 0.5:
                    mine.pop().free()
                else:
                    mine.append(pool.allocate(numbers.randrange(1, 5000)))
            addresses = [int(memory) for memory in mine]
            assert len(set(addresses)) == len(addresses)
        finally:
            del mine
            context.pop()

    assert run_in_threads(work) == []
    gc.collect()
    assert pool.active_blocks == 0


def test_page_locked_pools_return_arrays():
    pool = drv.PageLockedMemoryPool(drv.PageLockedAllocator(drv.host_alloc_flags.DEVICEMAP))
    array = pool.allocate((3, 4), np.float32, order="F")
    assert isinstance(array.base, drv.PooledHostAllocation) and array.flags.f_contiguous and array.shape == (3, 4)
    array[...] = 1
    assert pool.active_blocks == 1
    address = array.__array_interface__["data"][0]
    del array
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    again = pool.allocate(12, np.float32)
    assert again.__array_interface__["data"][0] == address
    assert drv.PageLockedMemoryPool().allocate(3, "u1").shape == (3,)


def test_pools_are_memory_resources(pool):
    buffer = pool._blocks.allocate(8)
    assert buffer.device_id == 0 and buffer.is_device_accessible and not buffer.is_host_accessible
    host = drv.PageLockedMemoryPool()._blocks
    assert host.device_id == -1 and host.is_host_accessible
    assert isinstance(host.allocate(8), drv.PooledHostAllocation)


@pytest.mark.parametrize(("number", "power"), [(0, 0), (1, 0), (2, 1), (3, 1), (1023, 9), (1024, 10)])
def test_logarithms_are_rounded_down(number, power):
    assert bitlog2(number) == power


def test_logarithm_of_a_negative_number_is_rejected():
    with pytest.raises(ValueError, match="n must be at least 0, not -1"):
        bitlog2(-1)
