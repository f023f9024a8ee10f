# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A wave on a string, by finite differences: three arrays that change places."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel

n, steps = 201, 400
c = 0.5  # how far a wave goes in a step, in points
x = np.linspace(0, 1, n)
start = np.sin(np.pi * x) + 0.3 * np.sin(3 * np.pi * x)

step = ElementwiseKernel(
    "const double *before, const double *now, double *after, double c2",
    "after[i] = i == 0 || i == n - 1 ? 0.0 : 2*now[i] - before[i] + c2 * (now[i-1] - 2*now[i] + now[i+1])",
    "wave_step",
)
now = gpuarray.to_gpu(start)
# The first step back, from rest, by views of the array.
before = now.copy()
before[1:-1] = now[1:-1] + 0.5 * c**2 * (now[:-2] - 2 * now[1:-1] + now[2:])
before[0] = before[n - 1] = 0.0
after = gpuarray.empty_like(now)
for _ in range(steps):
    step(before, now, after, c * c)
    before, now, after = now, after, before

# Each mode oscillates with the frequency of the scheme.
expected = np.zeros(n)
for mode, size in ((1, 1.0), (3, 0.3)):
    omega = 2 * np.arcsin(c * np.sin(mode * np.pi / (2 * (n - 1))))
    expected += size * np.cos(omega * steps) * np.sin(mode * np.pi * x)
assert np.allclose(now.get(), expected, atol=1e-9), abs(now.get() - expected).max()
print("wave equation OK")
