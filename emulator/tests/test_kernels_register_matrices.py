# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Matrices in the registers of a warp, by PTX (mma, wmma, stmatrix, movmatrix), compared with NumPy on any device.

Elements are small integers, so every sum is exact.
"""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, compute=(9, 0))

# The types of the factors and sums, and the shape.
PRODUCTS = {
    "F16K8": ("f16", "f16", "f32", (16, 8)), "F16K16": ("f16", "f16", "f32", (16, 16)),
    "F16Sums": ("f16", "f16", "f16", (16, 16)), "Bf16K16": ("bf16", "bf16", "f32", (16, 16)),
    "Tf32K4": ("tf32", "tf32", "f32", (16, 4)), "Tf32K8": ("tf32", "tf32", "f32", (16, 8)),
    "S8K16Rows8": ("s8", "u8", "s32", (8, 16)), "S8K16": ("s8", "s8", "s32", (16, 16)),
    "U8K32": ("u8", "s8", "s32", (16, 32)), "F64Rows8": ("f64", "f64", "f64", (8, 4)),
    "F64K4": ("f64", "f64", "f64", (16, 4)), "F64K8": ("f64", "f64", "f64", (16, 8)),
    "F64K16": ("f64", "f64", "f64", (16, 16)),
}  # fmt: skip
FEW_BITS = {
    "E4M3K32": ("e4m3", "e5m2", "f32", (16, 32)), "E5M2K32": ("e5m2", "e5m2", "f32", (16, 32)),
    "S4K32Rows8": ("s4", "s4", "s32", (8, 32)), "S4K32": ("s4", "u4", "s32", (16, 32)),
    "U4K64": ("u4", "u4", "s32", (16, 64)), "B1K128Rows8": ("b1", "b1", "s32", (8, 128)),
    "B1K128": ("b1", "b1", "s32", (16, 128)), "B1K256": ("b1", "b1", "s32", (16, 256)),
}  # fmt: skip
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "f64": 64}
SUMS = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}
GROUP, THREAD = np.arange(32) // 4, np.arange(32) % 4

kernels = KernelFile("register_matrices.cu", *(f"product<{name}>" for name in PRODUCTS))
few_bits = KernelFile("register_matrices.cu", *(f"product<{name}>" for name in FEW_BITS), define="FEW_BITS")


def encoded(values, kind):
    """Return the bits of small integers in a format."""
    if kind in ("e4m3", "e5m2"):
        digits = 3 if kind == "e4m3" else 2
        exponent = np.frexp(values)[1] - 1
        fraction = (np.abs(values) / 2.0**exponent - 1) * 2**digits
        bits = (exponent + (7 if kind == "e4m3" else 15) << digits) + fraction.astype(int)
        return np.where(values == 0, 0, bits | (values < 0) << 7)
    if kind in ("f16", "f64"):
        return values.astype(SUMS[kind]).view(np.uint16 if kind == "f16" else np.uint64)
    if kind in ("bf16", "tf32"):
        return values.astype(np.float32).view(np.uint32) >> (32 - BITS[kind])
    return values & (1 << BITS[kind]) - 1


def registers(matrix, kind):
    """Return the registers of each lane for the rows of a matrix. Each group of four lanes has one or two rows."""
    each, eights = max(32 // BITS[kind], 1), len(matrix) // 8
    count = eights * matrix.shape[1] // (4 * each)
    out = np.zeros((32, count), np.uint64)
    for register in range(count):
        for element in range(each):
            column = THREAD * each + element + register // eights * 4 * each
            value = matrix[GROUP + 8 * (register % eights), column].astype(np.uint64)
            out[:, register] |= value << np.uint64(element * BITS[kind])
    return out if kind == "f64" else out.astype(np.uint32)


def sums_of_lanes(matrix):
    index = np.arange(len(matrix) // 4)
    return np.ascontiguousarray(matrix[GROUP[:, None] + 8 * (index // 2), 2 * THREAD[:, None] + index % 2])


def values(rng, kind, shape):
    low, high = {"b1": (0, 2), "u4": (0, 16), "s4": (-8, 8), "u8": (0, 200)}.get(kind, (-8, 9))
    return rng.integers(low, high, shape)


@pytest.mark.parametrize("name", [*PRODUCTS, *FEW_BITS])
def test_products_of_registers(stream, rng, name):
    file = kernels if name in PRODUCTS else few_bits
    left, right, total, (m, k) = (PRODUCTS | FEW_BITS)[name]
    a, b = values(rng, left, (m, k)), values(rng, right, (8, k))
    c = rng.integers(-50, 50, (m, 8)).astype(SUMS[total])
    if name == "U8K32":
        c[::3] = 2**31 - 1
    d, start = np.zeros_like(sums_of_lanes(c)), sums_of_lanes(c)
    file(
        stream,
        f"product<{name}>",
        1,
        32,
        registers(encoded(a, left), left),
        registers(encoded(b, right), right),
        start,
        d,
    )
    product = (a[:, None] ^ b[None]).sum(axis=2) if name == "B1K128" else a @ b.T
    expected = product + c.astype(np.float64)
    if total == "s32":
        expected = np.clip(expected, -(2**31), 2**31 - 1)
    np.testing.assert_array_equal(d, sums_of_lanes(expected).astype(SUMS[total]))


def test_matrices_are_stored_and_transposed(stream, rng):
    x = rng.integers(0, 2**32, (32, 4), np.uint32)
    out = np.zeros(288, np.uint32)
    kernels(stream, "store_matrices", 1, 32, x, out)
    matrices = np.ascontiguousarray(x.T).view(np.uint16).reshape(4, 8, 8)
    np.testing.assert_array_equal(out[:128].view(np.uint16).reshape(4, 8, 8), matrices)
    np.testing.assert_array_equal(out[128:224].view(np.uint16).reshape(3, 8, 8), matrices[:3].transpose(0, 2, 1))
    np.testing.assert_array_equal(out[256:].view(np.uint16).reshape(8, 8), matrices[0].T)


def test_fragments_of_halves_and_doubles(stream, rng):
    a, b = rng.integers(-8, 9, (16, 24)), rng.integers(-8, 9, (16, 16))
    c = rng.integers(-50, 50, (16, 16)).astype(np.float32)
    out = c.copy()
    kernels(stream, "half_fragments", 1, 32, a.astype(np.float16), b.astype(np.float16), out, 24)
    np.testing.assert_array_equal(out.T, 2 * (a[:, :16] @ b.T + c))
    a, b, c = rng.normal(size=(8, 4)).round(2), rng.normal(size=(8, 4)).round(2), rng.normal(size=(8, 8))
    out = c.copy()
    kernels(stream, "double_fragments", 1, 32, a, b, out)
    np.testing.assert_allclose(out, a @ b.T + c, atol=1e-14)


def test_fragments_of_bytes_and_tf32(stream, rng):
    a, b = rng.integers(-128, 128, (32, 16), np.int8), rng.integers(-128, 128, (16, 8), np.int8)
    c = rng.integers(-50, 50, (32, 8), np.int32)
    c[::3] = 2**31 - 1
    out = c.copy()
    kernels(stream, "byte_fragments", 1, 32, a, b, out)
    np.testing.assert_array_equal(out, np.minimum(a.astype(np.int64) @ b.astype(np.int64) + c, 2**31 - 1))
    a, b, c = (rng.integers(-99, 99, shape).astype(np.float32) for shape in ((16, 8), (16, 8), (16, 16)))
    out = np.ascontiguousarray(c.T)
    kernels(stream, "tf32_fragments", 1, 32, a, b, out)
    np.testing.assert_array_equal(out.T, a @ b.T + c)
