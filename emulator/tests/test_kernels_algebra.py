# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of linear algebra, graphs, transforms and physics, compared with NumPy and SciPy, on any device."""

import numpy as np
import pytest
from scipy import fft, linalg, sparse
from scipy.sparse import csgraph

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

matrices = KernelFile("matrices.cu", "tiled_product<float, 16>", "tiled_product<double, 8>")
graphs = KernelFile("graphs.cu")
transforms = KernelFile("transforms.cu")
physics = KernelFile("physics.cu")


def test_matrix_product(stream, rng):
    a, b, c = rng.random((30, 41)), rng.random((41, 50)), np.empty((30, 50))
    matrices(stream, "product", (4, 4), (16, 8), a, b, c, 30, 41, 50)
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)


@pytest.mark.parametrize(("kind", "size", "tolerance"), [("float", 16, 1e-5), ("double", 8, 1e-13)])
def test_matrix_product_by_tiles(stream, rng, kind, size, tolerance):
    dtype = np.float32 if kind == "float" else np.float64
    a, b, c = rng.random((37, 45), dtype), rng.random((45, 50), dtype), np.empty((37, 50), dtype)
    grid = (-(-50 // size), -(-37 // size))
    matrices(stream, f"tiled_product<{kind}, {size}>", grid, (size, size), a, b, c, 37, 45, 50)
    np.testing.assert_allclose(c, a.astype(float) @ b, rtol=tolerance)


def test_transpose_by_tiles(stream, rng):
    x, out = rng.random((75, 100), np.float32), np.empty((100, 75), np.float32)
    matrices(stream, "transpose", (4, 3), (32, 8), x, out, 100, 75)
    np.testing.assert_array_equal(out, x.T)


@pytest.mark.parametrize(("way", "threads"), [("threads", 1), ("warps", 32)])
def test_sparse_matrix_product(stream, rng, way, threads):
    matrix = sparse.random(90, 70, 0.2, "csr", rng=rng)
    x, y = rng.random(70), np.empty(90)
    parts = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    matrices(stream, f"sparse_by_{way}", -(-90 * threads // 128), 128, *parts, x, y, 90)
    np.testing.assert_allclose(y, matrix @ x, rtol=1e-13)


def test_linear_equations_by_elimination(stream, rng):
    n = 20
    system = rng.standard_normal((n, n + 1))
    expected = np.linalg.solve(system[:, :n], system[:, n])
    matrices(stream, "solve", 1, n + 1, system, n)
    np.testing.assert_allclose(system[:, n], expected, rtol=1e-9)
    np.testing.assert_allclose(system[:, :n], np.eye(n), atol=1e-12)


def test_linear_equations_by_jacobi_iteration(stream, rng):
    n = 40
    matrix = (rng.random((n, n)) + n * np.eye(n)).astype(np.float32)
    right, now = rng.random(n, np.float32), np.zeros(n, np.float32)
    for _ in range(30):
        following = np.empty_like(now)
        matrices(stream, "jacobi", 1, 64, matrix, right, now, following, n)
        now = following
    np.testing.assert_allclose(matrix @ now, right, rtol=1e-4, atol=1e-5)


@pytest.fixture
def graph(rng):
    """A graph of 200 nodes and several connected components, as a symmetric sparse matrix."""
    matrix = sparse.random(200, 200, 0.006, "csr", rng=rng)
    return (matrix + matrix.T).tocsr()


def neighbors(graph):
    return graph.indptr.astype(np.int32), graph.indices.astype(np.int32)


def test_breadth_first_search(stream, graph):
    distance = np.full(200, -1, np.int32)
    distance[0], frontier, level = 0, np.zeros(1, np.int32), 0
    while frontier.size:
        level += 1
        found, count = np.zeros(200, np.int32), np.zeros(1, np.int32)
        work = (frontier, frontier.size, found, count, distance, level)
        graphs(stream, "next_level", -(-frontier.size // 64), 64, *neighbors(graph), *work)
        frontier = found[: count[0]].copy()
    expected = csgraph.shortest_path(graph, unweighted=True, indices=0)
    np.testing.assert_array_equal(distance, np.where(np.isinf(expected), -1, expected))


def test_shortest_paths(stream, rng):
    n = 24
    weights = np.where(rng.random((n, n)) < 0.2, rng.random((n, n)), np.inf)
    np.fill_diagonal(weights, 0)
    expected = csgraph.floyd_warshall(weights)
    for over in range(n):
        graphs(stream, "shortest", (2, 3), (16, 8), weights, n, over)
    np.testing.assert_allclose(weights, expected, rtol=1e-14)


def test_connected_components_of_a_graph(stream, graph):
    label = np.arange(200, dtype=np.int32)
    ends = [end.astype(np.int32) for end in graph.nonzero()]
    changed = np.ones(1, np.int32)
    while changed[0]:
        changed[0] = 0
        graphs(stream, "spread_labels", -(-ends[0].size // 128), 128, *ends, ends[0].size, label, changed)
    count, part = csgraph.connected_components(graph)
    assert len(set(label)) == count
    assert all(len(set(label[part == k])) == 1 for k in range(count))


def test_page_ranks(stream, rng):
    links = rng.random((50, 50)) < 0.15
    links[:, 0] = True  # every page has a link
    rank = np.full(50, 1 / 50)
    for _ in range(30):
        following = np.zeros(50)
        graphs(stream, "pass_rank", 1, 64, *neighbors(sparse.csr_array(links)), rank, following, 50, 0.85)
        rank = following
    passed = (links / links.sum(1, keepdims=True)).T
    expected = np.linalg.solve(np.eye(50) - 0.85 * passed, np.full(50, 0.15 / 50))
    np.testing.assert_allclose(rank, expected, rtol=1e-9)


@pytest.mark.parametrize("bits", [1, 5, 9])
def test_fourier_transform_and_its_inverse(stream, rng, bits):
    n = 1 << bits
    x = (rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))).astype(np.complex64)
    spectrum, inverse = np.empty_like(x), np.empty_like(x)
    transforms(stream, "fft", 3, 64, x, spectrum, bits, np.float32(-1), shared=8 * n)
    np.testing.assert_allclose(spectrum, np.fft.fft(x), atol=1e-6 * n)
    transforms(stream, "fft", 3, 64, spectrum, inverse, bits, np.float32(1), shared=8 * n)
    np.testing.assert_allclose(inverse / n, x, atol=2e-6)


def test_cosine_transform(stream, rng):
    x, out = rng.standard_normal((2, 100))
    transforms(stream, "cosine", 2, 64, x, out, 100)
    np.testing.assert_allclose(out, fft.dct(x), atol=1e-12)


def test_walsh_transform_by_shuffles(stream, rng):
    x = rng.integers(-99, 99, (4, 32), np.int32)
    out = np.empty_like(x)
    transforms(stream, "walsh", 2, 64, x, out)
    np.testing.assert_array_equal(out, x @ linalg.hadamard(32))


def test_haar_transform(stream, rng):
    x = rng.random(128)
    expected = x.copy()
    half = 64
    while half:
        pairs = expected[: 2 * half].reshape(-1, 2)
        expected[: 2 * half] = np.concatenate([pairs.sum(1) / 2, (pairs[:, 0] - pairs[:, 1]) / 2])
        half //= 2
    transforms(stream, "haar", 1, 64, x, 128)
    np.testing.assert_allclose(x, expected, rtol=1e-14)


def test_gravity_of_many_bodies(stream, rng):
    n, softening = 100, 0.01
    bodies, pull = rng.random((n, 4)), np.empty((n, 3))
    physics(stream, "gravity", 4, 32, bodies, pull, n, softening, shared=32 * 32)
    way = bodies[None, :, :3] - bodies[:, None, :3]
    strength = bodies[None, :, 3] / ((way**2).sum(2) + softening) ** 1.5
    np.testing.assert_allclose(pull, (strength[:, :, None] * way).sum(1), rtol=1e-10, atol=1e-10)


def test_ray_marching(stream):
    width, height, far = 32, 24, 50.0
    depth = np.empty((height, width))
    physics(stream, "march", (2, 3), (16, 8), depth, width, height, far)
    x, y = (np.arange(width) + 0.5) / width - 0.5, 0.5 - (np.arange(height)[:, None] + 0.5) / height
    length = np.sqrt(x**2 + y**2 + 1)
    along = 4 / length  # to the point closest to the center of the ball
    inside = along**2 - 15
    ball = np.where(inside > 0, along - np.sqrt(np.maximum(inside, 0)), far)
    floor = np.where(y < 0, -length / np.where(y < 0, y, 1), far)
    expected = np.minimum(np.minimum(ball, floor), far)
    settled = np.abs(inside) > 1e-3  # the steps of a ray that nearly touches the ball become smaller and smaller
    np.testing.assert_allclose(depth[settled], expected[settled], atol=1e-6)


def test_planets_keep_their_energy(stream):
    distance = np.array([0.5, 1.0, 2.0])
    planets = np.stack([distance, 0 * distance, 0 * distance, 1 / np.sqrt(distance)], 1)
    physics(stream, "orbit", 1, 3, planets, 2000, 0.001)
    np.testing.assert_allclose(np.hypot(planets[:, 0], planets[:, 1]), distance, rtol=1e-5)
    angle = 2.0 / distance**1.5
    np.testing.assert_allclose(planets[:, 0], distance * np.cos(angle), atol=1e-4)
