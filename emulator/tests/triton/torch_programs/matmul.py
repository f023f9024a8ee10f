# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices with autotuning, of half precision and of fp8, with a function applied to the result."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"M": 32, "N": 64, "K": 32, "GROUP": 2}, num_stages=3, num_warps=4),
    triton.Config({"M": 64, "N": 32, "K": 32, "GROUP": 1}, num_stages=4, num_warps=2),
]


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def product(
    a, b, c, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    down, across = tl.cdiv(m, M), tl.cdiv(n, N)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row, column = first + program % (GROUP * across) % height, program % (GROUP * across) // height
    tl.assume(row >= 0)
    tl.assume(column >= 0)
    rows, columns = (row * M + tl.arange(0, M)) % m, (column * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    left, right = a + rows[:, None] * a_row + depth * a_column, b + depth[:, None] * b_row + columns * b_column
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(k, K)):
        x = tl.load(left, mask=depth < k - step * K, other=0.0)
        y = tl.load(right, mask=depth[:, None] < k - step * K, other=0.0)
        total = tl.dot(x, y, total)
        left += K * a_column
        right += K * b_row
    if ACTIVATION == "leaky":
        total = leaky(total)
    rows, columns = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    mask = (rows[:, None] < m) & (columns < n)
    tl.store(c + rows[:, None] * c_row + columns * c_column, total.to(tl.float16), mask=mask)


def multiply(a, b, activation=""):
    assert a.shape[1] == b.shape[0] and a.is_contiguous()
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)  # noqa: E731
    product[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION=activation)
    return c


torch.manual_seed(2)
a, b = torch.rand(2, 96, 96, device="cuda", dtype=torch.float16) - 0.5
torch.testing.assert_close(multiply(a, b), a @ b, atol=1e-2, rtol=1e-2)
expected = torch.nn.functional.leaky_relu(a[:70] @ b[:, :40], 0.01)
torch.testing.assert_close(multiply(a[:70], b[:, :40], "leaky"), expected, atol=1e-2, rtol=1e-2)
small = a.to(torch.float8_e5m2), b.T.contiguous().to(torch.float8_e5m2).T
torch.testing.assert_close(multiply(*small), small[0].half() @ small[1].half(), atol=0.125, rtol=0)
