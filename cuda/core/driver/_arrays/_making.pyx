# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Creation of arrays and views: fast paths for common arguments."""

from __future__ import annotations

from libc.stdint cimport int64_t

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

from cuda.core.driver._arrays._storage cimport ArrayStorage, ResultSource, ResultSource_take

import numpy as np

from cuda.core.driver._arrays._layout import element_count, is_c_contiguous, is_f_contiguous
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._memory._device_memory import mem_alloc

__all__ = ["make_view", "set_layout", "fast_array", "fast_item"]

cdef object current = current_context
cdef object default_allocator = mem_alloc
cdef object make = ArrayStorage.__new__
cdef object dtype_class = np.dtype
# Scalar types, and their dtypes.
cdef dict known_types = {np.dtype(code).type: np.dtype(code) for code in "?bhilqBHILQefdFD"}
known_types.update({kind: np.dtype(kind) for kind in (bool, int, float, complex)})
cdef frozenset known_dtypes = frozenset(known_types.values())

cdef enum:
    MAX_DIMENSIONS = 32

# Above these limits, sizes are computed with Python ints.
cdef int64_t MAX_ELEMENTS = 1 << 40
cdef int64_t MAX_EXTENT = 1 << 31


def set_layout(ArrayStorage array, tuple shape, tuple strides, dtype) -> None:
    """Set the fields of an array that follow from its shape, strides and type."""
    array.shape = shape
    array.strides = strides
    array.dtype = dtype
    if not set_small_layout(array, shape, strides, dtype.itemsize):
        array.size = element_count(shape)
        array.nbytes = array.size * dtype.itemsize
        array._is_c = is_c_contiguous(shape, strides, dtype.itemsize)
        array._is_f = is_f_contiguous(shape, strides, dtype.itemsize)


# False if the numbers are too large for 64-bit arithmetic.
cdef bint set_small_layout(ArrayStorage array, tuple shape, tuple strides, object itemsize) except -1:
    cdef int64_t[MAX_DIMENSIONS] extents
    cdef int64_t[MAX_DIMENSIONS] steps
    cdef Py_ssize_t ndim = len(shape)
    cdef Py_ssize_t axis
    cdef int64_t size = 1
    cdef int64_t width = itemsize
    if ndim > MAX_DIMENSIONS:
        return False
    for axis in range(ndim):
        try:
            extents[axis] = shape[axis]
            steps[axis] = strides[axis]
        except OverflowError:
            return False
        if extents[axis] > MAX_EXTENT or size > MAX_ELEMENTS:
            return False
        size *= extents[axis]
    if size > MAX_ELEMENTS or width > MAX_EXTENT // 256:
        return False
    array.size = size
    array.nbytes = size * width
    array._is_c = array._is_f = True
    if size == 0:
        return True
    step = width
    for axis in range(ndim - 1, -1, -1):
        if extents[axis] != 1:
            if steps[axis] != step:
                array._is_c = False
                break
            step *= extents[axis]
    step = width
    for axis in range(ndim):
        if extents[axis] != 1:
            if steps[axis] != step:
                array._is_f = False
                break
            step *= extents[axis]
    return True


def fast_array(ArrayStorage array, shape, dtype) -> bool:
    """Set up a new array in C order, with memory from the default allocator.

    Returns
    -------
    bool
        False if the fast path does not apply: for other arguments, and for the first array of a context. The array is
        unchanged then.
    """
    cdef PyObject* found
    cdef object context
    cdef int64_t size, width, extent
    cdef Py_ssize_t axis
    if isinstance(dtype, dtype_class):
        if dtype not in known_dtypes:
            return False
    else:
        if type(dtype) is not type:
            return False
        found = PyDict_GetItem(known_types, dtype)
        if found == NULL:
            return False
        dtype = <object>found
    if type(shape) is int:
        shape = (shape,)
    elif type(shape) is not tuple or len(<tuple>shape) > MAX_DIMENSIONS:
        return False
    width = dtype.itemsize
    size = 1
    for axis in range(len(<tuple>shape)):
        item = (<tuple>shape)[axis]
        if type(item) is not int or not 0 < item < MAX_EXTENT:
            return False
        size *= <int64_t>item
        if size > MAX_ELEMENTS:
            return False
    context = current("cuMemAlloc")
    source = context.take_array
    if type(source) is not ResultSource or context.array_device is None:
        return False
    # From here on the array is created, or an exception is raised.
    memory = ResultSource_take(<ResultSource>source, size * width)
    array._gpudata = array._owner = array._argument = memory
    array._address = memory.handle
    array._device = context.array_device
    array.shape = shape
    array.strides = dense_strides(<tuple>shape, width)
    array.dtype = dtype
    array.size = size
    array.nbytes = size * width
    array.allocator = default_allocator
    array.base = None
    array._is_c = True
    # With at most one extent that is not 1, C order and Fortran order are the same.
    axis = 0
    for item in <tuple>shape:
        extent = item
        axis += extent != 1
    array._is_f = axis < 2
    return True


cdef tuple dense_strides(tuple shape, int64_t step):
    cdef Py_ssize_t axis
    if len(shape) == 1:
        return (step,)
    strides = [0] * len(shape)
    for axis in range(len(shape) - 1, -1, -1):
        strides[axis] = step
        step *= <int64_t>shape[axis]
    return tuple(strides)


def make_view(ArrayStorage array, offset: int, shape: tuple, strides: tuple, dtype) -> ArrayStorage:
    """Return a view of the memory of an array that begins ``offset`` bytes after its first element."""
    cdef ArrayStorage view = make(type(array))  # past constructors of subclasses
    set_layout(view, shape, strides, dtype)
    view._device = array._device
    view.allocator = array.allocator
    view.base = array if array.base is None or array._gpudata is array._owner else array.base
    view._owner = array._owner
    view._address = array._address + <int64_t>offset if view.size else array._address
    view._gpudata = view._address
    view._argument = view._gpudata if offset else array._argument
    return view


def fast_item(ArrayStorage array, key) -> ArrayStorage | None:
    """Return the view for an int or a slice of ints as the index of the first axis; None for other keys."""
    cdef int64_t extent, index, stop, step, count
    cdef tuple shape = <tuple>array.shape
    cdef tuple strides = <tuple>array.strides
    if not shape:
        return None
    try:
        extent = shape[0]
        if type(key) is int:
            index = key
            if index < 0:
                index += extent
            if not 0 <= index < extent:
                return None  # an error, which the slow path raises
            return make_view(array, index * <int64_t>strides[0], shape[1:], strides[1:], array.dtype)
        if type(key) is not slice:
            return None
        first, last, by = key.indices(extent)
        index, stop, step = first, last, by
    except (TypeError, ValueError, OverflowError):
        return None
    if step > 0:
        count = (stop - index + step - 1) // step if stop > index else 0
    else:
        count = (index - stop - step - 1) // -step if stop < index else 0
    if not count:
        return None
    return make_view(
        array, index * <int64_t>strides[0], (count, *shape[1:]), (step * <int64_t>strides[0], *strides[1:]), array.dtype
    )
