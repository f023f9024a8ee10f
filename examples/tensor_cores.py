# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multiply matrices of half precision on tensor cores: one PTX instruction multiplies 16 x 16 by 16 x 8 elements.

python tensor_cores.py [size]
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, Program

# Each thread holds pairs of elements: from rows `group` and `group` + 8 of the left tile, and from column `group` of
# the right one. The right matrix is stored transposed, so its pairs are adjacent as well.
SOURCE = r"""
extern "C" __global__ void product(const unsigned* left, const unsigned* right, float* result, int n) {
    int group = threadIdx.x / 4, pair = threadIdx.x % 4, row = blockIdx.y * 16 + group, column = blockIdx.x * 8;
    float r0 = 0, r1 = 0, r2 = 0, r3 = 0;
    for (int k = 0; k < n; k += 16) {
        const unsigned* a = left + (row * n + k) / 2 + pair;
        const unsigned* b = right + ((column + group) * n + k) / 2 + pair;
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};" : "+f"(r0), "+f"(r1), "+f"(r2), "+f"(r3)
            : "r"(a[0]), "r"(a[4 * n]), "r"(a[4]), "r"(a[4 * n + 4]), "r"(b[0]), "r"(b[4]));
    }
    float* out = result + row * n + column + 2 * pair;
    out[0] = r0, out[1] = r1, out[8 * n] = r2, out[8 * n + 1] = r3;
}
"""
n = int(sys.argv[1]) if len(sys.argv) > 1 else 160
if n <= 0 or n % 16:
    raise SystemExit("the size must be a multiple of 16")

device = Device()
device.set_current()
if device.compute_capability < (8, 0):
    raise SystemExit(f"{device.name} lacks this instruction, which needs compute capability 8.0 or higher")
stream = device.create_stream()
product = Program(SOURCE, "c++").compile("cubin").get_kernel("product")
launch = product.bind(LaunchConfig(grid=(n // 8, n // 16), block=32), stream=stream)

a, b = np.random.default_rng(1).random((2, n, n)).astype(np.float16)
left, right = device.to_device(a, stream=stream), device.to_device(b.T, stream=stream)
result = device.empty((n, n), np.float32, stream=stream)
launch(left.ptr, right.ptr, result, n)  # loads the code
with stream.timed() as timer:
    launch(left.ptr, right.ptr, result, n)
print(f"{timer.ms:.3f} ms, {2 * n**3 / timer.ms / 1e6:.1f} GFLOP/s")
expected = a.astype(np.float32) @ b.astype(np.float32)
if not np.allclose(result.to_host(stream=stream), expected, rtol=1e-3):
    raise SystemExit("the product is wrong")
print(f"verified: the product of {n} x {n} matrices is NumPy's")
