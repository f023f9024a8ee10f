# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A product of matrices by a fixed number of programs, each of which takes tile after tile."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def product(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PROGRAMS: tl.constexpr, FLATTEN: tl.constexpr
):
    across = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * across, PROGRAMS, flatten=FLATTEN):
        rows, columns = tile // across * M + tl.arange(0, M), tile % across * N + tl.arange(0, N)
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(k, K)):
            depth = step * K + tl.arange(0, K)
            left = tl.load(a + rows[:, None] * k + depth, mask=(rows[:, None] < m) & (depth < k), other=0.0)
            right = tl.load(b + depth[:, None] * n + columns, mask=(depth[:, None] < k) & (columns < n), other=0.0)
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * n + columns, total, mask=(rows[:, None] < m) & (columns < n))


rng = np.random.default_rng(8)
m, n, k = 96, 48, 64
a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
for flatten in (False, True):
    c = empty((m, n))
    product[(2,)](tensor(a), tensor(b), c, m, n, k, M=64, N=16, K=32, PROGRAMS=2, FLATTEN=flatten)
    np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)
