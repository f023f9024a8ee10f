# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each operator of Python on arrays: the function of NumPy behind it, its reflection, and in place."""

import operator

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from support.array_values import same, sample

pytestmark = pytest.mark.usefixtures("context")


REFLECTED = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"]


@pytest.mark.parametrize("name", REFLECTED)
def test_each_operator_takes_a_number_on_either_side(name):
    host = np.array([1, 2, 3, 5], "i4") if name in REFLECTED[7:] else np.array([1, 2, 3, 5], "f4")
    d, function = gpuarray.to_gpu(host), getattr(operator, name)
    same(function(d, 2), function(host, 2), 1e-6)
    same(function(2, d), function(2, host), 1e-6)
    assert function(d, 2).ptr != d.ptr


def test_negative_powers_of_integers_are_refused():
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


def test_operators_that_a_type_does_not_have_are_refused():
    with pytest.raises(TypeError):
        -gpuarray.to_gpu(sample("bool"))
    with pytest.raises(TypeError):
        gpuarray.to_gpu(sample("f4")) & 1
    with pytest.raises(TypeError, match="not supported"):
        operator.lt(gpuarray.to_gpu(sample("c8")), 1)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_give_zero_and_one_in_the_type_of_the_operands(name):
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
