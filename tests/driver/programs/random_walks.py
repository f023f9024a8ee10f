# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Random walks with generators on the device; the end points follow the law of diffusion."""

import numpy as np

import cuda.core.driver as drv
import cuda.core.driver.autoinit
from cuda.core.driver import curandom, gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel

walkers, steps = 4000, 20
np.random.seed(7)
generator = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_uniform)
stream = drv.Stream()

position = gpuarray.zeros(walkers, np.float32)
farthest = gpuarray.zeros(walkers, np.float32)
noise = gpuarray.empty(walkers, np.float32)
walk = ElementwiseKernel(
    "float *position, float *farthest, const float *noise",
    "position[i] += noise[i]; farthest[i] = fmaxf(farthest[i], fabsf(position[i]))",
    "walk",
)
drv.Context.synchronize()
for _ in range(steps):
    generator.fill_normal(noise, stream=stream)
    walk(position, farthest, noise, stream=stream)
stream.synchronize()

ends = position.get()
assert abs(ends.mean()) < 4 * np.sqrt(steps / walkers)
assert abs(ends.var() / steps - 1) < 0.12
assert (farthest.get() >= abs(ends)).all()

# Walks of one step to the left or to the right.
coins = generator.gen_uniform((steps, walkers), np.float32)
paths = gpuarray.if_positive(coins - 0.5, gpuarray.ones_like(coins), -gpuarray.ones_like(coins))
ends = paths.get().sum(axis=0)
assert ((ends + steps) % 2 == 0).all() and abs(ends.var() / steps - 1) < 0.12
print("random walks OK")
