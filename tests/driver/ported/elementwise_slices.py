# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# ElementwiseKernel over ranges and slices, with i-loops, a preamble, several outputs and complex numbers.
import numpy as np
import pycuda.autoinit
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel, ScalarArg, VectorArg

n = 500
x = np.linspace(0, 1, n).astype(np.float32)
gx = gpuarray.to_gpu(x)
gy = gpuarray.zeros_like(gx)
horner = ElementwiseKernel(
    "const float *x, float *y, const float *c, int degree",
    """
    float sum = 0;
    for (int k = degree; k >= 0; k--) sum = sum * x[i] + c[k];
    y[i] = sum;
    """, "horner")
c = np.array([1, -2, 0.5, 3], np.float32)
horner(gx, gy, gpuarray.to_gpu(c), 3)
assert np.allclose(gy.get(), np.polyval(c[::-1], x), atol=1e-5)

mark = ElementwiseKernel("float *y", "y[i] = 7", "mark")
gy.fill(0)
mark(gy, slice=slice(10, 400, 7))
expected = np.zeros(n, np.float32)
expected[10:400:7] = 7
assert (gy.get() == expected).all()
mark(gy, range=slice(0, 5, 1))
expected[:5] = 7
assert (gy.get() == expected).all()
mark(gy, slice=slice(n - 3, n, 1))
expected[-3:] = 7
assert (gy.get() == expected).all()

both = ElementwiseKernel([VectorArg(np.float32, "x"), VectorArg(np.float32, "s"), VectorArg(np.float32, "c"),
                          ScalarArg(np.float32, "w")], "sincosf(w * x[i], s + i, c + i)", "both")
s, k = gpuarray.empty_like(gx), gpuarray.empty_like(gx)
both(gx, s, k, 3)
assert np.allclose(s.get(), np.sin(3 * x), atol=1e-5) and np.allclose(k.get(), np.cos(3 * x), atol=1e-5)

julia = ElementwiseKernel(
    "pycuda::complex<float> *z, int *steps, float re, float im, int most",
    "int k = 0; pycuda::complex<float> v = z[i], p(re, im); while (k < most && norm(v) < 4.f) { v = v * v + p; ++k; } steps[i] = k;",
    "julia", preamble="#define UNUSED 1")
grid = (np.linspace(-1.5, 1.5, 40)[None, :] + 1j * np.linspace(-1.5, 1.5, 30)[:, None]).astype(np.complex64)
steps = gpuarray.empty(grid.shape, np.int32)
julia(gpuarray.to_gpu(grid), steps, -0.4, 0.6, 50)
host = np.zeros(grid.shape, int)
v = grid.copy()
for _ in range(50):
    live = (v.real**2 + v.imag**2) < 4
    host[live] += 1
    v[live] = v[live] ** 2 + np.complex64(-0.4 + 0.6j)
assert (abs(steps.get() - host) <= 1).mean() > 0.97

strided = ElementwiseKernel("double *a, double b, unsigned char *flag, long big",
                            "a[i] = a[i] * b + big; flag[i] = i % 2", "strided", options=["-DFOO=3"])
d = gpuarray.to_gpu(np.arange(n, dtype=np.float64))
flag = gpuarray.empty(n, np.uint8)
strided(d, 0.5, flag, 10**12)
assert (d.get() == np.arange(n) * 0.5 + 10**12).all() and (flag.get() == np.arange(n) % 2).all()
