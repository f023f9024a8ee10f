# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers and arrays of other libraries, contiguous or strided, and between views."""

from __future__ import annotations

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcmp, memmove

from cpython.object cimport PyObject

from cuda.core._arrays._importers cimport import_array, is_array, is_known_class, read_argument
from cuda.core._arrays._views cimport (
    FOR_COPY,
    FOR_VIEW,
    ViewState,
    dlpack_device,
    dtype_of,
    import_array_interface,
    is_numpy,
    itemsize_of,
    layout_of,
    require_extents,
)
from cuda.core._dlpack cimport DEVICE_CUDA, DLDataType, DLPACK_FLAG_IS_COPIED
from cuda.core._memory._buffer cimport ArrayAccess, ArrayArgument
from cuda.core._memory._copies cimport (
    Box,
    MAX_STAGED,
    box_of,
    check_disjoint,
    copy_boxes,
    copy_bytes,
    fill_rows,
    wait_to_copy,
)
from cuda.core._native._cuda_core cimport Allocation, Anchor, StreamHandle, StreamPin, address
from cuda.core._native._device_wait cimport wait_for_stream
from cuda.core._stream cimport Stream_accept, Stream_pin, captured_operands, is_captured
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods

from math import prod

from cuda.core._arrays._fills import element_bytes, plan_fill
from cuda.core._arrays._strided_boxes import layouts_overlap, plan_copy
from cuda.core._memory._copies import holds_objects
from cuda.core._utils import slots


cdef class Arrays(ArrayAccess):
    """Access of buffers and launches to arrays, registered as the slot *arrays*."""

    cdef int copy_to_array(
        self, object array, const Allocation& source, const StreamHandle& h_stream, object options
    ) except -1:
        cdef ViewState target = open_operand(array, "dst", h_stream)
        cdef cydriver.CUdeviceptr pointer = source.pointer
        cdef size_t size = checked_size(target, source.size)
        check_writable(target)
        keep_host_arrays(h_stream, (target,))
        if is_c_ordered(target):
            check_disjoint(target._ptr, pointer, size)
            if not target._is_device_accessible:
                wait_to_copy(target._ptr, h_stream.get())
            return copy_bytes(target._ptr, pointer, size, h_stream, options)
        check_strided(target, pointer, options)
        copy_boxes(
            plan_copy(bytes_of(target), strides_of_bytes(target), packed(bytes_of(target)), 1),
            target._ptr, not target._is_device_accessible, pointer, False, h_stream,
        )
        return 0

    cdef int copy_from_array(
        self, const Allocation& target, object array, const StreamHandle& h_stream, object options
    ) except -1:
        cdef ViewState source = open_operand(array, "src", h_stream)
        cdef cydriver.CUdeviceptr pointer = target.pointer
        cdef size_t size = checked_size(source, target.size)
        keep_host_arrays(h_stream, (source,))
        if is_c_ordered(source):
            check_disjoint(pointer, source._ptr, size)
            if not source._is_device_accessible and <int64_t>size > MAX_STAGED:
                wait_to_copy(source._ptr, h_stream.get())
            return copy_bytes(pointer, source._ptr, size, h_stream, options)
        check_strided(source, pointer, options)
        copy_boxes(
            plan_copy(bytes_of(source), packed(bytes_of(source)), strides_of_bytes(source), 1),
            pointer, False, source._ptr, not source._is_device_accessible, h_stream,
        )
        return 0

    cdef bint is_array(self, object obj) except -1:
        return is_array(obj)

    cdef bint is_known_class(self, object cls) except -1:
        return is_known_class(cls)

    cdef int read_argument(self, object array, ArrayArgument* argument) except -1:
        return read_argument(array, argument)


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
    if layouts_overlap(shape, self._ptr, strides_of_bytes(self), buffer, packed(shape), 1):
        raise ValueError(f"the array and the buffer overlap: they begin at {self._ptr:#x} and {buffer:#x}")
    return 0


cdef bint is_c_ordered(ViewState self) except -1:
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
cdef tuple strides_of_bytes(ViewState self):
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


cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1:
    cdef bint is_on_host = not (target._is_device_accessible or source._is_device_accessible)
    cdef bint is_waiting
    cdef StreamPin stream_pin
    check_arguments(target, source, allocator, blocking)
    if stream is not None or not is_on_host:
        Stream_pin(Stream_accept(stream), &stream_pin)
    if 0 in layout_of(target)._shape or is_same_array(target, source):
        return 0
    plan = plan_copy(
        layout_of(target)._shape,
        layout_of(target).explicit_strides(),
        layout_of(source).explicit_strides(),
        itemsize_of(target),
    )
    # On the host, memmove copies a single row correctly even if source and destination overlap.
    if not (is_on_host and plan.is_one_row):
        check_no_overlap(target, source)
    if is_on_host:
        if stream_pin:
            wait_for(stream_pin)
        copy_on_host(target, source, plan)
        return 0
    if blocking is None:
        is_waiting = not (is_device_memory(target) and is_device_memory(source))
    else:
        is_waiting = blocking
    keep_host_arrays(stream_pin.handle(), (target, source))
    copy_boxes(
        plan,
        target._ptr,
        not target._is_device_accessible,
        source._ptr,
        not source._is_device_accessible,
        stream_pin.handle(),
    )
    if is_waiting:
        wait_for(stream_pin)
    return 0


# Temporary host memory is used again at once, and a graph that read or wrote it then would be wrong in silence. So the
# graph of a captured copy keeps it. Memory of a device stays with the program, which may have to free it.
cdef int keep_host_arrays(const StreamHandle& h_stream, tuple views) except -1:
    if is_captured(h_stream):
        for view in views:
            if not is_device_memory(view):
                captured_operands().keep(h_stream, Anchor.of_object(<PyObject*>view))
    return 0


cdef ViewState as_view(object array, str name, object stream):
    cdef StreamPin stream_pin
    cdef ViewState self
    cdef object stream_ptr = -1
    if isinstance(array, ViewState):
        return <ViewState>array
    self = ViewState.__new__(ViewState)
    if is_numpy(array):
        import_array_interface(self, array)
        return self
    if stream is not None:
        Stream_pin(Stream_accept(stream), &stream_pin)
        stream_ptr = address(stream_pin.handle()) or 1
    if not import_array(self, array, stream_ptr, FOR_VIEW):
        raise TypeError(
            f"{name} must be a view or an array with DLPack, the CUDA array interface or the buffer protocol, not "
            f"{type(array).__name__}"
        )
    return self


cdef int fill_view(ViewState self, object value, object stream) except -1:
    cdef StreamPin stream_pin
    cdef bytes element
    cdef size_t width
    cdef size_t rows
    cdef size_t pitch
    dtype = dtype_of(self)
    if dtype is None:
        raise TypeError("the element type is unknown; create the view with a dtype to fill it")
    if self._is_readonly:
        raise ValueError("the view is read-only")
    if not self._is_device_accessible:
        raise TypeError("the view is in host memory that no device can access; fill it with NumPy")
    Stream_pin(Stream_accept(stream), &stream_pin)
    element = element_bytes(value, dtype)
    if 0 in layout_of(self)._shape:
        return 0
    width, rows, pitch, offsets = plan_fill(
        layout_of(self)._shape, layout_of(self).explicit_strides(), itemsize_of(self)
    )
    for offset in offsets:
        fill_rows(self._ptr + <int64_t>offset, width, rows, pitch, element, stream_pin.get())
    return 0


cdef int wait_for(const StreamPin& stream) except -1:
    with nogil:
        wait_for_stream(stream.get())
    return 0


cdef int check_arguments(ViewState target, ViewState source, object allocator, object blocking) except -1:
    if allocator is not None:
        raise TypeError(f"allocator must be None, because no intermediate copy is made, not {type(allocator).__name__}")
    if blocking is not None and not isinstance(blocking, bool):
        raise TypeError(f"blocking must be a bool or None, not {type(blocking).__name__}")
    if target._is_readonly:
        raise ValueError("the destination is read-only")
    if layout_of(target)._shape != layout_of(source)._shape:
        raise ValueError(
            f"the shapes differ: {layout_of(target)._shape} (destination), {layout_of(source)._shape} (source)"
        )
    if not is_same_type(target, source):
        raise ValueError(
            f"the types of the elements differ: {dtype_of(target)} (destination), {dtype_of(source)} (source)"
        )
    if has_objects(target) or has_objects(source):
        raise TypeError(
            f"elements of {dtype_of(source)} refer to Python objects, so they cannot be copied as bytes"
        )
    return 0


cdef bint is_same_array(ViewState target, ViewState source) except -1:
    return target._ptr == source._ptr and layout_of(target).explicit_strides() == layout_of(source).explicit_strides()


cdef int check_no_overlap(ViewState target, ViewState source) except -1:
    if layouts_overlap(
        layout_of(target)._shape,
        target._ptr,
        layout_of(target).explicit_strides(),
        source._ptr,
        layout_of(source).explicit_strides(),
        itemsize_of(target),
    ):
        raise ValueError(
            f"source and destination overlap: they begin at {source._ptr:#x} and {target._ptr:#x}; "
            f"copy through a temporary array"
        )
    return 0


# Copying bytes would copy references to Python objects without counting them.
cdef bint has_objects(ViewState view) except -1:
    if view._element.lanes != 0:
        return False
    dtype = dtype_of(view)
    return dtype is not None and dtype.hasobject


# Compares only the item sizes if one type is unknown.
cdef bint is_same_type(ViewState target, ViewState source) except -1:
    if target._element.lanes != 0 and source._element.lanes != 0:
        return memcmp(&target._element, &source._element, sizeof(DLDataType)) == 0
    if itemsize_of(target) != itemsize_of(source):
        return False
    mine, other = dtype_of(target), dtype_of(source)
    # Compares with `is`, because a NumPy dtype of float64 equals None.
    return mine is None or other is None or mine == other


cdef bint is_device_memory(ViewState view) except -1:
    return dlpack_device(view)[0] == DEVICE_CUDA


cdef int copy_on_host(ViewState target, ViewState source, object plan) except -1:
    cdef Box box = box_of(plan)
    cdef uintptr_t c_target
    cdef uintptr_t c_source
    cdef int64_t plane
    cdef int64_t row
    for to, origin in plan.offsets():
        c_target = target._ptr + <int64_t>to
        c_source = source._ptr + <int64_t>origin
        with nogil:
            for plane in range(box.planes):
                for row in range(box.rows):
                    memmove(
                        <void*>(c_target + plane * box.target_plane + row * box.target_pitch),
                        <void*>(c_source + plane * box.source_plane + row * box.source_pitch),
                        box.width,
                    )
    return 0


slots.register("arrays", Arrays())
check_self_in_methods(globals())
