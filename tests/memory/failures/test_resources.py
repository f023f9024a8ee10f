# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each driver call of the memory resources fails in turn: the error is clear, nothing leaks, and later calls work."""

import contextlib

import pytest
from cuda.bindings import driver

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    CUDAError,
    CUDAWarning,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    VirtualMemoryResource,
)
from support.bindings import call_driver
from support.failures import CODES, MARKING, fail_each_call
from support.graphs import capture
from support.memory import _SynchronousMemoryResource

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]
each_code = pytest.mark.parametrize("code", CODES)

SIZE = 4096
KEPT = {"release_threshold": 1 << 20}
LIMITED = {**KEPT, "max_size": 1 << 22}

# The driver's own pools, and pools made with options.
POOLS = {
    "device": lambda: DeviceMemoryResource(0),
    "device-own": lambda: DeviceMemoryResource(0, LIMITED),
    "device-shared": lambda: DeviceMemoryResource(0, {**LIMITED, "ipc_enabled": True}),
    "pinned": lambda: PinnedMemoryResource(),
    "pinned-own": lambda: PinnedMemoryResource(LIMITED),
    "pinned-node": lambda: PinnedMemoryResource({"numa_id": 0}),
    "pinned-shared": lambda: PinnedMemoryResource({"ipc_enabled": True}),
    "managed": lambda: ManagedMemoryResource(),
    "managed-own": lambda: ManagedMemoryResource(KEPT),
    "managed-device": lambda: ManagedMemoryResource({"preferred_location": 1}),
    "managed-node": lambda: ManagedMemoryResource({"preferred_location_type": "host_numa"}),
}


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_each_call_of_pools_may_fail(device, stream, make, code):
    def program():
        with contextlib.closing(make()) as pool:
            with pool.allocate(SIZE, stream=stream) as buffer:
                buffer.fill(1, stream=stream)
            with pool.allocate(SIZE, stream=LEGACY_DEFAULT_STREAM), pool.allocate(0, stream=stream):
                pass
            stream.sync()
            assert pool.attributes.used_mem_high >= 0
            pool.attributes.used_mem_high = 0
            pool.attributes.reserved_mem_high = 0
            pool.trim()
            pool.trim(SIZE)

    # Memory is freed in the right context even if the current one cannot be queried.
    # Twice: if pools of earlier runs are destroyed in the meantime, the count of calls changes and a sweep skips some.
    failed = fail_each_call(program, code, overcome=MARKING) | fail_each_call(program, code, overcome=MARKING)
    assert failed >= {"cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuMemPoolTrimTo", "cuMemPoolSetAttribute"}


@each_code
def test_pool_has_no_allocations_after_failures(device, stream, code):
    with contextlib.closing(DeviceMemoryResource(0, LIMITED)) as pool:

        def program():
            with pool.allocate(SIZE, stream=stream), pool.allocate(SIZE, stream=stream):
                pass

        assert fail_each_call(program, code) >= {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"}
        stream.sync()
        assert (pool.allocation_count, pool.attributes.used_mem_current) == (0, 0)


@each_code
@pytest.mark.parametrize("freed_on", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM], ids=["legacy", "thread"])
def test_free_that_cannot_enter_its_context_warns(devices, freed_on, code):
    from cuda import emulator

    buffer = devices[0].allocate(SIZE, stream=freed_on)
    devices[1].set_current()
    with emulator.fail("cuCtxPushCurrent*", code) as plan, pytest.warns(CUDAWarning, match=f"{SIZE} bytes.*{code}"):
        buffer.close()
    assert plan.fired == 1
    assert buffer.is_closed


LEGACY = {"pinned": lambda: LegacyPinnedMemoryResource(), "device": lambda: _SynchronousMemoryResource(0)}


@each_code
@pytest.mark.parametrize("make", LEGACY.values(), ids=LEGACY)
@pytest.mark.parametrize("is_current", [True, False], ids=["current", "other"])
def test_each_call_of_legacy_resources_may_fail(devices, stream, make, is_current, code):
    def program():
        devices[0 if is_current else 1].set_current()
        with make().allocate(SIZE), make().allocate(SIZE, stream=stream), make().allocate(0):
            pass

    failed = fail_each_call(program, code, overcome=["cuCtxGetCurrent", "cuCtxPushCurrent*"])
    assert len(failed) > 1


@each_code
@pytest.mark.parametrize("has_pools", [True, False])
def test_each_call_of_an_allocation_on_a_device_may_fail(device, stream, has_pools, code):
    def program():
        device.memory_resource = DeviceMemoryResource(0) if has_pools else _SynchronousMemoryResource(0)
        with device.allocate(SIZE, stream=stream) as buffer, device.allocate(0, stream=stream):
            buffer.fill(0, stream=stream)

    before = device.memory_resource
    try:
        failed = fail_each_call(program, code, overcome=["cuCtxGetCurrent"])
    finally:
        device.memory_resource = before
    assert {"cuMemAllocFromPoolAsync", "cuMemAlloc_v2"} & failed


# Peer access

CHANGES = {
    "add": lambda peers: peers.add(1),
    "discard": lambda peers: peers.discard(1),
    "update": lambda peers: peers.update([0, 1]),
    "toggle": lambda peers: peers.symmetric_difference_update([1]),
    "clear": lambda peers: peers.clear(),
}


def peers_of(pool):
    return {int(device) for device in pool.peer_accessible_by}


@each_code
@pytest.mark.requires(peer=True)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("before", [set(), {1}], ids=["none", "one"])
def test_peers_are_unchanged_if_a_change_fails(devices, change, before, code):
    def program():
        with contextlib.closing(DeviceMemoryResource(0, LIMITED)) as pool:
            pool.peer_accessible_by = before
            try:
                change(pool.peer_accessible_by)
            except CUDAError:
                assert peers_of(pool) == before
                raise

    assert fail_each_call(program, code) >= {"cuMemPoolGetAccess", "cuDeviceGetCount"}


@each_code
@pytest.mark.requires(peer=True)
@pytest.mark.parametrize("before", [set(), {1}], ids=["none", "one"])
def test_peers_are_restored_if_a_change_fails_halfway(devices, before, code):
    from cuda import emulator

    with contextlib.closing(DeviceMemoryResource(0, LIMITED)) as pool:
        pool.peer_accessible_by = before
        with emulator.fail("cuMemPoolSetAccess", code, nth=1, when="after"), pytest.raises(CUDAError, match=code):
            pool.peer_accessible_by = {1} - before
        assert peers_of(pool) == before


# Virtual memory

MIB = 1 << 20


def access_of(buffer):
    """Return the access of device 1 to each 2 MiB of a buffer."""
    location = driver.CUmemLocation()
    location.type, location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 1
    return [call_driver("cuMemGetAccess", location, buffer.handle + at) for at in range(0, buffer.size, 2 * MIB)]


@contextlib.contextmanager
def grown(size, more, *, pieces=1, is_blocked=False, config=None):
    """Grow a buffer, and check that a failure leaves it unchanged."""
    with contextlib.ExitStack() as stack:
        resource = VirtualMemoryResource(0)
        buffer = stack.enter_context(resource.allocate(size))
        for piece in range(1, pieces):
            resource.modify_allocation(buffer, (piece + 1) * size)
        size *= pieces
        if is_blocked:
            end = buffer.handle + buffer.size
            reserved = call_driver("cuMemAddressReserve", size, 0, end, 0)
            stack.callback(lambda: call_driver("cuMemAddressFree", reserved, size))
        before = (buffer.handle, buffer.size, resource.config, access_of(buffer))
        try:
            result = stack.enter_context(resource.modify_allocation(buffer, size + more, config))
        except CUDAError:
            assert before == (buffer.handle, buffer.size, resource.config, access_of(buffer))
            raise
        assert (buffer.is_closed, result.size) == (False, size + more)
        assert (result.handle == buffer.handle) is not is_blocked
        yield result


VIRTUAL = {
    "allocated": lambda: VirtualMemoryResource(0).allocate(MIB),
    "shared": lambda: VirtualMemoryResource(0, {"peers": [1], "handle_type": "posix_fd"}).allocate(MIB),
    "host": lambda: VirtualMemoryResource(0, {"location_type": "host_numa"}).allocate(MIB),
    "in place": lambda: grown(2 * MIB, 2 * MIB),
    "in place, other access": lambda: grown(2 * MIB, 2 * MIB, config={"peers": [1]}),
    "moved": lambda: grown(2 * MIB, 2 * MIB, is_blocked=True),
    "moved, other access": lambda: grown(2 * MIB, 2 * MIB, is_blocked=True, config={"peers": [1]}),
    "only access": lambda: grown(2 * MIB, 0, config={"peers": [1]}),
    "only access, pieces": lambda: grown(2 * MIB, 0, pieces=3, config={"peers": [1]}),
}


@each_code
@pytest.mark.requires(peer=True, vmm=True)
@pytest.mark.parametrize("make", VIRTUAL.values(), ids=VIRTUAL)
def test_each_call_of_virtual_memory_may_fail(devices, make, code):
    def program():
        with make():
            pass

    # Memory is released in the right context even if the current one cannot be queried.
    failed = fail_each_call(program, code, overcome=MARKING)
    assert failed >= {"cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemUnmap", "cuMemRelease"}


# Memory of graphs


@contextlib.contextmanager
def captured(stream):
    graph = None
    try:
        with capture(stream) as graph:
            yield graph
    finally:
        if graph is not None:
            graph.destroy()


@each_code
def test_each_call_of_graph_memory_may_fail(device, stream, code):
    resource = GraphMemoryResource(0)

    def program():
        with captured(stream) as graph, resource.allocate(SIZE, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            with resource.allocate(0, stream=stream):
                pass
        assert graph.raw is not None
        assert resource.attributes.used_mem_high >= 0
        resource.attributes.used_mem_high = 0
        resource.trim()

    # Not cuStreamEndCapture, which the test itself calls, and without which the capture would stay open.
    failed = fail_each_call(program, code, calls="*,!cuStreamEndCapture")
    assert failed >= {"cuMemAllocAsync", "cuMemFreeAsync", "cuStreamIsCapturing", "cuDeviceGraphMemTrim"}
