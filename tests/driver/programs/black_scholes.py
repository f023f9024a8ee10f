# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Prices of options by Black and Scholes, with arrays alone and with a kernel of one expression."""

import math

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import cumath, gpuarray
from cuda.core.driver.curandom import rand
from cuda.core.driver.elementwise import ElementwiseKernel

n = 2000
rate, volatility = 0.02, 0.3
np.random.seed(11)
stock = rand(n) * 90 + 10
strike = rand(n) * 99 + 1
years = rand(n) * 9.75 + 0.25

price = ElementwiseKernel(
    "float *call, float *put, const float *s, const float *x, const float *t, float r, float v",
    """
    float root = sqrtf(t[i]);
    float d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root);
    float d2 = d1 - v * root;
    float discounted = x[i] * expf(-r * t[i]);
    call[i] = s[i] * cnd(d1) - discounted * cnd(d2);
    put[i] = discounted * cnd(-d2) - s[i] * cnd(-d1);
    """,
    "black_scholes",
    preamble="__device__ float cnd(float d) { return 0.5f * erfcf(-d * 0.70710678f); }",
)
call, put = gpuarray.empty(n, np.float32), gpuarray.empty(n, np.float32)
price(call, put, stock, strike, years, rate, volatility)

# A call without a put is the stock, less the strike of today.
today = strike * cumath.exp(-rate * years)
parity = call - put - stock + today
assert gpuarray.max(abs(parity)).get() < 1e-4

s, x, t = stock.get().astype(float), strike.get().astype(float), years.get().astype(float)
d1 = (np.log(s / x) + (rate + volatility**2 / 2) * t) / (volatility * np.sqrt(t))
d2 = d1 - volatility * np.sqrt(t)
cnd = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
expected = s * cnd(d1) - x * np.exp(-rate * t) * cnd(d2)
assert np.allclose(call.get(), expected, atol=1e-3)
print("Black-Scholes OK")
