# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Locality domains of a device: memory and multiprocessors in one of them, and where managed memory is."""

import os
import subprocess
import sys

import pytest

from cuda.core import (
    CUDAError,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Host,
    ManagedMemoryResource,
    SMResourceOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from support.memory import HostMemoryResource

since_134 = pytest.mark.requires(cuda=(13, 4))


def run_with_driver(version, program):
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": version}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)


@since_134
def test_device_has_domains_with_multiprocessors(device):
    properties = device.properties
    assert properties.locality_domain_count >= 1
    assert 0 < properties.locality_domain_multiprocessor_count <= properties.multiprocessor_count


@since_134
def test_pool_allocates_in_each_domain(device, stream):
    count = device.properties.locality_domain_count
    for domain in range(count):
        pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(locality_domain=domain))
        expected = None if count == 1 else domain
        assert pool.locality_domain == expected
        buffer = pool.allocate(1 << 16, stream=stream)
        buffer.fill(1, stream=stream)
        assert buffer.locality_domain == expected
        buffer.close()
        pool.close()


@since_134
def test_missing_domain_is_rejected(device):
    with pytest.raises(CUDAError, match="cuMemPoolCreate"):
        DeviceMemoryResource(device, {"locality_domain": device.properties.locality_domain_count})
    with pytest.raises(CUDAError):
        VirtualMemoryResource(device, {"locality_domain": 200, "handle_type": None}).allocate(64)


@since_134
@pytest.mark.requires(vmm=True)
def test_virtual_memory_is_in_a_domain(device, stream):
    resource = VirtualMemoryResource(device, {"locality_domain": 0})
    buffer = resource.allocate(64)
    assert buffer.locality_domain == (None if device.properties.locality_domain_count == 1 else 0)
    grown = resource.modify_allocation(buffer, buffer.size + 1)
    grown.fill(3, stream=stream)
    grown.close()
    buffer.close()


def test_memory_without_a_domain_reports_none(device, stream):
    pool = DeviceMemoryResource(device)
    assert pool.locality_domain is None
    buffer = pool.allocate(64, stream=stream)
    assert buffer.locality_domain is None
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.locality_domain  # noqa: B018
    created = DeviceMemoryResource(device, {})
    created.close()
    with pytest.raises(RuntimeError, match="closed"):
        created.locality_domain  # noqa: B018


@pytest.mark.parametrize("cls", [DeviceMemoryResourceOptions, VirtualMemoryResourceOptions])
def test_domain_option_is_checked(cls):
    assert cls().locality_domain is None
    for value in ("0", 1.0, True):
        with pytest.raises(TypeError, match="locality_domain must be an int or None"):
            cls(locality_domain=value)
    for value in (-1, 256, 10**5000):
        with pytest.raises(ValueError, match="locality_domain must be from 0 to 255"):
            cls(locality_domain=value)


def test_host_memory_has_no_domain():
    with pytest.raises(ValueError, match="locality_domain must be None unless location_type is 'device'"):
        VirtualMemoryResourceOptions(locality_domain=0, location_type="host")


@since_134
@pytest.mark.requires(green=True)
def test_multiprocessors_are_split_by_domain(device):
    size = device.resources.sm.min_partition_size
    sm = device.resources.sm
    assert sm.locality_domain is None
    (group, other), rest = sm.split(SMResourceOptions(count=(size, size), locality_domain=(0, "any")))
    assert (group.locality_domain, other.locality_domain) == (0, "any")
    assert group.sm_count == size and rest.locality_domain is None
    (more,), _ = sm.split({"count": size, "locality_domain": 0, "supplemental": True, "backfill": True})
    assert more.locality_domain == 0 and more.sm_count == size
    context = device.create_context({"resources": [group]})
    assert context.resources.sm.locality_domain == 0
    context.close()


@since_134
@pytest.mark.requires(green=True)
def test_split_rejects_wrong_domains(device):
    sm = device.resources.sm
    size = sm.min_partition_size
    with pytest.raises(CUDAError, match="cuDevSmResourceSplit"):
        sm.split({"count": size, "locality_domain": device.properties.locality_domain_count})
    with pytest.raises(ValueError, match="supplemental needs a locality_domain"):
        sm.split({"count": (size, size), "locality_domain": (0, None), "supplemental": True})
    with pytest.raises(ValueError, match="locality_domain must be an int, 'any' or None"):
        sm.split({"count": size, "locality_domain": "all"})
    with pytest.raises(TypeError, match="locality_domain must be an int or None"):
        sm.split({"count": size, "locality_domain": 1.5})
    with pytest.raises(ValueError, match="locality_domain must have 2 items"):
        sm.split({"count": (size, size), "locality_domain": [0]})
    with pytest.raises(TypeError, match="supplemental must be a bool"):
        sm.split({"count": size, "locality_domain": 0, "supplemental": 1})


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    "use, what",
    [
        ("DeviceMemoryResource(device, {'locality_domain': 0})", "memory in a locality domain"),
        ("VirtualMemoryResource(device, {'locality_domain': 0}).allocate(64)", "memory in a locality domain"),
        ("device.resources.sm.split({'count': 8, 'locality_domain': 0})", "multiprocessors of a locality domain"),
        ("ManagedMemoryResource().allocate(64, stream=stream).locations()", "the locations of managed memory"),
    ],
)
def test_older_driver_is_named(use, what):
    program = f"""
from cuda.core import *
device = Device(); device.set_current(); stream = device.create_stream()
pool = DeviceMemoryResource(device)
assert pool.locality_domain is None and pool.allocate(64, stream=stream).locality_domain is None
{use}
"""
    done = run_with_driver("13.3", program)
    assert f"{what} needs" in done.stderr and "13.4" in done.stderr, done.stderr


@since_134
@pytest.mark.requires(managed_mempool=True)
def test_managed_memory_reports_where_its_parts_are(device, stream):
    resource = ManagedMemoryResource()
    buffer = resource.allocate(4 << 20, stream=stream)
    buffer.prefetch(device, stream=stream)
    stream.sync()
    assert buffer.locations() == [device]
    assert buffer.locations(1 << 20) == [device] * 4
    assert buffer.locations(3 << 20, sampling=1 << 20) == [device] * 2
    assert buffer.locations(1 << 40) == [device]
    buffer.prefetch(Host(), stream=stream)
    stream.sync()
    (location,) = buffer.locations()
    assert isinstance(location, Host)
    empty = resource.allocate(0, stream=stream)
    assert empty.locations() == []
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.locations()


@since_134
@pytest.mark.requires(managed_mempool=True)
def test_locations_rejects_wrong_arguments(device, stream):
    from cuda.core import ManagedBuffer

    buffer = ManagedMemoryResource().allocate(1 << 16, stream=stream)
    for name in ("granularity", "sampling"):
        with pytest.raises(TypeError, match=f"{name} must be an int, not str"):
            buffer.locations(**{name: "4096"})
        for value in (0, -1, 1 << 63):
            with pytest.raises(ValueError, match=f"{name} must be a positive number of bytes"):
                buffer.locations(**{name: value})
    with pytest.raises(ValueError, match="sampling must be at most the granularity"):
        buffer.locations(4096, sampling=8192)
    host = HostMemoryResource().allocate(64, stream=stream)
    plain = ManagedBuffer.from_handle(int(host.handle), 64, owner=host)
    with pytest.raises(ValueError, match="must be of managed memory"):
        plain.locations()
