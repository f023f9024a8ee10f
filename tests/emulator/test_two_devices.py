# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills that reach the memory of one device from another: what two H200 refuse, and nothing else."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import Device

SIZE = 1 << 16
FILLS = {"fill", "fill of words"}
COPIES = {"to itself", "to its device", "DtoD to its device", "from its device", "to the host", "from the host"}
OWN = {"own stream, to its device", "own stream, from its device"}
WAITING = {"synchronous, to its device", "synchronous, from its device", "synchronous, to the host"}
# What is refused, by whose context is current: that of the memory's device, or that of the other one. The streams are
# of the other one where nothing else is said.
NOTHING = {"its own": set(), "the other": set()}
WITHOUT_PEER_ACCESS = {"its own": FILLS, "the other": FILLS | {"synchronous fill"}}
CLOSED = {"its own": FILLS, "the other": FILLS | {"synchronous fill"} | COPIES | OWN | WAITING}
REFUSED = {
    "plain": WITHOUT_PEER_ACCESS,
    "plain, with peer access": NOTHING,
    "pool": CLOSED,
    "open pool": NOTHING,
    "pool that was closed again": CLOSED,
    "mapped": CLOSED,
    "mapped for both": NOTHING,
    "managed": NOTHING,
}

pytestmark = pytest.mark.requires(devices=2, peer=True)


def call(name, *arguments):
    """Return what a function of the driver gives."""
    code, *values = getattr(driver, name)(*arguments)
    assert code == driver.CUresult.CUDA_SUCCESS, (name, code)
    return values[0] if values else None


class Pair:
    """Two devices, with their contexts, a stream and memory of each; the memory under test belongs to the first."""

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

    def opened(self):
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
        at = call("cuMemAddressReserve", size, 0, 0, 0)
        call("cuMemMap", at, size, 0, handle, 0)
        call("cuMemSetAccess", at, size, [access(ordinal, "READWRITE") for ordinal in ordinals], len(ordinals))
        for name, *arguments in (("cuMemAddressFree", at, size), ("cuMemRelease", handle), ("cuMemUnmap", at, size)):
            self.finish(functools.partial(call, name, *arguments))
        return int(at)

    def managed(self):
        memory = int(call("cuMemAllocManaged", SIZE, 1))
        self.finish(functools.partial(call, "cuMemFree", memory))
        return memory

    def operations(self, memory):
        """Yield the name, the function and the arguments of all that is tried."""
        own, stream = self.streams
        there, host = self.memory[1], np.zeros(64, "u1")
        yield "to itself", "cuMemcpyAsync", memory, memory + 128, 64, stream
        yield "to its device", "cuMemcpyAsync", there, memory, 64, stream
        yield "DtoD to its device", "cuMemcpyDtoDAsync", there, memory, 64, stream
        yield "from its device", "cuMemcpyAsync", memory, there, 64, stream
        yield "to the host", "cuMemcpyDtoHAsync", host.ctypes.data, memory, 64, stream
        yield "from the host", "cuMemcpyHtoDAsync", memory, host.ctypes.data, 64, stream
        yield "fill", "cuMemsetD8Async", memory, 4, 64, stream
        yield "fill of words", "cuMemsetD32Async", memory, 4, 16, stream
        yield "own stream, to its device", "cuMemcpyAsync", there, memory, 64, own
        yield "own stream, from its device", "cuMemcpyAsync", memory, there, 64, own
        yield "synchronous, to its device", "cuMemcpy", there, memory, 64
        yield "synchronous, from its device", "cuMemcpyDtoD", memory, there, 64
        yield "synchronous, to the host", "cuMemcpyDtoH", host.ctypes.data, memory, 64
        yield "synchronous fill", "cuMemsetD8", memory, 6, 64
        yield "peers, queued", "cuMemcpyPeerAsync", there, self.contexts[1], memory, self.contexts[0], 64, stream
        yield "peers", "cuMemcpyPeer", memory, self.contexts[0], there, self.contexts[1], 64

    def wait(self):
        for context in self.contexts:
            call("cuCtxSetCurrent", context)
            call("cuCtxSynchronize")


def location(ordinal):
    where = driver.CUmemLocation()
    where.type, where.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal
    return where


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
    "plain, with peer access": Pair.opened,
    "pool": Pair.pool,
    "open pool": functools.partial(Pair.pool, accesses=("READWRITE",)),
    "pool that was closed again": functools.partial(Pair.pool, accesses=("READWRITE", "NONE")),
    "mapped": Pair.mapped,
    "mapped for both": functools.partial(Pair.mapped, ordinals=(0, 1)),
    "managed": Pair.managed,
}


@pytest.mark.parametrize("current", ["its own", "the other"])
@pytest.mark.parametrize("kind", REFUSED)
def test_what_needs_access_is_refused(pair, kind, current):
    memory = MAKERS[kind](pair)
    refused = set()
    for name, function, *arguments in pair.operations(memory):
        call("cuCtxSetCurrent", pair.contexts[current == "the other"])
        code = getattr(driver, function)(*arguments)[0]
        pair.wait()
        if code != driver.CUresult.CUDA_SUCCESS:
            assert code == driver.CUresult.CUDA_ERROR_INVALID_VALUE
            refused.add(name)
    call("cuCtxSetCurrent", pair.contexts[0])
    assert refused == REFUSED[kind][current]


def test_pools_are_not_opened_for_reading_alone(pair):
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
def test_refusal_names_the_remedy(pair, kind, remedy):
    from cuda.core._utils.cuda_utils import CUDAError, handle_return

    memory = MAKERS[kind](pair)
    with pytest.raises(CUDAError, match=f"device 1 has no access to .*{remedy}"):
        handle_return(driver.cuMemsetD8Async(memory, 4, 64, pair.streams[1]))
