# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A European call and pi by random numbers of the device: curandom, ElementwiseKernel, ReductionKernel.
import math
import numpy as np
import pycuda.autoinit
import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

rng = curandom.XORWOWRandomNumberGenerator()
n = 1 << 16
s0, strike, rate, sigma, years = 100.0, 105.0, 0.03, 0.2, 1.0
normals = rng.gen_normal((n,), dtype=np.float32)
payoff = gpuarray.empty_like(normals)
price = ElementwiseKernel(
    "float *out, const float *z, float s0, float k, float drift, float vol",
    "float st = s0 * expf(drift + vol * z[i]); out[i] = fmaxf(st - k, 0.f)", "payoff")
price(payoff, normals, s0, strike, (rate - sigma**2 / 2) * years, sigma * math.sqrt(years))
mean = float(gpuarray.sum(payoff).get()) / n * math.exp(-rate * years)
d1 = (math.log(s0 / strike) + (rate + sigma**2 / 2) * years) / (sigma * math.sqrt(years))
d2 = d1 - sigma * math.sqrt(years)
cdf = lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2)))
exact = s0 * cdf(d1) - strike * math.exp(-rate * years) * cdf(d2)
print("monte carlo", mean, "black scholes", exact)
assert abs(mean - exact) < 0.4

x = rng.gen_uniform(n, np.float32)
y = rng.gen_uniform(n, np.float32)
hits = ReductionKernel(np.int32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]+y[i]*y[i] <= 1 ? 1 : 0",
                       arguments="const float *x, const float *y", name="hits")
pi = 4.0 * int(hits(x, y).get()) / n
print("pi", pi)
assert abs(pi - math.pi) < 0.05
assert abs(float(gpuarray.sum(normals).get()) / n) < 0.02
variance = float(gpuarray.dot(normals, normals).get()) / n
assert abs(variance - 1) < 0.03
u = x.get()
assert u.min() > 0 and u.max() <= 1
rng.fill_normal(normals)
assert abs(normals.get().mean()) < 0.02
ints = rng.gen_uniform((100,), np.uint32).get()
assert len(set(ints.tolist())) > 95
