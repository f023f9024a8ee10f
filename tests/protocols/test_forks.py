# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Child processes that Python code forks on a driver thread."""

import pytest

from support.interpreter import run

pytestmark = pytest.mark.requires(software=True)

# The parent waits in the callback, so it reports a child that does not end instead of waiting for it forever.
PROGRAM = """
import os, sys, time
from cuda.core import Device

def callback():
    child = os.fork()
    if child == 0:
        print("child", flush=False)
        {end}
        return
    for _ in range(1000):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            print("status", os.waitstatus_to_exitcode(status))
            return
        time.sleep(0.01)
    os.kill(child, 9)
    print("the child waits forever")

device = Device()
device.set_current()
stream = device.create_stream()
builder = device.create_graph_builder().begin_building()
builder.callback(callback)
builder.end_building().complete().launch(stream)
stream.sync()
"""


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('over')", 1), ("raise ValueError('wrong')", 1), ("pass", 0)],
)
def test_child_forked_by_a_host_callback_ends_with_it(end, status):
    assert run(PROGRAM.format(end=end)).splitlines() == ["child", f"status {status}"]
