# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that compute each element from itself or its neighbors, compared with NumPy and SciPy, on any device."""

import ctypes

import numpy as np
import pytest
from scipy import ndimage, special

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

maps = KernelFile("maps.cu", "polynomial<2>", "polynomial<5>")
stencils = KernelFile("stencils.cu", "running_mean<128, 3>")


def test_saxpy(stream, rng):
    x, y = rng.random((2, 10_007), np.float32)
    expected = 2.5 * x.astype(float) + y
    maps(stream, "saxpy", 7, 96, np.float32(2.5), x, y, 10_007)
    np.testing.assert_allclose(y, expected, rtol=2e-7)


@pytest.mark.parametrize("degree", [2, 5])
def test_polynomials_whose_degree_is_a_template_argument(stream, rng, degree):
    x = rng.uniform(-2, 2, 1000)
    out = np.empty_like(x)
    maps(stream, f"polynomial<{degree}>", 8, 128, x, out, 1000)
    expected = np.polynomial.polynomial.polyval(x, [1.0, -0.5, 0.25, 3.0, -2.0, 0.125][: degree + 1])
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)


class Market(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("strike", "years", "rate", "volatility")]


def test_option_prices_with_a_structure_as_argument(stream, rng):
    spot = rng.uniform(50, 150, 500)
    price = np.empty_like(spot)
    maps(stream, "option_price", 4, 128, Market(100, 1.5, 0.03, 0.2), spot, price, 500)
    spread = 0.2 * np.sqrt(1.5)
    d = (np.log(spot / 100) + (0.03 + 0.02) * 1.5) / spread
    expected = spot * special.ndtr(d) - 100 * np.exp(-0.03 * 1.5) * special.ndtr(d - spread)
    np.testing.assert_allclose(price, expected, rtol=1e-11, atol=1e-12)


def test_mandelbrot_set(stream):
    width, height, most = 60, 40, 100
    steps = np.empty((height, width), np.int32)
    maps(stream, "mandelbrot", (4, 5), (16, 8), steps, width, height, most)
    a = -2.0 + np.arange(width) * (3.0 / width)
    b = (-1.5 + np.arange(height) * (3.0 / height))[:, None]
    x, y, expected = np.zeros((height, width)), np.zeros((height, width)), np.zeros((height, width), int)
    for _ in range(most):
        inside = x * x + y * y <= 4
        expected += inside
        x, y = np.where(inside, x * x - y * y + a, x), np.where(inside, 2 * x * y + b, y)
    np.testing.assert_array_equal(steps, expected)


def test_collatz_sequences(stream):
    start = np.arange(1, 301, dtype=np.uint64)
    length = np.empty(300, np.int32)
    maps(stream, "collatz", 3, 128, start, length, 300)

    def steps(value):
        return 0 if value == 1 else 1 + steps(3 * value + 1 if value % 2 else value // 2)

    assert length.tolist() == [steps(value) for value in range(1, 301)]


def test_heat_equation(stream, rng):
    now = rng.random((37, 50))
    expected = now.copy()
    for _ in range(5):
        following = np.empty_like(now)
        stencils(stream, "heat", (4, 5), (16, 8), now, following, 50, 37, 0.2)
        now = following
        expected[1:-1, 1:-1] += 0.2 * ndimage.laplace(expected)[1:-1, 1:-1]
    np.testing.assert_allclose(now, expected, rtol=1e-13)


def test_running_means_from_shared_memory_with_halo(stream, rng):
    x = rng.random(1000, np.float32)
    out = np.empty_like(x)
    stencils(stream, "running_mean<128, 3>", 8, 128, x, out, 1000)
    np.testing.assert_allclose(out, np.convolve(x, np.full(7, 1 / 7), "same"), rtol=1e-6)


def test_blur_with_weights_in_constant_memory(stream, rng):
    picture = rng.integers(0, 256, (33, 61), np.uint8)
    out = np.empty((33, 61), np.int32)
    stencils(stream, "blur", (4, 5), (16, 8), picture, out, 61, 33)
    row = np.array([1, 4, 6, 4, 1])
    np.testing.assert_array_equal(out, ndimage.correlate(picture.astype(int), np.outer(row, row), mode="nearest"))


def test_medians_by_local_arrays(stream, rng):
    picture = rng.integers(0, 256, (33, 61), np.uint8)
    out = np.empty_like(picture)
    stencils(stream, "median", (4, 5), (16, 8), picture, out, 61, 33)
    np.testing.assert_array_equal(out, ndimage.median_filter(picture, 3, mode="nearest"))


def test_game_of_life(stream, rng):
    now = rng.integers(0, 2, (24, 40), np.uint8)
    expected = now.copy()
    for _ in range(4):
        following = np.empty_like(now)
        stencils(stream, "life", (3, 3), (16, 8), now, following, 40, 24)
        now = following
        around = ndimage.convolve(expected.astype(int), np.ones((3, 3), int), mode="wrap") - expected
        expected = ((around == 3) | ((around == 2) & (expected == 1))).astype(np.uint8)
    np.testing.assert_array_equal(now, expected)


@pytest.mark.parametrize("rule", [30, 90, 110])
def test_cellular_automata_of_one_dimension(stream, rng, rule):
    width, steps = 160, 50
    history = np.zeros((steps + 1, width), np.uint8)
    history[0] = rng.integers(0, 2, width)
    expected = history.copy()
    for step in range(steps):
        line = expected[step]
        expected[step + 1] = rule >> (np.roll(line, 1) * 4 + line * 2 + np.roll(line, -1)) & 1
    stencils(stream, "automaton", 1, width, history, rule, steps, shared=width)
    np.testing.assert_array_equal(history, expected)


def test_sandpile_topples_until_it_is_stable(stream, rng):
    grains = rng.integers(0, 12, (12, 16), np.int32)
    expected = grains.copy()
    while (expected >= 4).any():
        falling = expected // 4
        expected -= 4 * falling
        padded = np.pad(falling, 1)
        expected += padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    stencils(stream, "sandpile", 1, (16, 12), grains, 16, 12)
    np.testing.assert_array_equal(grains, expected)
