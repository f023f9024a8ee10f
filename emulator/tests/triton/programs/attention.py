# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fused attention: the softmax is computed block by block, and the scores are never stored."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def attention(q, k, v, out, scale, length, HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0) * M, tl.program_id(1) * length * HEAD
    rows, depth = start + tl.arange(0, M), tl.arange(0, HEAD)
    queries = tl.load(q + head + rows[:, None] * HEAD + depth)
    most = tl.full((M,), -float("inf"), tl.float32)
    sums = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, HEAD), tl.float32)
    end = start + M if CAUSAL else length
    for first in range(0, end, N):
        places = first + tl.arange(0, N)
        keys = tl.load(k + head + places[None, :] * HEAD + depth[:, None])
        scores = tl.dot(queries, keys) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= places, scores, -float("inf"))
        larger = tl.maximum(most, tl.max(scores, 1))
        powers, change = tl.exp(scores - larger[:, None]), tl.exp(most - larger)
        sums = sums * change + tl.sum(powers, 1)
        values = tl.load(v + head + places[:, None] * HEAD + depth)
        total = tl.dot(powers.to(tl.float16), values, total * change[:, None])
        most = larger
    tl.store(out + head + rows[:, None] * HEAD + depth, (total / sums[:, None]).to(tl.float16))


rng = np.random.default_rng(6)
heads, length, size = 2, 64, 32
q, k, v = rng.normal(size=(3, heads, length, size)).astype(np.float16)
for causal in (False, True):
    out = empty(q.shape, "float16")
    attention[(length // 32, heads)](
        tensor(q), tensor(k), tensor(v), out, size**-0.5, length, HEAD=size, M=32, N=32, CAUSAL=causal, num_warps=2
    )
    scores = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) * size**-0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    expected = powers / powers.sum(2, keepdims=True) @ v.astype(np.float32)
    np.testing.assert_allclose(out.numpy(), expected, atol=1e-2)
