# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Processes that use a device."""

import os

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _device

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.requires(software=True)
def test_this_process_is_listed_once_it_has_a_context(device):
    processes = device.to_system_device().compute_running_processes
    assert type(processes) is list and [type(process) for process in processes] == [_device.ProcessInfo]
    (own,) = processes
    assert own.pid == os.getpid() and type(own.used_gpu_memory) is int
    for name in ("gpu_instance_id", "compute_instance_id"):
        with pytest.raises(system.NotSupportedError):
            getattr(own, name)
    assert repr(own).startswith(f"ProcessInfo(pid={own.pid}, used_gpu_memory=")
    assert repr(own).endswith("gpu_instance_id=<Not Supported>, compute_instance_id=<Not Supported>)")


def test_processes_of_mig_instances_have_their_ids(gpu, fake):
    records = nvml.ProcessInfo(2)
    records.pid, records.used_gpu_memory = [7, 8], [100, 200]
    records.gpu_instance_id, records.compute_instance_id = [1, 2], [3, 4]
    fake("device_get_compute_running_processes_v3", records)
    processes = gpu.compute_running_processes
    seen = [(p.pid, p.used_gpu_memory, p.gpu_instance_id, p.compute_instance_id) for p in processes]
    assert seen == [(7, 100, 1, 3), (8, 200, 2, 4)]
    assert all(type(value) is int for row in seen for value in row)
