# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions and selection give NumPy's results and types, for all layouts."""

import operator

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import put, take, where
from support.array_values import same, sample

pytestmark = pytest.mark.usefixtures("context")

KINDS = ["bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["add", "mul", "truediv"])
def test_arithmetic_matches_numpy(dtype, name):
    function = getattr(operator, name)
    a, b = sample(dtype), sample(dtype, seed=1) | True if dtype == "bool" else sample(dtype, seed=1)
    same(function(gpuarray.to_gpu(a), gpuarray.to_gpu(b)), function(a, b), 1e-3 if dtype == "f2" else 1e-6)


@pytest.mark.parametrize(("left", "right"), [("i4", "f4"), ("u1", "i1"), ("i8", "u8"), ("f4", "c8"), ("bool", "i2")])
def test_types_are_promoted_as_in_numpy(left, right):
    a, b = sample(left), sample(right, seed=1)
    same(gpuarray.to_gpu(a) + gpuarray.to_gpu(b), a + b, 1e-6)


@pytest.mark.parametrize("number", [3, 2.5, True, np.float32(2), np.int8(2), np.float64(0.5), 1 + 2j], ids=repr)
@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_python_numbers_adapt_and_numpy_numbers_do_not(number, dtype):
    a = sample(dtype)
    d = gpuarray.to_gpu(a)
    same(d * number, a * number, 1e-6)
    same(number - d, number - a, 1e-6) if not isinstance(number, bool) else same(d + number, a + number)


@pytest.mark.parametrize("dtype", ["i1", "i8", "u4", "f4", "f8"])
@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_quotients_round_down(dtype, name):
    a = np.array([7, -7, 7, -7, 0, 6, -6, 100], "i8").astype(dtype)
    b = np.array([3, 3, -3, -3, 5, 2, 2, 7], "i8").astype(dtype)
    function = getattr(operator, name)
    same(function(gpuarray.to_gpu(a), gpuarray.to_gpu(b)), function(a, b), 1e-6)


@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "c8"])
def test_powers_match_numpy(dtype):
    a = sample(dtype)
    d = gpuarray.to_gpu(a)
    same(d**2, a**2, 1e-5)
    same(d ** gpuarray.to_gpu(np.full_like(a, 3)), a ** np.full_like(a, 3), 1e-4)


def test_dates_can_be_copied_but_arithmetic_on_them_is_rejected():
    host = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    d = gpuarray.to_gpu(host)
    assert (d.copy().get() == host).all()
    days = gpuarray.to_gpu(np.array([1, 2], "m8[D]"))
    for use in (lambda: d + 1, lambda: d < d, lambda: days + days, lambda: days.mul_add(1, days, 1)):
        with pytest.raises(TypeError, match="not supported"):
            use()


def test_signed_and_unsigned_numbers_are_compared_by_value():
    a, b = np.array([-1, 5, 2**62], "i8"), np.array([2**64 - 1, 5, 2**63], "u8")
    found = gpuarray.to_gpu(a) < gpuarray.to_gpu(b)
    assert found.get().tolist() == [1, 0, 1]
    assert (gpuarray.to_gpu(b) == gpuarray.to_gpu(a)).get().tolist() == [0, 1, 0]


def test_comparisons_with_out_of_range_numbers_are_correct():
    d = gpuarray.to_gpu(np.array([1, -1], "i1"))
    assert (d < 300).get().tolist() == [1, 1]
    assert (d == 300).get().tolist() == [0, 0]
    assert (d > -(10**30)).get().tolist() == [1, 1]
    with pytest.raises(OverflowError):
        d + 300


@pytest.mark.parametrize("bad", [[0, 0], np.zeros(2, "i1"), 3])
def test_elementwise_out_must_be_a_device_array(bad):
    d = gpuarray.to_gpu(np.array([1, -1], "i1"))
    with pytest.raises(TypeError, match=f"out must be a GPUArray, not {type(bad).__name__}"):
        gpuarray.maximum(d, d, bad)
    with pytest.raises(ValueError, match=r"out must have shape \(2,\), not \(3,\)"):
        gpuarray.maximum(d, d, gpuarray.zeros(3, "i1"))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::2, 1:],
        lambda a: a[::-1, ::-1],
        lambda a: a[:, 3:4],
        lambda a: a[2],
        lambda a: a[1:, 1:][:2],
        lambda a: a[0:0],
        lambda a: a[3, 4],
    ],
)
def test_views_of_any_strides_are_operands(view):
    a, b = sample("f4", (8, 8)), sample("f8", (8, 8), seed=1)
    d, e = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    same(view(d) + view(e), view(a) + view(b))
    same(view(d) * 2, view(a) * 2)
    assert (view(d) * 1).flags.c_contiguous == (view(a) * 1).flags.c_contiguous


@pytest.mark.parametrize(("left", "right"), [((6, 7), (7,)), ((6, 1), (1, 7)), ((), (3,)), ((2, 1, 3), (4, 1))])
def test_operands_are_broadcast(left, right):
    a, b = np.asarray(sample("f4", left)), sample("f4", right, seed=1)
    same(gpuarray.to_gpu(a) - gpuarray.to_gpu(b), a - b)


def test_operands_that_do_not_broadcast_are_rejected():
    a, b = gpuarray.zeros(3, "f4"), gpuarray.zeros(4, "f4")
    with pytest.raises(ValueError, match="broadcast"):
        a + b
    with pytest.raises(ValueError, match="broadcast|cannot take"):
        a += b
    with pytest.raises(ValueError, match="cannot be broadcast to the array's shape"):
        a += gpuarray.zeros((2, 3), "f4")
    with pytest.raises(ValueError, match="out must have shape"):
        np.add(a, a, out=b)


def test_in_place_on_overlapping_views_reads_the_old_values():
    a = np.arange(10, dtype="f4")
    d = gpuarray.to_gpu(a)
    d[1:] += d[:-1]
    a[1:] += a[:-1].copy()
    assert d.get().tolist() == a.tolist()


@pytest.mark.parametrize("count", [1, 3, 4, 5, 1023, 1025])
def test_elements_after_the_last_whole_pack_are_computed(count):
    a = np.arange(count, dtype="f4")
    d = gpuarray.to_gpu(np.concatenate([a, a]))
    for begin in (0, 1):
        found = d[begin : begin + count] + d[:count]
        expected = np.concatenate([a, a])[begin : begin + count] + a
        assert found.get().tolist() == expected.tolist()
    assert d.get().tolist() == [*a, *a]


def test_arrays_with_freed_memory_are_rejected():
    a, b = gpuarray.zeros(3, "f4"), gpuarray.zeros(3, "f4")
    assert (a + b).get().tolist() == [0, 0, 0]
    a.gpudata.free()
    for use in (lambda: a + b, lambda: b + a, lambda: a + 1, lambda: a.get(), lambda: a[1:].get(), lambda: -a):
        with pytest.raises(drv.LogicError, match="freed"):
            use()


@pytest.mark.requires(devices=2)
def test_arrays_of_two_devices_are_not_mixed():
    a = gpuarray.zeros(3, "f4")
    assert (a + a).get().tolist() == [0, 0, 0]
    other = drv.Device(1).make_context()
    try:
        b = gpuarray.zeros(3, "f4")
        for use in (lambda: a + b, lambda: b + a, lambda: a + a, lambda: a * 2):
            with pytest.raises(drv.LogicError, match="device"):
                use()
    finally:
        other.detach()


def test_large_arrays_are_computed_completely():
    count = 300_000
    a = np.arange(count, dtype="f4")
    d = gpuarray.to_gpu(a)
    assert np.array_equal((d + d).get(), a + a)
    assert np.array_equal((d[::3] + 1).get(), a[::3] + 1)


def test_where_and_take_work_on_structured_arrays():
    dtype = np.dtype([("a", "i4"), ("b", "f8")])
    host = np.zeros(4, dtype)
    host["a"] = np.arange(4)
    d = gpuarray.to_gpu(host)
    condition = gpuarray.to_gpu(np.array([1, 0, 1, 0], "i4"))
    chosen = where(condition, d, d.reverse())
    assert chosen.get()["a"].tolist() == [0, 2, 2, 0]
    assert take(d, gpuarray.to_gpu(np.array([2, 9], "i4"))).get().tolist() == [(2, 0.0), (0, 0.0)]
    with pytest.raises(TypeError, match="like then_"):
        where(condition, d, 0)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
def test_elements_of_all_sizes_are_taken_and_put(dtype):
    host = np.arange(12).astype(dtype).reshape(3, 4)
    d = gpuarray.to_gpu(host)
    indices = gpuarray.to_gpu(np.array([11, 0, 5, 5], "i8"))
    for view in (lambda a: a, lambda a: a.T):
        assert take(view(d), indices).get().tolist() == view(host).take([11, 0, 5, 5]).tolist()
    put(d, indices[:2], gpuarray.to_gpu(np.array([7, 8], dtype)))
    assert d.get()[2, 3] == 7 and d.get()[0, 0] == 8


def test_array_can_be_put_into_itself():
    d = gpuarray.arange(6, dtype="i4")
    order = gpuarray.to_gpu(np.array([5, 4, 3, 2, 1, 0], "i4"))
    put(d, order, d)
    assert d.get().tolist() == [5, 4, 3, 2, 1, 0]
    take(d, order, d)
    assert d.get().tolist() == [0, 1, 2, 3, 4, 5]
    gpuarray.multi_take_put([d], order[3:], order[:3], out=[d], src_offsets=[1])
    assert d.get().tolist() == [4, 5, 0, 3, 4, 5]


def test_selection_rejects_arrays_with_freed_memory():
    d, indices = gpuarray.zeros(3, "f4"), gpuarray.zeros(2, "i4")
    d.gpudata.free()
    for use in (lambda: take(d, indices), lambda: put(d, indices, gpuarray.zeros(2, "f4")), lambda: where(d, 1, 2)):
        with pytest.raises(drv.LogicError, match="freed"):
            use()
