# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of ``triton.language.extra.libdevice``."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def apply(x, out, count, NAME: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + place, mask=place < count, other=0.5)
    if NAME == "asin":
        result = libdevice.asin(values)
    elif NAME == "tanh":
        result = libdevice.tanh(values)
    elif NAME == "lgamma":
        result = libdevice.lgamma(values)
    elif NAME == "expm1":
        result = libdevice.expm1(values)
    elif NAME == "erfinv":
        result = libdevice.erfinv(values)
    else:
        result = libdevice.log1p(values)
    tl.store(out + place, result, mask=place < count)


torch.manual_seed(4)
for dtype in (torch.float32, torch.float64):
    x = torch.rand(1000, device="cuda", dtype=dtype) * 0.9 + 0.05
    for name in ("asin", "tanh", "lgamma", "expm1", "erfinv", "log1p"):
        out = torch.empty_like(x)
        apply[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), name, BLOCK=256)
        torch.testing.assert_close(out, getattr(torch, name)(x), msg=lambda text, name=name: f"{name}: {text}")
