# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory without a pool: page-locked, and allocated synchronously."""

import weakref

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, LegacyPinnedMemoryResource
from support.memory import _SynchronousMemoryResource, read, write
from support.threads import in_thread
from support.work import settle

RESOURCES = [LegacyPinnedMemoryResource(), _SynchronousMemoryResource(0)]


def test_pinned_memory_has_its_properties():
    mr = LegacyPinnedMemoryResource()
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.is_managed) == (True, True, False)
    assert mr.device_id == -1
    assert weakref.ref(mr)() is mr


def test_synchronous_memory_has_its_properties():
    mr = _SynchronousMemoryResource(3)
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.is_managed) == (True, False, False)
    assert mr.device_id == 3


@pytest.mark.parametrize("mr", RESOURCES)
def test_allocations_of_0_bytes_need_no_driver(mr):
    buffer = mr.allocate(0)
    assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    buffer.close()
    assert buffer.is_closed


@pytest.mark.parametrize("mr", RESOURCES)
@pytest.mark.parametrize("stream", [1, "stream", object()])
def test_streams_of_wrong_type_are_rejected(mr, stream):
    with pytest.raises(TypeError, match="stream"):
        mr.allocate(0, stream=stream)
    with pytest.raises(TypeError, match="stream"):
        mr.deallocate(0, 0, stream=stream)


@pytest.mark.parametrize("mr", RESOURCES)
def test_negative_size_is_rejected(mr):
    with pytest.raises(OverflowError, match="size"):
        mr.allocate(-1)


def test_pinned_memory_is_accessed_by_host_and_device(device, stream):
    mr = LegacyPinnedMemoryResource()
    buffer = mr.allocate(256, stream=stream)
    assert buffer.memory_resource is mr
    np.asarray(buffer)[:] = np.arange(256)
    assert read(buffer, stream) == bytes(range(256))
    buffer.fill(5, stream=stream)
    stream.sync()
    assert bytes(memoryview(buffer)) == b"\5" * 256
    assert buffer.__dlpack_device__() == (3, 0)
    assert np.from_dlpack(buffer).sum() == 5 * 256
    buffer.close(stream)


def test_freeing_waits_for_the_stream(device, stream):
    mr = LegacyPinnedMemoryResource()
    source = device.allocate(64 << 20, stream=stream)
    target = mr.allocate(64 << 20)
    source.copy_to(target, stream=stream)
    target.close(stream)
    assert stream.is_done


def test_pinned_memory_is_freed_on_any_thread(device):
    held = [LegacyPinnedMemoryResource().allocate(64)]
    address = int(held[0].handle)
    in_thread(held.clear)
    assert not Buffer.from_handle(address, 64).is_device_accessible


@pytest.mark.parametrize("given", [True, False])
def test_synchronous_memory_holds_data(device, stream, given):
    mr = _SynchronousMemoryResource(device)
    buffer = mr.allocate(256, stream=stream) if given else mr.allocate(256)
    assert (buffer.device_id, buffer.memory_resource) == (0, mr)
    write(buffer, bytes(range(256)), stream)
    assert read(buffer, stream) == bytes(range(256))
    buffer.close()


def test_synchronous_memory_with_a_stream_needs_no_context(device, stream):
    def work():
        with _SynchronousMemoryResource(0).allocate(64, stream=stream) as buffer:
            return buffer.size

    assert in_thread(work) == 64


def test_default_stream_orders_the_free(device):
    mr = _SynchronousMemoryResource(0)
    buffer = mr.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    buffer.fill(1, stream=LEGACY_DEFAULT_STREAM)
    buffer.close()
    assert buffer.is_closed
    assert LEGACY_DEFAULT_STREAM.is_done


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("call", ["cuStreamSynchronize", "cuCtxGetCurrent"])
def test_pinned_memory_is_freed_although_the_wait_fails(device, unraisable, call):
    from cuda import emulator

    before = set(emulator.leaks())
    buffer = LegacyPinnedMemoryResource().allocate(64)
    with emulator.fail(call, "CUDA_ERROR_UNKNOWN") as plan:
        buffer.close()
    assert plan.fired
    assert call in unraisable[0].text
    settle()
    assert set(emulator.leaks()) <= before
