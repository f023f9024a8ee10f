# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The class GPUArray, whose methods call the other array modules."""

from __future__ import annotations

import numpy as np

from cuda.core._utils.validators import shown
from cuda.core.driver._array_base import checked_dtype
from cuda.core.driver._array_functions import UNARY_OF, linear_combination, unary
from cuda.core.driver._array_layout import (
    c_strides,
    checked_axis,
    completed_shape,
    indexed,
    is_c_contiguous,
    is_f_contiguous,
    reshaped_strides,
    viewed_layout,
)
from cuda.core.driver._array_operators import ArrayOperators, call_function, call_ufunc
from cuda.core.driver._array_reductions import all_of, any_of, reduce_axes
from cuda.core.driver._array_transfer import assign, convert, copy_of, download, fill, upload
from cuda.core.driver._storage import fast_item
from cuda.core.driver._textures import bind_elements, bind_memory

__all__ = ["GPUArray"]

_CONJUGATE = UNARY_OF[np.conjugate]


class GPUArray(ArrayOperators):
    """An n-dimensional array in device memory, with NumPy's data types and operators.

    Operations are enqueued on the default stream, asynchronously to the host. Only operations that copy values to the
    host synchronize.

    Parameters
    ----------
    shape : int or sequence of int
        The array shape.
    dtype : dtype
        The data type of the elements: numbers, booleans or structures.
    allocator : callable, optional
        A function of a size in bytes that returns device memory, such as ``allocate`` of a memory pool. Defaults to
        :func:`mem_alloc`. Results of operators come from the allocator of the left array; with the default, from a
        pool of the context.
    base : object, optional
        An object that keeps the memory of ``gpudata`` alive.
    gpudata : device pointer, optional
        The memory to use. Defaults to new memory, with undefined content.
    strides : sequence of int, optional
        The strides in bytes. Defaults to a contiguous layout.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Defaults to ``"C"``.

    Attributes
    ----------
    shape, strides : tuple of int
        The shape, and the strides in bytes.
    dtype : numpy.dtype
        The data type of the elements.
    size, nbytes : int
        The number of elements, and their size in bytes.
    allocator : callable
        The allocator of results.
    base : object
        The object that keeps the memory of a view alive.

    Raises
    ------
    LogicError
        If no context is current.
    MemoryError
        If the device does not have enough memory.
    TypeError, ValueError
        If the shape, the data type, the strides or the order is not valid.
    """

    __module__ = "cuda.core.driver.gpuarray"
    __hash__ = None
    __array_function__ = call_function
    __array_ufunc__ = call_ufunc

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(self.shape[0]))

    def __bool__(self):
        if self.size != 1:
            raise ValueError(f"the truth of an array of {self.size} elements is ambiguous; use any() or all()")
        return bool(self.get().reshape(()))

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __str__(self):
        return str(self.get())

    def __repr__(self):
        return repr(self.get())

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("copy must not be False: an array in device memory must be copied to the host")
        host = self.get()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __reduce__(self):
        return array_from_host, (type(self), self.get())

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __getitem__(self, key):
        view = fast_item(self, key)
        if view is not None:
            return view
        return self._view(*indexed(self.shape, self.strides, key), self.dtype)

    def __setitem__(self, key, value):
        assign(self[key], value)

    def set(self, ary, async_: bool = False, stream=None) -> None:
        """Copy a host array to this array.

        Parameters
        ----------
        ary : numpy.ndarray
            An array of the same size and data type.
        async_ : bool, optional
            Whether not to wait for the copy, which might then read page-locked memory later. Defaults to False.
        stream : Stream, optional
            The stream to enqueue the copy on. If None, the default stream.

        Raises
        ------
        ValueError
            If ``ary`` has another size or data type.

        Warns
        -----
        UserWarning
            If ``ary`` has another shape.
        """
        upload(self, ary, async_, stream)

    def set_async(self, ary, stream=None) -> None:
        """Copy a host array to this array without waiting. See :meth:`set`."""
        upload(self, ary, True, stream)

    def get(self, ary=None, pagelocked: bool = False, async_: bool = False, stream=None) -> np.ndarray:
        """Return a copy on the host, with the same order of axes in memory.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            The array for the copy. Defaults to a new array.
        pagelocked : bool, optional
            Whether a new array is in page-locked memory. Defaults to False.
        async_ : bool, optional
            Whether not to wait for the copy; the content is valid after the stream is synchronized. Defaults to False.
        stream : Stream, optional
            The stream to enqueue the copy on. If None, the default stream.

        Raises
        ------
        ValueError
            If ``ary`` has another size.
        TypeError
            If ``ary`` has another data type.

        Warns
        -----
        DeprecationWarning
            If ``ary`` has another shape.
        """
        return download(self, ary, pagelocked, async_, stream)

    def get_async(self, stream=None, ary=None) -> np.ndarray:
        """Return a copy in page-locked memory without waiting. See :meth:`get`."""
        return download(self, ary, ary is None, True, stream)

    def item(self):
        """Return the single element as a Python number."""
        if self.size != 1:
            raise ValueError(f"the array must have one element, not {self.size}")
        return self.get().item()

    def copy(self) -> GPUArray:
        """Return a new contiguous array with the same elements and the same order of axes in memory."""
        return copy_of(self)

    def fill(self, value, stream=None) -> GPUArray:
        """Set all elements to a value, and return the array.

        Parameters
        ----------
        value : number
            The value; for structures a tuple or a NumPy element.
        stream : Stream, optional
            The stream to enqueue the kernel on. If None, the default stream.
        """
        fill(self, value, stream)
        return self

    def astype(self, dtype, stream=None) -> GPUArray:
        """Return a new array with the elements converted to another data type.

        Raises
        ------
        TypeError
            If the types cannot be converted, as structures.
        """
        new = self._new_like(checked_dtype(dtype))
        convert(self, new, stream)
        return new

    def reverse(self, stream=None) -> GPUArray:
        """Return a new array with the elements in reverse order."""
        new = self._new_like(self.dtype)
        flipped = tuple([slice(None, None, -1)] * self.ndim)
        convert(self[flipped], new, stream)
        return new

    def reshape(self, *shape, order: str = "C") -> GPUArray:
        """Return a view with another shape, or a copy if no view can have that shape.

        Parameters
        ----------
        *shape : int or one sequence of int
            The new shape. One size can be -1, and is computed from the others.
        order : str, optional
            The order to read elements in: ``"C"``, ``"F"``, or ``"A"`` for the array's own order. Defaults to
            ``"C"``.

        Raises
        ------
        ValueError
            If the shape has another number of elements.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        if order == "A":
            order = "F" if self._is_f and not self._is_c else "C"
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {shown(order)}")
        shape = completed_shape(shape, self.size)
        is_dense = self._is_c and order == "C"
        layout = () if is_dense else (self.shape, self.strides, shape, self.dtype.itemsize, order)
        strides = c_strides(shape, self.dtype.itemsize) if is_dense else reshaped_strides(*layout)
        if strides is None:
            return copy_of(self, order).reshape(shape, order=order)
        return self._view(0, shape, strides, self.dtype)

    def ravel(self, order: str = "C") -> GPUArray:
        """Return the elements as a one-dimensional array: a view if possible, else a copy."""
        return self.reshape(self.size, order=order)

    def view(self, dtype=None) -> GPUArray:
        """Return a view of the same memory, with another data type if one is given.

        Raises
        ------
        ValueError
            If the bytes along the axis of smallest stride are not a multiple of the new element size.
        """
        dtype = self.dtype if dtype is None else checked_dtype(dtype)
        shape, strides = viewed_layout(self.shape, self.strides, self.dtype.itemsize, dtype.itemsize)
        return self._view(0, shape, strides, dtype)

    def squeeze(self) -> GPUArray:
        """Return a view without the axes of extent 1."""
        kept = [axis for axis, extent in enumerate(self.shape) if extent != 1]
        shape, strides = (tuple([row[axis] for axis in kept]) for row in (self.shape, self.strides))
        return self._view(0, shape, strides, self.dtype)

    def transpose(self, axes=None, *more) -> GPUArray:
        """Return a view with the axes in another order, by default reversed.

        Raises
        ------
        ValueError
            If ``axes`` does not name each axis once.
        """
        if axes is None:
            order = tuple(range(self.ndim))[::-1]
        else:
            given = (axes, *more) if more or not isinstance(axes, (tuple, list)) else axes
            order = tuple([checked_axis(axis, self.ndim) for axis in given])
            if sorted(order) != list(range(self.ndim)):
                raise ValueError(f"axes must name each of {self.ndim} axes once, not {tuple(given)}")
        shape, strides = (tuple([row[axis] for axis in order]) for row in (self.shape, self.strides))
        return self._view(0, shape, strides, self.dtype)

    def conj(self, out=None) -> GPUArray:
        """Return the complex conjugate, or the array itself if it is real."""
        if self.dtype.kind != "c" and out is None:
            return self
        return unary(_CONJUGATE, self, out)

    conjugate = conj

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None) -> GPUArray:
        """Return ``selffac * self + otherfac * other``, computed by one kernel.

        Parameters
        ----------
        selffac, otherfac : number
            The factors.
        other : GPUArray
            An array that broadcasts with this one.
        add_timer : callable, optional
            Not used.
        stream : Stream, optional
            The stream to enqueue the kernel on. If None, the default stream.
        out : GPUArray, optional
            The array for the result. Defaults to a new array.
        """
        return linear_combination(self, selffac, other, otherfac, out, stream)

    def bind_to_texref(self, texref, allow_offset: bool = False) -> int:
        """Bind the memory of the array to a texture reference, and return its offset in the texture in elements."""
        return bind_memory(self, texref, allow_offset)

    def bind_to_texref_ext(
        self,
        texref,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> int:
        """Bind the elements of the array to a texture reference, with the format of their data type.

        Doubles and complex numbers become integer channels of 32 bits, which ``fp_tex1Dfetch`` of
        ``pycuda-helpers.hpp`` combines.

        Returns
        -------
        int
            The offset of the array in the texture, in elements.
        """
        return bind_elements(self, texref, channels, allow_double_hack, allow_complex_hack, allow_offset)

    def any(self, stream=None, allocator=None) -> GPUArray:
        """Return whether any element is not zero, as a 0-d array."""
        return any_of(self, stream, allocator)

    def all(self, stream=None, allocator=None) -> GPUArray:
        """Return whether all elements are not zero, as a 0-d array."""
        return all_of(self, stream, allocator)

    def sum(self, axis=None, dtype=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the sum over all axes, or over one or several. See :func:`cuda.core.driver.gpuarray.sum`."""
        return reduce_axes("sum", self, axis, dtype, stream, keepdims)

    def max(self, axis=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the maximum over all axes, or over one or several."""
        return reduce_axes("max", self, axis, None, stream, keepdims)

    def min(self, axis=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the minimum over all axes, or over one or several."""
        return reduce_axes("min", self, axis, None, stream, keepdims)

    @property
    def T(self) -> GPUArray:
        """A view with the axes reversed."""
        return self.transpose()

    @property
    def real(self) -> GPUArray:
        """The real parts as a new array, or the array itself if it is real."""
        return part_of(self, 0)

    @property
    def imag(self) -> GPUArray:
        """The imaginary parts as a new array, zeros if the array is real."""
        return part_of(self, 1)


def part_of(array: GPUArray, number: int) -> GPUArray:
    if array.dtype.kind != "c":
        return array if number == 0 else array._new_like(array.dtype).fill(0)
    dtype = np.dtype(f"f{array.dtype.itemsize // 2}")
    # Real and imaginary parts alternate in memory. A copy, because user kernels need contiguous arrays.
    parts = array._view(number * dtype.itemsize, array.shape, array.strides, dtype)
    return copy_of(parts)


def array_of_view(view, base) -> GPUArray:
    """Return an array in the memory of a :class:`~cuda.core.utils.StridedMemoryView`, which ``base`` keeps alive."""
    strides = None if view.strides is None else [step * view.dtype.itemsize for step in view.strides]
    return GPUArray(view.shape, view.dtype, gpudata=view.ptr or None, base=base, strides=strides)


def array_from_host(cls, host: np.ndarray) -> GPUArray:
    """Return an array with the content and the order of axes of a host array."""
    dtype = checked_dtype(host.dtype)
    order = (
        "F"
        if is_f_contiguous(host.shape, host.strides, dtype.itemsize)
        and not is_c_contiguous(host.shape, host.strides, dtype.itemsize)
        else "C"
    )
    new = cls(host.shape, dtype, order=order)
    upload(new, host)
    return new
