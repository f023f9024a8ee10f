# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream-ordered memory of a device."""

import weakref

import pytest
from cuda.bindings import driver

from cuda.core import DeviceMemoryResource, DeviceMemoryResourceOptions, NotSupportedError
from cuda.core._memory._device_memory_resource import _check_pools
from support.bindings import handle_return


def test_options_have_defaults_and_compare():
    assert DeviceMemoryResourceOptions() == DeviceMemoryResourceOptions(ipc_enabled=False, max_size=0)
    assert "max_size=5" in repr(DeviceMemoryResourceOptions(max_size=5))


@pytest.mark.parametrize(("size", "error"), [(-1, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError)])
def test_options_check_max_size(size, error):
    with pytest.raises(error, match="max_size"):
        DeviceMemoryResourceOptions(max_size=size)


@pytest.mark.parametrize("threshold", [-1, 1 << 64])
def test_options_check_release_threshold(threshold):
    with pytest.raises(ValueError, match="release_threshold"):
        DeviceMemoryResourceOptions(release_threshold=threshold)


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize(("threshold", "expected"), [(None, (1 << 64) - 1), (0, 0), (1 << 20, 1 << 20)])
def test_threshold_of_an_own_pool(device, threshold, expected):
    mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions(release_threshold=threshold))
    assert mr.attributes.release_threshold == expected


@pytest.mark.parametrize("options", [3, [], "max_size"])
def test_options_of_wrong_type_are_rejected(options):
    with pytest.raises(TypeError, match="options"):
        DeviceMemoryResource(0, options)


def test_unknown_option_is_rejected():
    with pytest.raises(TypeError):
        DeviceMemoryResource(0, {"limit": 3})


@pytest.mark.parametrize("device_id", [None, "0", 0.0, True])
def test_devices_of_wrong_type_are_rejected(device_id):
    with pytest.raises(TypeError, match="device_id"):
        DeviceMemoryResource(device_id)


@pytest.mark.parametrize("device_id", [-1, 1000])
def test_missing_devices_are_rejected(device, device_id):
    with pytest.raises(ValueError, match="device_id"):
        DeviceMemoryResource(device_id)


def test_device_without_pools_is_rejected():
    with pytest.raises(NotSupportedError, match="device 7 does not support memory pools"):
        _check_pools(7, False)
    assert _check_pools(7, True) is None


@pytest.mark.requires(mempool=True)
def test_resource_borrows_the_current_pool(device):
    mr = DeviceMemoryResource(device)
    assert mr.handle == handle_return(driver.cuDeviceGetMemPool(0))
    assert mr.is_handle_owned is False
    assert (mr.device_id, mr.is_device_accessible, mr.is_host_accessible, mr.is_managed) == (0, True, False, False)
    assert mr.attributes.release_threshold > 0
    assert weakref.ref(mr)() is mr
    assert mr != DeviceMemoryResource(0)


@pytest.mark.requires(mempool=True)
def test_borrowed_pool_keeps_the_users_threshold(device):
    pool = handle_return(driver.cuDeviceGetMemPool(0))
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    before = handle_return(driver.cuMemPoolGetAttribute(pool, threshold))
    try:
        handle_return(driver.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(1 << 20)))
        assert DeviceMemoryResource(0).attributes.release_threshold == 1 << 20
        handle_return(driver.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(0)))
        assert DeviceMemoryResource(0).attributes.release_threshold == (1 << 64) - 1
    finally:
        handle_return(driver.cuMemPoolSetAttribute(pool, threshold, before))


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("options", [{}, DeviceMemoryResourceOptions(max_size=64 << 20)])
def test_options_create_a_new_pool(device, options):
    mr = DeviceMemoryResource(device, options)
    assert mr.handle != handle_return(driver.cuDeviceGetMemPool(0))
    assert mr.is_handle_owned is True
    mr.close()
    assert (mr.is_closed, mr.is_handle_owned, int(mr.handle)) == (True, False, 0)


@pytest.mark.requires(mempool=True)
def test_pool_with_a_limit_runs_out_of_memory(device, stream):
    mr = DeviceMemoryResource(device, {"max_size": 64 << 20})
    with pytest.raises(MemoryError):
        mr.allocate(1 << 30, stream=stream)
    assert mr.allocate(1 << 20, stream=stream).size == 1 << 20


@pytest.mark.requires(mempool=True)
def test_capturing_stream_is_rejected(device, stream):
    mr = DeviceMemoryResource(device)
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        with pytest.raises(RuntimeError, match="GraphMemoryResource"):
            mr.allocate(8, stream=stream)
    finally:
        graph = handle_return(driver.cuStreamEndCapture(stream.handle))
    nodes = handle_return(driver.cuGraphGetNodes(graph))
    handle_return(driver.cuGraphDestroy(graph))
    assert nodes[-1] == 0


@pytest.mark.requires(mempool=True)
def test_buffer_has_the_properties_of_device_memory(device, stream):
    buffer = DeviceMemoryResource(device).allocate(64, stream=stream)
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (0, True, False)
    assert buffer.is_managed is False
    assert buffer.__dlpack_device__() == (2, 0)


@pytest.mark.requires(mempool=True, devices=2)
def test_any_device_allocates_whichever_is_current(devices):
    devices[1].set_current()
    stream = devices[1].create_stream()
    devices[0].set_current()
    with DeviceMemoryResource(devices[1]).allocate(64, stream=stream) as buffer:
        assert buffer.device_id == 1
