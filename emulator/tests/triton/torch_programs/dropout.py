# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dropout by a stored mask, and by a seed from which the same mask follows again."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked(x, kept, out, count, p, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    values, keep = tl.load(x + place, mask=mask), tl.load(kept + place, mask=mask)
    tl.store(out + place, tl.where(keep, values / (1 - p), 0.0), mask=mask)


@triton.jit
def seeded(x, out, count, p, seed, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    keep = tl.rand(seed, place) > p
    tl.store(out + place, tl.where(keep, tl.load(x + place, mask=mask) / (1 - p), 0.0), mask=mask)


torch.manual_seed(3)
x, p = torch.randn(10_000, device="cuda"), 0.25
grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)  # noqa: E731
out, kept = torch.empty_like(x), torch.rand(x.numel(), device="cuda") > p
masked[grid](x, kept, out, x.numel(), p, BLOCK=1024)
torch.testing.assert_close(out, torch.where(kept, x / (1 - p), 0.0))


def drop(seed):
    out = torch.empty_like(x)
    seeded[grid](x, out, x.numel(), p, seed, BLOCK=1024)
    return out


first, again, other = drop(1), drop(1), drop(2)
assert torch.equal(first, again) and not torch.equal(first, other)
torch.testing.assert_close(first, torch.where(first != 0, x / (1 - p), 0.0))
assert abs((first == 0).float().mean() - p) < 0.02
