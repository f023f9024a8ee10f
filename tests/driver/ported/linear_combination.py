# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
import pycuda.gpuarray as gpuarray
import pycuda.driver as cuda
import pycuda.autoinit
import numpy
from pycuda.curandom import rand as curand
import pycuda.cumath as cumath
import numpy.linalg as la

a_gpu = curand((50,))
b_gpu = curand((50,))

from pycuda.elementwise import ElementwiseKernel

lin_comb = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "linear_combination")

c_gpu = gpuarray.empty_like(a_gpu)
lin_comb(5, a_gpu, 6, b_gpu, c_gpu)
assert la.norm((c_gpu - (5 * a_gpu + 6 * b_gpu)).get()) < 1e-5

# pi by throwing darts
n = 100000
x, y = curand(n), curand(n)
inside = gpuarray.sum((x * x + y**2 <= 1).astype(numpy.int32)).get()
pi = 4.0 * int(inside) / n
print("pi is about", pi)
assert abs(pi - numpy.pi) < 0.05

# a function of an array
angle = gpuarray.arange(0, 400, 1, dtype=numpy.float32)
one = cumath.sin(angle) ** 2 + cumath.cos(angle) ** 2
assert la.norm(one.get() - 1) < 1e-4

assert gpuarray.max(angle).get() == 399 and gpuarray.min(angle).get() == 0
assert (angle[::2].get() == angle.get()[::2]).all()
start, stop = cuda.Event(), cuda.Event()
start.record()
for i in range(10):
    angle = angle * 0.5 + 1
stop.record()
stop.synchronize()
print("%g ms" % start.time_till(stop))
autoinit = pycuda.autoinit
autoinit.context.synchronize()
