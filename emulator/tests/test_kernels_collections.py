# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels as public collections have them, compared with NumPy and SciPy, on any device."""

import ctypes
import math

import numpy as np
import pytest
from scipy import ndimage, special
from scipy.sparse import csgraph

from support.compiled import Code, Program
from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

collections = KernelFile("collections.cu")
vocabulary = KernelFile("vocabulary.cu", headers=True)
close = np.testing.assert_allclose


@pytest.fixture
def links(rng):
    """A sparse graph of 60 nodes, and its rows in compressed form."""
    matrix = (rng.random((60, 60)) < 0.05) & ~np.eye(60, dtype=bool)
    begins = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int32)
    return matrix, begins, np.nonzero(matrix)[1].astype(np.int32)


# ---------------------------------------------------------------------------- linear algebra


def test_atax(stream, rng):
    a, x, y = rng.random((50, 50), np.float32), rng.random(50, np.float32), np.empty(50, np.float32)
    collections(stream, "atax", 1, 64, a, x, y, 50)
    close(y, a.T.astype(float) @ (a.astype(float) @ x), rtol=1e-5)


def test_bicg(stream, rng):
    a, (p, r), (q, s) = rng.random((70, 70), np.float32), rng.random((2, 70), np.float32), np.empty((2, 70), np.float32)
    collections(stream, "bicg", 3, 32, a, p, r, q, s, 70)
    close(q, a @ p, rtol=1e-5)
    close(s, a.T @ r, rtol=1e-5)


def test_gesummv(stream, rng):
    (a, b), x, y = rng.random((2, 40, 40)), rng.random(40), np.empty(40)
    collections(stream, "gesummv", 2, 32, a, b, x, y, 1.5, -2.0, 40)
    close(y, 1.5 * a @ x - 2 * b @ x, rtol=1e-12)


def test_syrk(stream, rng):
    a, c = rng.random((48, 48), np.float32), np.empty((48, 48), np.float32)
    collections(stream, "syrk", (3, 3), (16, 16), a, c, 48)
    close(c, a @ a.T, rtol=1e-5)


def test_lu_decomposition_of_a_tile(stream, rng):
    a = (rng.random((16, 16)) + 16 * np.eye(16)).astype(np.float32)
    product = a.astype(float)
    collections(stream, "lud_diagonal", 1, 16, a)
    close((np.tril(a, -1) + np.eye(16)) @ np.triu(a).astype(float), product, rtol=1e-4)


# ---------------------------------------------------------------------------------- stencils


def test_jacobi(stream, rng):
    x = rng.random((40, 40), np.float32)
    out = x.copy()
    collections(stream, "jacobi_2d", (3, 3), (16, 16), x, out, 40)
    inner = 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    close(out[1:-1, 1:-1], inner, rtol=1e-5)
    np.testing.assert_array_equal(out[0], x[0])


def test_hotspot(stream, rng):
    x, power, out = rng.random((32, 32), np.float32), rng.random((32, 32), np.float32), np.empty((32, 32), np.float32)
    collections(stream, "hotspot", (2, 2), (16, 16), x, power, out, 32)
    edge = np.pad(x, 1, mode="edge")
    around = edge[:-2, 1:-1] + edge[2:, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:]
    close(out, x + 0.25 * (around - 4 * x) + power, rtol=1e-4, atol=1e-5)


def test_fdtd(stream, rng):
    hz, ex = rng.random((20, 20), np.float32), rng.random((20, 21), np.float32)
    ey = rng.random((21, 20), np.float32)
    expected = hz - 0.7 * (ex[:, 1:] - ex[:, :-1] + ey[1:] - ey[:-1])
    collections(stream, "fdtd_h", (2, 2), (16, 16), hz, ex, ey, 20)
    close(hz, expected, rtol=1e-4, atol=1e-5)


def test_convolution_of_rows(stream, rng):
    x, out = rng.random(150, np.float32), np.empty(150, np.float32)
    collections(stream, "convolve_rows", 3, 64, x, out, 150)
    close(out, np.convolve(x, [math.comb(8, k) / 256 for k in range(9)], "same"), rtol=1e-5)


def test_sobel(stream, rng):
    x, out = rng.integers(0, 256, (30, 45), np.uint8), np.zeros((30, 45), np.uint8)
    collections(stream, "sobel", (3, 2), (16, 16), x, out, 45, 30)
    wide = x.astype(int)
    expected = np.minimum(abs(ndimage.sobel(wide, 0)) + abs(ndimage.sobel(wide, 1)), 255)
    np.testing.assert_array_equal(out[1:-1, 1:-1], expected[1:-1, 1:-1])


def test_game_of_life(stream, rng):
    x, out = rng.integers(0, 2, (24, 24), np.uint8), np.empty((24, 24), np.uint8)
    collections(stream, "life", 24, 24, x, out, 24)
    around = sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
    np.testing.assert_array_equal(out, (around == 3) | ((around == 2) & (x == 1)))


# ----------------------------------------------------------------------- dynamic programming


def test_pathfinder(stream, rng):
    wall, out = rng.integers(0, 10, (20, 100), np.int32), np.empty(100, np.int32)
    collections(stream, "pathfinder", 1, 100, wall, out, 20)
    best = wall[0]
    for row in wall[1:]:
        padded = np.pad(best, 1, constant_values=10**6)
        best = row + np.minimum(np.minimum(padded[:-2], padded[2:]), best)
    np.testing.assert_array_equal(out, best)


def test_needleman_wunsch(stream, rng):
    (a, b), score = rng.integers(65, 69, (2, 30), np.uint8), np.zeros(1, np.int32)
    collections(stream, "needleman_wunsch", 1, 32, a, b, score, 30)
    cell = [[-(i + j) if i * j == 0 else 0 for j in range(31)] for i in range(31)]
    for i in range(1, 31):
        for j in range(1, 31):
            same = 1 if a[i - 1] == b[j - 1] else -1
            cell[i][j] = max(cell[i - 1][j - 1] + same, cell[i - 1][j] - 1, cell[i][j - 1] - 1)
    assert score[0] == cell[30][30]


def test_floyd_warshall(stream, rng):
    far = 10**6
    distance = np.where(rng.random((30, 30)) < 0.2, rng.integers(1, 9, (30, 30)), far).astype(np.int32)
    np.fill_diagonal(distance, 0)
    expected = csgraph.floyd_warshall(np.where(distance == far, np.inf, distance))
    for through in range(30):
        collections(stream, "floyd_warshall", 30, 30, distance, 30, through)
    np.testing.assert_array_equal(np.where(distance >= far, np.inf, distance), expected)


# ------------------------------------------------------------------------------------ graphs


def test_breadth_first_search(stream, links):
    matrix, begins, targets = links
    level = np.full(60, -1, np.int32)
    level[0] = 0
    for depth in range(60):
        collections(stream, "bfs_level", 2, 32, begins, targets, level, depth, 60)
    expected = csgraph.shortest_path(matrix, indices=0, unweighted=True)
    np.testing.assert_array_equal(level, np.where(np.isinf(expected), -1, expected))


def test_page_rank(stream, links):
    matrix, _, _ = links
    into = matrix.T
    begins = np.concatenate([[0], np.cumsum(into.sum(axis=1))]).astype(np.int32)
    sources, degree = np.nonzero(into)[1].astype(np.int32), matrix.sum(axis=1).astype(np.int32)
    rank, following = np.full(60, 1 / 60), np.empty(60)
    collections(stream, "page_rank", 2, 32, begins, sources, degree, rank, following, 60)
    close(following, 0.15 / 60 + 0.85 * (into @ (rank / np.maximum(degree, 1))), rtol=1e-12)


# ---------------------------------------------------------------------- statistics, learning


def test_covariance(stream, rng):
    data, out = rng.random((100, 4)), np.empty((4, 4))
    collections(stream, "covariance", 1, (4, 4), data, out, 100, 4)
    close(out, np.cov(data.T), rtol=1e-10)


def test_kmeans_assigns_the_nearest_center(stream, rng):
    points, centers, nearest = rng.random((200, 2), np.float32), rng.random((8, 2), np.float32), np.empty(200, np.int32)
    collections(stream, "kmeans_assign", 4, 64, points, centers, nearest, 200)
    distance = ((points[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest, distance.argmin(axis=1))


def test_layer_of_a_network(stream, rng):
    x, weights, out = rng.random(100, np.float32) - 0.5, rng.random((10, 100), np.float32), np.empty(10, np.float32)
    collections(stream, "layer_forward", 10, 32, x, weights, out, 100)
    close(out, special.expit(weights @ x), rtol=1e-4)


def test_softmax(stream, rng):
    x, out = rng.normal(size=(6, 75)).astype(np.float32), np.empty((6, 75), np.float32)
    collections(stream, "softmax_rows", 6, 32, x, out, 75)
    close(out, special.softmax(x, axis=1), rtol=1e-4)


def test_adam(stream, rng):
    x, gradient, m, v = rng.random((4, 50), np.float32)
    x0, m1, v1 = x.copy(), 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    collections(stream, "adam", 2, 32, x, gradient, m, v, 3, 50)
    close(x, x0 - 0.001 * (m1 / (1 - 0.9**3)) / (np.sqrt(v1 / (1 - 0.999**3)) + 1e-8), rtol=1e-4)
    close(m, m1, rtol=1e-4)
    close(v, v1, rtol=1e-4)


def test_find_index(stream, rng):
    cumulative, values, index = np.cumsum(rng.random(100)), 50 * rng.random(100), np.empty(100, np.int32)
    collections(stream, "find_index", 4, 32, cumulative, values, index, 100)
    np.testing.assert_array_equal(index, np.minimum(np.searchsorted(cumulative, values), 99))


# ----------------------------------------------------------------------------------- finance


def test_black_scholes(stream, rng):
    spot, strike, call = 50 + 50 * rng.random(70), 50 + 50 * rng.random(70), np.empty(70)
    collections(stream, "black_scholes", 3, 32, spot, strike, call, 0.02, 0.3, 70)
    d1 = (np.log(spot / strike) + 0.02 + 0.5 * 0.09) / 0.3
    close(call, spot * special.ndtr(d1) - strike * np.exp(-0.02) * special.ndtr(d1 - 0.3), rtol=1e-10)


def test_binomial_tree(stream, rng):
    leaves, value = rng.random(64), np.empty(1)
    collections(stream, "binomial", 1, 64, leaves, value, 0.55, 0.999)
    weights = [math.comb(63, k) * 0.55**k * 0.45 ** (63 - k) for k in range(64)]
    close(value[0], 0.999**63 * np.dot(weights, leaves), rtol=1e-10)


# -------------------------------------------------------------------------- transforms, bits


def test_transpose_by_padded_tiles(stream, rng):
    x, out = rng.random((48, 48)), np.empty((48, 48))
    collections(stream, "transpose_padded", (3, 3), (16, 16), x, out, 48)
    np.testing.assert_array_equal(out, x.T)


def test_haar_wavelets(stream, rng):
    x = rng.random(64, np.float32)
    expected = x.copy()
    half = 32
    while half:
        even, odd = expected[: 2 * half : 2].copy(), expected[1 : 2 * half : 2].copy()
        expected[:half], expected[half : 2 * half] = (even + odd) / 2, (even - odd) / 2
        half //= 2
    collections(stream, "haar", 1, 64, x)
    close(x, expected, rtol=1e-6, atol=1e-7)


def test_histogram_by_warps(stream, rng):
    data, bins = rng.integers(0, 256, 3000, np.uint8), np.zeros(64, np.uint32)
    collections(stream, "histogram_of_warps", 3, 128, data, bins, 3000)
    np.testing.assert_array_equal(bins, np.bincount(data >> 2, minlength=64))


def test_collatz(stream):
    steps = np.empty(100, np.int32)
    collections(stream, "collatz", 4, 32, steps, 100)

    def count(x):
        return 0 if x == 1 else 1 + count(3 * x + 1 if x % 2 else x // 2)

    assert steps.tolist() == [count(x) for x in range(1, 101)]


def test_queens(stream):
    solutions = np.empty(8, np.int32)
    collections(stream, "n_queens", 1, 8, solutions, 8)
    assert solutions.tolist() == [4, 8, 16, 18, 18, 16, 8, 4]


# -------------------------------------------------------------------------- headers and types


@pytest.mark.requires(cuda_headers=True)
def test_complex_iteration(stream):
    steps = np.empty((32, 32), np.int32)
    vocabulary(stream, "mandelbrot_complex", 32, 32, steps, 32, 50)
    row, column = np.mgrid[:32, :32]
    c = -2.0 + 3.0 * column / 32 + 1j * (-1.5 + 3.0 * row / 32)
    z, expected = np.zeros_like(c), np.zeros((32, 32), int)
    for _ in range(50):
        inside = abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        expected += inside
    assert (steps != expected).mean() < 0.01  # points at the very edge round differently


@pytest.mark.requires(cuda_headers=True)
def test_complex_numbers(stream, rng):
    a, b = (rng.normal(size=(2, 20)) + 1j * rng.normal(size=(2, 20))).astype(np.complex64)
    out = np.empty((5, 20), np.complex64)
    vocabulary(stream, "complex_words", 1, 32, a, b, out, 20)
    close(out, [a * b, a / b, a.conj() - b, a * b + abs(a) + 1j, a / b], rtol=1e-4, atol=1e-5)


class PitchedPtr(ctypes.Structure):
    _fields_ = (("ptr", ctypes.c_void_p), *((name, ctypes.c_size_t) for name in ("pitch", "xsize", "ysize")))


class Triple(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in "xyz")


@pytest.mark.requires(cuda_headers=True)
def test_pitched_pointers_positions_and_extents_are_parameters(stream, rng):
    volume, total = rng.random((4, 5, 16), np.float32), np.zeros(1, np.float32)
    buffer = stream.device.allocate(volume.nbytes, stream=stream)
    buffer.copy_from(volume, stream=stream)
    pitched = PitchedPtr(int(buffer.handle), 64, 64, 5)
    vocabulary(stream, "sum_of_box", 1, 1, pitched, Triple(2, 1, 1), Triple(9, 3, 2), total)
    close(total[0], volume[1:3, 1:4, 2:11].sum(), rtol=1e-5)
    buffer.close()


STATIC_MEMBERS = """
struct Counters { static __device__ unsigned int reads, writes; };
__device__ unsigned int Counters::reads = 5;
__device__ unsigned int Counters::writes = 7;
extern "C" __global__ void counters_of_class(unsigned int* out) {
    out[0] = atomicAdd(&Counters::reads, 1u);
    out[1] = atomicAdd(&Counters::writes, 1u);
}
"""


def test_static_members_of_classes_are_device_variables(driver, context):
    """Only on the software device, because NVRTC rejects such members."""
    code, out = Code(driver, Program(STATIC_MEMBERS, "-arch=sm_90").image), np.zeros(2, np.uint32)
    code("counters_of_class", 1, 1, out)
    assert out.tolist() == [5, 7]
    code.close()
