# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multiply matrices with a naive and a tiled kernel: shared memory, occupancy and timing.

python matrix_product.py [size]
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, Program, launch
from cuda.core.utils import cdiv

SOURCE = r"""
extern "C" __global__ void naive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
        right[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
"""
n = int(sys.argv[1]) if len(sys.argv) > 1 else 150

device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++").compile("cubin")
config = LaunchConfig(grid=(cdiv(n, 16), cdiv(n, 16)), block=(16, 16))

random = np.random.default_rng(1)
a, b = random.random((2, n, n), np.float32)
result = np.empty((n, n), np.float32)
on_device = [device.allocate(a.nbytes, stream=stream) for _ in range(3)]
on_device[0].copy_from(a, stream=stream)
on_device[1].copy_from(b, stream=stream)
for name in ("naive", "tiled"):
    kernel = code.get_kernel(name)
    launch(stream, config, kernel, *on_device, n)  # loads the code
    start = stream.record(options={"timing_enabled": True})
    launch(stream, config, kernel, *on_device, n)
    end = stream.record(options={"timing_enabled": True})
    on_device[2].copy_to(result, stream=stream)
    stream.sync()
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)
    print(f"{name}: {end - start:.3f} ms, {2 * n**3 / (end - start) / 1e6:.1f} GFLOP/s, {blocks} blocks fit an SM")
    if not np.allclose(result, a @ b, rtol=1e-4):
        raise SystemExit(f"the {name} product is wrong")
print(f"verified: both products of {n} x {n} matrices are NumPy's")
