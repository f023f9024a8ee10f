# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Resources under stress: many threads, any order of closing, parents first, and every kind of interpreter exit."""

import os
import random
import subprocess
import sys
import threading

import pytest

from cuda.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions, EventOptions
from support.processes import uncollected

pytestmark = pytest.mark.requires(device=True)


def make_some(device, rng):
    stream = device.create_stream()
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    made = [stream, pool]
    for _ in range(6):
        kind = rng.randrange(5)
        if kind == 0:
            made.append(device.create_stream())
        elif kind == 1:
            made.append(stream.record(options=EventOptions(timing_enabled=rng.random() < 0.5)))
        elif kind == 2:
            made.append(pool.allocate(rng.randrange(1, 4096), stream=stream))
        elif kind == 3:
            made.append(device.allocate(rng.randrange(1, 4096), stream=stream))
        else:
            made.append(device.create_event())
    return made


def churn(seed, rounds, failures):
    rng = random.Random(seed)
    try:
        device = Device(0)
        device.set_current()
        for _ in range(rounds):
            made = make_some(device, rng)
            if rng.random() < 0.5:
                rng.shuffle(made)  # else parents first
            try:
                while made:
                    one = made.pop(0)
                    if rng.random() < 0.5:
                        one.close()
                    if rng.random() < 0.01:
                        raise KeyError(seed)
            except KeyError:
                made.clear()
    except BaseException as error:
        failures.append(error)


def used_memory(device):
    return device.memory_resource.attributes.used_mem_current


def test_threads_leak_no_memory(device, stream, recwarn):
    rounds = int(os.environ.get("CUDA_CORE_STRESS_ROUNDS", "40")) // 8
    failures = []
    threads = [threading.Thread(target=churn, args=(seed, rounds, failures)) for seed in range(8)]
    with uncollected():
        device.sync()
        before = used_memory(device)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        device.sync()
        assert used_memory(device) == before
    assert [str(warning.message) for warning in recwarn] == []


PRELUDE = """
import sys, threading
from cuda.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions
device = Device(0); device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
buffers = [pool.allocate(256, stream=stream) for _ in range(20)]
events = [stream.record() for _ in range(20)]
"""
EXITS = {
    "everything open": "",
    "parents closed": "stream.close(); pool.close()",
    "a cycle": "class A: pass\na = A(); a.a = a; a.kept = (buffers, events, stream)",
    "kept by a module": "sys.kept = (buffers, events, pool)",
    "daemon threads at work": (
        "def work():\n"
        "    device = Device(0); device.set_current()\n"
        "    while True: device.allocate(64, stream=stream); stream.record()\n"
        "for _ in range(4): threading.Thread(target=work, daemon=True).start()"
    ),
    "dropped in atexit": "import atexit; atexit.register(buffers.clear); atexit.register(stream.close)",
    "an exception": "raise SystemExit(0)",
}


@pytest.mark.parametrize("state", EXITS)
def test_interpreter_exits_cleanly_with(state):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + EXITS[state]], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr and "Warning" not in done.stderr, done.stderr


# Calls of this library that run Python code of a user, which sleeps until the interpreter exits.
INSIDE = {
    "a property": "Buffer.from_handle(0, 0, Slow()).is_host_accessible",
    "a constructor": "LaunchConfig(grid=Slow(), block=1)",
    "a method": "Buffer.from_handle(Slow(), 0)",
}


@pytest.mark.parametrize("call", INSIDE)
def test_interpreter_exits_cleanly_with_a_daemon_thread_inside(call):
    code = (
        "import sys, threading, time\n"
        "from cuda.core import Buffer, LaunchConfig, MemoryResource\n"
        "inside = threading.Event()\n"
        "def slow(self): inside.set(); time.sleep(0.2); return True\n"
        f"class Slow({'MemoryResource' if call == 'a property' else 'object'}):\n"
        "    is_host_accessible = property(slow); allocate = deallocate = device_id = is_device_accessible = None\n"
        "    __index__ = slow\n"
        "class Output:\n"
        "    closed, pauses = False, [0, 0.4]  # of the flush before the exit of the interpreter, and of that in it\n"
        "    def flush(self): time.sleep(self.pauses.pop(0))\n"
        f"threading.Thread(target=lambda: {INSIDE[call]}, daemon=True).start()\n"
        "assert inside.wait(10)\n"
        "sys.stdout = Output()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_forked_child_drops_the_objects_of_its_parent_silently():
    code = PRELUDE + (
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    buffers.clear(); events.clear(); stream.close(); pool.close()\n"
        "    os._exit(0)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "stream.sync(); buffers[0].fill(1, stream=stream); stream.sync()\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr.replace("DeprecationWarning", "")
