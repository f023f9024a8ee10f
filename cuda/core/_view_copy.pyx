# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between views, in as few driver calls as their layouts allow."""

from __future__ import annotations

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memmove, memset

from cuda.bindings cimport cydriver

from cuda.core._dlpack cimport DEVICE_CUDA
from cuda.core._handles._handles cimport StreamHandle
from cuda.core._layout cimport _StridedLayout
from cuda.core._stream cimport Stream, Stream_accept
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core._view_export cimport dlpack_device
from cuda.core._view_sources cimport ViewState, itemsize_of, layout_of

from cuda.core._copy_plan import plan_copy

__all__ = []

# With more driver calls than this, a copy on the device is better done by a kernel.
cdef int64_t MAX_PIECES = 65536


# One box of a plan, as plain numbers.
cdef struct Box:
    size_t width
    int64_t rows
    int64_t target_pitch
    int64_t source_pitch
    int64_t planes
    int64_t target_plane
    int64_t source_plane


cdef int copy_view(ViewState target, ViewState source, object stream, object blocking) except -1:
    cdef bint is_on_host = not (target._is_device_accessible or source._is_device_accessible)
    cdef _StridedLayout layout = layout_of(target)
    cdef Stream c_stream = None
    cdef Box box
    if stream is not None or not is_on_host:
        c_stream = Stream_accept(stream)
    if 0 in layout._shape:
        return 0
    plan = plan_copy(
        layout._shape, layout.explicit_strides(), layout_of(source).explicit_strides(), itemsize_of(target)
    )
    box.width = plan.width
    box.rows, box.target_pitch, box.source_pitch = plan.rows
    box.planes, box.target_plane, box.source_plane = plan.planes
    if is_on_host:
        if c_stream is not None:
            c_stream.sync()
        for to, origin in plan.offsets():
            copy_on_host(target._ptr + <int64_t>to, source._ptr + <int64_t>origin, box)
        return 0
    if plan.piece_count > MAX_PIECES:
        raise ValueError(
            f"a copy between these layouts takes {plan.piece_count} driver calls, more than {MAX_PIECES}; "
            f"make one of them contiguous first"
        )
    for to, origin in plan.offsets():
        copy_in_stream(target, source, <int64_t>to, <int64_t>origin, box, c_stream)
    if blocking or (blocking is None and not (is_device_memory(target) and is_device_memory(source))):
        c_stream.sync()
    return 0


cdef bint is_device_memory(ViewState view) except -1:
    return dlpack_device(view)[0] == DEVICE_CUDA


cdef int copy_on_host(uintptr_t target, uintptr_t source, const Box& box) except -1:
    cdef int64_t plane
    cdef int64_t row
    for plane in range(box.planes):
        for row in range(box.rows):
            memmove(
                <void*>(target + plane * box.target_plane + row * box.target_pitch),
                <void*>(source + plane * box.source_plane + row * box.source_pitch),
                box.width,
            )
    return 0


cdef int copy_in_stream(
    ViewState target, ViewState source, int64_t to, int64_t origin, const Box& box, Stream stream
) except -1:
    cdef uintptr_t c_target = target._ptr + to
    cdef uintptr_t c_source = source._ptr + origin
    cdef StreamHandle h_stream = stream._h_stream
    cdef cydriver.CUDA_MEMCPY3D c_copy
    if box.rows == 1 and box.planes == 1:
        with nogil:
            HANDLE_RETURN(cydriver.cuMemcpyAsync(c_target, c_source, box.width, h_stream.get()), b"cuMemcpyAsync")
        return 0
    memset(&c_copy, 0, sizeof(c_copy))
    c_copy.WidthInBytes = box.width
    c_copy.Height = box.rows
    c_copy.Depth = box.planes
    c_copy.dstPitch = box.target_pitch
    c_copy.srcPitch = box.source_pitch
    c_copy.dstHeight = box.target_plane // box.target_pitch if box.planes > 1 else box.rows
    c_copy.srcHeight = box.source_plane // box.source_pitch if box.planes > 1 else box.rows
    if target._is_device_accessible:
        c_copy.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
        c_copy.dstDevice = c_target
    else:
        c_copy.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        c_copy.dstHost = <void*>c_target
    if source._is_device_accessible:
        c_copy.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
        c_copy.srcDevice = c_source
    else:
        c_copy.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        c_copy.srcHost = <void*>c_source
    with nogil:
        HANDLE_RETURN(cydriver.cuMemcpy3DAsync(&c_copy, h_stream.get()), b"cuMemcpy3DAsync")
    return 0
