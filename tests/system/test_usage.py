# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory, utilization and processes of a device."""

import os

import pytest
from cuda.bindings import driver, nvml

from cuda.core import system
from support.bindings import handle_return

pytestmark = pytest.mark.requires(nvml=True)


def test_free_used_and_reserved_memory_add_up(gpus):
    for gpu in gpus:
        info = gpu.memory_info
        assert type(info).__name__ == "MemoryInfo"
        assert info.free + info.used + info.reserved == info.total > 0
        assert all(type(value) is int for value in (info.free, info.used, info.reserved, info.total))


def test_allocation_increases_the_used_memory(device, gpu):
    counterpart = device.to_system_device()
    device.sync()  # frees memory of earlier tests now, not between the readings
    before = counterpart.memory_info.used
    address = handle_return(driver.cuMemAlloc(2 << 30))  # a pool could reuse memory that it holds
    used = counterpart.memory_info.used
    handle_return(driver.cuMemFree(address))
    assert used - before >= 1 << 30  # other processes of a GPU may free memory in between


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
    assert type(info).__name__ == "BAR1MemoryInfo"
    assert (info.total, info.free, info.used, info.reserved) == (10, 7, 3, 0)


def test_utilization_is_read(gpu, fake):
    rates = gpu.utilization
    assert type(rates).__name__ == "Utilization"
    assert 0 <= rates.gpu <= 100 and 0 <= rates.memory <= 100
    record = nvml.Utilization()
    record.gpu, record.memory = 75, 20
    fake("device_get_utilization_rates", record)
    assert repr(gpu.utilization) == "Utilization(gpu=75, memory=20)"


def test_utilization_is_read_by_domain(gpu, fake):
    record = nvml.GpuDynamicPstatesInfo()
    domain = record.utilization[1]
    domain.b_is_present, domain.percentage, domain.inc_threshold, domain.dec_threshold = 1, 30, 80, 10
    fake("device_get_dynamic_pstates_info", record)
    info = gpu.dynamic_pstates_info
    assert type(info).__name__ == "GpuDynamicPstatesInfo" and len(info) == nvml.MAX_GPU_UTILIZATIONS == len(list(info))
    assert [entry.is_present for entry in info] == [False, True] + [False] * 6
    entry = info[1]
    assert type(entry).__name__ == "GpuDynamicPstatesUtilization"
    assert (entry.percentage, entry.inc_threshold, entry.dec_threshold) == (30, 80, 10)
    assert info[-8].is_present is False
    with pytest.raises(IndexError):
        info[8]
    with pytest.raises(TypeError):
        info["gpu"]


def test_performance_state_is_a_number_or_none(gpu, fake):
    state = gpu.performance_state
    assert state is None or 0 <= state <= 15
    fake("device_get_performance_state", 32)
    assert gpu.performance_state is None


@pytest.mark.requires(software=True)
def test_this_process_is_listed_once_it_has_a_context(device):
    processes = device.to_system_device().compute_running_processes
    assert type(processes) is list and [type(process).__name__ for process in processes] == ["ProcessInfo"]
    (own,) = processes
    assert own.pid == os.getpid() and type(own.used_gpu_memory) is int
    for name in ("gpu_instance_id", "compute_instance_id"):
        with pytest.raises(system.NotSupportedError):
            getattr(own, name)
    assert repr(own).startswith(f"ProcessInfo(pid={own.pid}, used_gpu_memory=")
    assert repr(own).endswith("gpu_instance_id=<Not Supported>, compute_instance_id=<Not Supported>)")


def test_processes_are_listed_while_others_start(gpu, fake):
    records = nvml.ProcessInfo(1)
    records.pid = [7]
    outcomes = [nvml.InsufficientSizeError(nvml.Return.ERROR_INSUFFICIENT_SIZE)] * 2

    def query(handle):
        if outcomes:
            raise outcomes.pop()
        return records

    fake("device_get_compute_running_processes_v3", query)
    assert [process.pid for process in gpu.compute_running_processes] == [7]


def test_processes_of_mig_instances_have_their_ids(gpu, fake):
    records = nvml.ProcessInfo(2)
    records.pid, records.used_gpu_memory = [7, 8], [100, 200]
    records.gpu_instance_id, records.compute_instance_id = [1, 2], [3, 4]
    fake("device_get_compute_running_processes_v3", records)
    processes = gpu.compute_running_processes
    seen = [(p.pid, p.used_gpu_memory, p.gpu_instance_id, p.compute_instance_id) for p in processes]
    assert seen == [(7, 100, 1, 3), (8, 200, 2, 4)]
    assert all(type(value) is int for row in seen for value in row)
