# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that use half precision, bfloat16 and 8-bit formats, compared with NumPy, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, cuda_headers=True)

halves = KernelFile("halves.cu", headers=True)


def test_pairs_are_added(stream, rng):
    a, b = (rng.normal(size=1000).astype(np.float16) for _ in range(2))
    out = np.empty_like(a)
    halves(stream, "add_pairs", 4, 128, a, b, out, 500)
    np.testing.assert_array_equal(out, a + b)


def test_numpy_scalars_are_passed_as_half(stream, rng):
    x = rng.integers(-50, 50, 300).astype(np.float16)
    expected = x * np.float16(0.5) + np.tile(np.array([1, -2], np.float16), 150)
    shift = np.array([1, -2], np.float16).tobytes()
    halves(stream, "scale_and_shift", 3, 128, x, np.float16(0.5), shift, 300)
    np.testing.assert_array_equal(x, expected)


def test_floats_are_narrowed_to_half(stream, rng):
    x = np.concatenate([rng.normal(size=995) * 10.0 ** rng.integers(-9, 6, 995), [0, -0.0, 65520, np.inf, np.nan]])
    out = np.empty(1000, np.float16)
    halves(stream, "narrow", 8, 128, x.astype(np.float32), out, 1000)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, x.astype(np.float32).astype(np.float16))


def test_matrices_of_half_are_multiplied_by_tiles(stream, rng):
    n = 64
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2))
    out = np.empty((n, n), np.float16)
    halves(stream, "multiply", (n // 32, n // 16), (16, 16), a, b, out, n)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))  # small integers are exact


def test_softmax_of_bfloat16_rows(stream, rng):
    x = (rng.normal(size=(5, 200)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out = np.zeros_like(x)
    halves(stream, "softmax", 5, 128, x, out, 200)
    x, out = ((bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for bits in (x, out))
    expected = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, expected / expected.sum(axis=1, keepdims=True), rtol=1 / 256)


def test_floats_are_quantized_to_eight_bits(stream, rng):
    x = rng.normal(size=1000).astype(np.float32)
    scale = np.float32(np.abs(x).max() / 448)
    packed, back = np.zeros(1000, np.uint8), np.zeros(1000, np.float32)
    halves(stream, "quantize", 8, 128, x, scale, packed, back, 1000)
    np.testing.assert_allclose(back, x, rtol=1 / 16, atol=scale * 2.0**-10)
    assert packed[np.abs(x).argmax()] & 0x7F == 0x7E
    np.testing.assert_array_equal(packed >> 7, np.signbit(x))
