# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pools of managed memory."""

import warnings

import pytest

import cuda.emulator
from cuda.core import ManagedBuffer, ManagedMemoryResource, ManagedMemoryResourceOptions
from cuda.core._memory import _managed_memory_resource as module
from cuda.core.typing import ManagedMemoryLocationType
from support.contexts import no_context

managed = pytest.mark.requires(managed_mempool=True)


def test_options_have_defaults_and_compare():
    assert ManagedMemoryResourceOptions() == ManagedMemoryResourceOptions(None, None, None)
    assert ManagedMemoryResourceOptions(0, "HOST_NUMA").preferred_location_type is ManagedMemoryLocationType.HOST_NUMA


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"preferred_location": "0"}, TypeError),
        ({"preferred_location": True}, TypeError),
        ({"preferred_location_type": "moon"}, ValueError),
        ({"release_threshold": -1}, ValueError),
        ({"release_threshold": 1 << 64}, ValueError),
        ({"release_threshold": 0.5}, TypeError),
    ],
)
def test_options_are_checked(fields, error):
    with pytest.raises(error, match=next(iter(fields)).replace("preferred_location_type", "ManagedMemoryLocationType")):
        ManagedMemoryResourceOptions(**fields)


@pytest.mark.parametrize("options", [3, [], "device"])
def test_other_options_are_rejected(options):
    with pytest.raises(TypeError, match="options"):
        ManagedMemoryResource(options)


@pytest.mark.requires(software=True, cuda=(13, 0))
def test_missing_pool_is_rejected(device):
    with cuda.emulator.fail("cuMemGetMemPool", "CUDA_ERROR_NOT_SUPPORTED"):
        with pytest.raises(RuntimeError, match="no current pool"):
            ManagedMemoryResource()
    assert ManagedMemoryResource().is_managed


@pytest.mark.requires(device=True, cuda=(13, 0))
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (-2, None),
        (-1, "device"),
        (None, "device"),
        (0, "host"),
        (-1, "host"),
        (-1, "host_numa"),
    ],
)
def test_wrong_locations_are_rejected(number, kind):
    with pytest.raises(ValueError, match="preferred_location"):
        ManagedMemoryResource(ManagedMemoryResourceOptions(number, kind))


@managed
@pytest.mark.parametrize(
    ("number", "kind", "location", "device_id"),
    [
        (None, None, None, -1),
        (-1, None, ("host", None), -1),
        (0, None, ("device", 0), 0),
        (0, "device", ("device", 0), 0),
        (None, "host", ("host", None), -1),
        (0, "host_numa", ("host_numa", 0), -1),
    ],
)
def test_memory_has_the_preferred_location(device, stream, number, kind, location, device_id):
    mr = ManagedMemoryResource(ManagedMemoryResourceOptions(number, kind))
    assert (mr.preferred_location, mr.device_id) == (location, device_id)
    with mr.allocate(4096, stream=stream) as buffer:
        assert (type(buffer), buffer.size, buffer.memory_resource) == (ManagedBuffer, 4096, mr)
        assert (buffer.is_managed, buffer.is_host_accessible, buffer.is_device_accessible) == (True, True, True)
        assert buffer.__dlpack_device__() == (13, 0)
        buffer.fill(8, stream=stream)
        stream.sync()
        assert set(bytes(memoryview(buffer))) == {8}


@managed
def test_nearest_node_is_found(device):
    node = device.properties.host_numa_id
    if node >= 0:
        assert ManagedMemoryResource({"preferred_location_type": "host_numa"}).preferred_location == ("host_numa", node)
    else:
        with pytest.raises(RuntimeError, match="nearest"):
            ManagedMemoryResource({"preferred_location_type": "host_numa"})


@managed
def test_nearest_node_needs_a_device(device):
    with no_context(), pytest.raises(RuntimeError, match="set_current"):
        ManagedMemoryResource({"preferred_location_type": "host_numa"})


@managed
def test_without_options_the_current_pool_is_borrowed(device, stream):
    mr = ManagedMemoryResource()
    assert (mr.is_handle_owned, mr.preferred_location, mr.is_managed) == (False, None, True)
    assert mr.handle == ManagedMemoryResource().handle
    assert mr.attributes.release_threshold > 0
    with mr.allocate(4096, stream=stream) as buffer:
        buffer.fill(3, stream=stream)
        stream.sync()
        assert set(bytes(memoryview(buffer))) == {3}


@managed
@pytest.mark.parametrize(("threshold", "expected"), [(None, (1 << 64) - 1), (0, 0), (1 << 20, 1 << 20)])
def test_threshold_of_an_own_pool(device, threshold, expected):
    mr = ManagedMemoryResource({"release_threshold": threshold})
    assert (mr.is_handle_owned, mr.attributes.release_threshold) == (True, expected)


def test_missing_concurrent_access_warns_once():
    module.reset_concurrent_access_warning()
    try:
        with pytest.warns(UserWarning, match="device 3 has no concurrent managed access"):
            module._warn_concurrent_access(3, False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            module._warn_concurrent_access(3, False)
            module.reset_concurrent_access_warning()
            module._warn_concurrent_access(3, True)
    finally:
        module.reset_concurrent_access_warning()
