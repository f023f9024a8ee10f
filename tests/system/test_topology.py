# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The topology of a device: near devices, processors and NUMA nodes."""

import os

import pytest

from cuda.core import system
from cuda.core.system.typing import AffinityScope
from support.threads import in_thread

pytestmark = pytest.mark.requires(nvml=True)


def test_near_processors_are_returned_sorted(gpu):
    cpus = gpu.get_cpu_affinity()
    assert cpus == gpu.get_cpu_affinity(AffinityScope.NODE) == gpu.get_cpu_affinity("NODE") == sorted(cpus)
    assert all(type(cpu) is int for cpu in cpus) and cpus
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    finally:
        os.sched_setaffinity(0, before)
    assert any(gpu.index == other.index for other in system.Device.get_all_devices_with_cpu_affinity(cpus[0]))


def test_near_numa_nodes_are_bits_of_words(gpu, fake):
    assert all(type(node) is int for node in gpu.get_memory_affinity("socket"))
    fake("device_get_memory_affinity", [0, 1 << 63, 5])
    assert gpu.get_memory_affinity() == [127, 128, 130]
    assert fake.calls == [("device_get_memory_affinity", gpu._handle, 16, 0)]


def test_a_thread_is_bound_to_near_processors(gpu):
    def bind():
        gpu.set_cpu_affinity()
        near = os.sched_getaffinity(0)
        gpu.clear_cpu_affinity()
        return near, os.sched_getaffinity(0)

    near, everything = in_thread(bind)
    assert near and near <= everything


@pytest.mark.parametrize("scope", ["nodes", 0, None])
def test_unknown_scopes_are_refused(gpu, scope):
    for method in (gpu.get_cpu_affinity, gpu.get_memory_affinity):
        with pytest.raises(ValueError, match="not a valid scope; it must be 'node' or 'socket'"):
            method(scope)


@pytest.mark.requires(devices=2)
def test_the_nearest_devices_are_found_by_their_level(gpus):
    first, second = gpus[:2]
    level = system.get_topology_common_ancestor(first, second)
    near = list(first.get_topology_nearest_gpus(level))
    assert second.index in [device.index for device in near]
    assert {type(device) for device in near} == {system.Device}
    with pytest.raises(ValueError, match="not a valid level"):
        first.get_topology_nearest_gpus("galaxy")
