# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""where, take, put and take_put on arrays of any layout and type."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver._array_functions import put, take, take_put, where

pytestmark = pytest.mark.usefixtures("context")


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


def test_an_array_can_be_put_into_itself():
    d = gpuarray.arange(6, dtype="i4")
    order = gpuarray.to_gpu(np.array([5, 4, 3, 2, 1, 0], "i4"))
    put(d, order, d)
    assert d.get().tolist() == [5, 4, 3, 2, 1, 0]
    take(d, order, d)
    assert d.get().tolist() == [0, 1, 2, 3, 4, 5]
    take_put(d, d, order[:3], order[3:], 1)
    assert d.get().tolist() == [4, 5, 0, 3, 4, 5]


def test_arrays_with_freed_memory_are_refused():
    d, indices = gpuarray.zeros(3, "f4"), gpuarray.zeros(2, "i4")
    d.gpudata.free()
    for use in (lambda: take(d, indices), lambda: put(d, indices, gpuarray.zeros(2, "f4")), lambda: where(d, 1, 2)):
        with pytest.raises(drv.LogicError, match="freed"):
            use()
