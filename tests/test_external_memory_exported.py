# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory that the driver itself has exported, imported as external memory on each device."""

import os

import numpy as np
import pytest

from cuda.core import Device, ExternalMemory
from support.bindings import call_driver

pytestmark = pytest.mark.requires(vmm=True)

SIZE = 1 << 21  # a multiple of the granularity


@pytest.fixture
def file(device):
    """The descriptor of memory of device 0."""
    from cuda.bindings import driver

    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device.device_id
    properties.requestedHandleTypes = kind
    handle = call_driver("cuMemCreate", SIZE, properties, 0)
    number = int(call_driver("cuMemExportToShareableHandle", handle, kind, 0))
    yield number
    os.close(number)
    call_driver("cuMemRelease", handle)


def number_seen_by(device, file, written=None):
    """Return the first number in the memory, after storing one, with a map of a device."""
    with device:
        stream = device.create_stream()
        with ExternalMemory.from_fd(os.dup(file), SIZE) as memory, memory.map() as buffer:
            if written is not None:
                buffer.fill(np.int32(written), stream=stream)
            result = int(buffer[:4].copy_to(np.zeros(1, np.int32), stream=stream)[0])
            stream.sync()
        stream.close()
    return result


def test_memory_is_imported_on_its_own_device(device, file):
    assert number_seen_by(device, file, 7) == 7
    assert number_seen_by(device, file) == 7


@pytest.mark.requires(devices=2)
def test_memory_is_imported_on_another_device(device, file):
    assert number_seen_by(Device(1), file, 8) == 8
    assert number_seen_by(device, file) == 8
