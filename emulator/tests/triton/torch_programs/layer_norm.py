# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Layer normalization as a function of PyTorch's autograd; locks protect partial sums of gradients."""

import torch
import triton
import triton.language as tl


@triton.jit
def forward(x, y, weight, bias, means, scales, row_stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * row_stride
    y += row * row_stride
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        place = start + tl.arange(0, BLOCK)
        sums += tl.load(x + place, mask=place < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        place = start + tl.arange(0, BLOCK)
        values = tl.load(x + place, mask=place < columns, other=0.0).to(tl.float32)
        values = tl.where(place < columns, values - mean, 0.0)
        squares += values * values
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for start in range(0, columns, BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = place < columns
        values = (tl.load(x + place, mask=mask, other=0.0).to(tl.float32) - mean) * scale
        tl.store(y + place, values * tl.load(weight + place, mask=mask) + tl.load(bias + place, mask=mask), mask=mask)


@triton.jit
def backward_x(
    dx, dy, dweights, dbiases, x, weight, means, scales, locks, row_stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    mask = place < columns
    lock, count = locks + row % GROUPS, locks + GROUPS + row % GROUPS
    dweights += row % GROUPS * columns + place
    dbiases += row % GROUPS * columns + place
    values = tl.load(x + row * row_stride + place, mask=mask, other=0).to(tl.float32)
    slopes = tl.load(dy + row * row_stride + place, mask=mask, other=0).to(tl.float32)
    weights = tl.load(weight + place, mask=mask).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(mask, (values - tl.load(means + row)) * scale, 0.0)
    weighted = tl.where(mask, weights * slopes, 0.0)
    both = normal * (tl.sum(normal * weighted, axis=0) / columns) + tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * row_stride + place, (weighted - both) * scale, mask=mask)
    part, offset = (slopes * normal).to(weights.dtype), slopes.to(weights.dtype)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) != 0:
        part += tl.load(dweights, mask=mask)
        offset += tl.load(dbiases, mask=mask)
    tl.store(dweights, part, mask=mask)
    tl.store(dbiases, offset, mask=mask)
    tl.debug_barrier()  # Triton 3.8 has none between the threads' loads and one thread's exchange
    tl.atomic_xchg(count, 1)
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_rows(parts, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    place = tl.program_id(0) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, rows, M):
        row = start + tl.arange(0, M)
        mask = (row[:, None] < rows) & (place < columns)
        sums += tl.load(parts + row[:, None] * columns + place, mask=mask, other=0.0)
    tl.store(out + place, tl.sum(sums, axis=0), mask=place < columns)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shape, weight, bias, epsilon):
        y, flat = torch.empty_like(x), x.reshape(-1, x.shape[-1])
        rows, columns = flat.shape
        means = torch.empty((rows,), dtype=torch.float32, device=x.device)
        scales = torch.empty((rows,), dtype=torch.float32, device="cuda")
        block = 64
        forward[(rows,)](
            flat, y, weight, bias, means, scales, flat.stride(0), columns, epsilon, BLOCK=block, num_ctas=1
        )
        ctx.save_for_backward(x, weight, means, scales)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, means, scales = ctx.saved_tensors
        groups, columns = 3, weight.shape[0]
        locks = torch.zeros(2 * groups, dtype=torch.int32, device=weight.device)
        dweights, dbiases = torch.zeros((2, groups, columns), dtype=torch.float32, device=weight.device)
        dweight, dbias, dx = torch.empty_like(weight), torch.empty_like(weight), torch.empty_like(dy)
        flat = x.reshape(-1, x.shape[-1])
        backward_x[(len(flat),)](
            dx, dy, dweights, dbiases, flat, weight, means, scales, locks, flat.stride(0), columns,
            GROUPS=groups, BLOCK=triton.next_power_of_2(columns),
        )  # fmt: skip
        grid = lambda meta: (triton.cdiv(columns, meta["N"]),)  # noqa: E731
        sum_rows[grid](dweights, dweight, groups, columns, M=8, N=64)
        sum_rows[grid](dbiases, dbias, groups, columns, M=8, N=64)
        return dx, None, dweight, dbias, None


def results(function, x, weight, bias, dy):
    """Return the values and the gradients."""
    given = [t.clone().requires_grad_(True) for t in (x, weight, bias)]
    y = function(given[0], (x.shape[-1],), given[1], given[2], 1e-5)
    y.backward(dy)
    return [y.detach(), *(t.grad for t in given)]


torch.manual_seed(5)
for dtype, tolerance in ((torch.float32, 1e-4), (torch.float16, 1e-2)):
    x = -2.3 + 0.5 * torch.randn(4, 3, 151, device="cuda")
    weight, bias = torch.rand(2, 151, device="cuda")
    given = [t.to(dtype) for t in (x, weight, bias, 0.1 * torch.randn_like(x))]
    ours = results(LayerNorm.apply, *given)
    # PyTorch's sums of half precision on a CPU are less exact than the kernel's.
    theirs = results(torch.nn.functional.layer_norm, *(t.float() for t in given))
    for our, their in zip(ours, theirs, strict=True):
        assert our.dtype is dtype
        torch.testing.assert_close(our.float(), their, atol=tolerance, rtol=tolerance)
