# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of several sizes in one launch, whose addresses are in a tensor."""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"PROGRAMS": n}) for n in (2, 5)], key=["count"])
@triton.jit
def products(
    addresses, sizes, strides, count, PROGRAMS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    tile = tl.program_id(0)
    before = 0
    for i in range(count):
        m, n, k = tl.load(sizes + 3 * i), tl.load(sizes + 3 * i + 1), tl.load(sizes + 3 * i + 2)
        across = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * across
        while tile >= before and tile < before + tiles:
            a_row, b_row, c_row = tl.load(strides + 3 * i), tl.load(strides + 3 * i + 1), tl.load(strides + 3 * i + 2)
            a = tl.load(addresses + 3 * i).to(tl.pointer_type(tl.float16))
            b = tl.load(addresses + 3 * i + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(addresses + 3 * i + 2).to(tl.pointer_type(tl.float16))
            rows, columns = (
                (tile - before) // across * M + tl.arange(0, M),
                (tile - before) % across * N + tl.arange(0, N),
            )
            depth = tl.arange(0, K)
            total = tl.zeros((M, N), tl.float32)
            for step in range(0, k, K):
                tl.multiple_of(a, 16)
                left = tl.load(a + rows[:, None] * a_row + step + depth)
                right = tl.load(b + (step + depth)[:, None] * b_row + columns)
                total = tl.dot(left, right, total)
            tl.store(c + rows[:, None] * c_row + columns, total.to(tl.float16))
            tile += PROGRAMS
        before += tiles


torch.manual_seed(7)
groups = []
for m, n, k in ((64, 32, 96), (32, 64, 32), (96, 96, 64)):
    groups.append((torch.rand(m, k, device="cuda").half(), torch.rand(k, n, device="cuda").half()))
results = [torch.empty(len(a), b.shape[1], device="cuda", dtype=torch.float16) for a, b in groups]
triples = [(a, b, c) for (a, b), c in zip(groups, results, strict=True)]
addresses = torch.tensor([[t.data_ptr() for t in three] for three in triples], device="cuda")
sizes = torch.tensor([[*c.shape, a.shape[1]] for a, _, c in triples], dtype=torch.int32, device="cuda")
strides = torch.tensor([[t.stride(0) for t in three] for three in triples], dtype=torch.int32, device="cuda")
products[lambda meta: (meta["PROGRAMS"],)](addresses, sizes, strides, len(groups), M=32, N=32, K=32)
for a, b, c in triples:
    torch.testing.assert_close(c, a @ b, atol=1e-2, rtol=1e-2)
