# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The layout of a strided array: shape, strides and item size, without the data."""

from __future__ import annotations

cimport cython
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t

from cuda.core._utils._cpython cimport check_self_in_methods

import operator

from cuda.core import _layout_ops as ops
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import int_argument, shown

__all__ = ["_StridedLayout"]

_MAX_NDIM = 64

# Python ints, created once for the range checks.
cdef object _INT64_MAX = INT64_MAX
cdef object _INT64_MIN = INT64_MIN


@cython.final
cdef class _StridedLayout:
    """Shape, strides and item size of a strided array.

    Parameters
    ----------
    shape : tuple of int
        The number of elements along each axis.
    strides : tuple of int or None
        The distance between adjacent elements along each axis, in elements. None means C order.
    itemsize : int
        The size of an element in bytes.
    divide_strides : bool, optional
        Whether ``strides`` are in bytes. Defaults to False.

    Raises
    ------
    TypeError
        If ``shape`` or ``strides`` is not a tuple of integers.
    ValueError
        If an extent is negative, ``itemsize`` is not positive, shape and strides differ in length, there are more
        than 64 axes, or the layout is larger than the address space.
    OverflowError
        If a number does not fit 64 bits.
    """

    __signature__ = ConstructorSignature()

    def __cinit__(self):
        self._shape = ()
        self._itemsize = 1

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int, divide_strides: bool = False
    ):
        """Check the arguments, which the class describes."""
        self._shape = checked_shape(shape)
        self._itemsize = checked_itemsize(itemsize)
        self._strides = None if strides is None else checked_strides(strides, len(self._shape))
        if divide_strides and self._strides is not None:
            itemsize = self._itemsize
            if any(stride % itemsize for stride in self._strides):
                raise ValueError(f"strides must be multiples of the item size {itemsize}, not {shown(strides)}")
            self._strides = tuple(stride // itemsize for stride in self._strides)
        check_reach(self._shape, self._strides, self._itemsize, self._itemsize)

    def __eq__(self, other):
        if not isinstance(other, _StridedLayout):
            return NotImplemented
        cdef _StridedLayout that = other
        return (
            self._shape == that._shape
            and self.explicit_strides() == that.explicit_strides()
            and self._itemsize == that._itemsize
            and self._slice_offset == that._slice_offset
        )

    __hash__ = None

    def __repr__(self):
        offset = f", slice_offset={self._slice_offset}" if self._slice_offset else ""
        return f"_StridedLayout(shape={self._shape}, strides={self._strides}, itemsize={self._itemsize}{offset})"

    def __reduce__(self):
        raise TypeError("a layout cannot be pickled")

    def __getitem__(self, slices):
        return self.sliced(slices)

    @classmethod
    def dense(cls, shape: tuple[int, ...], itemsize: int, stride_order: str | tuple[int, ...] = "C") -> _StridedLayout:
        """Return a dense layout.

        ``stride_order`` is ``'C'``, ``'F'``, or the axes from the largest stride to the smallest.
        """
        shape = checked_shape(shape)
        return cls(shape, ops.dense_strides(shape, ops.parse_stride_order(stride_order, len(shape))), itemsize)

    @classmethod
    def dense_like(cls, other: _StridedLayout, stride_order: str | tuple[int, ...] = "K") -> _StridedLayout:
        """Return a dense layout with the shape of ``other``, or ``other`` itself if it is dense in that order.

        ``stride_order`` is ``'C'``, ``'F'``, ``'K'`` (the order of the axes of ``other``), or a tuple of axes.
        """
        if type(other) is _StridedLayout and isinstance(stride_order, str) and _is_dense_in_order(other, stride_order):
            return other
        if not isinstance(other, _StridedLayout):
            raise TypeError(f"other must be a _StridedLayout, not {type(other).__name__}")
        order = ops.parse_stride_order(stride_order, len(other.shape), other.stride_order)
        return cls(other.shape, ops.dense_strides(other.shape, order), other.itemsize)

    def to_dense(self, stride_order: str | tuple[int, ...] = "K") -> _StridedLayout:
        """Return a dense layout of the same shape. See :meth:`dense_like`."""
        return _StridedLayout.dense_like(self, stride_order)

    def required_size_in_bytes(self) -> int:
        """Return the number of bytes from the base address to the end of the last element.

        Raises
        ------
        ValueError
            If an element has a negative offset.
        """
        if self._strides is None and self._slice_offset == 0:
            return self.volume * self._itemsize
        low, high = self.offset_bounds
        if low < 0:
            raise ValueError(f"the lowest offset of the layout must not be negative, but is {low} elements")
        return (high + 1) * self._itemsize

    def reshaped(self, shape: tuple[int, ...]) -> _StridedLayout:
        """Return the layout of the same elements in another shape, in which one extent can be -1."""
        shape, strides = ops.reshaped(self._shape, self.explicit_strides(), extents_of(shape))
        return Layout_derive(shape, strides, self._itemsize, self._slice_offset)

    def permuted(self, axis_order: tuple[int, ...]) -> _StridedLayout:
        """Return the layout with permuted axes: axis ``i`` of the result is axis ``axis_order[i]``."""
        if not ops.is_permutation(axis_order, len(self._shape)):
            raise ValueError(f"axis_order must be a permutation of {len(self._shape)} axes, not {shown(axis_order)}")
        strides = self.explicit_strides()
        return Layout_derive(
            tuple([self._shape[axis] for axis in axis_order]),
            tuple([strides[axis] for axis in axis_order]),
            self._itemsize, self._slice_offset,
        )

    def flattened(self, start_axis: int = 0, end_axis: int = -1, mask: int | None = None) -> _StridedLayout:
        """Merge adjacent axes whose strides allow it.

        Merges the axes from ``start_axis`` to ``end_axis`` (inclusive), or those with their bit set in ``mask``, each
        into the axis before it.
        """
        if mask is None and not self._shape and (start_axis, end_axis) == (0, -1):
            mask = 0
        elif mask is None:
            start, end = self._axis(start_axis), self._axis(end_axis)
            mask = self.flattened_axis_mask() & sum(1 << axis for axis in range(start + 1, end + 1))
        else:
            mask = int_argument("mask", mask)
        shape, strides = ops.flatten(self._shape, self.explicit_strides(), mask)
        return Layout_derive(shape, strides, self._itemsize, self._slice_offset)

    def flattened_axis_mask(self) -> int:
        """Return a bit mask of the axes that can be merged into the axis before them."""
        return ops.mergeable_axes(self._shape, self.explicit_strides())

    def squeezed(self) -> _StridedLayout:
        """Remove the axes of extent 1. A layout without elements becomes one axis of extent 0."""
        if 0 in self._shape:
            return Layout_create((0,), (0,), self._itemsize, self._slice_offset)
        left = [(n, s) for n, s in zip(self._shape, self.explicit_strides()) if n != 1]
        return Layout_create(
            tuple([n for n, _ in left]), tuple([s for _, s in left]), self._itemsize, self._slice_offset
        )

    def unsqueezed(self, axis: int | tuple[int, ...]) -> _StridedLayout:
        """Insert axes of extent 1 at these positions of the result, with the strides of ``numpy.expand_dims``."""
        if isinstance(axis, tuple) and not axis:
            return self
        shape, strides = list(self._shape), list(self.explicit_strides())
        for place in ops.unsqueezed_axes(len(shape), axis):
            if place < len(shape):
                strides.insert(place, shape[place] * strides[place])
            else:
                strides.append(strides[-1] if strides else 1)
            shape.insert(place, 1)
        return Layout_derive(tuple(shape), tuple(strides), self._itemsize, self._slice_offset)

    def broadcast_to(self, shape: tuple[int, ...]) -> _StridedLayout:
        """Return the layout broadcast to ``shape``, with stride 0 along new and expanded axes."""
        shape = checked_shape(extents_of(shape))
        strides = ops.broadcast(self._shape, self.explicit_strides(), shape)
        check_reach(shape, strides, self._itemsize, self._itemsize)
        return Layout_derive(shape, strides, self._itemsize, self._slice_offset)

    def repacked(self, itemsize: int, data_ptr: int = 0, axis: int = -1, keep_dim: bool = True) -> _StridedLayout:
        """Return the layout of the same bytes with another item size.

        Parameters
        ----------
        itemsize : int
            The new item size in bytes.
        data_ptr : int, optional
            The address of the data, whose alignment is checked. Defaults to 0.
        axis : int, optional
            The axis whose extent changes. Its stride must be 1. Defaults to the last axis.
        keep_dim : bool, optional
            Whether to keep ``axis`` if its new extent is 1. Defaults to True.

        Raises
        ------
        ValueError
            If the extent, the other strides, the offset or the address is not a multiple of the new item size.
        """
        itemsize = checked_itemsize(itemsize)
        if itemsize == self._itemsize:
            return self
        axis = self._axis(axis)
        if not self._fits(itemsize, data_ptr, axis):
            raise ValueError(f"{self!r} cannot be read with items of {itemsize} bytes along axis {axis}")
        old = self._itemsize
        shape, strides = list(self._shape), list(self.explicit_strides())
        shape[axis] = shape[axis] * old // itemsize
        strides = [1 if k == axis else stride * old // itemsize for k, stride in enumerate(strides)]
        if not keep_dim and shape[axis] == 1:
            del shape[axis], strides[axis]
        return Layout_create(tuple(shape), tuple(strides), itemsize, self._slice_offset * old // itemsize)

    def max_compatible_itemsize(self, max_itemsize: int = 16, data_ptr: int = 0, axis: int = -1) -> int:
        """Return the largest power of two, up to ``max_itemsize``, that :meth:`repacked` accepts as an item size.

        Returns the current item size if the stride of ``axis`` is not 1.
        """
        axis = self._axis(axis)
        data_ptr = int_argument("data_ptr", data_ptr)
        max_itemsize = checked_itemsize(max_itemsize)
        if max_itemsize < self._itemsize:
            raise ValueError(f"max_itemsize must be at least the item size {self._itemsize}, not {shown(max_itemsize)}")
        if self.explicit_strides()[axis] != 1:
            return self._itemsize
        size = 1 << max_itemsize.bit_length() - 1
        while not self._fits(size, data_ptr, axis):
            size >>= 1
        return size

    def sliced(self, slices) -> _StridedLayout:
        """Return the layout of a basic slice, as in NumPy: an integer removes its axis, a slice shortens it."""
        shape, strides, start = ops.slice_layout(self._shape, self.explicit_strides(), slices)
        return Layout_derive(shape, strides, self._itemsize, self._slice_offset + start)

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._itemsize

    @property
    def slice_offset(self) -> int:
        """The offset of the first element from the base, in elements."""
        return self._slice_offset

    @property
    def slice_offset_in_bytes(self) -> int:
        """The offset of the first element from the base, in bytes."""
        return self._slice_offset * self._itemsize

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """The strides in elements, or None for implicit C order."""
        return self._strides

    @property
    def strides_in_bytes(self) -> tuple[int, ...] | None:
        """The strides in bytes, or None for implicit C order."""
        return None if self._strides is None else tuple([stride * self._itemsize for stride in self._strides])

    @property
    def stride_order(self) -> tuple[int, ...]:
        """The axes, from the largest stride to the smallest."""
        if self._strides is None:
            return tuple(range(len(self._shape)))
        return ops.stride_order(self._shape, self._strides)

    @property
    def volume(self) -> int:
        """The number of elements."""
        volume = 1
        for extent in self._shape:
            volume = volume * extent
        return volume

    @property
    def is_unique(self) -> bool:
        """Whether no two elements share an offset. Can be a false negative for unusual strides."""
        return ops.is_unique(self._shape, self.explicit_strides())

    @property
    def is_contiguous_c(self) -> bool:
        """Whether the layout is dense in C order."""
        return self._strides is None or ops.is_contiguous(self._shape, self._strides, tuple(range(self.ndim)))

    @property
    def is_contiguous_f(self) -> bool:
        """Whether the layout is dense in Fortran order."""
        return ops.is_contiguous(self._shape, self.explicit_strides(), tuple(reversed(range(self.ndim))))

    @property
    def is_contiguous_any(self) -> bool:
        """Whether the layout is dense in some order of its axes."""
        strides = self.explicit_strides()
        order = sorted(range(self.ndim), key=lambda axis: (-strides[axis], self._shape[axis] == 1))
        return ops.is_contiguous(self._shape, strides, tuple(order)) or self.is_contiguous_c

    @property
    def is_dense(self) -> bool:
        """Whether the layout is dense in some order of its axes, and its offset is 0."""
        return self._slice_offset == 0 and self.is_contiguous_any

    @property
    def offset_bounds(self) -> tuple[int, int]:
        """The lowest and highest offset of an element, in elements, or ``(0, -1)`` without elements."""
        return ops.offset_bounds(self._shape, self.explicit_strides(), self._slice_offset)

    @property
    def min_offset(self) -> int:
        """The lowest offset of an element, in elements."""
        return self.offset_bounds[0]

    @property
    def max_offset(self) -> int:
        """The highest offset of an element, in elements."""
        return self.offset_bounds[1]

    cdef tuple explicit_strides(self):
        return ops.c_strides(self._shape) if self._strides is None else self._strides

    def _axis(self, axis):
        ndim = len(self._shape)
        axis = int_argument("axis", axis)
        if not -ndim <= axis < ndim:
            raise ValueError(f"axis {shown(axis)} is out of range for {ndim} axes")
        return axis % ndim

    def _fits(self, itemsize, data_ptr, axis):
        old = self._itemsize
        if itemsize <= 0 or data_ptr % itemsize or self._slice_offset * old % itemsize:
            return False
        strides = self.explicit_strides()
        if strides[axis] != 1 or self._shape[axis] * old % itemsize:
            return False
        return not any([stride * old % itemsize for k, stride in enumerate(strides) if k != axis])


cdef bint _is_dense_in_order(_StridedLayout layout, str order) except -1:
    if layout._slice_offset != 0:
        return False
    if order == "C":
        return layout.is_contiguous_c
    if order == "F":
        return layout.is_contiguous_f
    return order == "K" and layout.is_contiguous_any


# A layout computed from another one. All strides are 0 if it has no elements.
cdef _StridedLayout Layout_derive(tuple shape, tuple strides, int64_t itemsize, int64_t slice_offset):
    return Layout_create(shape, ops.derived_strides(shape, strides), itemsize, slice_offset)


cdef _StridedLayout Layout_create(tuple shape, tuple strides, int64_t itemsize, int64_t slice_offset=0):
    cdef _StridedLayout self = _StridedLayout.__new__(_StridedLayout)
    self._shape = shape
    self._strides = strides
    self._itemsize = itemsize
    self._slice_offset = slice_offset
    return self


cdef tuple checked_shape(object shape):
    if not isinstance(shape, tuple):
        raise TypeError(f"shape must be a tuple of int, not {type(shape).__name__}")
    if len(shape) > _MAX_NDIM:
        raise ValueError(f"shape must have at most {_MAX_NDIM} axes, not {len(shape)}")
    for extent in <tuple>shape:
        if type(extent) is not int:
            return checked_shape(tuple([index_of("shape", extent) for extent in shape]))
        if extent < 0:
            raise ValueError(f"shape must not have negative extents, but is {shown(shape)}")
        if extent > _INT64_MAX:
            raise OverflowError(f"shape must have extents below 2**63, but is {shown(shape)}")
    return shape


cdef tuple extents_of(object shape):
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"shape must be a tuple of int, not {type(shape).__name__}")
    return tuple([extent if type(extent) is int else index_of("shape", extent) for extent in shape])


cdef tuple checked_strides(object strides, Py_ssize_t ndim):
    if not isinstance(strides, tuple):
        raise TypeError(f"strides must be a tuple of int or None, not {type(strides).__name__}")
    if len(strides) != ndim:
        raise ValueError(f"strides must have {ndim} items, one per axis, not {len(strides)}")
    for stride in <tuple>strides:
        if type(stride) is not int:
            return checked_strides(tuple([index_of("strides", stride) for stride in strides]), ndim)
        if not _INT64_MIN <= stride <= _INT64_MAX:
            raise OverflowError(f"strides must be from -2**63 to 2**63 - 1, but are {shown(strides)}")
    return strides


cdef int64_t checked_itemsize(object itemsize) except -1:
    if type(itemsize) is not int:
        itemsize = index_of("itemsize", itemsize)
    if itemsize <= 0:
        raise ValueError(f"itemsize must be positive, not {shown(itemsize)}")
    if itemsize > _INT64_MAX:
        raise OverflowError(f"itemsize must be below 2**63, not {shown(itemsize)}")
    return itemsize


cdef object index_of(str name, object value):
    # int() turns a bool into 0 or 1, because its repr differs.
    if not hasattr(type(value), "__index__"):
        what = "an int" if name == "itemsize" else "a tuple of int"
        raise TypeError(f"{name} must be {what}, but has a {type(value).__name__}: {shown(value)}")
    return int(operator.index(value))


cdef int check_reach(tuple shape, tuple strides, int64_t unit, int64_t itemsize) except -1:
    cdef double elements = 1
    cdef double reach = 0
    cdef int64_t extent
    cdef int64_t stride
    cdef Py_ssize_t axis
    if not shape:
        return 0
    for axis in range(len(shape)):
        extent = shape[axis]
        elements *= max(1, <double>extent)
        if strides is not None and extent > 1:
            stride = strides[axis]
            reach += abs(<double>stride) * (<double>extent - 1)
    # Slightly below 2**63, because of rounding.
    if max(elements * itemsize, reach * unit + itemsize) >= 9.2e18:
        raise ValueError(
            f"the layout is larger than the address space: shape {shown(shape)}, strides {shown(strides)}, "
            f"itemsize {itemsize}"
        )
    return 0


check_self_in_methods(globals())
