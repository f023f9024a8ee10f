# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A product of matrices with pipelined loads, programs in groups that share a cache, and autotuning."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor

CONFIGS = [
    triton.Config({"M": 64, "N": 32, "K": 32, "GROUP": 2}, num_stages=3, num_warps=4),
    triton.Config({"M": 32, "N": 32, "K": 16, "GROUP": 1}, num_stages=2, num_warps=2),
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    across, down = tl.cdiv(n, N), tl.cdiv(m, M)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row = first + program % (GROUP * across) % height
    column = program % (GROUP * across) // height
    rows, columns = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(k, K)):
        depth = step * K + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + depth, mask=(rows[:, None] < m) & (depth < k), other=0.0)
        right = tl.load(b + depth[:, None] * n + columns, mask=(depth[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(left, right, total)
    mask = (rows[:, None] < m) & (columns < n)
    tl.store(c + rows[:, None] * n + columns, tl.maximum(total, 0.0).to(tl.float16), mask=mask)


rng = np.random.default_rng(3)
m, n, k = 72, 40, 80
a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
c = empty((m, n), "float16")
grid = lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)  # noqa: E731
matmul[grid](tensor(a), tensor(b), c, m, n, k)
expected = np.maximum(a.astype(np.float32) @ b.astype(np.float32), 0)
np.testing.assert_allclose(c.numpy(), expected, rtol=1e-2, atol=2e-2)
