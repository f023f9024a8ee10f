# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fast creation of arrays and views: the result is that of the general path, or the fast path declines."""

import itertools

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver._array_layout import c_strides, is_c_contiguous, is_f_contiguous
from cuda.core.driver._storage import fast_array, fast_item, make_view, set_layout
from support.threads import in_thread

pytestmark = pytest.mark.usefixtures("context")


def fields(array):
    names = ("shape", "strides", "dtype", "size", "nbytes", "_is_c", "_is_f", "base", "allocator")
    return [getattr(array, name) for name in names]


@pytest.mark.parametrize("shape", [1, 7, (3,), (2, 3), (4, 1), (1, 5), (1, 1, 1), (2, 3, 4), ()])
@pytest.mark.parametrize("dtype", [np.float32, np.dtype("f8"), float, int, bool, np.uint8, np.complex64, np.float16])
def test_the_fast_path_makes_the_array_of_the_general_path(shape, dtype):
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
def test_the_fast_path_declines_other_shapes_and_types(shape, dtype):
    gpuarray.empty(1, "f4")
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    assert fast_array(array, shape, dtype) is False
    assert array.shape is None and array._owner is None


def test_an_array_without_a_current_context_is_rejected():
    def make():
        with pytest.raises(drv.LogicError, match="no context is current"):
            gpuarray.empty(3, np.float32)
        return True

    assert in_thread(make) is True


def test_the_fast_path_declines_the_first_array_of_a_context():
    mine = drv.Device(0).make_context()
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    assert fast_array(array, 3, np.float32) is False
    assert gpuarray.zeros(3, np.float32).get().tolist() == [0, 0, 0]
    assert fast_array(array, 3, np.float32) is True
    mine.detach()


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        *((shape, c_strides(shape, 4)) for shape in itertools.product((0, 1, 3), repeat=3)),
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
def test_items_are_those_of_numpy(shape, key):
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
def test_the_fast_path_declines_other_keys(key):
    array = gpuarray.zeros(5, "f4")
    assert fast_item(array, key) is None
    assert fast_item(gpuarray.sum(array), 0) is None


def test_views_share_the_memory_and_know_its_base():
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
