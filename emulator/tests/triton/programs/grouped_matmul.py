# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of several sizes in one launch; their addresses and sizes are in device memory."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def products(addresses, sizes, count, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for i in range(count):
        m, n, k = tl.load(sizes + 3 * i), tl.load(sizes + 3 * i + 1), tl.load(sizes + 3 * i + 2)
        across = tl.cdiv(n, BLOCK)
        tiles = tl.cdiv(m, BLOCK) * across
        while tile >= before and tile < before + tiles:
            a = tl.load(addresses + 3 * i).to(tl.pointer_type(tl.float32))
            b = tl.load(addresses + 3 * i + 1).to(tl.pointer_type(tl.float32))
            c = tl.load(addresses + 3 * i + 2).to(tl.pointer_type(tl.float32))
            rows = (tile - before) // across * BLOCK + tl.arange(0, BLOCK)
            columns = (tile - before) % across * BLOCK + tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK, BLOCK), tl.float32)
            for step in range(0, k, BLOCK):
                depth = step + tl.arange(0, BLOCK)
                left = tl.load(a + rows[:, None] * k + depth, mask=(rows[:, None] < m) & (depth < k), other=0.0)
                right = tl.load(b + depth[:, None] * n + columns, mask=(depth[:, None] < k) & (columns < n), other=0.0)
                total = tl.dot(left, right, total, input_precision="ieee")
            tl.store(c + rows[:, None] * n + columns, total, mask=(rows[:, None] < m) & (columns < n))
            tile += PROGRAMS
        before += tiles


rng = np.random.default_rng(7)
sizes = [(32, 20, 17), (5, 40, 33), (16, 16, 16)]
factors = [
    (rng.normal(size=(m, k)).astype(np.float32), rng.normal(size=(k, n)).astype(np.float32)) for m, n, k in sizes
]
tensors = [(tensor(a), tensor(b), empty((len(a), b.shape[1]))) for a, b in factors]
addresses = tensor(np.array([[t.data_ptr() for t in three] for three in tensors], np.int64))
products[(3,)](addresses, tensor(np.array(sizes, np.int32)), len(sizes), PROGRAMS=3, BLOCK=16)
for (a, b), (_, _, c) in zip(factors, tensors, strict=True):
    np.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4, atol=1e-4)
