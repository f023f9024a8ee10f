# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills of another device's memory fail in exactly the same cases as on two H200s."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import Device

SIZE = 1 << 16
FILLS = {"fill", "fill of words"}
COPIES = {"to itself", "to its device", "DtoD to its device", "from its device", "to the host", "from the host"}
OWN = {"own stream, to its device", "own stream, from its device"}
WAITING = {"synchronous, to its device", "synchronous, from its device", "synchronous, to the host"}
# The failing operations if the context of the memory's device is current, and if the other device's context is current.
# The streams belong to the other device unless the name of the operation says otherwise.
NOTHING = {"its own": set(), "the other": set()}
WITHOUT_PEER_ACCESS = {"its own": FILLS, "the other": FILLS | {"synchronous fill"}}
WITHOUT_ACCESS = {"its own": FILLS, "the other": FILLS | {"synchronous fill"} | COPIES | OWN | WAITING}
FAILING = {
    "plain": WITHOUT_PEER_ACCESS,
    "plain, with peer access": NOTHING,
    "pool": WITHOUT_ACCESS,
    "pool with access": NOTHING,
    "pool without access again": WITHOUT_ACCESS,
    "mapped": WITHOUT_ACCESS,
    "mapped for both": NOTHING,
    "managed": NOTHING,
}

pytestmark = pytest.mark.requires(devices=2, peer=True)


def call(name, *arguments):
    """Call a driver function, which must succeed, and return its value."""
    code, *values = getattr(driver, name)(*arguments)
    assert code == driver.CUresult.CUDA_SUCCESS, (name, code)
    return values[0] if values else None


class Pair:
    """Two devices, each with a context, a stream and memory; the tested memory belongs to the first device."""

    def __init__(self, finish):
        self.finish = finish
        self.contexts, self.streams, self.memory = [], [], []
        for ordinal in (0, 1):
            Device(ordinal).set_current()
            self.contexts.append(call("cuCtxGetCurrent"))
            self.streams.append(call("cuStreamCreate", 1))
            self.memory.append(int(call("cuMemAlloc", SIZE)))
        for memory, stream in zip(self.memory, self.streams, strict=True):
            finish(functools.partial(call, "cuMemFree", memory))
            finish(functools.partial(call, "cuStreamDestroy", stream))
        call("cuCtxSetCurrent", self.contexts[0])

    def plain(self):
        return self.memory[0]

    def plain_with_peer_access(self):
        call("cuCtxSetCurrent", self.contexts[1])
        code = driver.cuCtxEnablePeerAccess(self.contexts[0], 0)[0]
        if code == driver.CUresult.CUDA_SUCCESS:
            self.finish(functools.partial(call, "cuCtxDisablePeerAccess", self.contexts[0]))
            self.finish(functools.partial(call, "cuCtxSetCurrent", self.contexts[1]))
        return self.memory[0]

    def pool(self, accesses=()):
        properties = driver.CUmemPoolProps()
        properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location = location(0)
        pool = call("cuMemPoolCreate", properties)
        memory = call("cuMemAllocFromPoolAsync", SIZE, pool, self.streams[0])
        call("cuStreamSynchronize", self.streams[0])
        for flags in accesses:
            call("cuMemPoolSetAccess", pool, [access(1, flags)], 1)
        self.finish(functools.partial(call, "cuMemPoolDestroy", pool))
        self.finish(functools.partial(call, "cuMemFree", memory))
        return int(memory)

    def mapped(self, ordinals=(0,)):
        properties = driver.CUmemAllocationProp()
        properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location = location(0)
        size = call(
            "cuMemGetAllocationGranularity",
            properties,
            driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM,
        )
        handle = call("cuMemCreate", size, properties, 0)
        address = call("cuMemAddressReserve", size, 0, 0, 0)
        call("cuMemMap", address, size, 0, handle, 0)
        call("cuMemSetAccess", address, size, [access(ordinal, "READWRITE") for ordinal in ordinals], len(ordinals))
        self.finish(functools.partial(call, "cuMemAddressFree", address, size))
        self.finish(functools.partial(call, "cuMemRelease", handle))
        self.finish(functools.partial(call, "cuMemUnmap", address, size))
        return int(address)

    def managed(self):
        memory = int(call("cuMemAllocManaged", SIZE, 1))
        self.finish(functools.partial(call, "cuMemFree", memory))
        return memory

    def operations(self, memory):
        """Yield the name, the function and the arguments of each operation to try."""
        own, stream = self.streams
        other, host = self.memory[1], np.zeros(64, "u1")
        yield "to itself", "cuMemcpyAsync", memory, memory + 128, 64, stream
        yield "to its device", "cuMemcpyAsync", other, memory, 64, stream
        yield "DtoD to its device", "cuMemcpyDtoDAsync", other, memory, 64, stream
        yield "from its device", "cuMemcpyAsync", memory, other, 64, stream
        yield "to the host", "cuMemcpyDtoHAsync", host.ctypes.data, memory, 64, stream
        yield "from the host", "cuMemcpyHtoDAsync", memory, host.ctypes.data, 64, stream
        yield "fill", "cuMemsetD8Async", memory, 4, 64, stream
        yield "fill of words", "cuMemsetD32Async", memory, 4, 16, stream
        yield "own stream, to its device", "cuMemcpyAsync", other, memory, 64, own
        yield "own stream, from its device", "cuMemcpyAsync", memory, other, 64, own
        yield "synchronous, to its device", "cuMemcpy", other, memory, 64
        yield "synchronous, from its device", "cuMemcpyDtoD", memory, other, 64
        yield "synchronous, to the host", "cuMemcpyDtoH", host.ctypes.data, memory, 64
        yield "synchronous fill", "cuMemsetD8", memory, 6, 64
        yield "peers, queued", "cuMemcpyPeerAsync", other, self.contexts[1], memory, self.contexts[0], 64, stream
        yield "peers", "cuMemcpyPeer", memory, self.contexts[0], other, self.contexts[1], 64

    def wait(self):
        for context in self.contexts:
            call("cuCtxSetCurrent", context)
            call("cuCtxSynchronize")


def location(ordinal):
    found = driver.CUmemLocation()
    found.type, found.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal
    return found


def access(ordinal, flags):
    row = driver.CUmemAccessDesc()
    row.location = location(ordinal)
    row.flags = getattr(driver.CUmemAccess_flags, f"CU_MEM_ACCESS_FLAGS_PROT_{flags}")
    return row


@pytest.fixture
def pair(request, device):
    yield Pair(request.addfinalizer)
    device.set_current()


MAKERS = {
    "plain": Pair.plain,
    "plain, with peer access": Pair.plain_with_peer_access,
    "pool": Pair.pool,
    "pool with access": functools.partial(Pair.pool, accesses=("READWRITE",)),
    "pool without access again": functools.partial(Pair.pool, accesses=("READWRITE", "NONE")),
    "mapped": Pair.mapped,
    "mapped for both": functools.partial(Pair.mapped, ordinals=(0, 1)),
    "managed": Pair.managed,
}


@pytest.mark.parametrize("current", ["its own", "the other"])
@pytest.mark.parametrize("kind", FAILING)
def test_operations_without_access_fail(pair, kind, current):
    memory = MAKERS[kind](pair)
    failing = set()
    for name, function, *arguments in pair.operations(memory):
        call("cuCtxSetCurrent", pair.contexts[current == "the other"])
        code = getattr(driver, function)(*arguments)[0]
        pair.wait()
        if code != driver.CUresult.CUDA_SUCCESS:
            assert code == driver.CUresult.CUDA_ERROR_INVALID_VALUE
            failing.add(name)
    call("cuCtxSetCurrent", pair.contexts[0])
    assert failing == FAILING[kind][current]


def test_pools_cannot_be_made_readable_only(pair):
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = location(0)
    pool = call("cuMemPoolCreate", properties)
    pair.finish(functools.partial(call, "cuMemPoolDestroy", pool))
    (code,) = driver.cuMemPoolSetAccess(pool, [access(1, "READ")], 1)
    assert code == driver.CUresult.CUDA_ERROR_NOT_SUPPORTED
    assert call("cuMemPoolGetAccess", pool, location(1)) == driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("plain", "cuCtxEnablePeerAccess"), ("pool", "cuMemPoolSetAccess"), ("mapped", "cuMemSetAccess")],
)
def test_error_names_call_granting_access(pair, kind, remedy):
    memory = MAKERS[kind](pair)
    call("cuCtxSetCurrent", pair.contexts[1])
    start = call("cuLogsCurrent", 0)
    assert driver.cuMemsetD8Async(memory, 4, 64, pair.streams[1])[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    log = bytearray(10000)
    driver.cuLogsDumpToMemory(start, log, len(log), 0)
    assert re.search(f"device 1 cannot access .*{remedy}", log.decode())
