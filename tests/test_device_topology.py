# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How devices are connected: peers, atomics and fabrics; and what makes writes and persisting lines visible."""

import pytest

from cuda.core import Device


@pytest.mark.requires(devices=2)
def test_peer_attributes_agree_with_peer_access():
    one, two = Device(0), Device(1)
    attributes = one.peer_attributes(two)
    assert attributes.access_supported == one.can_access_peer(two)
    assert attributes == one.peer_attributes(1) and attributes.performance_rank >= 0
    assert all(isinstance(value, bool) for value in attributes[1:])


@pytest.mark.parametrize("call", [Device.peer_attributes, Device.atomic_capabilities], ids=["attributes", "atomics"])
def test_peers_are_checked(device, call):
    with pytest.raises(TypeError, match="must be an int, a Device"):
        call(device, "1")
    with pytest.raises(ValueError, match="not device 0 itself"):
        call(device, 0)
    with pytest.raises(ValueError, match="device"):
        call(device, 1000)


def test_peer_attributes_need_a_peer(device):
    with pytest.raises(TypeError, match="not None"):
        device.peer_attributes(None)


@pytest.mark.requires(cuda=(13, 0))
def test_atomics_of_the_host_have_names(device):
    found = device.atomic_capabilities()
    assert len(found) == 13 and {"add", "cas", "float_max"} <= found.keys()
    assert all(isinstance(kinds, frozenset) for kinds in found.values())


@pytest.mark.requires(software=True, cuda=(13, 0))
def test_atomics_of_the_software_device():
    for found in (Device(0).atomic_capabilities(), Device(0).atomic_capabilities(1)):
        assert found["add"] == {"signed", "unsigned", "reduction", "scalar_32", "scalar_64"}
        assert found["float_add"] == {"signed", "reduction", "scalar_32", "scalar_64"}


@pytest.mark.requires(software=True, cuda=(13, 4))
def test_device_without_a_fabric(device):
    assert device.fabric_cluster_uuid is None
    assert device.fabric_cliques == []


@pytest.mark.requires(software=True)
def test_rdma_writes_are_flushed(device):
    assert device.flush_rdma_writes() is device.flush_rdma_writes("all_devices") is None
    with pytest.raises(ValueError, match="is not a valid scope"):
        device.flush_rdma_writes("host")


@pytest.mark.requires(compute=(8, 0))
def test_persisting_lines_are_reset(device):
    assert device.reset_persisting_l2() is None
