# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""After a kernel has destroyed its context, calls raise, objects can be closed, and the process exits normally."""

import subprocess
import sys

import pytest

PROGRAM = """
import gc, sys, warnings
from cuda.core import *

warnings.simplefilter("always")
sys.unraisablehook = lambda report: print("warned", type(report.exc_value).__name__)
warnings.showwarning = lambda message, category, *_, **__: print("warned", category.__name__)

device = Device(0)
device.set_current()
stream = device.create_stream()
source = 'extern "C" __global__ void bad() { *(volatile int*)8 = 1; } __device__ int variable;'
code = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
kernel, variable = code.get_kernel("bad"), code.get_global("variable")
resources = [device.memory_resource, LegacyPinnedMemoryResource()]
if device.properties.memory_pools_supported:
    resources.append(DeviceMemoryResource(0, {}))
if device.properties.virtual_memory_management_supported:
    resources.append(VirtualMemoryResource(0))
buffers = [resource.allocate(4096, stream=stream) for resource in resources]
buffers.append(device.allocate(4096, stream=LEGACY_DEFAULT_STREAM))
event, timed = stream.record(), device.create_event(EventOptions(timing_enabled=True))
launch(stream, LaunchConfig(grid=1, block=1), kernel)

for use in (
    stream.sync,
    lambda: device.allocate(4096, stream=stream),
    lambda: buffers[0].fill(0, stream=stream),
    lambda: stream.record(timed),
    lambda: event.is_done,
    lambda: launch(stream, LaunchConfig(grid=1, block=1), kernel),
    device.sync,
):
    try:
        use()
    except LaunchError as error:
        assert error.api is not None
    else:
        raise AssertionError("no error")
for thing in (*buffers, event, timed, variable, kernel, code, stream):
    thing.close()
    assert thing.is_closed
del resources
gc.collect()
print("end")
"""


@pytest.mark.requires(device=True)
def test_everything_can_be_closed_when_the_context_is_lost():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[-1] == "end"
    assert words.count("warned") >= 4
    assert set(words[1::2]) <= {"LaunchError", "CUDAError", "CUDAWarning"}
