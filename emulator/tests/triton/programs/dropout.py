# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dropout whose mask follows from a seed, so that it need not be stored."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def dropout(x, out, count, p, seed, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    keep = tl.rand(seed, place) > p
    values = tl.load(x + place, mask=mask)
    tl.store(out + place, tl.where(keep, values / (1 - p), 0.0), mask=mask)


def philox(seed, place, rounds=10):
    """Return the first word of Philox 4x32 for each place."""
    state = [place.astype(np.uint64), *(np.zeros_like(place, np.uint64) for _ in range(3))]
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(rounds):
        first, second = np.uint64(0xD2511F53) * state[0], np.uint64(0xCD9E8D57) * state[2]
        state = [(second >> np.uint64(32)) ^ state[1] ^ keys[0], second & low,
                 (first >> np.uint64(32)) ^ state[3] ^ keys[1], first & low]  # fmt: skip
        keys = [keys[0] + np.uint64(0x9E3779B9) & low, keys[1] + np.uint64(0xBB67AE85) & low]
    return state[0].astype(np.uint32)


count, p, seed = 1000, 0.3, 123
x = np.random.default_rng(4).normal(size=count).astype(np.float32)
results = []
for _ in range(2):
    out = empty(count)
    dropout[(triton.cdiv(count, 256),)](tensor(x), out, count, p, seed, BLOCK=256)
    results.append(out.numpy())
np.testing.assert_array_equal(*results)
word = philox(seed, np.arange(count)).view(np.int32).astype(np.int64)
uniform = np.where(word < 0, -word - 1, word) * 4.6566127342e-10
np.testing.assert_allclose(results[0], np.where(uniform > p, x / (1 - np.float32(p)), 0), rtol=1e-6)
