# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Layer normalization and its gradients; a lock for each of two rows of partial sums protects them."""

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import empty, tensor, zeros


@triton.jit
def forward(x, y, weight, bias, means, scales, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    mask = place < columns
    values = tl.load(x + row * columns + place, mask=mask, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centered = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    result = centered * scale * tl.load(weight + place, mask=mask) + tl.load(bias + place, mask=mask)
    tl.store(y + row * columns + place, result, mask=mask)


@triton.jit
def backward(
    dx, dy, x, weight, means, scales, dweight, dbias, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    mask = place < columns
    values = tl.load(x + row * columns + place, mask=mask, other=0.0)
    slopes = tl.load(dy + row * columns + place, mask=mask, other=0.0)
    scale = tl.load(scales + row)
    normal = tl.where(mask, (values - tl.load(means + row)) * scale, 0.0)
    weighted = tl.where(mask, tl.load(weight + place, mask=mask, other=0.0) * slopes, 0.0)
    first = tl.sum(normal * weighted, axis=0) / columns
    second = tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * columns + place, (weighted - (normal * first + second)) * scale, mask=mask)
    group = row % GROUPS
    lock, count = locks + group, locks + GROUPS + group
    dweight += group * columns + place
    dbias += group * columns + place
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    part, offset = slopes * normal, slopes
    if tl.load(count) != 0:
        part += tl.load(dweight, mask=mask)
        offset += tl.load(dbias, mask=mask)
    tl.store(dweight, part, mask=mask)
    tl.store(dbias, offset, mask=mask)
    tl.debug_barrier()  # Triton 3.8 has none between the threads' loads and one thread's exchange
    tl.atomic_xchg(count, 1)
    tl.atomic_xchg(lock, 0)


rng = np.random.default_rng(5)
rows, columns, groups = 6, 100, 2
x, dy = rng.normal(size=(2, rows, columns)).astype(np.float32)
weight, bias = rng.random((2, columns), np.float32)
given, weights = tensor(x), tensor(weight)
y, means, scales, dx = empty(x.shape), empty(rows), empty(rows), empty(x.shape)
forward[(rows,)](given, y, weights, tensor(bias), means, scales, columns, 1e-5, BLOCK=128)
mean, scale = x.mean(1, keepdims=True), 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
normal = (x - mean) * scale
np.testing.assert_allclose(y.numpy(), normal * weight + bias, atol=1e-5)
dweight, dbias = empty((groups, columns)), empty((groups, columns))
locks = zeros(2 * groups, "int32")
backward[(rows,)](
    dx, tensor(dy), given, weights, means, scales, dweight, dbias, locks, columns, GROUPS=groups, BLOCK=128
)
weighted = weight * dy
slope = weighted - normal * (normal * weighted).mean(1, keepdims=True) - weighted.mean(1, keepdims=True)
np.testing.assert_allclose(dx.numpy(), slope * scale, atol=1e-5)
np.testing.assert_allclose(dweight.numpy().sum(0), (dy * normal).sum(0), atol=1e-4)
np.testing.assert_allclose(dbias.numpy().sum(0), dy.sum(0), atol=1e-4)
