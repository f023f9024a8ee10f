# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory features raise with a driver older than they need, which the software device pretends to be."""

import pytest

from support.interpreter import run

PROGRAM = """
from cuda.core import Device, Host, LEGACY_DEFAULT_STREAM, ManagedBuffer, ManagedMemoryResource, PinnedMemoryResource
from cuda.core.utils import discard_batch, discard_prefetch_batch
device = Device(0)
device.set_current()
from cuda.bindings import driver
_, pointer = driver.cuMemAllocManaged(1 << 16, 1)
buffer = ManagedBuffer.from_handle(pointer, 1 << 16)
for use in (
    PinnedMemoryResource,
    ManagedMemoryResource,
    lambda: ManagedMemoryResource({}),
    lambda: discard_batch(LEGACY_DEFAULT_STREAM, [buffer]),
    lambda: discard_prefetch_batch(LEGACY_DEFAULT_STREAM, [buffer], device),
    lambda: buffer.prefetch(Host(0), stream=LEGACY_DEFAULT_STREAM),
    lambda: buffer.prefetch(Host.numa_current(), stream=LEGACY_DEFAULT_STREAM),
):
    try:
        print("none", use())
    except Exception as error:
        print(type(error).__name__, error)
"""

# Not the bindings' warning about a driver of another major version.
QUIET = {"CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}


@pytest.mark.requires(software=True)
def test_older_driver_rejects_memory_that_needs_cuda_13():
    lines = run(PROGRAM, CUDA_EMULATOR_DRIVER_VERSION="12090").splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("TooOldError the current pool of host memory needs a driver for CUDA 13.0 or newer; ")
    assert lines[0].endswith("use LegacyPinnedMemoryResource, or pass options to create a pool")
    needed = "needs a driver for CUDA 13.0 or newer; this one is for CUDA 12.9"
    assert lines[1] == lines[2] == f"TooOldError a pool of managed memory {needed}"
    assert lines[3] == lines[4] == f"TooOldError discarding managed memory {needed}"
    for line, location in zip(lines[5:], ("Host(numa_id=0)", "Host.numa_current()"), strict=True):
        assert line == f"LocationTooNewError location {location} {needed}; use Host()"


POOLS = """
from cuda.core import Device, PinnedMemoryResource, PinnedMemoryResourceOptions
device = Device(0)
device.set_current()
stream = device.create_stream()
for options in (PinnedMemoryResourceOptions(), PinnedMemoryResourceOptions(numa_id=0)):
    with PinnedMemoryResource(options).allocate(8, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        stream.sync()
        print(bytes(memoryview(buffer)) == bytes(8 * [7]))
"""


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("version", ["12.2", "12.9"])
def test_devices_can_access_host_pools_with_an_older_driver(version):
    assert run(POOLS, CUDA_EMULATOR_DRIVER_VERSION=version, **QUIET) == "True\nTrue\n"
