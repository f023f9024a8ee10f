# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fused attention and its gradients as a function of PyTorch's autograd; keys and values come by tensor descriptors."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def forward(
    q, k, v, out, logs, scale, length,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start, head = tl.program_id(0) * M, tl.program_id(1) * length
    rows, depth = start + tl.arange(0, M), tl.arange(0, HEAD)
    queries = q.load([head + start, 0])
    most, sums = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    total = tl.zeros((M, HEAD), tl.float32)
    for first in tl.range(0, start + M if CAUSAL else length, N, num_stages=2):
        scores = tl.dot(queries, k.load([head + first, 0]).T) * (scale * 1.44269504)
        if CAUSAL:
            scores += tl.where(rows[:, None] >= first + tl.arange(0, N), 0, -1.0e6)
        larger = tl.maximum(most, tl.max(scores, 1))
        powers, change = tl.math.exp2(scores - larger[:, None]), tl.math.exp2(most - larger)
        sums = sums * change + tl.sum(powers, 1)
        total = tl.dot(powers.to(tl.float16), v.load([head + first, 0]), total * change[:, None])
        most = larger
    tl.store(logs + head + rows, most + tl.math.log2(sums))
    tl.store(out + (head + rows)[:, None] * HEAD + depth, (total / sums[:, None]).to(tl.float16))


@triton.jit
def dots(out, dy, deltas, HEAD: tl.constexpr, M: tl.constexpr):
    rows, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD)
    place = rows[:, None] * HEAD + depth
    tl.store(deltas + rows, tl.sum(tl.load(out + place).to(tl.float32) * tl.load(dy + place).to(tl.float32), 1))


@triton.jit
def backward(
    q, k, v, dy, dq, dk, dv, logs, deltas, scale, length,
    HEAD: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    columns, depth = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, HEAD)
    place = (head + columns)[:, None] * HEAD + depth
    keys, values = tl.load(k + place), tl.load(v + place)
    dkeys, dvalues = tl.zeros((N, HEAD), tl.float32), tl.zeros((N, HEAD), tl.float32)
    for first in range(tl.program_id(0) * N if CAUSAL else 0, length, N):
        rows = first + tl.arange(0, N)
        across = (head + rows)[:, None] * HEAD + depth
        queries, slopes = tl.load(q + across), tl.load(dy + across)
        scores = tl.dot(queries, tl.trans(keys)) * (scale * 1.44269504)
        powers = tl.math.exp2(scores - tl.load(logs + head + rows)[:, None])
        if CAUSAL:
            powers = tl.where(rows[:, None] >= columns, powers, 0.0)
        dvalues += tl.dot(tl.trans(powers.to(tl.float16)), slopes)
        dscores = powers * (tl.dot(slopes, tl.trans(values)) - tl.load(deltas + head + rows)[:, None])
        dscores = (dscores * scale).to(tl.float16)
        dkeys += tl.dot(tl.trans(dscores), queries)
        tl.atomic_add(dq + across, tl.dot(dscores, keys))
    tl.store(dk + place, dkeys.to(tl.float16))
    tl.store(dv + place, dvalues.to(tl.float16))


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, scale):
        batch, heads, length, size = q.shape
        out = torch.empty_like(q)
        logs = torch.empty((batch, heads, length), device=q.device, dtype=torch.float32)
        flat = [TensorDescriptor.from_tensor(t.reshape(-1, size), [32, size]) for t in (q, k, v)]
        forward[(length // 32, batch * heads)](*flat, out, logs, scale, length, HEAD=size, M=32, N=32, CAUSAL=causal)
        ctx.save_for_backward(q, k, v, out, logs)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx, dy):
        q, k, v, out, logs = ctx.saved_tensors
        batch, heads, length, size = q.shape
        assert dy.is_contiguous()
        dk, dv, deltas = torch.empty_like(k), torch.empty_like(v), torch.empty_like(logs)
        dq = torch.zeros(q.shape, device="cuda", dtype=torch.float32)
        dots[(logs.numel() // 32,)](out, dy, deltas, HEAD=size, M=32)
        backward[(length // 32, batch * heads)](
            q, k, v, dy, dq, dk, dv, logs, deltas, ctx.scale, length, HEAD=size, N=32, CAUSAL=ctx.causal
        )
        return dq.half(), dk, dv, None, None


def gradients(function, given, dy):
    """Return the values and the gradients."""
    given = [t.clone().requires_grad_(True) for t in given]
    out = function(*given)
    out.backward(dy.to(out.dtype))
    return [t.detach().float() for t in (out, *(t.grad for t in given))]


torch.manual_seed(6)
scale = 0.3
given = [torch.randn(2, 1, 64, 32, device="cuda").half() for _ in range(3)]
dy = torch.randn_like(given[0])


def compare(causal):
    ours = gradients(lambda q, k, v: Attention.apply(q, k, v, causal, scale), given, dy)
    exact = lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(  # noqa: E731
        q, k, v, is_causal=causal, scale=scale
    )
    theirs = gradients(exact, [t.float() for t in given], dy.float())
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, atol=2e-2, rtol=1e-2)


compare(causal=True)
compare(causal=False)
