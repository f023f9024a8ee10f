# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The Mandelbrot set, with complex numbers of the helper header."""

import numpy as np

import cuda.core.driver as drv

import cuda.core.driver.autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
#include <pycuda-complex.hpp>
typedef pycuda::complex<float> cmplx;

__global__ void mandelbrot(unsigned short *output, const cmplx *q, int maxiter, int n)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= n) return;
    cmplx z(0.f, 0.f);
    output[gid] = 0;
    for (int i = 0; i < maxiter; i++) {
        z = z * z + q[gid];
        if (norm(z) > 4.f) {
            output[gid] = i + 1;
            return;
        }
    }
}
""")

w, h, maxiter = 40, 30, 50
y, x = np.ogrid[-1.3 : 1.3 : h * 1j, -2.13 : 0.77 : w * 1j]
q = (x + y * 1j).astype(np.complex64).ravel()
output = np.empty(q.shape, dtype=np.uint16)
mod.get_function("mandelbrot")(
    drv.Out(output), drv.In(q), np.int32(maxiter), np.int32(q.size), block=(64, 1, 1), grid=((q.size + 63) // 64, 1)
)

reference = np.zeros(q.shape, np.uint16)
z = np.zeros(q.shape, np.complex64)
alive = np.ones(q.shape, bool)
for i in range(maxiter):
    z[alive] = z[alive] * z[alive] + q[alive]
    gone = alive & (z.real**2 + z.imag**2 > 4)
    reference[gone] = i + 1
    alive &= ~gone
assert (output != reference).mean() < 0.02  # points at the border differ by rounding
assert output.max() > 5 and (output == 0).any()
print("Mandelbrot OK")
