# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: numba_cuda
"""Kernels of numba-cuda, which loads and launches them with cuda.core, and kernels of cuda.core on the same data."""

import numpy as np
from numba import cuda

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def reverse(values):
    shared = cuda.shared.array(256, np.int32)
    i = cuda.threadIdx.x
    shared[i] = values[i]
    cuda.syncthreads()
    values[i] = shared[255 - i]


n = 10_007
x, y = np.arange(n, dtype=np.float64), np.ones(n)
out = np.zeros(n)
add[(n + 127) // 128, 128](x, y, out)
check(np.array_equal(out, x + 1))
for _ in range(3):
    add[(n + 127) // 128, 128](out, y, out)
check(np.array_equal(out, x + 4))

values = cuda.to_device(np.arange(256, dtype=np.int32))
reverse[1, 256](values)
check(np.array_equal(values.copy_to_host(), np.arange(256)[::-1]))

stream = cuda.stream()
with cuda.defer_cleanup():
    d_out = cuda.device_array(n)
    add[(n + 127) // 128, 128, stream](cuda.to_device(x, stream=stream), cuda.to_device(y, stream=stream), d_out)
    stream.synchronize()
check(np.array_equal(d_out.copy_to_host(), x + 1))

device = Device()
device.set_current()
ours = device.create_stream()
view = StridedMemoryView.from_cuda_array_interface(values, stream_ptr=int(ours.handle))
check(view.shape == (256,))
SOURCE = 'extern "C" __global__ void negate(int* v) { v[threadIdx.x] = -v[threadIdx.x]; }'
kernel = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("negate")
launch(ours, LaunchConfig(grid=1, block=256), kernel, view.ptr)
ours.sync()
check(np.array_equal(values.copy_to_host(), -np.arange(256)[::-1]))

start, end = cuda.event(), cuda.event()
start.record()
add[1, 32](x[:32], y[:32], out[:32])
end.record()
end.synchronize()
check(start.elapsed_time(end) >= 0)
print(f"checks: {checks}")
