# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: warp
"""Warp's arrays and kernels beside ours: the same memory, the same stream, the same context."""

import numpy as np
import warp as wp

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


@wp.kernel
def add_one(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 1.0


wp.init()
device = Device()
device.set_current()
array = wp.array(np.arange(1024, dtype=np.float32), device="cuda:0")
stream = Stream.from_handle(int(wp.get_stream("cuda:0").cuda_stream))
view = StridedMemoryView.from_any_interface(array, stream_ptr=int(stream.handle))
check(view.ptr == array.ptr and view.shape == (1024,))
wp.launch(add_one, dim=1024, inputs=[array], device="cuda:0")
source = 'extern "C" __global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }'
kernel = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("twice")
launch(stream, LaunchConfig(grid=4, block=256), kernel, array)
stream.sync()
check(np.array_equal(array.numpy(), 2 * (np.arange(1024) + 1)))
print(f"checks: {checks}")
