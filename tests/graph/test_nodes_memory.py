# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that allocate, free, fill and copy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cuda.core import CUDAError
from cuda.core.graph import AllocNode, GraphDefinition
from support.graph_work import run
from support.memory import read


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


@pytest.fixture
def buffers(device, stream):
    """Return a function that returns buffers with the given first bytes."""

    def make(*values, size=64):
        made = [device.allocate(size, stream=stream) for _ in values]
        for buffer, value in zip(made, values, strict=True):
            buffer.fill(value, stream=stream)
        return made

    return make


since_135 = pytest.mark.requires(cuda=(13, 5))


@since_135
def test_batch_node_makes_all_its_copies(buffers, stream):
    sources, targets = buffers(1, 2, 3), buffers(0, 0, 0)
    definition = GraphDefinition()
    cleared = definition.memset(targets[1], 9, 64)
    node = cleared.memcpy_batch(targets, sources, options={"overlap_mode": "prefer_overlap_with_compute"})
    assert set(node.pred) == {cleared} and node.memcpy_batch(targets[:1], sources[:1]).is_valid
    definition.instantiate().launch(stream)
    assert [read(target, stream)[:1] for target in targets] == [b"\1", b"\2", b"\3"]


@since_135
def test_batch_node_keeps_its_memory(buffers, stream):
    sources, targets = buffers(7), buffers(0)
    definition = GraphDefinition()
    definition.memcpy_batch(targets, sources)
    graph = definition.instantiate()
    sources[0].close()
    graph.launch(stream)
    assert read(targets[0], stream) == b"\7" * 64


@since_135
def test_executable_takes_over_the_addresses_of_a_batch(buffers, stream):
    sources, targets = buffers(1, 2), buffers(0, 0)
    one, two, more = GraphDefinition(), GraphDefinition(), GraphDefinition()
    one.memcpy_batch(targets[:1], sources[:1])
    two.memcpy_batch(targets[:1], sources[1:])
    more.memcpy_batch(targets, sources)
    graph = one.instantiate()
    graph.update(two)
    graph.launch(stream)
    assert read(targets[0], stream) == b"\2" * 64
    with pytest.raises(CUDAError, match="PARAMETERS_CHANGED|cuGraphExecUpdate"):
        graph.update(more)


def test_wrong_batches_are_rejected(buffers):
    sources, targets = buffers(1, 2), buffers(0, 0)
    add = GraphDefinition().memcpy_batch
    with pytest.raises(ValueError, match="dsts and srcs must have the same number of buffers, not 2 and 1"):
        add(targets, sources[:1])
    with pytest.raises(ValueError, match="dsts must contain at least one Buffer"):
        add([], [])
    with pytest.raises(TypeError, match="dsts"):
        add(3, sources)
    with pytest.raises(TypeError, match="srcs"):
        add(targets, [1, 2])
    with pytest.raises(TypeError, match="options"):
        add(targets, sources, options=3)
    with pytest.raises(ValueError, match="copy 1 has 64 bytes in srcs and 32 bytes in dsts"):
        add([targets[0], targets[1][:32]], sources)
    with pytest.raises(ValueError, match="overlap"):
        add([targets[0][:32]], [targets[0][16:48]])
    sources[0].close()
    with pytest.raises(RuntimeError, match="closed"):
        add(targets, sources)


@pytest.mark.requires(software=True)
def test_batch_node_needs_a_new_driver():
    program = (
        "from cuda.core import Device\nfrom cuda.core.graph import GraphDefinition\n"
        "device = Device(); device.set_current(); stream = device.create_stream()\n"
        "a, b = (device.allocate(64, stream=stream) for _ in range(2))\n"
        "GraphDefinition().memcpy_batch([a], [b])\n"
    )
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "13.4"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)
    assert "a node of many copies needs" in done.stderr and "13.5" in done.stderr, done.stderr
