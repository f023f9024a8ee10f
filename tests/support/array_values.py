# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Classic arrays beside NumPy arrays: values to compute with, and the comparison of results."""

import numpy as np

__all__ = ["sample", "same"]


def sample(dtype, shape=(6, 7), seed=0) -> np.ndarray:
    """Return small numbers of a type: floats with fractions, complex numbers with both parts."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = rng.integers(1, 9, shape)
    if dtype.kind == "f":
        values = values + rng.integers(0, 4, shape) / 4
    if dtype.kind == "c":
        values = values + 1j * rng.integers(-4, 4, shape)
    if dtype.kind == "b":
        values = values % 2
    return values.astype(dtype)


def same(found, expected, tolerance=0.0) -> None:
    """Assert that a device array has the type, shape and values of a NumPy array."""
    host = found.get()
    assert host.dtype == expected.dtype
    assert host.shape == expected.shape
    assert np.allclose(host, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
