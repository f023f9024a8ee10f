# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory, and functions that operate on them."""

from __future__ import annotations

import builtins
import math
import warnings

import numpy as np

from cuda.core._classic import list_argument, shown
from cuda.core.driver import _array_functions as select
from cuda.core.driver._array_base import ArrayFlags, checked_dtype, splay, stream_for
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF, apply_operation
from cuda.core.driver._array_object import GPUArray, array_of_view
from cuda.core.driver._array_reductions import all_of, any_of, reduce_all, subset_reduce
from cuda.core.driver._array_reductions import dot_product as dot_product
from cuda.core.driver._array_reductions import subset_dot_product as subset_dot_product
from cuda.core.driver._calls import memset_d8_async
from cuda.core.driver._checks import checked_int
from cuda.core.driver._device_memory import mem_alloc
from cuda.core.driver._kernels import Elementwise, Operand
from cuda.core.driver._types import vec
from cuda.core.driver._user_kernels import as_array
from cuda.core.utils import StridedMemoryView

__all__ = [
    "ArrayFlags",
    "GPUArray",
    "all",
    "any",
    "arange",
    "as_gpuarray",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "from_dlpack",
    "full",
    "full_like",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "put",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]

empty = GPUArray
# kDLCUDA and kDLCUDAManaged.
_DLPACK_DEVICES = (2, 13)


def to_gpu(ary: np.ndarray, allocator=mem_alloc) -> GPUArray:
    """Return a copy of a host array on the device.

    Parameters
    ----------
    ary : numpy.ndarray
        The array to copy. The copy is contiguous, with the same order of axes in memory.
    allocator : callable, optional
        A function that takes a size in bytes and returns device memory. Defaults to :func:`mem_alloc`.

    Raises
    ------
    TypeError
        If ``ary`` is not an ndarray, or its data type is not supported, for example because elements are Python
        objects.
    MemoryError
        If the device does not have enough memory.
    LogicError
        If no context is current.
    """
    new = new_for(ary, allocator)
    new.set(ary)
    return new


def to_gpu_async(ary: np.ndarray, allocator=mem_alloc, stream=None) -> GPUArray:
    """Return a copy of a host array on the device, copied in stream order (``cuMemcpyHtoDAsync``).

    Parameters
    ----------
    ary : numpy.ndarray
        The array to copy. The copy is asynchronous to the host only if ``ary`` is page-locked.
    allocator : callable, optional
        A function that takes a size in bytes and returns device memory. Defaults to :func:`mem_alloc`.
    stream : Stream, optional
        The stream to enqueue the copy on. Defaults to the default stream.

    Raises
    ------
    TypeError, MemoryError, LogicError
        As for :func:`to_gpu`.
    """
    new = new_for(ary, allocator)
    new.set_async(ary, stream)
    return new


def new_for(ary, allocator) -> GPUArray:
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"ary must be a numpy.ndarray, not {type(ary).__name__}; convert with numpy.asarray")
    dtype = checked_dtype(ary.dtype)
    if ary.flags.c_contiguous:
        return GPUArray(ary.shape, dtype, allocator)
    # NumPy lays out a new array with the same order of axes.
    strides = np.empty_like(ary, subok=False, order="K").strides
    return GPUArray(ary.shape, dtype, allocator, strides=strides if ary.ndim and ary.size else None)


def zeros(shape, dtype=np.float64, allocator=mem_alloc, order: str = "C") -> GPUArray:
    """Return a new array of zeros. See :class:`GPUArray` for the parameters."""
    return zeroed(GPUArray(shape, dtype, allocator, order=order))


def ones(shape, dtype=np.float64, allocator=mem_alloc, order: str = "C") -> GPUArray:
    """Return a new array of ones. See :class:`GPUArray` for the parameters."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def full(shape, fill_value, dtype=None, allocator=mem_alloc, order: str = "C") -> GPUArray:
    """Return a new array filled with a value.

    Parameters
    ----------
    shape : int or sequence of int
        The array shape.
    fill_value : number
        The value of all elements.
    dtype : dtype, optional
        The data type of the elements. Defaults to NumPy's data type for ``fill_value``.
    allocator, order
        As for :class:`GPUArray`.

    Raises
    ------
    TypeError
        If ``dtype`` is None and ``fill_value`` is not a number.
    TypeError, ValueError, OverflowError
        If ``fill_value`` cannot be converted to ``dtype``.
    """
    if dtype is None:
        try:
            dtype = np.array(fill_value).dtype
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"fill_value must be a number, not {shown(fill_value)}") from error
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def empty_like(other, dtype=None, order: str = "K") -> GPUArray:
    """Return a new array with the shape and data type of another array, and undefined elements.

    Parameters
    ----------
    other : GPUArray
        The other array.
    dtype : dtype, optional
        The data type. Defaults to the data type of ``other``.
    order : str, optional
        The memory layout: ``"C"``, ``"F"``, ``"A"`` (``"F"`` if ``other`` is Fortran-contiguous, else ``"C"``), or
        ``"K"``, the default, which is as close to the layout of ``other`` as possible.

    Raises
    ------
    ValueError
        If ``order`` is invalid.
    """
    return as_array(other, "other")._empty_like(dtype, order)


def zeros_like(other, dtype=None, order: str = "K") -> GPUArray:
    """Return a new array of zeros with the shape and data type of another array. See :func:`empty_like`."""
    return zeroed(empty_like(other, dtype, order))


def ones_like(other, dtype=None, order: str = "K") -> GPUArray:
    """Return a new array of ones with the shape and data type of another array. See :func:`empty_like`."""
    return empty_like(other, dtype, order).fill(1)


def full_like(other, fill_value, dtype=None, order: str = "K") -> GPUArray:
    """Return a new array filled with a value, with the shape and data type of another array.

    Parameters
    ----------
    other, dtype, order
        As for :func:`empty_like`.
    fill_value : number
        The value of all elements.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If ``fill_value`` cannot be converted to the data type.
    """
    return empty_like(other, dtype, order).fill(fill_value)


def zeroed(new: GPUArray) -> GPUArray:
    # Zero is all zero bits in every supported type.
    if new.size:
        memset_d8_async(new._address, 0, new.nbytes)
    return new


def arange(*args, dtype=None, stream=None, start=None, stop=None, step=None) -> GPUArray:
    """Return evenly spaced numbers: ``arange([start,] stop[, step])``.

    Parameters
    ----------
    start, stop, step : number
        The range, as in :func:`numpy.arange`.
    dtype : dtype, optional
        The data type of the elements. Defaults to NumPy's for the numbers.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If an argument is not a number, ``dtype`` is not a numeric type, or ``stop`` is missing.
    ValueError
        If ``step`` is 0, or a number does not fit in 64 bits.

    Warns
    -----
    UserWarning
        If ``dtype`` is None and the resulting data type is not float32.
    """
    start, stop, step, dtype = range_bounds(args, start, stop, step, dtype)
    size = builtins.max(0, math.ceil((stop - start) / step))
    result = GPUArray((size,), dtype)
    if not size:
        return result
    device = result._device
    key = ("arange", dtype)
    kernel = device.plans.get(key)
    wide = np.dtype(np.float64) if dtype.kind == "f" else dtype
    if kernel is None:
        inputs = [Operand("a", wide, is_scalar=True), Operand("b", wide, is_scalar=True)]
        name = Operand("r", wide).variable
        kernel = Elementwise("array_arange", [Operand("r", dtype, wide)], inputs, f"r = a + ({name})i * b")
        device.plans[key] = kernel
    inner = stream_for(stream, result)
    values = [wide.type(start), wide.type(step)]
    place = (result._address, result.strides)
    kernel.launch(device.arch, inner, result.shape, [place], (result._address, *values))
    return result


def range_bounds(args, start, stop, step, dtype):
    """Return the start, stop, step and data type for :func:`arange`."""
    if len(args) > 4 or not (args or stop is not None):
        raise TypeError(f"arange takes start, stop, step and dtype, {len(args)} arguments given")
    if len(args) == 4:
        *args, dtype = args
    if len(args) == 1 and stop is None:
        stop = args[0]
    else:
        names = [value for value in (start, stop, step) if value is not None]
        given = [*args, *names]
        start, stop, step = (*given, None, None)[:3] if len(given) > 1 or start is not None else (None, given[0], None)
    if stop is None:
        start, stop = None, start
    for value in (start, stop, step):
        if not (value is None or isinstance(value, (int, float, np.number))) or value != value:
            raise TypeError(f"start, stop and step of arange must be numbers, not {shown(value)}")
    if dtype is None:
        dtype = np.result_type(*(np.asarray(value).dtype for value in (start, stop, step) if value is not None))
        if dtype != np.float32:
            warnings.warn(f"arange creates elements of type {dtype}; pass dtype", UserWarning, stacklevel=3)
    dtype = checked_dtype(dtype)
    if dtype.kind not in "iufc":
        raise TypeError(f"dtype of arange must be a numeric type, not {dtype}")
    start, step = 0 if start is None else start, 1 if step is None else step
    if step == 0:
        raise ValueError("step must not be 0")
    if builtins.max(builtins.abs(value) for value in (start, stop, step)) > np.iinfo(np.int64).max:
        raise ValueError("start, stop and step of arange must fit in 64 bits")
    return start, stop, step, dtype


def as_gpuarray(obj) -> GPUArray:
    """Return a GPUArray over the memory of an object with ``__cuda_array_interface__``.

    Parameters
    ----------
    obj : object
        An array in device memory. A GPUArray is returned itself.

    Raises
    ------
    TypeError
        If ``obj`` does not implement the interface, or the interface is invalid.
    """
    return as_array(obj, "obj")


def from_dlpack(obj) -> GPUArray:
    """Return a view of an external array through DLPack.

    Parameters
    ----------
    obj : object
        An array in device memory, with ``__dlpack__`` and ``__dlpack_device__`` methods.

    Raises
    ------
    TypeError
        If ``obj`` does not implement these methods.
    BufferError
        If the memory is not device memory, or is read-only.
    """
    if not hasattr(obj, "__dlpack_device__"):
        raise TypeError(f"obj must implement __dlpack__ and __dlpack_device__, got {type(obj).__name__}")
    if obj.__dlpack_device__()[0] not in _DLPACK_DEVICES:
        raise BufferError("the memory of obj must be device memory; copy it with to_gpu")
    # 1 is the legacy default stream, which arrays use.
    view = StridedMemoryView.from_dlpack(obj, stream_ptr=1)
    if view.readonly:
        raise BufferError("the memory of obj must be writable")
    return array_of_view(view, view)


def sum(a, dtype=None, stream=None, allocator=None) -> GPUArray:
    """Return the sum of all elements, as a 0-d array.

    Parameters
    ----------
    a : GPUArray
        The array.
    dtype : dtype, optional
        The data type of the result. Defaults to the array's data type, even for small integers.
    stream : Stream, optional
        The stream to enqueue the kernels on. Defaults to the default stream.
    allocator : callable, optional
        The allocator of the result. Defaults to the array's allocator.

    Raises
    ------
    TypeError
        If ``a`` is not a GPUArray, or its data type is not supported.
    """
    return reduce_all("sum", a, dtype, stream, allocator)


def max(a, stream=None) -> GPUArray:
    """Return the largest element as a 0-d array, or NaN if any element is NaN.

    Parameters
    ----------
    a : GPUArray
        The array.
    stream : Stream, optional
        The stream to enqueue the kernels on. Defaults to the default stream.

    Raises
    ------
    ValueError
        If the array is empty.
    TypeError
        If ``a`` is not a GPUArray, or its elements are not ordered.
    """
    return reduce_all("max", a, None, stream)


def min(a, stream=None) -> GPUArray:
    """Return the smallest element as a 0-d array, or NaN if any element is NaN. See :func:`max`."""
    return reduce_all("min", a, None, stream)


def any(a, stream=None, allocator=None) -> GPUArray:
    """Return whether any element is nonzero, as a 0-d array of type bool.

    Parameters
    ----------
    a : GPUArray
        The array.
    stream : Stream, optional
        The stream to enqueue the kernels on. Defaults to the default stream.
    allocator : callable, optional
        The allocator of the result. Defaults to the array's allocator.

    Raises
    ------
    TypeError
        If ``a`` is not a GPUArray, or its data type is not supported.
    """
    return any_of(a, stream, allocator)


def all(a, stream=None, allocator=None) -> GPUArray:
    """Return whether all elements are nonzero, as a 0-d array of type bool. See :func:`any`."""
    return all_of(a, stream, allocator)


def dot(a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """Return the dot product as a 0-d array.

    Complex numbers are not conjugated. Arrays with several dimensions are treated as vectors.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    dtype : dtype, optional
        The data type of the result. Defaults to NumPy's promotion of the arrays' data types.
    stream : Stream, optional
        The stream to enqueue the kernels on. Defaults to the default stream.
    allocator : callable, optional
        The allocator of the result. Defaults to the allocator of ``a``.

    Raises
    ------
    ValueError
        If the arrays have different sizes.
    TypeError
        If an operand is not a GPUArray, or its data type is not supported.
    """
    return dot_product(a, b, dtype, stream, allocator)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None) -> GPUArray:
    """Return the sum of the elements ``a[subset[i]]``, without checking the indices.

    Parameters
    ----------
    subset : GPUArray
        The indices, as integers.
    a : GPUArray
        The array, which is treated as a vector.
    dtype, stream, allocator
        As for :func:`sum`.

    Raises
    ------
    TypeError
        If an operand is not a GPUArray, or its data type is not supported.
    """
    return subset_reduce("sum", subset, a, dtype, stream, allocator)


def subset_max(subset, a, stream=None) -> GPUArray:
    """Return the largest of the elements ``a[subset[i]]``, without checking the indices. See :func:`subset_sum`.

    Raises
    ------
    ValueError
        If ``subset`` is empty.
    """
    return subset_reduce("max", subset, a, None, stream)


def subset_min(subset, a, stream=None) -> GPUArray:
    """Return the smallest of the elements ``a[subset[i]]``, without checking the indices. See :func:`subset_max`."""
    return subset_reduce("min", subset, a, None, stream)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """Return the sum of ``a[subset[i]] * b[subset[i]]``, without checking the indices. See :func:`subset_sum`.

    Parameters
    ----------
    a, b : GPUArray
        The operands, of the same shape.
    """
    return subset_dot_product(subset, a, b, dtype, stream, allocator)


def maximum(a, b, out=None, stream=None) -> GPUArray:
    """Return the elementwise maximum, which is NaN if either element is NaN.

    Parameters
    ----------
    a, b : GPUArray or number
        The operands, which are broadcast. At least one must be an array.
    out : GPUArray, optional
        The array for the result. Defaults to a new array.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If neither operand is a GPUArray, or the function does not support an operand.
    ValueError
        If the shapes cannot be broadcast.
    """
    return elementwise(np.maximum, (a, b), out, stream)


def minimum(a, b, out=None, stream=None) -> GPUArray:
    """Return the elementwise minimum, which is NaN if either element is NaN. See :func:`maximum`."""
    return elementwise(np.minimum, (a, b), out, stream)


def logical_and(x1, x2, /, out=None, *, allocator=None) -> GPUArray:
    """Return elementwise whether both operands are nonzero, as an array of bool.

    Parameters
    ----------
    x1, x2 : GPUArray or number
        The operands, which are broadcast. At least one must be an array.
    out : GPUArray, optional
        The array for the result. Defaults to a new array.
    allocator : callable, optional
        Ignored.

    Raises
    ------
    TypeError
        If neither operand is a GPUArray, or the function does not support an operand.
    ValueError
        If the shapes cannot be broadcast.
    """
    return elementwise(np.logical_and, (x1, x2), out, None)


def logical_or(x1, x2, /, out=None, *, allocator=None) -> GPUArray:
    """Return elementwise whether either operand is nonzero, as an array of bool. See :func:`logical_and`."""
    return elementwise(np.logical_or, (x1, x2), out, None)


def logical_not(x, /, out=None, *, allocator=None) -> GPUArray:
    """Return elementwise whether the operand is zero, as an array of bool. See :func:`logical_and`.

    Parameters
    ----------
    x : GPUArray
        The operand.
    """
    return elementwise(np.logical_not, (x,), out, None)


def elementwise(ufunc, operands, out, stream) -> GPUArray:
    if not builtins.any(isinstance(item, GPUArray) for item in operands):
        raise TypeError(f"{ufunc.__name__} requires a GPUArray, not {type(operands[0]).__name__}")
    result = apply_operation(BINARY_OF.get(ufunc) or UNARY_OF[ufunc], operands, out, stream)
    if result is NotImplemented:
        kinds = " and ".join(type(item).__name__ for item in operands)
        raise TypeError(f"{ufunc.__name__} accepts GPUArrays and numbers, not {kinds}")
    return result


def if_positive(criterion, then_, else_, out=None, stream=None) -> GPUArray:
    """Return elements of ``then_`` where ``criterion`` is greater than zero, and of ``else_`` elsewhere.

    Parameters
    ----------
    criterion : GPUArray
        The array to compare with zero.
    then_, else_ : GPUArray or number
        The values. Arrays must have the shape of ``criterion`` and the same data type.
    out : GPUArray, optional
        The array for the result. Defaults to a new array.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    ValueError
        If the shapes or the data types differ.
    TypeError
        If ``criterion`` is not a GPUArray with ordered elements, or a value is neither a GPUArray nor a number.
    """
    return select.select_positive(criterion, then_, else_, out, stream)


def where(criterion, then_, else_, out=None, stream=None) -> GPUArray:
    """Return elements of ``then_`` where ``criterion`` is nonzero, and of ``else_`` elsewhere.

    Parameters
    ----------
    criterion : GPUArray
        The array to compare with zero.
    then_, else_ : GPUArray or number
        The values, which are broadcast with ``criterion``.
    out : GPUArray, optional
        The array for the result. Defaults to a new array.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast.
    TypeError
        If ``criterion`` is not a GPUArray, or a value is neither a GPUArray nor a number.
    """
    return select.select_nonzero(criterion, then_, else_, out, stream)


def take(a, indices, out=None, stream=None) -> GPUArray:
    """Return the elements ``a[indices[i]]`` of an array, which is treated as a vector.

    Parameters
    ----------
    a : GPUArray
        The array.
    indices : GPUArray
        The indices, as integers. Negative indices count from the end. Indices out of range return zero.
    out : GPUArray, optional
        The array for the result. Defaults to a new array with the shape of ``indices``.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If ``indices`` is not a GPUArray of integers.
    ValueError
        If ``out`` has another shape or data type than the result.
    """
    return select.take_elements(as_array(a, "a"), indices, out, stream)


def put(a, indices, values, stream=None) -> None:
    """Store ``values[i]`` in ``a[indices[i]]``, where ``a`` is treated as a vector.

    Parameters
    ----------
    a : GPUArray
        A C-contiguous array.
    indices : GPUArray
        The indices, as integers. Negative indices count from the end. Indices out of range are ignored.
    values : GPUArray
        The values, with the shape of ``indices`` and the data type of ``a``.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If ``indices`` is not a GPUArray of integers.
    ValueError
        If ``values`` has another shape or data type, or ``a`` is not C-contiguous.
    """
    select.put_elements(as_array(a, "a"), indices, as_array(values, "values"), stream)


def multi_take(arrays, indices, out=None, stream=None) -> list[GPUArray]:
    """Return a list of the results of :func:`take` for several arrays and the same indices.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    indices, stream
        As for :func:`take`.
    out : sequence of GPUArray, optional
        The arrays for the results. Defaults to new arrays.

    Raises
    ------
    ValueError
        If ``arrays`` is empty, or ``out`` has another number of arrays.
    """
    arrays = select.checked_arrays(arrays)
    outs = [None] * len(arrays) if out is None else list_argument("out", out, "a sequence of GPUArrays")
    check_lengths("out", outs, arrays)
    return [select.take_elements(a, indices, one, stream) for a, one in zip(arrays, outs, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None) -> list[GPUArray]:
    """Return arrays with ``arrays[k][i]`` at ``dest_indices[i]``, and zeros elsewhere.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The values, as arrays with the shape of the indices.
    dest_indices : GPUArray
        The positions of the values, as integers.
    dest_shape : int or sequence of int, optional
        The shape of the results, if ``out`` is None. Defaults to the shape of the indices.
    out : sequence of GPUArray, optional
        The arrays for the results, whose elements at other positions keep their values. Defaults to new arrays.
    stream : Stream, optional
        The stream to enqueue the kernels on. Defaults to the default stream.

    Raises
    ------
    ValueError
        If ``arrays`` is empty, ``out`` has another number of arrays, or shapes or data types do not match.
    """
    arrays = select.checked_arrays(arrays)
    outs = targets(arrays, dest_indices, dest_shape, out)
    for a, one in zip(arrays, outs, strict=True):
        select.put_elements(one, dest_indices, a, stream)
    return outs


def multi_take_put(
    arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None
) -> list[GPUArray]:
    """Return arrays with ``arrays[k][src_indices[i] + src_offsets[k]]`` at ``dest_indices[i]``.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays to take elements from.
    dest_indices, src_indices : GPUArray
        The positions to store to and to take from, as integers.
    dest_shape, out, stream
        As for :func:`multi_put`.
    src_offsets : sequence of int, optional
        The offset of each array. Defaults to 0 for all arrays.

    Raises
    ------
    ValueError
        If ``arrays`` is empty, ``out`` or ``src_offsets`` has another length, or the indices have different shapes.
    """
    arrays = select.checked_arrays(arrays)
    outs = targets(arrays, dest_indices, dest_shape, out)
    offsets = [0] * len(arrays) if src_offsets is None else list_argument("src_offsets", src_offsets)
    offsets = [checked_int("each of src_offsets", offset) for offset in offsets]
    check_lengths("src_offsets", offsets, arrays)
    for a, one, offset in zip(arrays, outs, offsets, strict=True):
        select.take_put(a, one, src_indices, dest_indices, offset, stream)
    return outs


def targets(arrays, dest_indices, dest_shape, out) -> list[GPUArray]:
    if out is not None:
        outs = select.checked_arrays(out)
        check_lengths("out", outs, arrays)
        return outs
    shape = as_array(dest_indices, "dest_indices").shape if dest_shape is None else dest_shape
    return [zeros(shape, a.dtype, a.allocator) for a in arrays]


def check_lengths(name: str, items, arrays) -> None:
    if len(items) != len(arrays):
        raise ValueError(f"{name} must have {len(arrays)} items, one per array, not {len(items)}")


def concatenate(arrays, axis: int = 0, allocator=None) -> GPUArray:
    """Return arrays joined along an axis, with their common data type.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    axis : int, optional
        The axis. Defaults to 0.
    allocator : callable, optional
        The allocator of the result. Defaults to the first array's allocator.

    Raises
    ------
    ValueError
        If the shapes differ in another axis, there is no such axis, or ``arrays`` is empty.
    TypeError
        If an item is not a GPUArray.
    """
    return select.join_arrays(arrays, axis, allocator)


def stack(arrays, axis: int = 0, allocator=None) -> GPUArray:
    """Return arrays of the same shape joined along a new axis. See :func:`concatenate` for the parameters.

    Raises
    ------
    ValueError
        If the shapes differ, there is no such axis, or ``arrays`` is empty.
    """
    return select.stack_arrays(arrays, axis, allocator)


def transpose(a, axes=None) -> GPUArray:
    """Return a view with the axes in another order. See :meth:`GPUArray.transpose`.

    Parameters
    ----------
    a : GPUArray
        The array.
    """
    return as_array(a, "a").transpose(axes)


def reshape(a, *shape, order: str = "C") -> GPUArray:
    """Return the array in another shape. See :meth:`GPUArray.reshape`.

    Parameters
    ----------
    a : GPUArray
        The array.
    """
    return as_array(a, "a").reshape(*shape, order=order)


def __dir__():
    return list(__all__)
