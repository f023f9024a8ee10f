# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptors made by the host and by kernels: loads outside the tensor are zero, and stores have no effect."""

import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from support.triton_tensors import Tensor, empty, tensor


@triton.jit
def doubled(x, out, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([row, column], 2 * x.load([row, column]))


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[k, n], strides=[n, 1], block_shape=[K, N])
    out = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for depth in range(0, k, K):
        total = tl.dot(left.load([row, depth]), right.load([depth, column]), total)
    out.store([row, column], total.to(tl.float16))


@triton.jit
def reduced(x, out, M: tl.constexpr, N: tl.constexpr, HOW: tl.constexpr):
    block = x.load([0, tl.program_id(0) * N])
    if HOW == "add":
        out.atomic_add([0, 0], block)
    elif HOW == "max":
        out.atomic_max([0, 0], block)
    else:
        out.atomic_xor([0, 0], block)


triton.set_allocator(lambda size, alignment, stream: Tensor(size, "int8"))
rng = np.random.default_rng(9)
x = rng.random((20, 36), np.float32)
out = empty(x.shape)
blocks = (TensorDescriptor.from_tensor(t, [16, 16]) for t in (tensor(x), out))
doubled[(2, 3)](*blocks, M=16, N=16)
np.testing.assert_array_equal(out.numpy(), 2 * x)
m, n, k = 72, 40, 48
a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
c = empty((m, n), "float16")
product[(2, 2)](tensor(a), tensor(b), c, m, n, k, M=64, N=32, K=32)
np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=2e-2)
for how, name in (("add", "float32"), ("add", "float16"), ("max", "int32"), ("max", "float16"), ("xor", "int32")):
    x = rng.integers(0, 50, (8, 64)).astype(name)
    out = tensor(np.ones((8, 16)), name)
    reduced[(4,)](*(TensorDescriptor.from_tensor(t, [8, 16]) for t in (tensor(x), out)), M=8, N=16, HOW=how)
    parts = np.concatenate([np.ones((1, 8, 16), name), x.reshape(8, 4, 16).swapaxes(0, 1)])
    function = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}[how]
    np.testing.assert_array_equal(out.numpy(), function.reduce(parts))
