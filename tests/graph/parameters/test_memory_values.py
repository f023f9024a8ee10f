# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes that fill, copy, allocate and free memory: accepted and rejected values."""

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import CUDAError, Device
from cuda.core.graph import GraphDefinition


@pytest.mark.parametrize(
    ("value", "number", "size"),
    [
        (True, 1, 1),
        (255, 255, 1),
        (b"\x01\x02", 0x0201, 2),
        (np.int32(-1), 0xFFFFFFFF, 4),
        (np.float32(1), 0x3F800000, 4),
    ],
)
def test_fills_accept_elements_of_three_sizes(memory, value, number, size):
    node = GraphDefinition().memset(memory.buffer, value, 2)
    assert (node.value, node.element_size, node.width, node.height, node.pitch) == (number, size, 2, 1, 0)
    assert node.dptr == memory.buffer.handle
    assert repr(node) == f"<MemsetNode handle={int(node.handle):#x} dptr={node.dptr:#x} value={number}>"


@pytest.mark.parametrize(
    ("value", "error"),
    [(b"abc", ValueError), (256, OverflowError), (-1, OverflowError), (1.0, TypeError), ("1", TypeError)],
)
def test_wrong_elements_are_rejected(memory, value, error):
    with pytest.raises(error, match="value must"):
        GraphDefinition().memset(memory.buffer, value, 2)


@pytest.mark.parametrize(("address", "error"), [(None, TypeError), ("1", TypeError), (-1, OverflowError)])
def test_wrong_addresses_are_rejected(memory, address, error):
    graph = GraphDefinition()
    with pytest.raises(error, match="dst must be"):
        graph.memset(address, 1, 1)
    with pytest.raises(error, match="src must be"):
        graph.memcpy(memory.buffer, address, 1)


def test_owners_need_an_address_and_open_memory(memory):
    graph = GraphDefinition()
    with pytest.raises(ValueError, match="dst_owner must be None if dst is a Buffer"):
        graph.memset(memory.buffer, 1, 1, dst_owner=memory)
    node = graph.memset(memory.at(0), 1, 1, dst_owner=memory.buffer)
    with pytest.raises(ValueError, match="dst_owner needs dst"):
        node.update(dst_owner=memory)
    memory.values = None
    address = memory.at(0)
    memory.buffer.close()
    for error in (RuntimeError, ValueError):
        with pytest.raises(error, match="this Buffer is closed"):
            graph.memset(memory.buffer, 1, 1)
        with pytest.raises(error, match="this Buffer is closed"):
            graph.memset(address, 1, 1, dst_owner=memory.buffer)


@pytest.mark.parametrize("kind", ["Device", "cpu", 3])
def test_wrong_memory_types_are_rejected(device, kind):
    with pytest.raises(ValueError, match="memory_type must be 'device', 'host' or 'managed'"):
        GraphDefinition().allocate(64, memory_type=kind)


def test_wrong_allocations_are_rejected(device):
    graph = GraphDefinition()
    with pytest.raises(TypeError, match="device must be a Device or an int"):
        graph.allocate(64, device="0")
    with pytest.raises(OverflowError, match="size must be"):
        graph.allocate(-1)
    for rejected in (lambda: graph.allocate(0), lambda: graph.deallocate(0)):
        with pytest.raises(CUDAError):
            rejected()
    with pytest.raises(TypeError, match="dptr must be an int"):
        graph.deallocate(None)
    assert graph.nodes() == set()


def context_of(node) -> int:
    result, params = driver.cuGraphNodeGetParams(node.handle)
    assert result == driver.CUresult.CUDA_SUCCESS
    return int(params.memset.ctx if hasattr(node, "value") else params.memcpy.copyCtx)


@pytest.mark.requires(devices=2, software=True, cuda=(13, 2))
@pytest.mark.parametrize("is_captured", [False, True])
def test_changed_copy_or_fill_keeps_its_context(device, memory, is_captured):
    definition = GraphDefinition()
    if is_captured:
        with device.create_graph_builder() as builder:
            builder.begin_building()
            memory.buffer.fill(1, stream=builder)
            memory.buffer.copy_to(memory.buffer, stream=builder)
            definition = builder.end_building().graph_definition
    else:
        definition.memset(memory.buffer, 1, 8).memcpy(memory.at(8), memory.at(0), 8)
    nodes = definition.nodes()
    contexts = [context_of(node) for node in nodes]
    Device(1).set_current()
    try:
        for node in nodes:
            node.update(dst=memory.buffer)
        assert [context_of(node) for node in nodes] == contexts
    finally:
        device.set_current()
