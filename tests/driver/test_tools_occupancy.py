# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device limits, and how many blocks a device runs concurrently."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver.tools import DeviceData, OccupancyRecord

pytestmark = pytest.mark.usefixtures("context")


def test_limits_match_the_device():
    data, device = DeviceData(), drv.Device(0)
    assert data.max_threads == device.max_threads_per_block and data.warp_size == device.warp_size
    assert data.warps_per_mp * data.warp_size == device.max_threads_per_multiprocessor
    assert data.thread_blocks_per_mp == device.max_blocks_per_multiprocessor
    assert data.registers == device.max_registers_per_block
    assert data.shared_memory == device.max_shared_memory_per_block
    assert data.register_allocation_unit == "warp"
    assert vars(DeviceData(device)) == vars(data)


def test_sizes_are_aligned_to_the_device_units():
    data = DeviceData()
    assert [data.align_bytes(size) for size in (4, 8, 16)] == [64, 128, 128]
    assert data.align(1) == 64 and data.align(129, 8) == 256 and data.align_bytes() == 64
    assert data.align_words(8) == 16 and data.align_dtype(17, 8) == 32
    assert data.coalesce(1) == data.warp_size and data.coalesce(64) == 64
    assert [DeviceData.make_valid_tex_channel_count(count) for count in (1, 2, 3, 4)] == [1, 2, 4, 4]
    with pytest.raises(ValueError, match="4, 8 or 16"):
        data.align_bytes(3)
    with pytest.raises(ValueError, match="at most 4 channels"):
        data.make_valid_tex_channel_count(5)


class Limits:
    """The device limits that the tests compute occupancy for."""

    max_threads, warp_size, warps_per_mp, thread_blocks_per_mp = 1024, 32, 64, 32
    registers, registers_per_mp = 65536, 65536
    shared_memory, shared_memory_per_mp, _reserved, smem_alloc_granularity = 49152, 102400, 1024, 128


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks", "limit"),
    [
        (32, 0, 0, 32, "device"),
        (256, 0, 0, 8, "warps"),
        (100, 0, 0, 16, "warps"),
        (256, 0, 64, 4, "regs"),
        (256, 40000, 0, 2, "smem"),
        (1024, 0, 32, 2, "warps"),
        (128, 10000, 200, 2, "regs"),
    ],
)
def test_block_count_and_limiting_resource_are_computed(threads, shared, registers, blocks, limit):
    record = OccupancyRecord(Limits, threads, shared, registers)
    assert (record.tb_per_mp, record.limited_by) == (blocks, limit)
    warps = blocks * ((threads + 31) // 32)
    assert record.warps_per_mp == warps and record.occupancy == warps / 64
    assert f"{blocks} blocks" in repr(record)


def test_too_large_blocks_are_rejected():
    for arguments in ((1025,), (0,), (32, 200_000), (1024, 0, 128)):
        with pytest.raises(ValueError, match="must be from"):
            OccupancyRecord(Limits, *arguments)

    class Small(Limits):
        registers_per_mp = 8192

    with pytest.raises(ValueError, match="no block of 512 threads"):
        OccupancyRecord(Small, 512, 0, 64)
