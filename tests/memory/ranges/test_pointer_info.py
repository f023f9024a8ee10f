# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Properties that the driver reports for an address, read through buffers that wrap it."""

import numpy as np
import pytest

from cuda.core import Buffer, Device, LegacyPinnedMemoryResource


def shown(buffer):
    return buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed


def test_address_that_the_driver_does_not_know_is_host_memory():
    array = np.zeros(8, np.uint8)
    assert shown(Buffer.from_handle(array.ctypes.data, 8, owner=array)) == (-1, False, True, False)


def test_device_memory_is_not_host_accessible(device, stream):
    buffer = device.allocate(64, stream=stream)
    assert shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer)) == (device.device_id, True, False, False)


def test_pinned_memory_is_accessible_from_both_sides(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    _, *rest = shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer))
    assert rest == [True, True, False]


@pytest.mark.requires(mempool=True)
def test_slice_has_the_properties_of_its_allocation(device, stream):
    buffer = Device().allocate(64, stream=stream)
    assert shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer)[32:]) == (
        device.device_id,
        True,
        False,
        False,
    )
