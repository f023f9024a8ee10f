# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of a device, and of its BAR1 window."""

import pytest
from cuda.bindings import driver, nvml

from cuda.core.system import _device
from support.bindings import handle_return

pytestmark = pytest.mark.requires(nvml=True)


def test_free_used_and_reserved_memory_add_up(gpus):
    for gpu in gpus:
        info = gpu.memory_info
        assert type(info) is _device.MemoryInfo
        assert info.free + info.used + info.reserved == info.total > 0
        assert all(type(value) is int for value in (info.free, info.used, info.reserved, info.total))


def test_an_allocation_increases_the_used_memory(device, gpu):
    counterpart = device.to_system_device()
    device.sync()  # frees memory of earlier tests now, not between the readings
    before = counterpart.memory_info.used
    address = handle_return(driver.cuMemAlloc(256 << 20))  # a pool could reuse memory that it holds
    used = counterpart.memory_info.used
    handle_return(driver.cuMemFree(address))
    assert used - before >= 200 << 20


def test_memory_info_is_a_snapshot(gpu, fake):
    record = nvml.Memory_v2()
    record.total, record.free, record.used, record.reserved = 10, 4, 5, 1
    fake("device_get_memory_info_v2", record)
    info = gpu.memory_info
    assert repr(info) == "MemoryInfo(free=4, total=10, used=5, reserved=1)"
    with pytest.raises(AttributeError):
        info.used = 3
    with pytest.raises(AttributeError):
        info.other = 3


def test_bar1_memory_is_read(gpu, fake):
    record = nvml.BAR1Memory()
    record.bar1_total, record.bar1_free, record.bar1_used = 10, 7, 3
    fake("device_get_bar1_memory_info", record)
    info = gpu.bar1_memory_info
    assert type(info) is _device.BAR1MemoryInfo and isinstance(info, _device.MemoryInfo)
    assert (info.total, info.free, info.used, info.reserved) == (10, 7, 3, 0)
