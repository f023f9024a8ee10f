# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Host and kernels take turns with managed memory."""

import numpy as np

from cuda.core import Device, LaunchConfig, ManagedMemoryResource, Program, ProgramOptions, launch

SOURCE = 'extern "C" __global__ void square(double* value) { value[threadIdx.x] *= value[threadIdx.x]; }'
device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("square")
buffer = ManagedMemoryResource().allocate(8 * 100, stream=stream)
stream.sync()
assert buffer.is_host_accessible and buffer.is_device_accessible
values = np.from_dlpack(buffer).view(np.float64)
values[:] = np.arange(100)
for power in (2, 4):
    launch(stream, LaunchConfig(grid=1, block=100), kernel, buffer)
    stream.sync()
    assert (values == np.arange(100.0) ** power).all()
print("checks: 3")
