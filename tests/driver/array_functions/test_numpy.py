# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy on arrays of the device."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF
from cuda.core.driver.gpuarray import GPUArray

pytestmark = pytest.mark.usefixtures("context")

A = np.linspace(0.1, 0.9, 12, dtype="f4").reshape(3, 4)
B = np.linspace(-2, 3, 12, dtype="f4").reshape(3, 4)


@pytest.mark.parametrize("ufunc", sorted(UNARY_OF, key=lambda ufunc: ufunc.__name__), ids=lambda ufunc: ufunc.__name__)
def test_unary_ufuncs_match_numpy(ufunc):
    host = np.arange(-4, 8, dtype="i4") if ufunc is np.invert else A + 1 if ufunc is np.arccosh else A
    found = ufunc(gpuarray.to_gpu(host))
    expected = ufunc(host)
    assert isinstance(found, GPUArray) and found.dtype == expected.dtype
    assert np.allclose(found.get(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ufunc", sorted(BINARY_OF, key=lambda ufunc: ufunc.__name__), ids=lambda ufunc: ufunc.__name__)
def test_binary_ufuncs_match_numpy(ufunc):
    kinds = "i4" if ufunc.__name__.startswith(("bitwise", "left", "right")) else "f4"
    a, b = (A * 10).astype(kinds), (np.abs(B) * 2 + 1).astype(kinds)
    found = ufunc(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
    assert np.allclose(found.get(), ufunc(a, b), rtol=1e-5)


def test_numpy_scalars_can_be_the_left_operand():
    d = gpuarray.to_gpu(A)
    found = np.float32(2) * d
    assert isinstance(found, GPUArray) and np.array_equal(found.get(), 2 * A)
    assert (np.float64(2) - d).dtype == np.float64
    assert np.array_equal((np.array(3, "f4") + d).get(), 3 + A)


def test_host_arrays_are_refused_as_operands():
    d = gpuarray.to_gpu(A)
    for use in (lambda: A + d, lambda: np.add(d, A), lambda: np.add(d, d, out=A.copy()), lambda: np.sort(d)):
        with pytest.raises(TypeError):
            use()


def test_out_can_be_an_array_of_the_device():
    d = gpuarray.to_gpu(A)
    out = gpuarray.empty_like(d)
    assert np.multiply(d, 3, out=out) is out and np.array_equal(out.get(), 3 * A)
    with pytest.raises(TypeError):
        np.add(d, d, where=True, out=out)


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        np.prod,
        np.max,
        np.min,
        np.any,
        np.all,
        np.mean,
        np.transpose,
        np.ravel,
        np.copy,
        np.real,
        np.imag,
        lambda a: np.sum(a, axis=1),
        lambda a: np.mean(a, axis=0),
        lambda a: np.mean(a.astype("i4"), axis=1, keepdims=True),
        lambda a: np.max(a, axis=0, keepdims=True),
        lambda a: np.where(a, a, 0),
        lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.stack([a, a]),
        lambda a: np.reshape(a, (4, 3)),
        lambda a: np.squeeze(a[:1]),
        np.zeros_like,
        np.ones_like,
        np.add.reduce,
        lambda a: np.maximum.reduce(a, axis=1),
        lambda a: np.multiply.reduce(a, axis=None),
    ],
)
def test_array_functions_match_numpy(function):
    found, expected = function(gpuarray.to_gpu(A)), np.asarray(function(A))
    assert isinstance(found, GPUArray) and found.shape == expected.shape and found.dtype == expected.dtype
    assert np.allclose(found.get(), expected, rtol=1e-5)


def test_products_and_take_match_numpy():
    a, b = A.reshape(-1), B.reshape(-1) * (1 + 1j)
    d, e = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert np.allclose(np.dot(d, e).get(), np.dot(a, b))
    assert np.allclose(np.vdot(e, d).get(), np.vdot(b, a))
    indices = np.array([3, 0], "i4")
    assert np.array_equal(np.take(d, gpuarray.to_gpu(indices)).get(), np.take(a, indices))
    assert np.shape(gpuarray.to_gpu(A)) == (3, 4) and np.ndim(d) == 1 and np.size(d) == 12
    assert np.empty_like(d, dtype="i2").dtype == np.int16


def test_unsupported_functions_and_arguments_raise_type_error():
    d = gpuarray.to_gpu(A)
    for use in (
        lambda: np.where(d),
        lambda: np.sum(d, out=d),
        lambda: np.zeros_like(d, shape=(2, 2)),
        lambda: np.add.accumulate(d),
        lambda: np.linalg.inv(d),
        lambda: np.frompyfunc(abs, 1, 1)(d),
    ):
        with pytest.raises(TypeError):
            use()
