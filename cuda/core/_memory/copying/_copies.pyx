# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of contiguous bytes and of strided boxes, in stream order."""

from __future__ import annotations

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memset

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._handles._handles cimport KeptAllocation, StreamHandle
from cuda.core._handles._waiting cimport wait_before_copy
from cuda.core._stream cimport is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._deferred_function cimport DeferredFunction
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

__all__ = []

# A copy that takes more driver calls than this is refused: a kernel that copies the elements is faster.
cdef int64_t MAX_PIECES = 65536

# The size of the driver's staging buffer for pageable host memory, in bytes. Larger copies, and copies to pageable
# memory, block in the driver until the copy has run.
cdef int64_t MAX_STAGED = 65536


cdef int copy(
    const KeptAllocation& target, const KeptAllocation& source, const StreamHandle& h_stream, object options=None
) except -1:
    cdef size_t size = target.value().size
    if source.value().size != size:
        raise ValueError(
            f"both buffers of a copy must have the same size, not {size} bytes (destination) "
            f"and {source.value().size} bytes (source)"
        )
    # Different allocations never overlap, so only sub-buffers and wrapped memory need the check.
    if not (target.is_owner() and source.is_owner()):
        check_apart(target.value().pointer, source.value().pointer, size)
    return copy_bytes(target.value().pointer, source.value().pointer, size, h_stream, options)


cdef int copy_bytes(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1:
    cdef cydriver.CUstream c_stream = h_stream.get()
    cdef bint has_context = not is_default(h_stream)
    cdef cydriver.CUresult err
    if options is not None and (<HintedCopy>_hinted_copy.get())(target, source, size, h_stream, options):
        return 0
    # A copy to the same address does nothing.
    if size == 0 or target == source:
        return 0
    with nogil:
        err = cydriver.cuMemcpyAsync(target, source, size, c_stream)
        if err == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE and has_context:
            err = copy_in_context(target, source, size, c_stream)
        HANDLE_RETURN(err, b"cuMemcpyAsync")
    return 0


# Imported by the first copy with options, which few programs use.
ctypedef bint (*HintedCopy)(
    cydriver.CUdeviceptr, cydriver.CUdeviceptr, size_t, const StreamHandle&, object
) except -1

cdef DeferredFunction _hinted_copy = DeferredFunction(b"cuda.core._memory.copying._hints", b"copy_with_hints")


# Retries a copy in the stream's context: memory of a pool may be accessible from its own device only, whose context
# need not be current.
cdef cydriver.CUresult copy_in_context(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, cydriver.CUstream c_stream
) except? cydriver.CUDA_ERROR_NOT_FOUND nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_INVALID_VALUE
    cdef int is_entered = 0
    HANDLE_RETURN(cydriver.cuStreamGetCtx(c_stream, &c_context), b"cuStreamGetCtx")
    is_entered = Context_enter(c_context)
    if is_entered:
        err = cydriver.cuMemcpyAsync(target, source, size, c_stream)
    Context_leave(is_entered)
    return err


# cuMemcpy is undefined for overlapping ranges. The unsigned differences wrap around.
cdef int check_apart(cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size) except -1:
    if target != source and (target - source < size or source - target < size):
        raise ValueError(
            f"source and destination must not overlap: {size} bytes at {source:#x} and at {target:#x}; "
            "copy through a third buffer"
        )
    return 0


cdef Box box_of(object plan) except *:
    cdef Box box
    box.width = plan.width
    box.rows, box.target_pitch, box.source_pitch = plan.rows
    box.planes, box.target_plane, box.source_plane = plan.planes
    return box


cdef int copy_boxes(
    object plan,
    cydriver.CUdeviceptr target,
    bint is_target_on_host,
    cydriver.CUdeviceptr source,
    bint is_source_on_host,
    const StreamHandle& h_stream,
) except -1:
    cdef Box box = box_of(plan)
    cdef cydriver.CUstream c_stream = h_stream.get()
    cdef cydriver.CUdeviceptr c_target
    cdef cydriver.CUdeviceptr c_source
    cdef cydriver.CUDA_MEMCPY3D c_copy
    if plan.box_count > MAX_PIECES:
        raise ValueError(
            f"a copy between these layouts takes {plan.box_count} driver calls, more than {MAX_PIECES}; "
            "make one of the arrays contiguous first"
        )
    if is_target_on_host:
        wait_to_copy(target, c_stream)
    elif is_source_on_host and box.width * box.rows * box.planes > MAX_STAGED:
        wait_to_copy(source, c_stream)
    describe_box(box, is_target_on_host, is_source_on_host, &c_copy)
    for to, origin in plan.offsets():
        c_target = target + <int64_t>to
        c_source = source + <int64_t>origin
        if box.rows == 1 and box.planes == 1:
            with nogil:
                HANDLE_RETURN(cydriver.cuMemcpyAsync(c_target, c_source, box.width, c_stream), b"cuMemcpyAsync")
            continue
        # The driver reads the device or the host address, depending on the memory type.
        c_copy.dstDevice, c_copy.dstHost = c_target, <void*><uintptr_t>c_target
        c_copy.srcDevice, c_copy.srcHost = c_source, <void*><uintptr_t>c_source
        with nogil:
            HANDLE_RETURN(cydriver.cuMemcpy3DAsync(&c_copy, c_stream), b"cuMemcpy3DAsync")
    return 0


cdef int wait_to_copy(cydriver.CUdeviceptr host, cydriver.CUstream c_stream) except -1:
    with nogil:
        wait_before_copy(c_stream, host)
    return 0


# Fills in everything but the addresses.
cdef int describe_box(
    const Box& box, bint is_target_on_host, bint is_source_on_host, cydriver.CUDA_MEMCPY3D* c_copy
) except -1:
    memset(c_copy, 0, sizeof(cydriver.CUDA_MEMCPY3D))
    c_copy.WidthInBytes = box.width
    c_copy.Height = box.rows
    c_copy.Depth = box.planes
    c_copy.dstPitch = box.target_pitch
    c_copy.srcPitch = box.source_pitch
    c_copy.dstHeight = box.target_plane // box.target_pitch if box.planes > 1 else box.rows
    c_copy.srcHeight = box.source_plane // box.source_pitch if box.planes > 1 else box.rows
    c_copy.dstMemoryType = memory_type(is_target_on_host)
    c_copy.srcMemoryType = memory_type(is_source_on_host)
    return 0


cdef inline cydriver.CUmemorytype memory_type(bint is_on_host) noexcept:
    if is_on_host:
        return cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    return cydriver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
