# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The topology of a device: NVLink links, near devices, processors and NUMA nodes."""

import fractions
import os

import pytest
from cuda.bindings import nvml

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


def test_thread_is_bound_to_near_processors(gpu):
    def bind():
        gpu.set_cpu_affinity()
        near = os.sched_getaffinity(0)
        gpu.clear_cpu_affinity()
        return near, os.sched_getaffinity(0)

    near, everything = in_thread(bind)
    assert near and near <= everything


@pytest.mark.parametrize("scope", ["nodes", 0, None])
def test_unknown_scopes_are_rejected(gpu, scope):
    for method in (gpu.get_cpu_affinity, gpu.get_memory_affinity):
        with pytest.raises(ValueError, match="not a valid scope; it must be 'node' or 'socket'"):
            method(scope)


@pytest.mark.requires(devices=2)
def test_nearest_devices_are_found_by_their_level(gpus):
    first, second = gpus[:2]
    level = system.get_topology_common_ancestor(first, second)
    near = list(first.get_topology_nearest_gpus(level))
    assert second.index in [device.index for device in near]
    assert {type(device) for device in near} == {system.Device}
    with pytest.raises(ValueError, match="not a valid level"):
        first.get_topology_nearest_gpus("galaxy")


VERSIONS = [(1, 0), (2, 0), (2, 2), (3, 0), (3, 1), (4, 0), (5, 0), (6, 0)]


def test_links_are_counted_and_found(gpu):
    count = gpu.get_nvlink_count()
    links = list(gpu.get_nvlinks())
    assert type(count) is int and len(links) == count
    assert all(type(link) is system.NvlinkInfo and type(link.state) is bool for link in links)
    for wrong, error in ((count, ValueError), (-1, ValueError), ("0", TypeError)):
        with pytest.raises(error, match="link must be"):
            gpu.get_nvlink(wrong)
    with pytest.raises(ValueError, match="link must be .*not an int of 16610 bits"):
        gpu.get_nvlink(10**5000)
    with pytest.raises(ValueError, match="link must be .*not an int of 16610 bits"):
        system.NvlinkInfo(gpu, 10**5000)
    assert "a Fraction that cannot be written out" in repr(system.NvlinkInfo(fractions.Fraction(10**5000), 1))


@pytest.mark.parametrize("code, version", list(enumerate(VERSIONS, 1)))
def test_version_is_a_pair_of_numbers(gpu, fake, code, version):
    fake("device_get_nvlink_version", code)
    link = system.NvlinkInfo(gpu, 5)
    assert link.version == version and fake.calls == [("device_get_nvlink_version", gpu._handle, 5)]
    assert repr(link) == f"<NvlinkInfo 5 of {gpu!r}>"


@pytest.mark.parametrize("code", [0, 99])
def test_unknown_versions_are_an_error(gpu, fake, code):
    fake("device_get_nvlink_version", code)
    with pytest.raises(RuntimeError, match=f"unknown NVLink version for link 2: {code}"):
        system.NvlinkInfo(gpu, 2).version  # noqa: B018


@pytest.mark.parametrize("state", [True, False])
def test_state_is_a_bool(gpu, fake, state):
    fake("device_get_nvlink_state", int(state))
    assert system.NvlinkInfo(gpu, 0).state is state


@pytest.mark.parametrize(
    "link, error, message",
    [
        ("0", TypeError, "link must be an int, not str"),
        (-1, ValueError, "link must be in the range"),
        (1 << 32, ValueError, "link must be in the range"),
        (10**5000, ValueError, "not an int of 16610 bits"),
    ],
    ids=["text", "negative", "large", "huge"],
)
def test_invalid_links_are_rejected(gpu, link, error, message):
    with pytest.raises(error, match=message):
        system.NvlinkInfo(gpu, link)


def test_max_links_is_deprecated(gpu):
    with pytest.warns(DeprecationWarning, match="get_nvlink_count"):
        assert system.NvlinkInfo.max_links == nvml.NVLINK_MAX_LINKS
    assert not hasattr(system.NvlinkInfo(gpu, 0), "max_links")


def test_links_are_numbered_from_0_to_the_count():
    class Links(system.Device):
        def get_nvlink_count(self):
            return 2

    device = Links(index=0)
    assert type(device.get_nvlink(1)).__name__ == "NvlinkInfo" and len(list(device.get_nvlinks())) == 2
