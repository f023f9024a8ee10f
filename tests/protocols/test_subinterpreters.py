# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Processes that have created a subinterpreter, after which ``PyGILState_Check()`` always returns 1."""

import pytest

from support.interpreter import run

pytestmark = pytest.mark.requires(device=True)

PROGRAM = """
try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters

created = interpreters.create()
interpreters.run_string(created, "x = 1")
interpreters.destroy(created)

import threading
from cuda.core import Device, LegacyPinnedMemoryResource
from support.work import busy

device = Device()
device.set_current()
stream = device.create_stream()
"""

# Each releases a resource, or waits, while a stream is busy.
USES = {
    "stream": """
with busy(stream) as release:
    threading.Timer(0.1, release).start()
    stream.sync()
""",
    "device": """
with busy(stream) as release:
    threading.Timer(0.1, release).start()
    device.sync()
""",
    "event": """
with busy(stream) as release:
    event = stream.record()
    threading.Timer(0.1, release).start()
    event.sync()
""",
    "buffer dropped after its stream": """
buffer = device.allocate(64, stream=stream)
with busy(stream):
    del stream
    del buffer
""",
    "page-locked memory": """
buffer = LegacyPinnedMemoryResource().allocate(64)
with busy(stream):
    del buffer
device.sync()
""",
    "running graph": """
builder = device.create_graph_builder().begin_building()
builder.callback(lambda: None)
graph = builder.end_building().complete()
with busy(stream):
    graph.launch(stream)
    graph.close()
    del builder
stream.sync()
""",
    "released on another thread": """
buffers = [device.allocate(64, stream=stream)]
with busy(stream):
    del stream
    thread = threading.Thread(target=buffers.clear)
    thread.start()
    thread.join()
""",
    "exit": """
buffer = device.allocate(64, stream=stream)
pinned = LegacyPinnedMemoryResource().allocate(64)
""",
}


@pytest.mark.parametrize("use", USES)
def test_process_with_a_subinterpreter_waits_and_releases(use):
    assert run(f"{PROGRAM}{USES[use]}print('done')") == "done\n"
