# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions, which keep the type."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import cumath, gpuarray

pytestmark = pytest.mark.usefixtures("context")

NAMES = {
    "fabs": "fabs",
    "ceil": "ceil",
    "floor": "floor",
    "exp": "exp",
    "log": "log",
    "log10": "log10",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
}
COMPLEX = ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
HOST = np.linspace(0.05, 0.95, 20)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_real_numbers_match_numpy(name, dtype):
    host = HOST.astype(dtype)
    found = getattr(cumath, name)(gpuarray.to_gpu(host))
    assert found.dtype == host.dtype
    assert np.allclose(found.get(), getattr(np, NAMES[name])(host), rtol=2e-3 if dtype == "f2" else 1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("name", COMPLEX)
def test_functions_of_complex_numbers_match_numpy(name, dtype):
    host = np.concatenate([HOST * 2 - 1 + 1j * HOST[::-1], [1, -1, 1j, -1j, -2 - 0.5j]]).astype(dtype)
    found = getattr(cumath, name)(gpuarray.to_gpu(host))
    assert found.dtype == host.dtype
    assert np.allclose(found.get(), getattr(np, name)(host), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(COMPLEX)))
def test_other_functions_reject_complex_numbers(name):
    with pytest.raises(TypeError):
        getattr(cumath, name)(gpuarray.zeros(3, "c8"))


def test_results_for_integers_are_truncated():
    found = cumath.sqrt(gpuarray.arange(10, dtype="i4"))
    assert found.dtype == np.int32 and found.get().tolist() == [0, 1, 1, 1, 2, 2, 2, 2, 2, 3]


def test_results_go_to_out_on_the_given_stream():
    x, stream = gpuarray.to_gpu(HOST), drv.Stream()
    out = gpuarray.empty_like(x)
    assert cumath.exp(x, out=out, stream=stream) is out
    assert np.allclose(out.get(stream=stream), np.exp(HOST))
    assert np.allclose(cumath.sin(x[::-2]).get(), np.sin(HOST[::-2]))
    cumath.exp(x, out=x)
    assert np.allclose(x.get(), np.exp(HOST))


def test_positional_out_warns_and_has_no_effect():
    x, out = gpuarray.to_gpu(HOST), gpuarray.zeros(20)
    with pytest.warns(DeprecationWarning, match="by name only"):
        found = cumath.exp(x, out)
    assert found is not out and not out.any()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_frexp_ldexp_and_modf_match_numpy(dtype):
    host = np.array([0, -0.0, 1, -7.25, 0.3, 1000, 6e-5], dtype)
    x = gpuarray.to_gpu(host)
    significand, exponent = cumath.frexp(x)
    expected = np.frexp(host)
    assert np.array_equal(significand.get(), expected[0]) and np.array_equal(exponent.get(), expected[1])
    assert significand.dtype == exponent.dtype == host.dtype
    assert np.array_equal(cumath.ldexp(significand, exponent).get(), host)
    assert np.array_equal(cumath.ldexp(x, exponent.astype("i4")[3:4]).get(), np.ldexp(host, expected[1][3]))
    fraction, whole = cumath.modf(x)
    expected = np.modf(host)
    assert np.array_equal(fraction.get(), expected[0]) and np.array_equal(whole.get(), expected[1])
    assert np.array_equal(np.signbit(fraction.get()), np.signbit(expected[0]))


def test_fractions_of_infinity_are_zero():
    fraction, whole = cumath.modf(gpuarray.to_gpu(np.array([np.inf, -np.inf, np.nan], "f4")))
    assert fraction.get()[:2].tolist() == [0, 0] and whole.get()[:2].tolist() == [np.inf, -np.inf]


def test_functions_of_two_arguments_match_numpy():
    a, b = np.linspace(-5, 5, 11, dtype="f4"), np.linspace(0.5, 3, 11, dtype="f4")
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert np.allclose(cumath.fmod(x, y).get(), np.fmod(a, b))
    assert np.allclose(cumath.fmod(x, 2).get(), np.fmod(a, 2))
    assert np.allclose(cumath.atan2(x, y).get(), np.arctan2(a, b))
    stream = drv.Stream()
    assert np.allclose(cumath.fmod(x, y, stream).get(stream=stream), np.fmod(a, b))


def test_arguments_are_checked():
    x = gpuarray.zeros(3, "i4")
    for use, text in (
        (lambda: cumath.exp(np.zeros(3)), "array must be a GPUArray"),
        (lambda: cumath.exp(gpuarray.zeros(3, "V4")), "not supported"),
        (lambda: cumath.fmod(1, 2), "requires a GPUArray"),
        (lambda: cumath.fmod(x, "2"), "GPUArrays and numbers"),
        (lambda: cumath.frexp(x), "real floating-point elements"),
        (lambda: cumath.modf(3.5), "arg must be a GPUArray"),
        (lambda: cumath.ldexp(x, x), "real floating-point elements"),
        (lambda: cumath.ldexp(x.astype("f4"), 3), "exponent must be a GPUArray"),
    ):
        with pytest.raises(TypeError, match=text):
            use()
