# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between views, in as few driver calls as their layouts allow."""

from __future__ import annotations

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcmp, memmove

from cuda.core._dlpack cimport DEVICE_CUDA, DLDataType
from cuda.core._handles._handles cimport KeptStream
from cuda.core._handles._waiting cimport wait_for_stream
from cuda.core._memory.copying._copies cimport Box, box_of, copy_boxes
from cuda.core._stream cimport Stream_accept, Stream_keep
from cuda.core._arrays._exports cimport dlpack_device
from cuda.core._arrays._view_state cimport ViewState, dtype_of, itemsize_of, layout_of

from cuda.core._arrays._strided_boxes import layouts_overlap, plan_copy

__all__ = []


cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1:
    cdef bint is_on_host = not (target._is_device_accessible or source._is_device_accessible)
    cdef bint is_waiting
    cdef KeptStream kept_stream
    check_arguments(target, source, allocator, blocking)
    if stream is not None or not is_on_host:
        Stream_keep(Stream_accept(stream), &kept_stream)
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
        if kept_stream:
            wait_for(kept_stream)
        copy_on_host(target, source, plan)
        return 0
    if blocking is None:
        is_waiting = not (is_device_memory(target) and is_device_memory(source))
    else:
        is_waiting = blocking
    copy_boxes(
        plan,
        target._ptr,
        not target._is_device_accessible,
        source._ptr,
        not source._is_device_accessible,
        kept_stream.handle(),
    )
    if is_waiting:
        wait_for(kept_stream)
    return 0


cdef int wait_for(const KeptStream& stream) except -1:
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
            f"elements of type {dtype_of(source)} refer to Python objects, which cannot be copied as bytes"
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
            f"source and destination overlap: they begin at {source._ptr:#x} and at {target._ptr:#x}; "
            f"copy through a temporary array"
        )
    return 0


# Copying bytes would copy references to Python objects without counting them.
cdef bint has_objects(ViewState view) except -1:
    if view._element.lanes != 0:
        return False
    dtype = dtype_of(view)
    return dtype is not None and dtype.hasobject


# If one type is unknown, compares the item sizes only.
cdef bint is_same_type(ViewState target, ViewState source) except -1:
    if target._element.lanes != 0 and source._element.lanes != 0:
        return memcmp(&target._element, &source._element, sizeof(DLDataType)) == 0
    if itemsize_of(target) != itemsize_of(source):
        return False
    mine, other = dtype_of(target), dtype_of(source)
    # Compare with `is`: for NumPy, a dtype of float64 equals None.
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
