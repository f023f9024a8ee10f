# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sums of tensors of several types, of views with strides, and of scalars."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add(x, y, out, count, x_stride, factor, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    total = tl.load(x + place * x_stride, mask=mask) + factor * tl.load(y + place, mask=mask)
    tl.store(out + place, total, mask=mask)


def total(x, y, factor=1):
    out = torch.empty_like(y)
    assert x.device == y.device == out.device and y.is_contiguous()
    add[lambda meta: (triton.cdiv(y.numel(), meta["BLOCK"]),)](x, y, out, y.numel(), x.stride(0), factor, BLOCK=256)
    return out


torch.manual_seed(0)
for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    x, y = torch.rand(1000, device=DEVICE).to(dtype), torch.rand(1000, device="cuda", dtype=dtype)
    assert x.is_cuda
    torch.testing.assert_close(total(x, y), x + y)
for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
    x = torch.randint(0, 50, (1000,), dtype=dtype, device=torch.device("cuda", 0))
    torch.testing.assert_close(total(x, x.cuda(), 2), x + 2 * x)
wide = torch.rand(100, 6).to("cuda")
torch.testing.assert_close(total(wide[:, 3], wide.T.contiguous()[1]), wide[:, 3] + wide[:, 1])
torch.testing.assert_close(
    total(wide[10:, 0], wide[10:].flatten()[:90], 0.5), wide[10:, 0] + 0.5 * wide[10:].flatten()[:90]
)
torch.cuda.synchronize()
