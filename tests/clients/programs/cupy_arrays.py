# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: cupy
"""CuPy arrays as arguments, views and copies, on CuPy's and cuda.core's streams."""

import cupy as cp
import numpy as np

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


device = Device()
device.set_current()
stream = device.create_stream()
SOURCE = (
    'extern "C" __global__ void axpy(float a, const float* x, float* y, size_t n) {'
    " size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }"
)
kernel = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("axpy")
n = 50_001
from_external = getattr(cp.cuda.Stream, "from_external", None)  # CuPy 14 and later
with from_external(stream) if from_external else cp.cuda.ExternalStream(int(stream.handle)):
    x = cp.random.random(n, dtype=cp.float32)
    y = cp.ones(n, dtype=cp.float32)
    expected = y + np.float32(2) * x
    config = LaunchConfig(grid=(n + 127) // 128, block=128)
    launch(stream, config, kernel, np.float32(2), x.data.ptr, y.data.ptr, n)
    check(bool(cp.allclose(y, expected)))
stream.sync()

block = cp.arange(24, dtype=cp.int16).reshape(2, 3, 4)
for array in (block, block.T, block[:, 1:, ::2], block[0], cp.asfortranarray(block), cp.empty((0, 3))):
    view = StridedMemoryView.from_any_interface(array, stream_ptr=int(stream.handle))
    check(view.shape == array.shape)
    check(array.size == 0 or view.ptr == array.data.ptr)
    check(np.dtype(view.dtype) == array.dtype)
    check(bool((cp.from_dlpack(view) == array).all()))

for array in (block, block.T):
    view = StridedMemoryView.from_cuda_array_interface(array, stream_ptr=int(stream.handle))
    check(view.shape == array.shape)

buffer = device.allocate(1024, stream=stream)
buffer.fill(7, stream=stream)
stream.sync()
check(int(cp.from_dlpack(buffer).astype(cp.int64).sum()) == 7 * 1024)

theirs = cp.cuda.Stream(non_blocking=True)
with theirs:
    z = cp.zeros(n, dtype=cp.float32)


class Theirs:
    """A CuPy stream, in the protocol that libraries use to exchange streams."""

    def __cuda_stream__(self):
        return 0, theirs.ptr


launch(device.create_stream(Theirs()), config, kernel, np.float32(3), x.data.ptr, z.data.ptr, n)
theirs.synchronize()
check(bool(cp.allclose(z, 3 * x)))
print(f"checks: {checks}")
