# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans and sorting, along both axes and with functions of the program."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def chained(a_scale, a_offset, b_scale, b_offset):
    return a_scale * b_scale, a_offset * b_scale + b_offset


@triton.jit
def reduce(x, sums, most, places, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * N + columns)
    tl.store(sums + columns, tl.sum(values, axis=0))
    tl.store(most + rows, tl.reduce(values, 1, larger))
    tl.store(places + rows, tl.argmin(values, axis=1))


@triton.jit
def scan(x, y, scales, sums, sorted, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)
    values, factors = tl.load(x + place), tl.load(y + place)
    products, results = tl.associative_scan((factors, values), 1, chained)
    tl.store(scales + place, products)
    tl.store(sums + place, results)
    tl.store(sorted + place, tl.sort(values, descending=True))


rng = np.random.default_rng(10)
m, n = 16, 64
x, y = rng.random((2, m, n), np.float32)
sums, most, places = empty(n), empty(m), empty(m, "int32")
reduce[(1,)](tensor(x), sums, most, places, M=m, N=n)
np.testing.assert_allclose(sums.numpy(), x.sum(0), rtol=1e-5)
np.testing.assert_array_equal(most.numpy(), x.max(1))
np.testing.assert_array_equal(places.numpy(), x.argmin(1))
scales, results, ordered = (empty(x.shape) for _ in range(3))
scan[(1,)](tensor(x), tensor(y), scales, results, ordered, M=m, N=n)
expected = np.empty_like(x)
state = np.zeros(m, np.float32)
for i in range(n):
    state = state * y[:, i] + x[:, i]
    expected[:, i] = state
np.testing.assert_allclose(scales.numpy(), y.cumprod(1), rtol=1e-4)
np.testing.assert_allclose(results.numpy(), expected, rtol=1e-4)
np.testing.assert_array_equal(ordered.numpy(), -np.sort(-x, 1))
