# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fast paths of arrays: they create and compute what the general paths do, or decline."""

import gc
import itertools
import weakref

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF
from cuda.core.driver._array_layout import c_byte_strides, is_c_contiguous, is_f_contiguous
from cuda.core.driver._array_reductions import scratch_of_thread
from cuda.core.driver._storage import (
    ArrayStorage,
    PlanFields,
    ReductionPlan,
    ResultSource,
    convert_arguments,
    fast_array,
    fast_binary,
    fast_elementwise,
    fast_item,
    fast_reduction,
    fast_unary,
    make_view,
    packs_fit,
    set_layout,
)
from cuda.core.driver._user_kernels import CHECKS
from cuda.core.driver.elementwise import ElementwiseKernel
from support.threads import in_thread

ADD, NEGATIVE = BINARY_OF[np.add], UNARY_OF[np.negative]
pytestmark = pytest.mark.usefixtures("context")


# --- Arrays and views ------------------------------------------------------------------------------


def fields(array):
    names = ("shape", "strides", "dtype", "size", "nbytes", "_is_c", "_is_f", "base", "allocator")
    return [getattr(array, name) for name in names]


@pytest.mark.parametrize("shape", [1, 7, (3,), (2, 3), (4, 1), (1, 5), (1, 1, 1), (2, 3, 4), ()])
@pytest.mark.parametrize("dtype", [np.float32, np.dtype("f8"), float, int, bool, np.uint8, np.complex64, np.float16])
def test_fast_path_makes_the_array_of_the_general_path(shape, dtype):
    gpuarray.empty(1, "f4")  # the first array of a context takes the general path
    fast, general = (gpuarray.GPUArray.__new__(gpuarray.GPUArray) for _ in range(2))
    assert fast_array(fast, shape, dtype) is True
    general.__init__(shape, np.dtype(dtype), lambda size: drv.mem_alloc(size))
    assert fields(fast)[:8] == fields(general)[:8] and fast.allocator is drv.mem_alloc
    assert fast.dtype is np.dtype(dtype) and fast._owner.size >= fast.nbytes
    host = np.zeros(shape, dtype)
    assert (fast.strides, fast.flags.c_contiguous, fast.flags.f_contiguous) == (
        host.strides,
        host.flags.c_contiguous,
        host.flags.f_contiguous,
    )


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        (0, np.float32), ((3, 0), np.float32), (-1, np.float32), (2**31, np.int8), ((2**20, 2**20, 2), np.int8),
        ([3], np.float32), (np.int64(3), np.float32), ((np.int32(3),), np.float32), (True, np.float32),
        (2.0, np.float32), ("3", np.float32), ((1,) * 33, np.float32), (3, "f4"), (3, np.dtype(">f4")), (3, object),
        (3, np.dtype("f4,i4")),
        (3, np.longdouble), (3, None), (3, [("a", "f4")]), (3, np.dtype("M8[s]")), (3, 5), (3, np.dtype("S3")),
    ],
)  # fmt: skip
def test_fast_path_declines_other_shapes_and_types(shape, dtype):
    gpuarray.empty(1, "f4")
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    assert fast_array(array, shape, dtype) is False
    assert array.shape is None and array._owner is None


def test_array_without_a_current_context_is_rejected():
    def make():
        with pytest.raises(drv.LogicError, match="no context is current"):
            gpuarray.empty(3, np.float32)
        return True

    assert in_thread(make) is True


def test_fast_path_declines_the_first_array_of_a_context():
    mine = drv.Device(0).make_context()
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    assert fast_array(array, 3, np.float32) is False
    assert gpuarray.zeros(3, np.float32).get().tolist() == [0, 0, 0]
    assert fast_array(array, 3, np.float32) is True
    mine.detach()


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        *((shape, c_byte_strides(shape, 4)) for shape in itertools.product((0, 1, 3), repeat=3)),
        ((3, 4), (4, 12)), ((3, 1), (4, 999)), ((1, 3), (-8, 4)), ((3,), (-4,)), ((3,), (8,)), ((2, 2), (0, 0)),
        ((2**40, 2**22), (4, 4)), ((2**62, 0), (4, 4)), ((3, 2**70), (0, 0)), ((1,) * 40, (4,) * 40),
    ],
)  # fmt: skip
def test_set_layout_computes_sizes_and_contiguity(shape, strides):
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    set_layout(array, shape, strides, np.dtype("f4"))
    size = int(np.prod([int(extent) for extent in shape], dtype=object))
    assert (array.shape, array.strides, array.size, array.nbytes) == (shape, strides, size, 4 * size)
    assert array._is_c == is_c_contiguous(shape, strides, 4)
    assert array._is_f == is_f_contiguous(shape, strides, 4)


KEYS = [
    0, 3, -1, -5, slice(None), slice(1, 4), slice(None, None, 2), slice(None, None, -1), slice(-2, None),
    slice(4, 0, -3), slice(-100, 100), slice(np.int64(1), np.int64(3)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 2, 2)])
def test_items_match_numpy(shape, key):
    host = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
    array = gpuarray.to_gpu(host)
    for view, expected in ((array[key], host[key]), (array[::-1][key], host[::-1][key])):
        assert view.shape == expected.shape and (view.get() == expected).all()
        assert view.base is array
    assert fast_item(array, key) is not None
    if isinstance(key, int) and len(shape) > 1:
        assert (array[key][1].get() == host[key][1]).all() and array[key][1].base is array


@pytest.mark.parametrize(
    "key", [5, -6, 2**70, None, Ellipsis, (1,), slice(0, 0), slice("a"), True, 1.0, np.int64(1)], ids=str
)
def test_fast_path_declines_other_keys(key):
    array = gpuarray.zeros(5, "f4")
    assert fast_item(array, key) is None
    assert fast_item(gpuarray.sum(array), 0) is None


def test_views_share_the_memory_and_its_base():
    array = gpuarray.to_gpu(np.arange(6, dtype="f4"))
    whole, part = make_view(array, 0, (2, 3), (12, 4), array.dtype), make_view(array, 8, (2,), (4,), array.dtype)
    assert whole._argument is array._owner and part._argument == part.ptr == array.ptr + 8
    assert part[1:].base is array and type(part) is gpuarray.GPUArray
    assert whole.flags.c_contiguous and not whole.flags.f_contiguous and (part.get() == [2, 3]).all()


def test_views_of_a_subclass_have_its_type():
    class Mine(gpuarray.GPUArray):
        pass

    array = Mine((4, 2), np.float32)
    assert type(array) is type(array[1]) is type(array.ravel()) is Mine


def test_zeros_of_every_type_have_no_bit_set():
    record = np.dtype([("a", "i1"), ("b", "f8"), ("c", "U2")])
    for dtype in ("?", "i1", "u2", "i4", "f2", "f4", "f8", "c8", "c16", "M8[s]", "S5", record):
        zeros = gpuarray.zeros((3, 2), dtype)
        assert (zeros.get() == np.zeros((3, 2), dtype)).all() and zeros.dtype == dtype
        assert gpuarray.zeros_like(zeros).get().tobytes() == bytes(zeros.nbytes)
    assert gpuarray.zeros(0).size == 0 and gpuarray.zeros((2, 3), "f4", order="F").strides == (4, 8)


# --- Operations ------------------------------------------------------------------------------------


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


def test_subclass_results_are_created_without_a_constructor_call(arrays):
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
def test_fast_path_declines_other_operands(arrays, operands):
    assert fast_binary(ADD, *operands(*arrays)) is None


def test_in_place_fast_path_declines_overlaps_and_mismatches(arrays):
    a = arrays[0]
    for first, second in ((a[1:], a[:-1]), (a[:-1], a[1:]), (1, a), (a.view("i4"), a)):
        assert fast_binary(ADD, first, second, True) is None
    a[1:] += a[:-1]
    assert a.get().tolist() == [0, *(2 * k - 1 for k in range(1, 24))]


def test_fast_path_declines_freed_memory_and_arrays_with_gaps(arrays):
    a, b = arrays
    part = b[4:]
    b.gpudata.free()
    assert fast_binary(ADD, a, b) is None and fast_binary(ADD, b, 1) is None and fast_unary(NEGATIVE, part) is None
    assert fast_unary(NEGATIVE, a[::2]) is None and fast_unary(NEGATIVE, a[:0]) is None


@pytest.mark.requires(devices=2)
def test_fast_path_declines_arrays_of_another_device(arrays):
    a, b = arrays
    other = drv.Device(1).make_context()
    assert fast_binary(ADD, a, b) is None and fast_binary(ADD, a, 1) is None and fast_unary(NEGATIVE, a) is None
    assert fast_reduction("sum", a, None, scratch_of_thread) is None
    other.detach()


@pytest.mark.requires(mempool=True)
def test_context_does_not_keep_the_memory_of_results_alive(arrays):
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


def test_built_elementwise_kernels_take_the_fast_path():
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
