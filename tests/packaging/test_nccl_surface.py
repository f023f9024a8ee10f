# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The surface of the package that nccl4py uses, without NCCL."""

import numpy as np
import pytest

from cuda.core import Buffer, Device, MemoryResource, Stream, system
from cuda.core.utils import StridedMemoryView


class Registered(MemoryResource):
    """A resource of another library, as one that hands out registered memory."""

    def __init__(self, device):
        self._device, self.freed = device, []
        self._memory = {}

    def allocate(self, size, stream=None):
        inner = self._device.memory_resource.allocate(size, stream=stream or self._device.default_stream)
        self._memory[int(inner.handle)] = inner
        return Buffer.from_handle(inner.handle, size, mr=self)

    def deallocate(self, ptr, size, stream=None):
        self.freed.append(int(ptr))
        self._memory.pop(int(ptr)).close()

    @property
    def device_id(self):
        return self._device.device_id

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return False


def test_devices_are_counted_and_made_current(device):
    assert system.get_num_devices() >= 1
    assert Device(device.device_id).device_id == int(Device()) == device.device_id


def test_streams_are_wrapped_by_their_handle(device, stream):
    wrapped = Stream.from_handle(int(stream.handle))
    assert int(wrapped.handle) == int(stream.handle)
    wrapped.sync()
    assert wrapped.device == device


def test_buffers_of_a_subclass_are_freed_by_it(device, stream):
    resource = Registered(device)
    buffer = resource.allocate(16, stream=stream)
    address = int(buffer.handle)
    assert (buffer.memory_resource, buffer.size, buffer.device_id) == (resource, 16, device.device_id)
    assert buffer.is_device_accessible and not buffer.is_host_accessible
    buffer.close(stream)
    assert resource.freed == [address]


def test_arrays_are_described_for_a_collective(device, stream):
    array = device.to_device(np.arange(6, dtype=np.float32), stream=stream)
    view = StridedMemoryView.from_any_interface(array, int(stream.handle))
    assert (view.ptr, view.size, view.dtype, view.device_id) == (array.ptr, 6, np.float32, device.device_id)
    assert view.is_device_accessible and not view.readonly


def test_wrapped_buffers_keep_their_owner(device, stream):
    owner = device.allocate(16, stream=stream)
    wrapped = Buffer.from_handle(owner.handle, 16, owner=owner)
    assert wrapped.owner is owner
    wrapped.close()
    assert not owner.is_closed
    with pytest.raises(ValueError, match="owner"):
        Buffer.from_handle(owner.handle, 16, mr=device.memory_resource, owner=owner)
