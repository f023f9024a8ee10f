# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The softmax of rows by programs that stay, whose number follows from what the kernel and the device have."""

import torch
import triton
import triton.language as tl
from triton.runtime import driver


@triton.jit
def softmax(x, out, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    place = tl.arange(0, BLOCK)
    mask = place < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * x_stride + place, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + place, powers / tl.sum(powers, axis=0), mask=mask)


def run(x):
    rows, columns = x.shape
    out = torch.empty_like(x)
    has = driver.active.utils.get_device_properties(torch.cuda.current_device())
    constants = {"BLOCK": triton.next_power_of_2(columns), "STAGES": 2, "num_warps": 8}
    arguments = x, out, x.stride(0), out.stride(0), rows, columns
    kernel = softmax.warmup(*arguments, grid=(1,), **constants)
    kernel._init_handles()
    occupancy = has["max_num_regs"] // (kernel.n_regs * has["warpSize"] * 8)
    if kernel.metadata.shared:
        occupancy = min(occupancy, has["max_shared_mem"] // kernel.metadata.shared)
    softmax[(min(occupancy * has["multiprocessor_count"], rows),)](*arguments, **constants)
    return out


torch.manual_seed(1)
x = torch.randn(183, 781, device="cuda")
torch.testing.assert_close(run(x), torch.softmax(x, 1))
# Columns outside the view are not touched.
part = x[:, 100:300]
torch.testing.assert_close(run(part), torch.softmax(part, 1))
