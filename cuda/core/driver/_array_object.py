# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The GPUArray class, whose methods call the other array modules."""

from __future__ import annotations

import numpy as np

from cuda.core._classic import shown
from cuda.core.driver._array_base import checked_dtype
from cuda.core.driver._array_functions import UNARY_OF, linear_combination, unary
from cuda.core.driver._array_layout import (
    c_byte_strides,
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
from cuda.core.driver._array_transfer import assign, convert_array, copy_of, download, fill_elements, upload
from cuda.core.driver._storage import fast_item
from cuda.core.driver._textures import bind_elements, bind_memory

__all__ = ["GPUArray"]

_CONJUGATE = UNARY_OF[np.conjugate]


class GPUArray(ArrayOperators):
    """An n-dimensional array in device memory, with NumPy's data types and operators.

    Operations are enqueued on the default stream and return immediately. Only operations that copy values to the host
    synchronize.

    Parameters
    ----------
    shape : int or sequence of int
        The array shape.
    dtype : dtype
        The data type of the elements: numbers, booleans or structures.
    allocator : callable, optional
        A function that takes a size in bytes and returns device memory, such as a memory pool's ``allocate``. Defaults
        to :func:`mem_alloc`. Operator results use the left array's allocator, or a pool of the context if that is the
        default.
    base : object, optional
        An object that keeps the memory of ``gpudata`` alive.
    gpudata : int | :class:`DeviceAllocation` | :class:`GPUArray`, optional
        The memory to use. Defaults to new memory with undefined contents.
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
        If the shape, the data type, the strides or the order is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.driver import autoinit, gpuarray
    >>> array = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    >>> (2 * array + 1).get().tolist()
    [1.0, 3.0, 5.0, 7.0]
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
            raise ValueError(f"the truth value of an array of {self.size} elements is ambiguous; use any() or all()")
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
            raise ValueError("copy must not be False, because device memory must be copied to the host")
        host = self.get()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __reduce__(self):
        return array_from_host, (type(self), self.get())

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __getitem__(self, key) -> GPUArray:
        view = fast_item(self, key)
        if view is not None:
            return view
        return self._view(*indexed(self.shape, self.strides, key), self.dtype)

    def __setitem__(self, key, value):
        assign(self[key], value)

    def set(self, ary, async_: bool = False, stream=None) -> None:
        """Copy a host array to this array (``cuMemcpyHtoD``).

        Parameters
        ----------
        ary : numpy.ndarray
            An array of the same size and data type.
        async_ : bool, optional
            Whether to return without waiting for the copy, which can then read page-locked memory later. Defaults to
            False.
        stream : Stream, optional
            The stream to enqueue the copy on. Defaults to the default stream.

        Raises
        ------
        TypeError
            If ``ary`` is not a NumPy array.
        ValueError
            If ``ary`` has another size or data type.

        Warns
        -----
        UserWarning
            If ``ary`` has another shape.
        """
        upload(self, ary, async_, stream)

    def set_async(self, ary, stream=None) -> None:
        """Copy a host array to this array without waiting (``cuMemcpyHtoDAsync``). See :meth:`set`."""
        upload(self, ary, True, stream)

    def get(self, ary=None, pagelocked: bool = False, async_: bool = False, stream=None) -> np.ndarray:
        """Return a copy on the host, with the same order of axes in memory (``cuMemcpyDtoH``).

        Parameters
        ----------
        ary : numpy.ndarray, optional
            The array to copy to. Defaults to a new array.
        pagelocked : bool, optional
            Whether to place a new array in page-locked memory. Defaults to False.
        async_ : bool, optional
            Whether to return without waiting for the copy. The elements are then valid once the stream has been
            synchronized. Defaults to False.
        stream : Stream, optional
            The stream to enqueue the copy on. Defaults to the default stream.

        Returns
        -------
        numpy.ndarray
            ``ary``, or the new array.

        Raises
        ------
        ValueError
            If ``ary`` has another size.
        TypeError
            If ``ary`` is not a NumPy array, or has another data type.

        Warns
        -----
        DeprecationWarning
            If ``ary`` has another shape.
        """
        return download(self, ary, pagelocked, async_, stream)

    def get_async(self, stream=None, ary=None) -> np.ndarray:
        """Return a copy without waiting for it (``cuMemcpyDtoHAsync``). See :meth:`get`.

        A new array is in page-locked memory.
        """
        return download(self, ary, ary is None, True, stream)

    def item(self):
        """Return the single element as a Python scalar.

        Raises
        ------
        ValueError
            If the array does not have exactly one element.
        """
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
            The value. For structures, a tuple or a NumPy element.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If ``value`` cannot be converted to the array's data type.
        """
        fill_elements(self, value, stream)
        return self

    def astype(self, dtype, stream=None) -> GPUArray:
        """Return a new array with the elements converted to another data type.

        Parameters
        ----------
        dtype : dtype
            The new data type.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        TypeError
            If the types cannot be converted, for example structures.
        """
        new = self._new_like(checked_dtype(dtype))
        convert_array(self, new, stream)
        return new

    def reverse(self, stream=None) -> GPUArray:
        """Return a new array with the elements in reverse order along all axes.

        Parameters
        ----------
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.
        """
        new = self._new_like(self.dtype)
        flipped = tuple([slice(None, None, -1)] * self.ndim)
        convert_array(self[flipped], new, stream)
        return new

    def reshape(self, *shape, order: str = "C") -> GPUArray:
        """Return a view with another shape, or a copy if no view can have that shape.

        Parameters
        ----------
        *shape : int | sequence[int]
            The new shape. One size can be -1, and is computed from the others.
        order : str, optional
            The order in which to read elements: ``"C"``, ``"F"``, or ``"A"`` for the array's own order. Defaults to
            ``"C"``.

        Raises
        ------
        ValueError
            If the shape has another number of elements, or ``order`` is invalid.
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
        strides = c_byte_strides(shape, self.dtype.itemsize) if is_dense else reshaped_strides(*layout)
        if strides is None:
            return copy_of(self, order).reshape(shape, order=order)
        return self._view(0, shape, strides, self.dtype)

    def ravel(self, order: str = "C") -> GPUArray:
        """Return the elements as a one-dimensional array, which is a view if possible.

        Parameters
        ----------
        order : str, optional
            The order in which to read elements. See :meth:`reshape`.
        """
        return self.reshape(self.size, order=order)

    def view(self, dtype=None) -> GPUArray:
        """Return a view of the same memory, optionally with another data type.

        Parameters
        ----------
        dtype : dtype, optional
            The view's data type. Defaults to the array's data type.

        Raises
        ------
        ValueError
            If the bytes along the axis of smallest stride are not a multiple of the new element size.
        """
        dtype = self.dtype if dtype is None else checked_dtype(dtype)
        shape, strides = viewed_layout(self.shape, self.strides, self.dtype.itemsize, dtype.itemsize)
        return self._view(0, shape, strides, dtype)

    def squeeze(self) -> GPUArray:
        """Return a view without the axes of size 1."""
        kept = [axis for axis, extent in enumerate(self.shape) if extent != 1]
        shape, strides = (tuple([row[axis] for axis in kept]) for row in (self.shape, self.strides))
        return self._view(0, shape, strides, self.dtype)

    def transpose(self, axes=None, *more) -> GPUArray:
        """Return a view with the axes in another order.

        Parameters
        ----------
        axes, *more : int | sequence[int], optional
            The order of the axes. Defaults to the reverse order.

        Raises
        ------
        ValueError
            If ``axes`` does not list each axis once.
        """
        if axes is None:
            order = tuple(range(self.ndim))[::-1]
        else:
            given = (axes, *more) if more or not isinstance(axes, (tuple, list)) else axes
            order = tuple([checked_axis(axis, self.ndim) for axis in given])
            if sorted(order) != list(range(self.ndim)):
                raise ValueError(f"axes must list each of {self.ndim} axes once, not {tuple(given)}")
        shape, strides = (tuple([row[axis] for axis in order]) for row in (self.shape, self.strides))
        return self._view(0, shape, strides, self.dtype)

    def conj(self, out=None) -> GPUArray:
        """Return the complex conjugate, or the array itself if it is real.

        Parameters
        ----------
        out : GPUArray, optional
            The array for the result. Defaults to a new array.
        """
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
            The stream to enqueue the kernel on. Defaults to the default stream.
        out : GPUArray, optional
            The array for the result. Defaults to a new array.
        """
        return linear_combination(self, selffac, other, otherfac, out, stream)

    def bind_to_texref(self, texref, allow_offset: bool = False) -> int:
        """Bind the array's memory to a texture reference, keeping the reference's format.

        Parameters
        ----------
        texref : TextureReference
            The texture reference.
        allow_offset : bool, optional
            Whether the array can begin at an address that is not aligned for textures. Defaults to False.

        Returns
        -------
        int
            The offset of the array in the texture, in elements.

        Raises
        ------
        LogicError
            If the array is empty or not contiguous, or its address is not aligned as required.
        """
        return bind_memory(self, texref, allow_offset)

    def bind_to_texref_ext(
        self,
        texref,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> int:
        """Bind the array to a texture reference, with the format of its data type.

        Doubles and complex numbers are split into 32-bit integer channels, which ``fp_tex1Dfetch`` from
        ``pycuda-helpers.hpp`` combines.

        Parameters
        ----------
        texref : TextureReference
            The texture reference.
        channels : int, optional
            The number of channels: 1, 2 or 4. Defaults to 1.
        allow_double_hack, allow_complex_hack : bool, optional
            Whether to accept doubles, and complex numbers. Default to False.
        allow_offset : bool, optional
            Whether the array can begin at an address that is not aligned for textures. Defaults to False.

        Returns
        -------
        int
            The offset of the array in the texture, in elements.

        Raises
        ------
        LogicError
            If the array is empty or not contiguous, or its address is not aligned as required.
        TypeError
            If textures do not support the data type.
        ValueError
            If ``channels`` is invalid, or is not 1 for elements split into channels.
        """
        return bind_elements(self, texref, channels, allow_double_hack, allow_complex_hack, allow_offset)

    def any(self, stream=None, allocator=None) -> GPUArray:
        """Return whether any element is nonzero, as a 0-d array. See :func:`cuda.core.driver.gpuarray.any`."""
        return any_of(self, stream, allocator)

    def all(self, stream=None, allocator=None) -> GPUArray:
        """Return whether all elements are nonzero, as a 0-d array. See :func:`cuda.core.driver.gpuarray.all`."""
        return all_of(self, stream, allocator)

    def sum(self, axis=None, dtype=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the sum over all axes or some of them.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce. Defaults to all axes.
        dtype : dtype, optional
            The data type of the result. Defaults to the array's data type, even for small integers.
        stream : Stream, optional
            The stream to enqueue the kernels on. Defaults to the default stream.
        keepdims : bool, optional
            Whether to keep reduced axes with size 1. Defaults to False.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or repeats an axis.
        TypeError
            If the reduction does not support the data type.
        """
        return reduce_axes("sum", self, axis, dtype, stream, keepdims)

    def max(self, axis=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the maximum over all axes or some of them. See :meth:`sum` for the parameters.

        Raises
        ------
        ValueError
            If the reduced axes have no elements.
        """
        return reduce_axes("max", self, axis, None, stream, keepdims)

    def min(self, axis=None, stream=None, keepdims: bool = False) -> GPUArray:
        """Return the minimum over all axes or some of them. See :meth:`max`."""
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
        """The imaginary parts as a new array, which contains zeros if the array is real."""
        return part_of(self, 1)


def part_of(array: GPUArray, number: int) -> GPUArray:
    if array.dtype.kind != "c":
        return array if number == 0 else array._new_like(array.dtype).fill(0)
    dtype = np.dtype(f"f{array.dtype.itemsize // 2}")
    # Real and imaginary parts alternate in memory. They are copied because user kernels need contiguous arrays.
    parts = array._view(number * dtype.itemsize, array.shape, array.strides, dtype)
    return copy_of(parts)


def array_of_view(view, base) -> GPUArray:
    """Return an array over the memory of a :class:`~cuda.core.utils.StridedMemoryView`, which ``base`` keeps alive."""
    strides = None if view.strides is None else [step * view.dtype.itemsize for step in view.strides]
    return GPUArray(view.shape, view.dtype, gpudata=view.ptr or None, base=base, strides=strides)


def array_from_host(cls, host: np.ndarray) -> GPUArray:
    """Return an array with the elements and layout (C or Fortran order) of a host array."""
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
