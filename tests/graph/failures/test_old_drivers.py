# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs and events with drivers older than CUDA 12.3, whose functions do not know the data of edges."""

import pytest

from support.interpreter import run

GRAPHS = """
from cuda.core import Device, EventOptions
from cuda.core.graph import GraphBuilder, GraphDefinition
device = Device(0)
device.set_current()
stream = device.create_stream()
memory = device.allocate(8, stream=stream)
host = bytearray(8)

definition = GraphDefinition()
first = definition.memset(memory, 1, 8)
second = definition.memset(memory, 2, 4)
second.pred.add(first)
print(first.succ == {second}, second.pred == {first}, len(definition.edges()))
second.pred.discard(first)
print(len(definition.edges()))
second.pred.add(first)
definition.instantiate().launch(stream)
memory.copy_to(host, stream=stream)
stream.sync()
print(bytes(host))

builder = stream.create_graph_builder().begin_building()
memory.fill(3, stream=builder)
left, right = builder.split(2)
memory[:4].fill(4, stream=left)
memory[4:].fill(5, stream=right)
graph = GraphBuilder.join(left, right).end_building().complete()
begin = stream.record(options=EventOptions(timing_enabled=True))
graph.launch(stream)
end = stream.record(options=EventOptions(timing_enabled=True))
memory.copy_to(host, stream=stream)
stream.sync()
print(bytes(host), end - begin >= 0)
for work in (definition.create_condition, lambda: device.resources.sm):
    try:
        work()
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.requires(software=True)
def test_graphs_and_events_work_with_a_driver_for_cuda_12_2():
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": "12.2", "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    lines = run(GRAPHS, **variables).splitlines()
    assert lines[:4] == [
        "True True 1",
        "0",
        str(bytes([2, 2, 2, 2, 1, 1, 1, 1])),
        f"{bytes([4, 4, 4, 4, 5, 5, 5, 5])} True",
    ]
    assert lines[4] == (
        "cuGraphConditionalHandleCreate needs a driver for CUDA 12.3 or newer; this one is for CUDA 12.2"
    )
    assert "12.4" in lines[5] and len(lines) == 6
