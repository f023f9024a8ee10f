# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A captured graph runs its kernels in order, each time that it is launched."""

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void add(int* value, int by) { value[threadIdx.x] += by; }
extern "C" __global__ void multiply(int* value, int by) { value[threadIdx.x] *= by; }
"""
device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
buffer = LegacyPinnedMemoryResource().allocate(4 * 32)
values = np.from_dlpack(buffer).view(np.int32)
values[:] = 1

config = LaunchConfig(grid=1, block=32)
builder = stream.create_graph_builder()
builder.begin_building()
launch(builder, config, code.get_kernel("add"), buffer, np.int32(2))
launch(builder, config, code.get_kernel("multiply"), buffer, np.int32(5))
builder.end_building()
graph = builder.complete()
assert (values == 1).all()  # nothing runs while it is built
for expected in (15, 85):
    graph.launch(stream)
    stream.sync()
    assert (values == expected).all(), values
print("checks: 3")
