# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fast paths of operations on contiguous arrays: what they compute, and what they decline."""

import gc
import weakref

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF
from cuda.core.driver._array_reductions import scratch_of_thread
from cuda.core.driver._storage import (
    ArrayStorage,
    PlanFields,
    ReductionPlan,
    ResultSource,
    convert_arguments,
    fast_binary,
    fast_elementwise,
    fast_reduction,
    fast_unary,
    packs_fit,
)
from cuda.core.driver._user_kernels import CHECKS
from cuda.core.driver.elementwise import ElementwiseKernel

ADD, NEGATIVE = BINARY_OF[np.add], UNARY_OF[np.negative]
pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def arrays():
    host = np.arange(24, dtype="f4")
    a, b = gpuarray.to_gpu(host), gpuarray.to_gpu(host * 2)
    a + b, a + 1, 1.5 + a, -a  # the first call makes the plan that the fast path needs
    a += 0
    a += b * 0
    return a, b


def test_operations_with_a_plan_take_the_fast_path(arrays):
    a, b = arrays
    host = np.arange(24, dtype="f4")
    for found, expected in (
        (fast_binary(ADD, a, b), host * 3),
        (fast_binary(ADD, a, 4), host + 4),
        (fast_binary(ADD, 2.5, a), host + 2.5),
        (fast_unary(NEGATIVE, a), -host),
    ):
        assert isinstance(found, gpuarray.GPUArray) and isinstance(found, ArrayStorage)
        assert np.array_equal(found.get(), expected)
        assert (found.shape, found.strides, found.dtype, found.nbytes) == ((24,), (4,), np.dtype("f4"), 96)
    assert fast_binary(ADD, a, b, True) is a and np.array_equal(a.get(), host * 3)
    assert fast_binary(ADD, a, 1, True) is a and np.array_equal(a.get(), host * 3 + 1)


def test_results_of_subclasses_are_created_without_their_constructors(arrays):
    class Named(gpuarray.GPUArray):
        def __new__(cls, name, *args):
            return super().__new__(cls)

        def __init__(self, name, *args):
            super().__init__(*args)
            self.name = name

    named = Named("x", 24, "f4")
    named.fill(2)
    for result in (named + named, -named, named * 3, gpuarray.sum(named), named[3:], named[::2] + 1, named.copy()):
        assert type(result) is Named and not hasattr(result, "name")
    assert (named + named).get().tolist() == [4] * 24


def test_results_keep_the_order_of_axes_and_the_class(arrays):
    class Mine(gpuarray.GPUArray):
        pass

    host = np.asfortranarray(np.arange(12, dtype="f4").reshape(3, 4))
    mine = Mine((3, 4), "f4", order="F")
    mine.set(host)
    found = fast_binary(ADD, mine, mine)
    assert type(found) is Mine and found.flags.f_contiguous and np.array_equal(found.get(), host * 2)
    assert fast_binary(ADD, mine, gpuarray.to_gpu(host)) is None


@pytest.mark.parametrize(
    "operands",
    [
        lambda a, b: (a[::2], b[::2]),
        lambda a, b: (a[:12], b),
        lambda a, b: (a.reshape(4, 6), b.reshape(6, 4)),
        lambda a, b: (a[:0], b[:0]),
        lambda a, b: (a[::2], 1),
        lambda a, b: (a[:0], 1),
        lambda a, b: (a, "1"),
        lambda a, b: (None, a),
        lambda a, b: (1, 2),
        lambda a, b: (a, np.float16(1)),  # no plan yet
        lambda a, b: (a.astype("i2"), b.astype("i2")),
    ],
)
def test_the_fast_path_declines_other_operands(arrays, operands):
    assert fast_binary(ADD, *operands(*arrays)) is None


def test_the_fast_path_in_place_declines_overlapping_and_mismatched_operands(arrays):
    a = arrays[0]
    for first, second in ((a[1:], a[:-1]), (a[:-1], a[1:]), (1, a), (a.view("i4"), a)):
        assert fast_binary(ADD, first, second, True) is None
    a[1:] += a[:-1]
    assert a.get().tolist() == [0, *(2 * k - 1 for k in range(1, 24))]


def test_the_fast_path_declines_freed_memory_and_arrays_with_gaps(arrays):
    a, b = arrays
    part = b[4:]
    b.gpudata.free()
    assert fast_binary(ADD, a, b) is None and fast_binary(ADD, b, 1) is None and fast_unary(NEGATIVE, part) is None
    assert fast_unary(NEGATIVE, a[::2]) is None and fast_unary(NEGATIVE, a[:0]) is None


@pytest.mark.requires(devices=2)
def test_the_fast_path_declines_arrays_of_another_device(arrays):
    a, b = arrays
    other = drv.Device(1).make_context()
    assert fast_binary(ADD, a, b) is None and fast_binary(ADD, a, 1) is None and fast_unary(NEGATIVE, a) is None
    assert fast_reduction("sum", a, None, scratch_of_thread) is None
    other.detach()


@pytest.mark.requires(mempool=True)
def test_a_context_does_not_keep_the_memory_of_results_alive(arrays):
    a, b = arrays
    source = drv.Context.get_current().take_result
    assert isinstance(source, ResultSource)
    result = a + b
    memory = weakref.ref(result._owner)
    del result
    gc.collect()
    assert memory() is None
    for _ in range(2000):
        a + b
    assert len(drv.Context.get_current()._objects.references) < 1000
    with pytest.raises(RuntimeError, match="not initialized; call its constructor"):
        ResultSource.__new__(ResultSource)(4)
    with pytest.raises(drv.MemoryError):
        source(2**62)
    with pytest.raises(OverflowError):
        source(-1)


def test_fields_of_a_plan_are_checked():
    plan = PlanFields()
    with pytest.raises(TypeError):
        plan.bound = []
    with pytest.raises(OverflowError):
        plan.mask = -1


def test_reductions_with_a_plan_take_the_fast_path(arrays):
    a, b = arrays

    def scratch(device):
        calls.append(device)
        return scratch_of_thread(device)

    calls = []
    assert fast_reduction("sum", a, np.int64, scratch) is None
    for _ in range(2):
        assert gpuarray.sum(a).get() == 276
    found = fast_reduction("sum", a, None, scratch)
    assert found.shape == () and found.dtype == np.float32 and found.nbytes == 4 and found.get() == 276
    assert calls == [a._device] and isinstance(a._device.plans["reduce packs", "sum", a.dtype, None], ReductionPlan)
    large = gpuarray.to_gpu(np.ones(1_000_003, "f4"))
    assert fast_reduction("sum", large, None, scratch).get() == 1_000_003
    for other in (a[::2], a[1:], a[:2], a[:0]):
        assert fast_reduction("sum", other, None, scratch) is None
    b.gpudata.free()
    assert fast_reduction("sum", b, None, scratch) is None
    assert len(calls) == 2


def test_results_of_reductions_come_from_the_allocator(arrays):
    mine = gpuarray.to_gpu(np.ones(8, "f4"), allocator=lambda size: drv.mem_alloc(size))
    for _ in range(2):
        assert type(gpuarray.sum(mine)._owner) is drv.DeviceAllocation


def test_arguments_are_converted_or_named_in_the_error():
    x, item = gpuarray.zeros(4, "f4"), type("Item", (), {"name": "n", "dtype": np.dtype("i4")})
    table = ((item, x.dtype, None), (item, item.dtype, np.int32))
    found = convert_arguments(table, (x, 3), None, None, None)
    assert found[0] == [x] and found[1][1] == 3
    with pytest.raises(TypeError, match="n must be a number of type int32"):
        convert_arguments(table, (x, "x"), None, None, None)
    with pytest.raises(RuntimeError, match="n must be contiguous"):
        convert_arguments(table, (x[::2], 3), None, None, None)


def test_elementwise_kernels_that_are_built_take_the_fast_path():
    scale = ElementwiseKernel("float a, float *x, float *y", "y[i] = a * x[i]")
    x, y = gpuarray.to_gpu(np.arange(9, dtype="f4")), gpuarray.zeros(9, "f4")

    def call(*args):
        return fast_elementwise(scale._parameters.table, args, CHECKS, scale._packs, scale._kernels)

    assert [type(item) for item in call(2.0, x, y)] == [list, list]  # not built
    scale(2.0, x, y)
    assert call(3.0, x, y) is None and y.get().tolist() == [3.0 * k for k in range(9)]
    assert call(2.0, x[1:], y[1:]) is not None  # unaligned addresses need another kernel
    scale(2.0, x[1:], y[1:])
    assert call(5.0, x[1:], y[1:]) is None and y.get().tolist() == [5.0 * k for k in range(9)]
    assert call(2.0, x[:0], y[:0]) is not None
    with pytest.raises(TypeError, match="a must be a number"):
        call("x", x, y)
    y.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed"):
        call(2.0, x, y)


def test_packs_need_aligned_whole_arrays_that_share_no_memory():
    y = gpuarray.zeros(16, "f4")
    assert packs_fit([y[:8], y[8:]], 8, 4, 15, (1,))
    assert not packs_fit([y[:12], y[4:]], 12, 4, 15, (1,))
    assert packs_fit([y[:12], y[4:]], 12, 4, 15, ())
    assert not packs_fit([y[1:9], y[8:]], 8, 4, 15, (1,))
    assert not packs_fit([y[:8], y[12:]], 8, 4, 15, (1,))
    assert not packs_fit([y[:2], y[8:]], 2, 4, 15, (1,))
    with pytest.raises(TypeError):
        packs_fit([1], 8, 4, 15, (0,))
