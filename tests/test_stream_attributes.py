# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The attributes of streams, which their later work has."""

import pytest

import cuda.emulator
from cuda.core import CUDAError
from cuda.core.graph import AccessPolicyWindow


def test_streams_have_defaults(stream):
    assert stream.access_policy_window is None
    assert stream.sync_policy in ("auto", "yield")  # the driver chooses
    assert stream.mem_sync_domain == "default"
    assert stream.nvlink_util_centric_scheduling is False
    assert len(stream.mem_sync_domain_map) == 2


@pytest.mark.requires(compute=(8, 0))
def test_window_is_set_and_removed(stream, device):
    buffer = device.allocate(4096, stream=stream)
    stream.access_policy_window = AccessPolicyWindow(int(buffer.handle), 4096, 0.5, "persisting", "normal")
    window = stream.access_policy_window
    assert (window.base_ptr, window.num_bytes, window.hit_ratio) == (int(buffer.handle), 4096, 0.5)
    assert (window.hit, window.miss) == ("persisting", "normal")
    stream.access_policy_window = None
    assert stream.access_policy_window is None


@pytest.mark.parametrize("policy", ["spin", "yield", "blocking_sync", "auto"])
def test_sync_policy_is_set(device, policy):
    stream = device.create_stream()
    stream.sync_policy = policy
    assert stream.sync_policy == policy


@pytest.mark.requires(compute=(9, 0))
def test_domains_are_set(device):
    stream = device.create_stream()
    stream.mem_sync_domain = "remote"
    stream.mem_sync_domain_map = (1, 0)
    assert (stream.mem_sync_domain, stream.mem_sync_domain_map) == ("remote", (1, 0))


@pytest.mark.requires(software=True)
def test_scheduling_is_false_where_the_driver_has_no_value(stream):
    with cuda.emulator.fail("cuStreamGetAttribute", "CUDA_ERROR_INVALID_VALUE"):
        assert stream.nvlink_util_centric_scheduling is False


@pytest.mark.requires(software=True)
def test_scheduling_is_set(device):
    stream = device.create_stream()
    stream.nvlink_util_centric_scheduling = True
    assert stream.nvlink_util_centric_scheduling is True


def test_priority_is_set(device):
    stream = device.create_stream()
    stream.priority = -2
    assert stream.priority == -2


def test_attributes_are_copied(device):
    one, two = device.create_stream(), device.create_stream()
    one.sync_policy = "spin"
    two.copy_attributes(one)
    assert two.sync_policy == "spin"
    with pytest.raises(TypeError, match="source must be a Stream"):
        two.copy_attributes(None)


def test_wrong_values_are_rejected(stream):
    for name, value, error in (
        ("access_policy_window", 3, TypeError),
        ("sync_policy", "sleep", ValueError),
        ("sync_policy", None, ValueError),
        ("mem_sync_domain", "near", ValueError),
        ("mem_sync_domain_map", (1,), TypeError),
        ("nvlink_util_centric_scheduling", 1, TypeError),
        ("priority", "high", TypeError),
        ("priority", 1 << 40, ValueError),
    ):
        with pytest.raises(error, match=name):
            setattr(stream, name, value)


@pytest.mark.requires(software=True)
def test_driver_rejects_values_beyond_the_device(stream):
    with pytest.raises(CUDAError, match="cuStreamSetAttribute"):
        stream.mem_sync_domain_map = (200, 0)
    with pytest.raises(CUDAError, match="cuStreamSetAttribute"):
        stream.access_policy_window = AccessPolicyWindow(4096, 1 << 40)


def test_closed_streams_have_no_attributes(device):
    closed, other = device.create_stream(), device.create_stream()
    closed.close()
    for use in (
        lambda: closed.sync_policy,
        lambda: setattr(closed, "sync_policy", "spin"),
        lambda: closed.copy_attributes(other),
        lambda: other.copy_attributes(closed),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()
