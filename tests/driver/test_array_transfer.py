# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between host and device, and between arrays."""

import warnings

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import GPUArray

pytestmark = pytest.mark.usefixtures("context")

HOST = np.arange(60, dtype="f4").reshape(3, 4, 5)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)], ids=str)
def test_order_of_axes_is_kept_both_ways(axes):
    host = HOST.transpose(axes)
    d = gpuarray.to_gpu(host)
    assert d.strides == host.strides
    back = d.get()
    assert back.strides == host.strides and np.array_equal(back, host)


@pytest.mark.parametrize(
    "view", [lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a[:, 1, 2:4], lambda a: a[..., 0].T, lambda a: a[1:1]]
)
def test_views_with_gaps_are_packed_both_ways(view):
    d = gpuarray.to_gpu(view(HOST))
    assert np.array_equal(d.get(), view(HOST))
    assert np.array_equal(view(gpuarray.to_gpu(HOST)).get(), view(HOST))


@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a.T[1:, 1:], lambda a: a[1:1]]
)
def test_set_stores_in_arrays_of_any_layout(view):
    d, expected = gpuarray.zeros((3, 4, 5), "f4"), np.zeros((3, 4, 5), "f4")
    source = view(HOST) + 100
    view(d).set(np.ascontiguousarray(source))
    view(expected)[...] = source
    assert np.array_equal(d.get(), expected)


def test_get_fills_the_given_array():
    d = gpuarray.to_gpu(HOST)
    for target in (np.empty_like(HOST), np.empty(HOST.shape, "f4", "F"), np.empty((6, 4, 5), "f4")[::2]):
        assert d.get(target) is target
        assert np.array_equal(target, HOST)


def test_asynchronous_copies_are_complete_when_their_stream_is():
    stream = drv.Stream()
    d = gpuarray.to_gpu_async(HOST, stream=stream)
    back = d.get_async(stream)
    stream.synchronize()
    assert np.array_equal(back, HOST)
    d.set_async(HOST * 2, stream)
    target = np.empty_like(HOST)
    assert d.get(target, async_=True, stream=stream) is target
    stream.synchronize()
    assert np.array_equal(target, HOST * 2)
    assert np.array_equal(d.get(stream=stream), HOST * 2)
    d.set(HOST, stream=stream)
    assert np.array_equal(d.get(pagelocked=True), HOST)


def test_page_locked_arrays_outlive_the_array():
    back = gpuarray.to_gpu(HOST).get(pagelocked=True)
    assert np.array_equal(back + 1, HOST + 1)
    back[0] = 5
    assert (back[0] == 5).all()


def test_sizes_and_types_must_agree():
    d = gpuarray.to_gpu(HOST)
    with pytest.raises(ValueError, match="60"):
        d.set(HOST[:2])
    with pytest.raises(ValueError, match="float64"):
        d.set(HOST.astype("f8"))
    with pytest.raises(TypeError, match="ndarray"):
        d.set([1, 2])
    with pytest.raises(ValueError, match="60"):
        d.get(np.empty(3, "f4"))
    with pytest.raises(TypeError, match="float64"):
        d.get(np.empty(HOST.shape))
    with pytest.raises(TypeError, match="ndarray"):
        d.get(bytearray(240))


def test_other_shapes_of_equal_size_warn():
    d = gpuarray.to_gpu(HOST)
    with pytest.warns(UserWarning, match="shape"):
        d.set(HOST.reshape(-1) * 2)
    assert np.array_equal(d.get(), HOST * 2)
    flat = np.empty(60, "f4")
    with pytest.warns(DeprecationWarning, match="shape"):
        d.get(flat)
    assert np.array_equal(flat, HOST.reshape(-1) * 2)


@pytest.mark.parametrize("source", ["bool", "i1", "u4", "f2", "f8", "c8"])
@pytest.mark.parametrize("target", ["bool", "u1", "i8", "f2", "f4", "c16"])
def test_types_are_converted_as_in_numpy(source, target):
    host = np.array([0, 1, 2, 3.75, 100, 0.25]).astype(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        expected = host.astype(target)
    found = gpuarray.to_gpu(host).astype(target)
    assert found.dtype == target and np.array_equal(found.get(), expected)


def test_half_precision_is_converted_as_in_numpy():
    bits = np.arange(65536, dtype="u2")
    halves = bits.view("f2")
    numbers = gpuarray.to_gpu(halves).astype("f4")
    with np.errstate(invalid="ignore"):
        assert np.array_equal(numbers.get(), halves.astype("f4"), equal_nan=True)
    rng = np.random.default_rng(0)
    floats = np.concatenate(
        [rng.standard_normal(20000) * 10.0 ** rng.integers(-9, 6, 20000), [np.inf, -np.inf, 0, -0.0]]
    )
    floats = floats.astype("f4")
    with np.errstate(over="ignore"):
        expected = floats.astype("f2")
    assert np.array_equal(gpuarray.to_gpu(floats).astype("f2").get().view("u2"), expected.view("u2"))
    ties = (np.arange(2048, dtype="f4") + 0.5) * 2.0**-24
    assert np.array_equal(gpuarray.to_gpu(ties).astype("f2").get(), ties.astype("f2"))


def test_structured_arrays_are_copied_but_not_converted():
    dtype = np.dtype([("a", "i4"), ("b", "f8"), ("c", "u1", 3)])
    host = np.zeros(5, dtype)
    host["b"] = np.arange(5)
    d = gpuarray.to_gpu(host)
    assert np.array_equal(d[::-2].copy().get(), host[::-2])
    with pytest.raises(TypeError, match="cannot be converted"):
        d.astype("f4")


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i4", "f4", "f8", "f2", "c8", "c16"])
def test_fill_stores_one_value(dtype):
    d = GPUArray((5, 7), dtype).fill(3)
    expected = np.full((5, 7), 3, dtype)
    assert np.array_equal(d.get(), expected)
    d[1:4, ::2].fill(0.0 if dtype != "i4" else 7)
    expected[1:4, ::2] = 0.0 if dtype != "i4" else 7
    assert np.array_equal(d.get(), expected)


def test_fill_accepts_a_stream_and_structured_values():
    stream = drv.Stream()
    dtype = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    d = GPUArray(4, dtype)
    assert d.fill((1, 2, 3), stream) is d
    stream.synchronize()
    assert d.get()[3].tolist() == (1, 2, 3)


@pytest.mark.parametrize("value", ["text", 2**40, 1j, None], ids=repr)
def test_fill_rejects_values_that_the_type_cannot_hold(value):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        GPUArray(3, "i4").fill(value)


def test_assignment_converts_and_broadcasts():
    d, expected = gpuarray.zeros((4, 5), "f4"), np.zeros((4, 5), "f4")
    for key, value in (
        ((slice(1, 3), slice(None)), np.arange(5)),
        ((0, slice(None)), np.arange(5, dtype="f4")),
        ((Ellipsis, 2), 7),
        ((3,), [5, 4, 3, 2, 1]),
        ((slice(None), slice(1, 2)), np.arange(4, dtype="i2").reshape(4, 1)),
        ((2, 2), np.float64(1.5)),
        ((slice(None),), np.ones((1, 1, 5))),
    ):
        d[key] = value
        expected[key] = value
    assert np.array_equal(d.get(), expected)
    d[:2] = gpuarray.to_gpu(np.arange(5))
    assert np.array_equal(d.get()[:2], np.tile(np.arange(5), (2, 1)))
    d[1:] = d[:-1]
    expected[:2] = np.arange(5)
    expected[1:] = expected[:-1].copy()
    assert np.array_equal(d.get(), expected)


def test_assignment_rejects_incompatible_values():
    d = gpuarray.zeros((4, 5), "f4")
    for value in (np.zeros(4), gpuarray.zeros((2, 4, 5), "f4"), gpuarray.zeros((5, 5), "f4")):
        with pytest.raises(ValueError, match="cannot be broadcast"):
            d[...] = value
    with pytest.raises(TypeError, match="Python objects"):
        d[0] = np.array([None] * 5)


def test_converting_from_freed_memory_is_rejected():
    d, other = gpuarray.zeros(3, "f4"), gpuarray.zeros(3, "f8")
    other.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed"):
        d[...] = other
