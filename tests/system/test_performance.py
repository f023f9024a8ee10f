# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Utilization, performance states, units and repairs."""

import pytest
from cuda.bindings import nvml

from cuda.core.system import _device

pytestmark = pytest.mark.requires(nvml=True)


def test_utilization_is_read(gpu, fake):
    rates = gpu.utilization
    assert type(rates) is _device.Utilization
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
    assert type(info) is _device.GpuDynamicPstatesInfo and len(info) == nvml.MAX_GPU_UTILIZATIONS == len(list(info))
    assert [entry.is_present for entry in info] == [False, True] + [False] * 6
    entry = info[1]
    assert type(entry) is _device.GpuDynamicPstatesUtilization
    assert (entry.percentage, entry.inc_threshold, entry.dec_threshold) == (30, 80, 10)
    assert info[-8].is_present is False
    with pytest.raises(IndexError):
        info[8]
    with pytest.raises(TypeError):
        info["gpu"]


def test_attributes_of_a_device_are_read(gpu, fake):
    record = nvml.DeviceAttributes()
    names = [name for name in vars(_device.DeviceAttributes) if not name.startswith("_")]
    assert len(names) == 9
    for number, name in enumerate(names):
        setattr(record, name, number)
    fake("device_get_attributes_v2", record)
    attributes = gpu.attributes
    assert type(attributes) is _device.DeviceAttributes
    assert [getattr(attributes, name) for name in names] == list(range(9))


def test_repair_status_is_read(gpu, fake):
    record = nvml.RepairStatus_v1()
    record.b_tpc_repair_pending = 1
    fake("device_get_repair_status", record)
    status = gpu.repair_status
    assert type(status) is _device.RepairStatus
    assert (status.channel_repair_pending, status.tpc_repair_pending) == (False, True)
    assert type(status.tpc_repair_pending) is bool


def test_performance_state_is_a_number_or_none(gpu, fake):
    state = gpu.performance_state
    assert state is None or 0 <= state <= 15
    fake("device_get_performance_state", 32)
    assert gpu.performance_state is None
