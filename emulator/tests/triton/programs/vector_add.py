# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The sum of two vectors, as NumPy arrays, some of whose length no block divides."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.store(out + place, tl.load(x + place, mask=mask) + tl.load(y + place, mask=mask), mask=mask)


rng = np.random.default_rng(1)
for count in (1, 255, 256, 1000):
    x, y = rng.random((2, count), np.float32)
    out = np.empty_like(x)
    add[lambda meta: (triton.cdiv(meta["count"], meta["BLOCK"]),)](x, y, out, count, BLOCK=256)
    np.testing.assert_array_equal(out, x + y)
