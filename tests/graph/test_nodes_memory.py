# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that allocate, free, fill and copy."""

import numpy as np
import pytest

from cuda.core import CUDAError
from cuda.core.graph import AllocNode, GraphDefinition
from support.graph_work import run


def test_fills_and_copies_are_updated(memory, stream):
    graph = GraphDefinition()
    fill = graph.memset(memory.buffer, 1, 4)
    copy = fill.memcpy(memory.at(1), memory.buffer, 4)
    before = graph.instantiate()
    fill.update(value=np.int32(7), width=1)
    copy.update(dst=memory.at(2))
    assert (fill.value, fill.element_size, fill.width, copy.dst, copy.size) == (7, 4, 1, memory.at(2), 4)
    run(graph, stream)
    assert memory.values[:3].tolist() == [7, 0, 7]
    before.launch(stream)
    stream.sync()
    assert memory.values[:3].tolist() == [0x01010101, 0x01010101, 7]
    for wrong in ({"size": -1}, {"size": 2**64}):
        with pytest.raises(OverflowError, match="size must be"):
            copy.update(**wrong)
    with pytest.raises(TypeError, match="width must be an int"):
        fill.update(width="1")


def test_repr_of_a_copy_names_both_memories(memory, device, stream):
    buffer = device.allocate(64, stream=stream)
    node = GraphDefinition().memcpy(buffer, memory.buffer, 4)
    assert repr(node).endswith(f" dst={buffer.handle:#x}(D) src={memory.buffer.handle:#x}(H) size=4>")


def test_graph_memory_has_an_address_immediately(device, stream, memory):
    graph = GraphDefinition()
    allocated = graph.allocate(np.int64(64))
    filled = allocated.memset(allocated.dptr, np.int32(3), 1)
    freed = filled.memcpy(memory.buffer, allocated.dptr, 4).deallocate(allocated.dptr)
    assert (allocated.bytesize, allocated.device_id, allocated.memory_type, allocated.peer_access) == (
        64,
        0,
        "device",
        (),
    )
    assert repr(allocated).endswith(f" dptr={allocated.dptr:#x} size=64>") and freed.dptr == allocated.dptr
    run(graph, stream)
    assert memory.values[0] == 3
    with pytest.raises(CUDAError):
        filled.destroy()
    assert filled.is_valid and filled in graph.nodes()
    handle = int(allocated.handle)
    del allocated
    (node,) = (node for node in graph.nodes() if isinstance(node, AllocNode))
    assert int(node.handle) == handle and node.memory_type == "device" and node.bytesize == 64
