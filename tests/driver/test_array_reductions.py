# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions give NumPy's values for all types, layouts and axes, and equal results from run to run."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _array_reductions, gpuarray
from cuda.core.driver._array_base import array_device
from cuda.core.driver._array_reductions import TICKET_BYTES, AxisReduction, Reduction, next_turn
from cuda.core.driver._kernels import prelude
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
            _array_reductions.reduce_all(name, gpuarray.to_gpu(host))
        return
    d = gpuarray.to_gpu(host)
    for view in (lambda a: a, lambda a: a[1:, ::2], lambda a: a[:, 1]):
        found = _array_reductions.reduce_all(name, view(d)).get()
        assert found.dtype == expected_of(name, view(host)).dtype
        assert found == expected_of(name, view(host))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2), ()], ids=str)
@pytest.mark.parametrize("name", ["sum", "max", "any"])
def test_reductions_along_axes_match_numpy(name, axis):
    host = sample("i4", (4, 5, 6))
    d = gpuarray.to_gpu(host)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-2, 1:]):
        found = _array_reductions.reduce_axes(name, view(d), axis, None, None, False).get()
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
    with pytest.raises(TypeError, match="cannot reduce elements"):
        gpuarray.sum(d.astype("c8"), dtype="f4")
    with pytest.raises(TypeError, match="cannot be converted to"):
        gpuarray.dot(d.astype("c8"), d, dtype="f4")


def test_dot_accepts_arrays_of_different_layouts():
    a, b = sample("f4", (4, 5)), sample("c8", (5, 4))
    found = gpuarray.dot(gpuarray.to_gpu(a), gpuarray.to_gpu(b).T)
    assert np.allclose(found.get(), (a * b.T).sum())
    with pytest.raises(ValueError, match="not 20 and 16 elements"):
        gpuarray.dot(gpuarray.to_gpu(a), gpuarray.to_gpu(b)[1:])
    with pytest.raises(TypeError, match="the operand must be a GPUArray"):
        gpuarray.dot(gpuarray.to_gpu(a), b)


def test_subset_indices_must_be_integers_and_axes_distinct():
    d = gpuarray.zeros(3, "f4")
    with pytest.raises(TypeError, match="subset must have integer elements"):
        gpuarray.subset_sum(d, d)
    with pytest.raises(ValueError, match="axis must not repeat an axis"):
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


def sum_of(**more):
    return Reduction("sum", "float", 4, "0", "a + b", "x[i]", ["const float* x"], prelude(), **more)


def run(reduction, d, is_packed=False):
    out, memory = gpuarray.zeros((), "f4"), []

    def allocate(nbytes):
        memory.append(gpuarray.zeros(nbytes, "u1"))
        return memory[0], memory[0].ptr

    kept = reduction.launch(array_device(), None, d.size, (d.ptr,), out.ptr, allocate, is_packed)
    # A single block needs no scratch memory.
    assert kept is (memory[0] if reduction.block_count(d.size, array_device(), is_packed) > 1 else None)
    return float(out)


@pytest.mark.parametrize("size", [0, 1, 255, 1025, 100_000])
def test_packed_and_unpacked_sums_are_equal(size):
    host = np.arange(size, dtype="f4") % 16
    reduction = sum_of(packs=(4, {"x": "float"}, "x_p.items[k]"))
    d = gpuarray.to_gpu(host) if size else gpuarray.zeros(1, "f4")[:0]
    assert run(reduction, d) == host.sum()
    assert run(reduction, d, True) == host.sum()


def test_launch_ignores_the_counter_that_an_earlier_one_left():
    d, out = gpuarray.to_gpu(np.ones(50_000, "f4")), gpuarray.zeros((), "f4")
    reduction, device = sum_of(), array_device()
    memory = gpuarray.zeros(TICKET_BYTES + 4 * reduction.block_count(d.size, device, False), "u1")
    for left in (0, next_turn() + 3, 7):
        memory[:8].view("u8").fill(left)
        for _ in range(3):
            reduction.launch(device, None, d.size, (d.ptr,), out.ptr, lambda nbytes: (memory, memory.ptr))
            assert float(out) == 50_000
    assert next_turn() < next_turn()


def test_number_of_blocks_is_limited_by_the_device():
    device = array_device()
    reduction = sum_of(packs=(4, {"x": "float"}, "x_p.items[k]"))
    assert reduction.block_count(0, device, False) == 1
    assert reduction.block_count(2048, device, False) == 2
    assert reduction.block_count(10**12, device, False) == 8 * device.multiprocessors
    assert reduction.block_count(10**12, device, True) == 4 * device.multiprocessors


def test_large_elements_have_smaller_blocks():
    wide = Reduction("wide", "struct wide", 256, "wide()", "a", "x[i]", ["wide* x"])
    assert wide.block == 64 and "launch_bounds__(64)" in wide.source()


@pytest.mark.parametrize(("length", "lanes"), [(5, 1), (100, 32), (3000, 256)])
def test_number_of_threads_for_result_follows_from_its_elements(length, lanes):
    reduction = AxisReduction("axes", "int", 4, "0", "a + b", "x", "int", prelude(), "int")
    host = np.arange(7 * length, dtype="i4").reshape(7, length)
    d, out = gpuarray.to_gpu(host), gpuarray.zeros(7, "i4")
    kept, reduced = ([7], [d.strides[0]]), ([length], [4])
    reduction.launch(array_device(), None, out.ptr, out.strides, d.ptr, kept, reduced)
    assert np.array_equal(out.get(), host.sum(axis=1, dtype="i4"))
    assert [key[3] for key in reduction._kernels] == [lanes]
