# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Python operators and NumPy functions on device arrays."""

import operator

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import GPUArray
from support.array_values import same, sample

pytestmark = pytest.mark.usefixtures("context")


REFLECTED = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"]


@pytest.mark.parametrize("name", REFLECTED)
def test_each_operator_accepts_a_number_on_either_side(name):
    host = np.array([1, 2, 3, 5], "i4") if name in REFLECTED[7:] else np.array([1, 2, 3, 5], "f4")
    d, function = gpuarray.to_gpu(host), getattr(operator, name)
    same(function(d, 2), function(host, 2), 1e-6)
    same(function(2, d), function(2, host), 1e-6)
    assert function(d, 2).ptr != d.ptr


def test_negative_powers_of_integers_are_rejected():
    d = gpuarray.to_gpu(sample("i4"))
    with pytest.raises(ValueError, match="negative integer powers"):
        d**-1
    with pytest.raises(ValueError, match="negative integer powers"):
        d **= -2


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
@pytest.mark.parametrize("dtype", ["i4", "u1"])
def test_bitwise_operators_match_numpy(dtype, name):
    function = getattr(operator, name)
    a, b = sample(dtype), sample(dtype, seed=1) % 7
    same(function(gpuarray.to_gpu(a), gpuarray.to_gpu(b)), function(a, b))
    same(function(gpuarray.to_gpu(a), 3), function(a, 3))
    same(function(3, gpuarray.to_gpu(b)), function(3, b))


@pytest.mark.parametrize("dtype", ["bool", "i4", "f2", "c8"])
def test_unary_operators_match_numpy(dtype):
    a = sample(dtype)
    d = gpuarray.to_gpu(a)
    same(abs(d), abs(a), 1e-3)
    if dtype != "bool":
        same(-d, -a)
        same(+d, +a)
    if dtype in ("bool", "i4"):
        same(~d, ~a)


def test_operators_that_a_type_does_not_have_are_rejected():
    with pytest.raises(TypeError):
        -gpuarray.to_gpu(sample("bool"))
    with pytest.raises(TypeError):
        gpuarray.to_gpu(sample("f4")) & 1
    with pytest.raises(TypeError, match="not supported"):
        operator.lt(gpuarray.to_gpu(sample("c8")), 1)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_return_zero_and_one_in_the_operand_type(name):
    function = getattr(operator, name)
    a, b = sample("f4"), sample("f4", seed=1)
    found = function(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
    same(found, function(a, b).astype("f4"))
    same(function(gpuarray.to_gpu(a), 4), function(a, 4).astype("f4"))
    same(function(gpuarray.to_gpu(a.astype("i4")), 4.5), function(a.astype("i4"), 4.5).astype("i4"))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_operators_in_place_keep_the_type_and_the_memory(name):
    function = getattr(operator, name)
    a = sample("f4")
    d = gpuarray.to_gpu(a)
    address = d.ptr
    found = function(d, 2)
    assert found is d and d.ptr == address
    same(d, function(a, 2), 1e-5)


@pytest.mark.parametrize("name", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_bitwise_operators_in_place_match_numpy(name):
    function = getattr(operator, name)
    a = sample("i4")
    d = gpuarray.to_gpu(a)
    found = function(d, 3)
    assert found is d
    same(found, function(a, 3))


def test_results_in_place_are_truncated_to_the_type_of_the_array():
    d = gpuarray.to_gpu(np.array([1, 2, 3], "i4"))
    d /= 2
    assert d.get().tolist() == [0, 1, 1]
    d += 1.75
    assert d.dtype == np.int32 and d.get().tolist() == [1, 2, 2]
    with pytest.raises(TypeError, match="complex results"):
        d += 1j


@pytest.mark.parametrize("other", ["text", None, [1, 2], np.zeros(3), {1: 2}], ids=repr)
def test_other_operands_raise_type_error(other):
    d = gpuarray.zeros(3, "f4")
    with pytest.raises(TypeError):
        d + other
    with pytest.raises(TypeError):
        d += other


A = np.linspace(0.1, 0.9, 12, dtype="f4").reshape(3, 4)
B = np.linspace(-2, 3, 12, dtype="f4").reshape(3, 4)


UNARY = (
    "absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conjugate cos cosh deg2rad exp exp2 "
    "expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive "
    "rad2deg reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide fmax fmin fmod "
    "greater greater_equal hypot left_shift less less_equal logical_and logical_or logical_xor maximum "
    "minimum multiply not_equal power remainder right_shift subtract"
).split()


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufuncs_match_numpy(name):
    ufunc = getattr(np, name)
    host = np.arange(-4, 8, dtype="i4") if ufunc is np.invert else A + 1 if ufunc is np.arccosh else A
    found = ufunc(gpuarray.to_gpu(host))
    expected = ufunc(host)
    assert isinstance(found, GPUArray) and found.dtype == expected.dtype
    assert np.allclose(found.get(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufuncs_match_numpy(name):
    ufunc = getattr(np, name)
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


def test_host_arrays_are_rejected_as_operands():
    d = gpuarray.to_gpu(A)
    for use in (lambda: A + d, lambda: np.add(d, A), lambda: np.add(d, d, out=A.copy()), lambda: np.sort(d)):
        with pytest.raises(TypeError):
            use()


def test_out_can_be_a_device_array():
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


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "c8"])
@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("function", [np.sum, np.prod, np.mean, np.add.reduce])
def test_sums_and_means_have_the_type_and_the_value_of_numpy(function, axis, dtype):
    a = (np.arange(600).reshape(2, 300) % 3 + 1).astype(dtype)
    if function is np.prod:
        a = a[:, :9]
    found, expected = function(gpuarray.to_gpu(a), axis=axis), np.asarray(function(a, axis=axis))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.allclose(found.get(), expected, rtol=1e-3 if dtype == "f2" else 1e-6)


def test_mean_of_halves_does_not_overflow():
    a = np.full(5000, 60, np.float16)
    mean = np.mean(gpuarray.to_gpu(a))
    assert mean.dtype == np.float16 and mean.get() == np.mean(a) == 60


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("exponent", [0, 0.0, 0j])
def test_power_of_zero_is_one_even_for_nan(dtype, exponent):
    a = np.array([complex("nan"), complex(1, float("inf")), 0, 2j], dtype)
    assert (gpuarray.to_gpu(a) ** exponent).get().tolist() == [1, 1, 1, 1]
    exponents = gpuarray.to_gpu(np.full(4, exponent, dtype))
    assert (gpuarray.to_gpu(a) ** exponents).get().tolist() == [1, 1, 1, 1]


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


def test_numpy_dot_matches_numpy_or_raises():
    vectors = [sample("f4").ravel(), sample("f4").ravel()[::-1]]
    d, e = (gpuarray.to_gpu(vector.copy()) for vector in vectors)
    same(np.dot(d, e), np.dot(*vectors), 1e-5)
    same(np.dot(d[:1], e[0:1].reshape(())), np.dot(vectors[0][:1], vectors[1][0]), 1e-5)
    same(np.dot(d, 2), np.dot(vectors[0], 2), 1e-5)
    matrix = gpuarray.to_gpu(np.arange(4, dtype="f4").reshape(2, 2))
    cube = gpuarray.to_gpu(np.ones((2, 2, 2), "f4"))
    for pair in ((matrix, matrix), (matrix, matrix[0]), (matrix[0], matrix), (cube, matrix), (matrix, matrix.T)):
        with pytest.raises(TypeError, match="dot of GPUArrays needs one-dimensional arrays"):
            np.dot(*pair)
    with pytest.raises(TypeError, match="does not support out"):
        np.dot(d, e, out=d)
    with pytest.raises(ValueError, match="same size"):
        np.dot(matrix[0], cube.reshape(8))
    assert gpuarray.dot(matrix, matrix).get() == np.vdot(matrix, matrix).get() == 14


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floor_division_of_special_numbers_matches_numpy(dtype):
    special = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 1e4, -1e4, np.inf, -np.inf, np.nan, 1e-7, -1e-7], dtype)
    left, right = (grid.ravel().copy() for grid in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        for function in (operator.floordiv, operator.mod):
            expected = function(left, right)
            found = function(gpuarray.to_gpu(left), gpuarray.to_gpu(right)).get()
            assert np.array_equal(found, expected, equal_nan=True)
            usual = ~np.isnan(expected)
            assert np.array_equal(np.signbit(found[usual]), np.signbit(expected[usual]))


@pytest.mark.parametrize("result", ["i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8"])
def test_mean_has_the_type_that_was_asked_for(result):
    for values in ([1, 2], [7, 8, 9, 9], [5]):
        for given in ("i4", "u1", "f4"):
            host = np.array(values, given)
            for axis in (None, 0):
                found, expected = (np.mean(array, dtype=result, axis=axis) for array in (gpuarray.to_gpu(host), host))
                assert found.dtype == expected.dtype == np.dtype(result)
                assert np.allclose(found.get(), expected)
    host = np.arange(300, dtype="i4").reshape(300, 1) % 2
    found = np.mean(gpuarray.to_gpu(host), axis=0, dtype="i8").get()
    assert found.tolist() == np.mean(host, axis=0, dtype="i8").tolist()
