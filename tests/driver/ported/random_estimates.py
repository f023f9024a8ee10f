# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Estimates by random numbers: pi, an integral, and a sum of Poisson numbers.
import numpy as np
import pycuda.autoinit
import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
from pycuda import cumath
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

n = 200000
generator = curandom.XORWOWRandomNumberGenerator(seed_getter=curandom.seed_getter_uniform)
x, y = generator.gen_uniform(n, np.float32), generator.gen_uniform(n, np.float32)

inside = gpuarray.empty(n, np.int32)
hit = ElementwiseKernel("float *x, float *y, int *z", "z[i] = x[i] * x[i] + y[i] * y[i] < 1.0f", "hit")
hit(x, y, inside)
pi = 4.0 * gpuarray.sum(inside).get() / n
assert abs(pi - np.pi) < 0.03, pi

count = ReductionKernel(np.int32, neutral="0", reduce_expr="a+b",
                        map_expr="(x[i] * x[i] + y[i] * y[i] < 1) ? 1 : 0", arguments="float *x, float *y")
assert int(count(x, y).get()) == int(gpuarray.sum(inside).get())

integral = gpuarray.sum(cumath.exp(-(x * x))).get() / n
assert abs(integral - 0.746824) < 0.01

z = curandom.MRG32k3aRandomNumberGenerator(curandom.seed_getter_unique).gen_normal(n, np.float64)
mean = gpuarray.sum(z).get() / n
variance = gpuarray.dot(z, z).get() / n - mean**2
assert abs(mean) < 0.02 and abs(variance - 1) < 0.03
assert abs(gpuarray.max(z).get()) < 7 and gpuarray.min(z).get() > -7

np.random.seed(3)
a = curandom.rand((100, 100))
np.random.seed(3)
b = curandom.rand((100, 100))
assert a.shape == (100, 100) and (a.get() == b.get()).all() and 0.45 < a.get().mean() < 0.55

price = 100 * cumath.exp((0.05 - 0.02) + 0.2 * generator.gen_normal(n, np.float32))
payoff = gpuarray.maximum(price - 100, gpuarray.zeros_like(price))
call = float(gpuarray.sum(payoff).get()) / n * np.exp(-0.05)
assert abs(call - 10.45) < 0.4, call
