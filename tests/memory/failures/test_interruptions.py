# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An exception of a signal handler at any bytecode of an allocation or a free loses nothing and frees nothing twice."""

import numpy as np
import pytest

from cuda.core import (
    Buffer,
    CachingMemoryResource,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
    register_host_memory,
)
from cuda.core._memory._adaptors import MemoryResourceAdaptor
from cuda.core._memory._unpooled import _SynchronousMemoryResource
from support.graphs import capture
from support.interrupts import Interrupt, interrupt_everywhere
from support.work import settle

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]

SIZE = 4096
MIB = 1 << 20

RESOURCES = {
    "page-locked": lambda: LegacyPinnedMemoryResource(),
    "synchronous": lambda: _SynchronousMemoryResource(0),
    "device": lambda: DeviceMemoryResource(0),
    "pinned": lambda: PinnedMemoryResource(),
    "managed": lambda: ManagedMemoryResource(),
    "virtual": lambda: VirtualMemoryResource(0),
}
ADAPTORS = {
    "plain": MemoryResourceAdaptor,
    "caching": CachingMemoryResource,
    "statistics": StatisticsMemoryResource,
    "tracking": TrackingMemoryResource,
    "logging": LoggingMemoryResource,
    "limiting": lambda upstream: LimitingMemoryResource(upstream, 1 << 30),
}


def uses_of(resource, stream):
    """Return a program that allocates, and frees in each way."""

    def program():
        with resource.allocate(SIZE, stream=stream):
            pass
        buffer = resource.allocate(SIZE, stream=stream)
        buffer.close(stream)
        buffer = resource.allocate(SIZE, stream=stream)
        del buffer

    return program


@pytest.mark.requires(cuda=(13, 0))
@pytest.mark.parametrize("make", RESOURCES.values(), ids=RESOURCES)
def test_interrupted_allocations_and_frees_lose_nothing(device, stream, make):
    assert interrupt_everywhere(uses_of(make(), stream)) > 20


@pytest.mark.requires(cuda=(13, 0))
@pytest.mark.parametrize("make", RESOURCES.values(), ids=RESOURCES)
@pytest.mark.parametrize("adaptor", ADAPTORS.values(), ids=ADAPTORS)
def test_interrupted_adaptors_lose_nothing(device, stream, make, adaptor):
    upstream = make()

    def program():
        with adaptor(upstream) as resource:
            uses_of(resource, stream)()

    assert interrupt_everywhere(program) > 20


@pytest.mark.parametrize("adaptor", ["statistics", "tracking", "limiting"])
def test_interrupted_adaptors_count_correctly(device, stream, adaptor):
    resource = ADAPTORS[adaptor](LegacyPinnedMemoryResource())
    assert interrupt_everywhere(uses_of(resource, stream)) > 20
    assert (resource._count()[:2], resource._kept()) == ((0, 0), [])


@pytest.mark.requires(cuda=(13, 0))
@pytest.mark.parametrize("make", RESOURCES.values(), ids=RESOURCES)
def test_interrupted_creation_of_resources_loses_nothing(device, stream, make):
    def program():
        resource = make()
        with resource.allocate(SIZE, stream=stream):
            pass
        if hasattr(resource, "close"):
            resource.close()

    assert interrupt_everywhere(program) > 20


def test_interrupted_growth_of_virtual_memory_loses_nothing(device, stream):
    resource = VirtualMemoryResource(0)

    def program():
        with resource.allocate(2 * MIB, stream=stream) as buffer:
            resource.modify_allocation(buffer, 4 * MIB)
            resource.modify_allocation(buffer, 1, {"self_access": "r"})
            resource.config = None

    assert interrupt_everywhere(program) > 20


def test_interrupted_move_of_virtual_memory_loses_nothing(device, stream):
    resource = VirtualMemoryResource(0)
    neighbors = [resource.allocate(2 * MIB) for _ in range(2)]
    neighbors.sort(key=lambda buffer: buffer.handle)
    hint = {"addr_hint": neighbors[0].handle}
    neighbors.pop(0).close()  # the next allocation takes its place, right before the other one

    def program():
        resource.config = hint
        with resource.allocate(2 * MIB, stream=stream) as buffer:
            resource.modify_allocation(buffer, 4 * MIB).close()

    assert interrupt_everywhere(program) > 20
    moved = resource.allocate(2 * MIB)
    assert resource.modify_allocation(moved, 4 * MIB) is not moved


def test_interrupted_graph_memory_loses_nothing(device, stream):
    settle()  # what earlier tests have left could not be destroyed during a capture
    with capture(stream) as graph:
        assert interrupt_everywhere(uses_of(GraphMemoryResource(0), stream)) > 20
    kinds = graph.node_kinds()
    graph.destroy()
    assert kinds.count("MEM_ALLOC") == kinds.count("MEM_FREE") > 20


def test_interrupted_registration_loses_nothing(device):
    array = np.zeros(SIZE, np.uint8)

    def program():
        with register_host_memory(array):
            pass
        buffer = register_host_memory(array, read_only=True)
        del buffer

    assert interrupt_everywhere(program) > 10


def test_interrupted_buffers_over_given_memory_lose_nothing(device, stream):
    resource = LegacyPinnedMemoryResource()
    memory = resource.allocate(SIZE)

    def program():
        with Buffer.from_handle(memory.handle, SIZE, owner=memory) as buffer:
            part = buffer[16:32]
            part.close()
            with buffer[32:]:
                pass

    assert interrupt_everywhere(program) > 20
    assert not memory.is_closed


def test_handler_exception_in_an_adaptor_method_is_raised_later(device, stream):
    class Interrupting(StatisticsMemoryResource):
        def _freed(self, pointer, size, stream):
            raise Interrupt

    buffer = Interrupting(LegacyPinnedMemoryResource()).allocate(SIZE)

    def close():
        buffer.close()
        while True:  # until the exception is raised
            pass

    with pytest.raises(Interrupt):
        close()
    assert buffer.is_closed
