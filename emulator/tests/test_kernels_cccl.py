# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The headers of the CUDA Core Compute Libraries, compiled as they are, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, cccl=True)

samples = KernelFile("cccl_samples.cu", headers=True, cccl=True)


@pytest.fixture
def x(rng):
    return rng.integers(-1000, 1000, 512).astype(np.int32)


def test_primitives_of_blocks_and_warps(stream, x):
    ordered, sums, out = np.zeros(512, np.int32), np.zeros(128, np.int32), np.zeros(5, np.int32)
    samples(stream, "blocks", 1, 128, x, ordered, sums, out)
    fours = x.reshape(128, 4).sum(1)
    np.testing.assert_array_equal(ordered, np.sort(x))
    np.testing.assert_array_equal(sums, fours.cumsum())
    np.testing.assert_array_equal(out, [x.sum(), *fours.reshape(4, 32).max(1)])


@pytest.mark.parametrize(("name", "dtype"), [("add_first_integers", np.int32), ("add_first_numbers", np.float32)])
@pytest.mark.parametrize("count", [1, 31, 45, 97, 127])
def test_sums_of_the_first_lanes(stream, x, name, dtype, count):
    x, out = x[:128].astype(dtype), np.zeros(5, dtype)
    samples(stream, name, 1, 128, x, np.int32(count), out)
    np.testing.assert_array_equal(out, [x[:count].sum(), *x.reshape(4, 32)[:, : count % 32].sum(1)])


def test_scan_of_a_partial_tile(stream, x):
    for name, dtype in (("scan_integers", np.int32), ("scan_numbers", np.float64)):
        values, out = x.astype(dtype), np.zeros(300, dtype)
        samples(stream, name, 1, 128, values, np.int32(300), out)
        np.testing.assert_array_equal(out, values[:300].cumsum())


def test_standard_library_and_atomics(stream, x):
    out, counts = np.zeros(128, np.float32), np.zeros(2, np.int32)
    samples(stream, "values", 1, 128, x[:128], out, counts)
    z = (x[:128] + 1j) ** 2
    np.testing.assert_allclose(out, z.real + z.imag + 2 * x[:128])
    assert counts.tolist() == [x[:128].sum(), 128]


def test_barriers_pipelines_and_spaces_of_pointers(stream, x):
    out = np.zeros(256, np.int32)
    samples(stream, "meetings", 1, 128, x[:128], out)
    np.testing.assert_array_equal(out[:128], 3 * x[:128][::-1])
    assert set(out[128:]) == {5}
