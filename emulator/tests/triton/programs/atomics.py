# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Atomic operations: a histogram, extremes, and a value that one program publishes and others wait for."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import tensor, zeros


@triton.jit
def histogram(x, bins, extremes, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    values = tl.load(x + place, mask=mask, other=0)
    tl.atomic_add(bins + values, 1, mask=mask)
    tl.atomic_max(extremes, tl.max(values, 0))
    tl.atomic_min(extremes + 1, tl.min(tl.where(mask, values, 99), 0))


@triton.jit
def relay(data, flags, programs, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    if me > 0:
        while tl.atomic_add(flags + me - 1, 0, sem="acquire") == 0:
            pass
    before = tl.load(data + me * BLOCK + place)
    tl.store(data + (me + 1) * BLOCK + place, before + 1)
    tl.debug_barrier()
    tl.atomic_xchg(flags + me, 1, sem="release")


rng = np.random.default_rng(11)
x = rng.integers(0, 16, 1000).astype(np.int32)
bins, extremes = zeros(16, "int32"), tensor(np.array([0, 99], np.int32))
histogram[(4,)](tensor(x), bins, extremes, x.size, BLOCK=256)
np.testing.assert_array_equal(bins.numpy(), np.bincount(x, minlength=16))
assert extremes.numpy().tolist() == [x.max(), x.min()]
programs = 4
data, flags = zeros((programs + 1) * 64, "int32"), zeros(programs, "int32")
relay[(programs,)](data, flags, programs, BLOCK=64)
np.testing.assert_array_equal(data.numpy().reshape(-1, 64)[:, 0], np.arange(programs + 1))
