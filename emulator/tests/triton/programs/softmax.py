# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The softmax of each row: a program takes several rows, each in one block."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor


@triton.jit
def softmax(x, out, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        place = tl.arange(0, BLOCK)
        mask = place < columns
        values = tl.load(x + row * x_stride + place, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + place, powers / tl.sum(powers, axis=0), mask=mask)


x = np.random.default_rng(2).normal(size=(13, 181)).astype(np.float32)
out = empty(x.shape)
given = tensor(x)
softmax[(4,)](given, out, given.stride(0), out.stride(0), *x.shape, BLOCK=triton.next_power_of_2(x.shape[1]))
powers = np.exp(x - x.max(1, keepdims=True))
np.testing.assert_allclose(out.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5)
