# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions give NumPy's values for all types, layouts and axes, and equal results from run to run."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _array_reductions as _array_reduce
from cuda.core.driver import gpuarray
from support.threads import COUNT, run_in_threads

pytestmark = pytest.mark.usefixtures("context")

KINDS = ["bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


def sample(dtype, shape):
    values = np.random.default_rng(3).integers(0, 5, shape)
    return (values + (1j * values[::-1] if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def expected_of(name, host, axis=None):
    function = getattr(np, name)
    return function(host, axis=axis, dtype=host.dtype) if name in ("sum", "prod") else function(host, axis=axis)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["sum", "max", "min", "any", "all"])
def test_reductions_match_numpy_for_all_types(name, dtype):
    host = sample(dtype, (3, 4, 5))
    if host.dtype.kind == "c" and name in ("max", "min"):
        with pytest.raises(TypeError, match="not supported"):
            _array_reduce.reduce_all(name, gpuarray.to_gpu(host))
        return
    d = gpuarray.to_gpu(host)
    for view in (lambda a: a, lambda a: a[1:, ::2], lambda a: a[:, 1]):
        found = _array_reduce.reduce_all(name, view(d)).get()
        assert found.dtype == expected_of(name, view(host)).dtype
        assert found == expected_of(name, view(host))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2), ()], ids=str)
@pytest.mark.parametrize("name", ["sum", "max", "any"])
def test_reductions_along_axes_match_numpy(name, axis):
    host = sample("i4", (4, 5, 6))
    d = gpuarray.to_gpu(host)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-2, 1:]):
        found = _array_reduce.reduce_axes(name, view(d), axis, None, None, False).get()
        expected = expected_of(name, view(host), axis)
        assert found.shape == expected.shape and np.array_equal(found, expected)


@pytest.mark.parametrize("shape", [(3, 2000), (2000, 3), (5000, 2), (2, 40, 50), (70, 40)], ids=str)
def test_sums_along_long_and_short_axes_match_numpy(shape):
    host = sample("i8", shape)
    for axis in range(len(shape)):
        found = gpuarray.to_gpu(host).sum(axis=axis, keepdims=True)
        assert np.array_equal(found.get(), host.sum(axis=axis, keepdims=True))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 255, 257, 4096, 100_003, 600_000])
def test_every_element_counts_once(size):
    host = np.arange(size, dtype="i8")
    d = gpuarray.to_gpu(host)
    assert gpuarray.sum(d).get() == host.sum()
    assert gpuarray.sum(d[1:]).get() == host[1:].sum()
    assert gpuarray.max(d).get() == size - 1
    assert gpuarray.dot(d, d).get() == (host * host).sum()


def test_sums_are_equal_from_run_to_run():
    host = np.random.default_rng(0).standard_normal(50_000).astype("f4")
    d = gpuarray.to_gpu(host)
    found = {float(gpuarray.sum(d)) for _ in range(5)}
    assert len(found) == 1 and abs(found.pop() - host.sum(dtype="f8")) < 0.01


def test_maximum_and_minimum_propagate_nan():
    d = gpuarray.to_gpu(np.array([1, np.nan, 3], "f4"))
    assert np.isnan(gpuarray.max(d).get()) and np.isnan(gpuarray.min(d).get())
    e = gpuarray.to_gpu(np.array([-np.inf, -np.inf]))
    assert gpuarray.max(e).get() == -np.inf


def test_empty_arrays_have_a_sum_but_no_maximum():
    d = gpuarray.zeros((0, 3), "f4")
    assert gpuarray.sum(d).get() == 0 and gpuarray.dot(d, d).get() == 0
    assert d.sum(axis=0).get().tolist() == [0, 0, 0]
    for use in (lambda: gpuarray.max(d), lambda: d.min(axis=0), lambda: gpuarray.subset_max(d.astype("i4"), d)):
        with pytest.raises(ValueError, match="no m"):
            use()
    assert d.max(axis=1).shape == (0,)


def test_results_have_the_type_of_the_array_or_dtype():
    d = gpuarray.to_gpu(np.array([100, 100, 100], "i1"))
    assert gpuarray.sum(d).get() == 300 - 256
    assert gpuarray.sum(d, dtype="i4").get() == 300
    with pytest.raises(TypeError, match="cannot have type"):
        gpuarray.sum(d.astype("c8"), dtype="f4")
    with pytest.raises(TypeError, match="cannot be converted to"):
        gpuarray.dot(d.astype("c8"), d, dtype="f4")


def test_dot_takes_arrays_of_different_layouts():
    a, b = sample("f4", (4, 5)), sample("c8", (5, 4))
    found = gpuarray.dot(gpuarray.to_gpu(a), gpuarray.to_gpu(b).T)
    assert np.allclose(found.get(), (a * b.T).sum())
    with pytest.raises(ValueError, match="not 20 and 16 elements"):
        gpuarray.dot(gpuarray.to_gpu(a), gpuarray.to_gpu(b)[1:])
    with pytest.raises(TypeError, match="the operand must be a GPUArray"):
        gpuarray.dot(gpuarray.to_gpu(a), b)


def test_subset_indices_must_be_integers_and_axes_distinct():
    d = gpuarray.zeros(3, "f4")
    with pytest.raises(TypeError, match="subset must have integers"):
        gpuarray.subset_sum(d, d)
    with pytest.raises(ValueError, match="axis must name each axis once"):
        d.sum(axis=(0, -1))


def test_reductions_use_the_given_stream_and_allocator():
    host = np.arange(10_000, dtype="f8")
    sizes = []

    def allocate(nbytes):
        sizes.append(nbytes)
        return drv.mem_alloc(nbytes)

    stream = drv.Stream()
    d = gpuarray.to_gpu_async(host, stream=stream)
    total = gpuarray.sum(d, stream=stream, allocator=allocate)
    assert total.get(stream=stream) == host.sum() and 8 in sizes


def test_threads_do_not_share_scratch_memory(context):
    d = [gpuarray.to_gpu(np.full(20_000, number, "i8")) for number in range(COUNT)]

    def work(number):
        context.push()
        try:
            for _ in range(20):
                assert gpuarray.sum(d[number]).get() == 20_000 * number
        finally:
            drv.Context.pop()

    assert run_in_threads(work) == []
