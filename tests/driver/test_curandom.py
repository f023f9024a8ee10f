# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of random numbers without a generator object."""

import numpy as np
import pytest
from scipy import stats

import cuda.core.driver as drv
from cuda.core.driver import curandom

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_are_uniform_from_zero_and_below_one(dtype):
    numbers = curandom.rand((100, 300), dtype).get()
    assert numbers.shape == (100, 300) and 0 <= numbers.min() and numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(numbers[:-1].ravel(), numbers[1:].ravel())[0, 1]) < 0.03


@pytest.mark.parametrize("dtype", ["i4", "u4"])
def test_all_bits_of_integers_are_random(dtype):
    bits = curandom.rand(30_000, dtype).get().view("u4")
    assert stats.kstest(bits / 2**32, "uniform").pvalue > 1e-4
    means = [((bits >> k) & 1).mean() for k in range(32)]
    assert np.abs(np.array(means) - 0.5).max() < 0.02


def test_equal_seeds_of_numpy_give_equal_numbers():
    np.random.seed(3)
    first, second = curandom.rand(100).get(), curandom.rand(100).get()
    np.random.seed(3)
    assert np.array_equal(curandom.rand(100).get(), first) and not np.array_equal(first, second)


def test_rand_takes_streams_and_empty_shapes():
    stream = drv.Stream()
    assert np.unique(curandom.rand(1000, stream=stream).get(stream=stream)).size > 990
    assert curandom.rand((0, 3)).shape == (0, 3)


def test_other_types_are_not_implemented():
    for dtype in ("f2", "i8", "c8", "?"):
        with pytest.raises(NotImplementedError, match="random numbers of type"):
            curandom.rand(3, dtype)


def test_all_public_names_have_docstrings():
    for name in curandom.__all__:
        assert getattr(curandom, name).__doc__, name
