# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as the source or destination of a copy."""

from __future__ import annotations

from libc.stdint cimport int64_t

from cuda.core._arrays._view_state cimport ViewState, itemsize_of, require_extents
from cuda.core._arrays.importing._importers cimport import_array
from cuda.core._arrays.importing._protocols cimport FOR_COPY
from cuda.core._dlpack cimport DLPACK_FLAG_IS_COPIED
from cuda.core._handles._handles cimport Allocation, StreamHandle, address
from cuda.core._memory.copying._copies cimport MAX_STAGED, check_apart, copy_boxes, copy_bytes, wait_to_copy
from cuda.core._utils cimport cydriver

from math import prod

from cuda.core._arrays._strided_boxes import layouts_overlap, plan_copy
from cuda.core._memory.copying._plain_bytes import holds_objects

__all__ = []


cdef int copy_to_array(
    object array, const Allocation& source, const StreamHandle& h_stream, object options
) except -1:
    cdef ViewState target = open_operand(array, "dst", h_stream)
    cdef cydriver.CUdeviceptr pointer = source.pointer
    cdef size_t size = checked_size(target, source.size)
    check_writable(target)
    if is_contiguous(target):
        check_apart(target._ptr, pointer, size)
        if not target._is_device_accessible:
            wait_to_copy(target._ptr, h_stream.get())
        return copy_bytes(target._ptr, pointer, size, h_stream, options)
    check_strided(target, pointer, options)
    copy_boxes(
        plan_copy(bytes_of(target), strides_of(target), packed(bytes_of(target)), 1),
        target._ptr, not target._is_device_accessible, pointer, False, h_stream,
    )
    return 0


cdef int copy_from_array(
    const Allocation& target, object array, const StreamHandle& h_stream, object options
) except -1:
    cdef ViewState source = open_operand(array, "src", h_stream)
    cdef cydriver.CUdeviceptr pointer = target.pointer
    cdef size_t size = checked_size(source, target.size)
    if is_contiguous(source):
        check_apart(pointer, source._ptr, size)
        if not source._is_device_accessible and <int64_t>size > MAX_STAGED:
            wait_to_copy(source._ptr, h_stream.get())
        return copy_bytes(pointer, source._ptr, size, h_stream, options)
    check_strided(source, pointer, options)
    copy_boxes(
        plan_copy(bytes_of(source), packed(bytes_of(source)), strides_of(source), 1),
        pointer, False, source._ptr, not source._is_device_accessible, h_stream,
    )
    return 0


# Imports the array. Later work of the stream is ordered after the work that the exporter has enqueued.
cdef ViewState open_operand(object array, str name, const StreamHandle& h_stream):
    cdef ViewState self = ViewState.__new__(ViewState)
    # DLPack has 1 for the legacy default stream.
    if not import_array(self, array, address(h_stream) or 1, FOR_COPY):
        raise TypeError(
            f"{name} must be a Buffer, or an array with the buffer protocol, DLPack or the CUDA array interface, "
            f"not {type(array).__name__}"
        )
    require_extents(self)
    bits = self._element.bits * self._element.lanes
    if self._itemsize == 0 and (bits % 8 != 0 or bits == 0):
        raise TypeError(f"{name} must have elements of whole bytes, not of {bits} bits")
    if self._element.lanes == 0 and holds_objects(array, element_text(self)):
        raise TypeError(f"{name} must have elements of plain data, not references to Python objects")
    return self


# The format of elements that are not plain numbers, as the protocol reports it.
cdef bytes element_text(ViewState self):
    if self._typestr is not None:
        return str(self._typestr).encode("ascii", "replace")
    return self._keeper.format.encode() if isinstance(self._keeper, memoryview) else b""


cdef int check_writable(ViewState self) except -1:
    if self._is_readonly:
        raise TypeError("dst must be writable, but is read-only")
    if self._dlpack.versioned != NULL and self._dlpack.versioned.flags & DLPACK_FLAG_IS_COPIED:
        raise TypeError("dst must export its own memory, not a copy of it")
    return 0


cdef size_t checked_size(ViewState self, size_t size) except? <size_t>-1:
    mine = prod(bytes_of(self))
    if mine != size:
        raise ValueError(f"the array and the buffer must have the same size, not {mine} and {size} bytes")
    return size


cdef int check_strided(ViewState self, cydriver.CUdeviceptr buffer, object options) except -1:
    cdef tuple shape = bytes_of(self)
    if options is not None:
        raise ValueError("options must be None for a non-contiguous array; make a contiguous copy of it first")
    if layouts_overlap(shape, self._ptr, strides_of(self), buffer, packed(shape), 1):
        raise ValueError(f"the array and the buffer overlap: they are at {self._ptr:#x} and {buffer:#x}")
    return 0


cdef bint is_contiguous(ViewState self) except -1:
    cdef int64_t itemsize = itemsize_of(self)
    cdef int64_t expected = itemsize
    cdef int64_t factor = 1 if self._stride_unit == itemsize else itemsize
    cdef int i
    if self._strides == NULL:
        return True
    for i in range(self._ndim):
        if self._shape[i] == 0:
            return True
    for i in reversed(range(self._ndim)):
        if self._shape[i] != 1:
            if self._strides[i] * factor != expected:
                return False
            expected *= self._shape[i]
    return True


# The shape with the bytes of an element as the last axis, because strides may not be multiples of the item size.
cdef tuple bytes_of(ViewState self):
    return (*[self._shape[i] for i in range(self._ndim)], itemsize_of(self))


# The strides of bytes_of(), in bytes.
cdef tuple strides_of(ViewState self):
    cdef int64_t itemsize = itemsize_of(self)
    cdef int64_t factor = 1 if self._stride_unit == itemsize else itemsize
    if self._strides == NULL:
        return packed(bytes_of(self))
    return (*[self._strides[i] * factor for i in range(self._ndim)], 1)


# The strides of a contiguous array in C order, in elements.
cdef tuple packed(tuple shape):
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
