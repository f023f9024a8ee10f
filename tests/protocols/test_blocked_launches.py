# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls release the GIL while another thread is blocked in a launch.

A launch blocks if the queue after a host callback is full, and some driver calls wait for the blocked thread.
If they held the lock, the callback could not run. The queue of the software device is never full: there the calls only
have to return.
"""

import pytest

from support.interpreter import run

PROGRAM = """
import threading
import time
from cuda.core import Device, LaunchConfig, Program, launch
from cuda.core.graph import GraphDefinition, capture

device = Device()
device.set_current()
config = LaunchConfig(grid=1, block=1)
source = 'extern "C" __global__ void none(int *p) {}'
kernel = Program(source, "c++").compile("cubin").get_kernel("none")
busy, other = device.create_stream(), device.create_stream()
buffers = [device.allocate(64, stream=other) for _ in range(3)]
definition = GraphDefinition()
node = definition.launch(config, kernel, buffers[0])
graph = definition.instantiate()
replayed = capture(lambda stream, buffer: launch(stream, config, kernel, buffer))
for buffer in buffers[:2]:
    replayed(other, buffer)


def close_an_unjoined_body():
    with device.create_graph_builder() as builder:
        builder.begin_building()
        body = builder.if_then(builder.create_condition(default_value=1))
        body.begin_building()
        body.split(2)[1].callback(print)


def closed(stream):
    stream.wait(other)
    stream.close()


pending = device.create_event()
CALLS = {
    "is_done of the stream": lambda: busy.is_done,
    "is_done of another": lambda: other.is_done,
    "is_done of an event": lambda: pending.is_done,
    "wait": lambda: device.create_stream().wait(device.create_stream()),
    "create_event": lambda: device.create_event().close(),
    "create_stream": lambda: closed(device.create_stream()),
    "update": lambda: graph[node].update(config=config, kernel=kernel, args=(buffers[1],)),
    "replay": lambda: [replayed(other, buffer) for buffer in buffers],
    "close": close_an_unjoined_body,
    "allocate": lambda: device.allocate(64, stream=other).close(other),
}
launched = 0


def fill(way):
    global launched
    for launched in range(1500):
        way()


def ways():
    yield lambda: launch(busy, config, kernel, buffers[0])
    yield lambda: graph.launch(busy)


for way in ways():
    for name, call in CALLS.items():
        gate = threading.Event()
        waiting = GraphDefinition()
        waiting.callback(gate.wait)
        waiting.instantiate().launch(busy)
        busy.record(pending)
        thread = threading.Thread(target=fill, args=(way,))
        thread.start()
        seen = -1
        while thread.is_alive() and launched != seen:
            seen = launched
            time.sleep(0.01)
        timer = threading.Timer(0.01, gate.set)
        timer.start()
        call()
        timer.join()
        thread.join()
        busy.sync()
        other.sync()
print("all returned")
"""


@pytest.mark.requires(cuda=(12, 3))
def test_no_call_holds_the_gil_beside_a_blocked_launch(device):
    assert run(PROGRAM).strip() == "all returned"
