# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array storage, and the fast paths of array creation and operations."""

from __future__ import annotations

from libc.stdint cimport int64_t, uint64_t, uintptr_t

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

from cuda.core._classic cimport MemoryResource, Stream, check_self_in_methods

import weakref

import numpy as np

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError
from cuda.core.driver._array_layout import element_count, is_c_contiguous, is_f_contiguous
from cuda.core.driver._context import context_for
from cuda.core.driver._device_memory import mem_alloc
from cuda.core.driver._errors import launch_error

__all__ = [
    "ArrayStorage",
    "PlanFields",
    "ReductionPlan",
    "ResultSource",
    "convert_arguments",
    "fast_array",
    "fast_binary",
    "fast_elementwise",
    "fast_item",
    "fast_reduction",
    "fast_unary",
    "make_view",
    "packs_fit",
    "set_layout",
]


cdef object current = context_for
cdef object weak = weakref.ref
cdef object default_allocator = mem_alloc
cdef Stream default_stream = LEGACY_DEFAULT_STREAM


cdef class ArrayStorage:
    """The fields of an array.

    Attributes
    ----------
    shape, strides : tuple of int
        The shape, and the strides in bytes.
    dtype : numpy.dtype
        The data type of the elements.
    size, nbytes : int
        The number of elements, and their size in bytes.
    allocator, base : object
        The allocator of results, and the object that keeps borrowed memory alive.
    """

    cdef:
        public object shape, strides, dtype, size, nbytes, allocator, base
        public bint _is_c, _is_f
        public object _device       # the ArrayDevice
        public object _gpudata      # the allocation, or the address in views
        public object _owner        # the allocation, which indicates whether the memory was freed
        public object _argument     # the kernel argument
        public uint64_t _address


cdef object make = ArrayStorage.__new__


cdef class PlanFields:
    """The fields of a plan that an operation's fast path needs.

    Attributes
    ----------
    dtype : numpy.dtype
        The data type of the result.
    scalars : tuple
        For each operand, the function that converts a number to the kernel argument, or None.
    mask : int
        The address bits that must be 0 for vectorized access.
    per_block : int
        The number of elements per block.
    bound : dict
        The bound vectorized kernel, keyed by number of blocks.
    """

    cdef:
        public object dtype, scalars
        public dict bound
        public uint64_t mask
        public int64_t per_block


cdef class ReductionPlan:
    """The plan for a reduction's fast path.

    Parameters
    ----------
    kernel : DeviceKernel
        The kernel with vectorized loads.
    dtype : numpy.dtype
        The data type of the result.
    mask : int
        The address bits that must be 0 for vectorized access.
    width, per_block : int
        The number of elements per pack, and the minimum number of elements per block.
    most_blocks : int
        The maximum number of blocks.
    """

    cdef:
        object _kernel, _dtype
        uint64_t _mask
        int64_t _width, _per_block, _most_blocks

    def __init__(self, kernel, dtype, mask: int, width: int, per_block: int, most_blocks: int):
        self._kernel = kernel
        self._dtype = dtype
        self._mask = mask
        self._width = width
        self._per_block = max(per_block, 1)
        self._most_blocks = most_blocks


cdef class ResultSource:
    """A callable that allocates memory for results from a resource, and registers it with a context.

    Parameters
    ----------
    resource : :class:`MemoryResource`
        The resource, which allocates in default-stream order.
    members : object
        The resources that the context invalidates when it is detached.
    take_again : callable
        A function that retries a failed allocation, or raises.
    """

    cdef:
        MemoryResource _resource
        object _members, _take_again
        unsigned int _count

    def __init__(self, resource: MemoryResource, members, take_again):
        self._resource = resource
        self._members = members
        self._take_again = take_again
        self._count = 0

    def __call__(self, size: int):
        """Allocate ``size`` bytes."""
        return ResultSource_take(self, size)


cdef object ResultSource_take(ResultSource self, size_t size):
    if self._resource is None:
        raise RuntimeError("this ResultSource was not initialized; call its constructor")
    try:
        memory = self._resource._allocate(size, default_stream)
    except CUDAError as error:
        memory = self._take_again(size, error)
    # Like `_Members.add()`, which also drops dead references. Dropping them is needed only now and then.
    self._count += 1
    if self._count % 64 == 0:
        self._members.add(memory)
    else:
        reference = weak(memory)
        self._members.references[<uintptr_t><PyObject*>reference] = reference
    return memory


# ---------------------------------------------------------------------------------------------
# Creation

cdef object dtype_class = np.dtype
# Scalar types and their dtypes.
cdef dict known_types = {np.dtype(code).type: np.dtype(code) for code in "?bhilqBHILQefdFD"}
known_types.update({kind: np.dtype(kind) for kind in (bool, int, float, complex)})
cdef frozenset known_dtypes = frozenset(known_types.values())

cdef enum:
    MAX_DIMENSIONS = 32

# Above these limits, sizes are computed with Python ints.
cdef int64_t MAX_ELEMENTS = 1 << 40
cdef int64_t MAX_EXTENT = 1 << 31


def fast_array(ArrayStorage array, shape, dtype) -> bool:
    """Set up a new array in C order, with memory from the default allocator.

    Returns
    -------
    bool
        False if the fast path does not apply, because of the arguments or because this is the context's first array.
        In that case, the array is unchanged.
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
    # From now on, the function either sets up the array or raises an exception.
    memory = ResultSource_take(<ResultSource>source, size * width)
    array._gpudata = array._owner = array._argument = memory
    array._address = memory.handle
    array._device = context.array_device
    array.shape = shape
    array.strides = small_strides(<tuple>shape, width)
    array.dtype = dtype
    array.size = size
    array.nbytes = size * width
    array.allocator = default_allocator
    array.base = None
    array._is_c = True
    # With at most one size other than 1, C order and Fortran order are the same.
    axis = 0
    for item in <tuple>shape:
        extent = item
        axis += extent != 1
    array._is_f = axis < 2
    return True


cdef tuple small_strides(tuple shape, int64_t step):
    cdef Py_ssize_t axis
    if len(shape) == 1:
        return (step,)
    strides = [0] * len(shape)
    for axis in range(len(shape) - 1, -1, -1):
        strides[axis] = step
        step *= <int64_t>shape[axis]
    return tuple(strides)


def set_layout(ArrayStorage array, tuple shape, tuple strides, dtype) -> None:
    """Set the fields of an array that its shape, strides and data type determine."""
    array.shape = shape
    array.strides = strides
    array.dtype = dtype
    if not set_small_layout(array, shape, strides, dtype.itemsize):
        array.size = element_count(shape)
        array.nbytes = array.size * dtype.itemsize
        array._is_c = is_c_contiguous(shape, strides, dtype.itemsize)
        array._is_f = is_f_contiguous(shape, strides, dtype.itemsize)


# Returns false if the numbers are too large for 64-bit arithmetic.
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


def make_view(ArrayStorage array, offset: int, shape: tuple, strides: tuple, dtype) -> ArrayStorage:
    """Return a view of an array's memory, starting ``offset`` bytes after its first element."""
    cdef ArrayStorage view = make(type(array))  # bypasses constructors of subclasses
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
    """Return the view that an int or a slice of ints selects on the first axis, or None for other keys."""
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
                return None  # the slow path raises the error
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


# ---------------------------------------------------------------------------------------------
# Operations

cdef frozenset python_numbers = frozenset({int, float, complex})
cdef frozenset numpy_numbers = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdFD")
cdef tuple array_and_number = (False, True)
cdef tuple number_and_array = (True, False)


def fast_binary(operation, a, b, is_in_place: bool = False):
    """Apply a binary operation to contiguous arrays of the same shape, or to an array and a number.

    Returns
    -------
    ArrayStorage or None
        The result, or None if the fast path does not apply or the operation has no plan yet.
    """
    cdef ArrayStorage x, y, result
    cdef bint stays = is_in_place
    cdef uint64_t first, second
    if not isinstance(a, ArrayStorage):
        if stays or not isinstance(b, ArrayStorage):
            return None
        return with_number(operation, <ArrayStorage>b, a, 0, False)
    x = <ArrayStorage>a
    if type(b) is not type(a):
        return with_number(operation, x, b, 1, stays)
    y = <ArrayStorage>b
    if not ((x._is_c and y._is_c) or (x._is_f and y._is_f)):
        return None
    if x._device is not y._device or (x.shape is not y.shape and x.shape != y.shape) or not x.size:
        return None
    first, second = x._address, y._address
    if stays:
        # The output must not overlap an operand in any way other than element by element.
        if first != second:
            if first < second + <uint64_t>y.nbytes and second < first + <uint64_t>x.nbytes:
                return None
        elif x.dtype is not y.dtype:
            return None
        plan = x._device.plans.get((operation, x.dtype, y.dtype, x.dtype))
    else:
        plan = x._device.plans.get((operation, x.dtype, y.dtype))
    if not isinstance(plan, PlanFields) or not is_open(x) or not is_open(y):
        return None
    context = context_of_array(x)
    if context is None:
        return None
    result = x if stays else dense_like(x, (<PlanFields>plan).dtype, context)
    run_plan(<PlanFields>plan, x.size, first | second | result._address, result._argument, x._argument, y._argument)
    return result


# The fast path for a contiguous array and a number. `place` is the index of the number among the operands.
cdef object with_number(object operation, ArrayStorage array, object number, int place, bint stays):
    cdef ArrayStorage result
    kind = type(number)
    if not (array._is_c or array._is_f) or not array.size:
        return None
    if kind not in python_numbers:
        if kind not in numpy_numbers:
            return None
        kind = number.dtype
    if place:
        key = (operation, array.dtype, kind, array_and_number, array.dtype if stays else None)
    else:
        key = (operation, kind, array.dtype, number_and_array, None)
    plan = array._device.plans.get(key)
    if not isinstance(plan, PlanFields) or not is_open(array):
        return None
    context = context_of_array(array)
    if context is None:
        return None
    try:
        value = (<PlanFields>plan).scalars[place](number)
    except OverflowError:
        return None
    result = array if stays else dense_like(array, (<PlanFields>plan).dtype, context)
    if place:
        run_plan(
            <PlanFields>plan, array.size, array._address | result._address, result._argument, array._argument, value
        )
    else:
        run_plan(
            <PlanFields>plan, array.size, array._address | result._address, result._argument, value, array._argument
        )
    return result


def fast_unary(operation, a: ArrayStorage, dtype=None):
    """Apply a unary operation to a contiguous array. See :func:`fast_binary`."""
    cdef ArrayStorage array = a
    cdef ArrayStorage result
    if not (array._is_c or array._is_f) or not array.size:
        return None
    plan = array._device.plans.get((operation, array.dtype) if dtype is None else (operation, array.dtype, dtype))
    if not isinstance(plan, PlanFields) or not is_open(array):
        return None
    context = context_of_array(array)
    if context is None:
        return None
    result = dense_like(array, (<PlanFields>plan).dtype, context)
    run_plan(<PlanFields>plan, array.size, array._address | result._address, result._argument, array._argument, None)
    return result


def fast_reduction(name: str, a: ArrayStorage, dtype, scratch_of):
    """Reduce a contiguous array to one value. See :func:`fast_binary`.

    Parameters
    ----------
    name : str
        The name of the reduction.
    a : ArrayStorage
        The array.
    dtype : dtype or None
        The data type of the result, as passed by the program.
    scratch_of : callable
        A function that returns the address of scratch memory on a device, and the turn of the launch.
    """
    cdef ArrayStorage array = a
    cdef ArrayStorage result
    cdef ReductionPlan plan
    cdef int64_t size, blocks
    if not (array._is_c or array._is_f):
        return None
    found = array._device.plans.get(("reduce packs", name, array.dtype, dtype))
    size = array.size
    if not isinstance(found, ReductionPlan) or not is_open(array):
        return None
    plan = <ReductionPlan>found
    if array._address & plan._mask or size < plan._width:
        return None
    context = context_of_array(array)
    if context is None:
        return None
    blocks = min((size - 1) // plan._per_block + 1, plan._most_blocks)
    scratch, turn = scratch_of(array._device)
    result = number_like(array, plan._dtype, context)
    bound = plan._kernel.bound.get(blocks) or plan._kernel.bind(blocks)
    try:
        bound(result._argument, scratch, turn, array._argument, size)
    except (CUDAError, RuntimeError) as error:
        raise launch_error(error) from None
    return result


# The launch itself checks allocations but not the addresses of views, and its message is less specific.
cdef inline bint is_open(ArrayStorage array) except -1:
    return not array._owner.is_closed


# Returns the current context, or None if it belongs to another device.
cdef inline object context_of_array(ArrayStorage array):
    context = current("cuLaunchKernel")
    return context if context.array_device is array._device else None


# Returns true if an array's results come from the context's pool.
cdef inline bint is_usual_source(ArrayStorage array, object source):
    return array.allocator is default_allocator and type(source) is ResultSource


# Returns a new array of the same class, with memory for a result. The caller sets shape, strides and data type.
cdef ArrayStorage new_like(ArrayStorage array, ResultSource source, object nbytes):
    cdef type kind = type(array)
    cdef ArrayStorage new = make(kind)  # bypasses constructors of subclasses
    new.nbytes = nbytes
    new.allocator = default_allocator
    new._device = array._device
    memory = ResultSource_take(source, nbytes)
    new._gpudata = new._owner = new._argument = memory
    new._address = memory.handle
    return new


# Returns a new array for a result, with the shape and order of a contiguous array.
cdef ArrayStorage dense_like(ArrayStorage array, object dtype, object context):
    cdef ArrayStorage new
    source = context.take_result
    if dtype is not array.dtype or not is_usual_source(array, source):
        return array._new_dense(dtype, context)
    new = new_like(array, <ResultSource>source, array.nbytes)
    new.shape = array.shape
    new.strides = array.strides
    new.dtype = dtype
    new.size = array.size
    new._is_c = array._is_c
    new._is_f = array._is_f
    return new


# Returns a new 0-d array for a result.
cdef ArrayStorage number_like(ArrayStorage array, object dtype, object context):
    cdef ArrayStorage new
    source = context.take_result
    if not is_usual_source(array, source):
        return array._new_number(dtype, context)
    new = new_like(array, <ResultSource>source, dtype.itemsize)
    new.shape = new.strides = ()
    new.dtype = dtype
    new.size = 1
    new._is_c = new._is_f = True
    return new


# Launches the vectorized kernel, or the kernel for unaligned addresses. `merged` is the bitwise OR of the addresses.
cdef int run_plan(PlanFields plan, object size, uint64_t merged, object first, object second, object third) except -1:
    cdef PyObject* found
    cdef int64_t blocks
    if merged & plan.mask == 0:
        blocks = (<int64_t>size - 1) // plan.per_block + 1
        found = PyDict_GetItem(plan.bound, blocks)
        if found != NULL:
            try:
                if third is None:
                    (<object>found)(first, second, size)
                else:
                    (<object>found)(first, second, third, size)
            except (CUDAError, RuntimeError) as error:
                raise launch_error(error) from None
            return 0
    plan.launch(merged, size, *((first, second) if third is None else (first, second, third)))
    return 0


# ---------------------------------------------------------------------------------------------
# User kernels

def convert_arguments(parameters: tuple, arguments: tuple, as_array, check_type, check_devices):
    """Return the arrays among the arguments of a user kernel, and the kernel arguments.

    Parameters
    ----------
    parameters : tuple
        For each parameter, its object, its data type, and the function that converts a number, or None for an array.
    arguments : tuple
        The arguments of the call, one per parameter.
    as_array, check_type, check_devices : callable
        A function that returns an argument as an array, a function that raises for an array of another data type, and
        a function that raises for arrays on several devices.
    """
    cdef list arrays = []
    cdef list values = []
    convert_into(arrays, values, parameters, arguments, as_array, check_type, check_devices)
    return arrays, values


cdef int convert_into(
    list arrays, list values, tuple parameters, tuple arguments, object as_array, object check_type,
    object check_devices
) except -1:
    cdef ArrayStorage array
    cdef Py_ssize_t index
    for index in range(len(parameters)):
        item, dtype, make = <tuple>parameters[index]
        argument = arguments[index]
        if make is not None:
            try:
                values.append(make(argument))
            except (TypeError, ValueError) as error:
                raise TypeError(f"{item.name} must be a number of type {item.dtype}: {error}") from None
            continue
        array = argument if isinstance(argument, ArrayStorage) else as_array(argument, item.name)
        if array.dtype is not dtype:
            check_type(array.dtype, item)
        if not (array._is_c or array._is_f):
            raise RuntimeError(f"{item.name} must be contiguous; pass a copy()")
        if array._owner.is_closed:
            array._check_open()
        arrays.append(array)
        values.append(array._argument)
    device = current("cuLaunchKernel").array_device
    for index in range(len(arrays)):
        if (<ArrayStorage>arrays[index])._device is not device:
            check_devices(arrays)
            break
    return 0


def fast_elementwise(parameters: tuple, arguments: tuple, checks: tuple, packs: tuple, kernels: dict):
    """Launch a user kernel for all indices on the default stream, if it is already compiled.

    Parameters
    ----------
    parameters, arguments : tuple
        As for :func:`convert_arguments`.
    checks : tuple
        The ``as_array``, ``check_type`` and ``check_devices`` arguments of :func:`convert_arguments`.
    packs : tuple
        The ``width``, ``mask`` and ``stored`` arguments of :func:`packs_fit`. Empty if the kernel cannot be vectorized.
    kernels : dict
        The compiled kernels, keyed by architecture, whether they are vectorized, and whether indices have 64 bits.

    Returns
    -------
    tuple or None
        The result of :func:`convert_arguments`, or None if the kernel was launched.
    """
    cdef list arrays = []
    cdef list values = []
    cdef ArrayStorage first
    cdef int64_t size
    as_array, check_type, check_devices = checks
    convert_into(arrays, values, parameters, arguments, as_array, check_type, check_devices)
    first = <ArrayStorage?>arrays[0]
    size = first.size
    if not 0 < size < 2**31:
        return arrays, values
    is_packed = packs and are_packs(arrays, size, packs[0], packs[1], packs[2])
    kernel = kernels.get((first._device.arch, "packed" if is_packed else False, False))
    if kernel is None:
        return arrays, values
    bound = kernel.bound_for(size)
    values.append(first.size)
    try:
        bound(*values)
    except (CUDAError, RuntimeError) as error:
        raise launch_error(error) from None
    return None


def packs_fit(arrays: list, size: int, width: int, mask: int, stored: tuple) -> bool:
    """Return whether the vectorized kernel can be used for these contiguous arrays.

    Parameters
    ----------
    arrays : list of ArrayStorage
        The arrays. The result is False if one of them has fewer than ``size`` elements.
    size, width : int
        The number of indices, and the number of elements in a pack.
    mask : int
        The address bits that must be 0.
    stored : tuple of int
        The indices of the arrays that the kernel writes to, which must not share memory with others.
    """
    return are_packs(arrays, size, width, mask, stored)


cdef bint are_packs(list arrays, int64_t count, int64_t width, uint64_t c_mask, tuple stored) except -1:
    cdef ArrayStorage array, other
    cdef Py_ssize_t index, place
    cdef uint64_t begin, end
    if count < width:
        return False
    for index in range(len(arrays)):
        array = <ArrayStorage?>arrays[index]
        if array._address & c_mask or <int64_t>array.size < count:
            return False
    for place in stored:
        array = <ArrayStorage?>arrays[place]
        begin = array._address
        end = begin + <uint64_t>array.nbytes
        for index in range(len(arrays)):
            if index != place:
                other = <ArrayStorage>arrays[index]
                if begin < other._address + <uint64_t>other.nbytes and other._address < end:
                    return False
    return True


check_self_in_methods(globals())
