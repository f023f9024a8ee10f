# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream-ordered copies, hints for copies, and fills."""

from __future__ import annotations

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint8_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_Check

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._memory._memory_resource cimport location_argument
from cuda.core._native._cuda_core cimport AllocationPin, StreamHandle, stream_captures
from cuda.core._native._device_wait cimport wait_before_copy
from cuda.core._stream cimport is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, c_driver_version, require_driver

import re
import sys

from cuda.core._memory._copy_options import CopyOptions
from cuda.core._utils.validators import shown

__all__ = ["holds_objects"]


# Copies that take more driver calls are rejected, because a kernel that copies the elements is faster.
cdef int64_t MAX_PIECES = 65536

# The size in bytes of the driver's staging buffer for pageable host memory. Larger copies, and copies to pageable
# memory, block in the driver until the copy has run.
cdef int64_t MAX_STAGED = 65536


def holds_objects(exporter, element_format: bytes) -> bool:
    """Return whether elements refer to Python objects, whose reference counts a copy of bytes would not update.

    Parameters
    ----------
    exporter : object
        The object with the buffer protocol.
    element_format : bytes
        The format of the elements, as the protocol reports it; empty for none.
    """
    if isinstance(exporter, memoryview):
        exporter = exporter.obj
    # NumPy dtypes have an attribute for this. For ctypes, the types are inspected, because formats contain field names.
    has_objects = getattr(getattr(exporter, "dtype", None), "hasobject", None)
    if has_objects is not None:
        return has_objects
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(exporter, (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return _refers(ctypes, type(exporter))
    return b"O" in element_format and b"O" in re.sub(b":[^:]*:", b"", element_format)


def _refers(ctypes, kind: type) -> bool:
    """Return whether a ctypes type contains a ``py_object``, not counting the targets of pointers."""
    while issubclass(kind, ctypes.Array):
        kind = kind._type_
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        members = [field[1] for base in kind.__mro__ for field in vars(base).get("_fields_", ())]
        return any(_refers(ctypes, member) for member in members)
    return issubclass(kind, ctypes.py_object)


# --- Copies ----------------------------------------------------------------------------------------

cdef int copy(
    const AllocationPin& target, const AllocationPin& source, const StreamHandle& h_stream, object options=None
) except -1:
    cdef size_t size = target.value().size
    if source.value().size != size:
        raise ValueError(
            f"both buffers of a copy must have the same size, not {size} bytes (destination) "
            f"and {source.value().size} bytes (source)"
        )
    # Different allocations never overlap, so only sub-buffers and wrapped memory need the check.
    if not (target.is_owner() and source.is_owner()):
        check_disjoint(target.value().pointer, source.value().pointer, size)
    return copy_bytes(target.value().pointer, source.value().pointer, size, h_stream, options)


cdef int copy_bytes(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1:
    cdef cydriver.CUDA_MEMCPY3D c_copy
    cdef cydriver.CUresult err
    if options is not None and copy_with_hints(target, source, size, h_stream, options):
        return 0
    # A copy to the same address does nothing.
    if size == 0 or target == source:
        return 0
    with nogil:
        err = cydriver.cuMemcpyAsync(target, source, size, h_stream.get())
        if err == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
            c_copy.dstDevice, c_copy.srcDevice = target, source
            c_copy.WidthInBytes, c_copy.Height, c_copy.Depth = size, 1, 1
            err = copy_in_context(c_copy, h_stream)
        HANDLE_RETURN(err, b"cuMemcpyAsync")
    return 0


# Retries an invalid copy in the stream's context, if it has one: pool memory might be accessible only from its own
# device, whose context need not be current.
cdef cydriver.CUresult copy_in_context(
    const cydriver.CUDA_MEMCPY3D& c_copy, const StreamHandle& h_stream
) except? cydriver.CUDA_ERROR_NOT_FOUND nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_INVALID_VALUE
    cdef int is_entered = 0
    if is_default(h_stream):
        return err
    HANDLE_RETURN(cydriver.cuStreamGetCtx(h_stream.get(), &c_context), b"cuStreamGetCtx")
    is_entered = Context_enter(c_context)
    if is_entered:
        err = copy_box(c_copy, h_stream.get())
    LEAVE_RETURN(err, name_of_copy(c_copy), Context_leave(is_entered))
    return err


cdef inline bint is_row(const cydriver.CUDA_MEMCPY3D& c_copy) noexcept nogil:
    return c_copy.Height == 1 and c_copy.Depth == 1


cdef inline const char* name_of_copy(const cydriver.CUDA_MEMCPY3D& c_copy) noexcept nogil:
    return b"cuMemcpyAsync" if is_row(c_copy) else b"cuMemcpy3DAsync"


cdef cydriver.CUresult copy_box(
    const cydriver.CUDA_MEMCPY3D& c_copy, cydriver.CUstream c_stream
) except? cydriver.CUDA_ERROR_NOT_FOUND nogil:
    if is_row(c_copy):
        return cydriver.cuMemcpyAsync(c_copy.dstDevice, c_copy.srcDevice, c_copy.WidthInBytes, c_stream)
    return cydriver.cuMemcpy3DAsync(&c_copy, c_stream)


# cuMemcpy is undefined for ranges that overlap but differ. The unsigned differences wrap around.
cdef int check_disjoint(cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size) except -1:
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
    cdef cydriver.CUDA_MEMCPY3D c_copy
    cdef cydriver.CUresult err
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
        # Depending on the memory type, the driver reads the device or the host address.
        c_copy.dstDevice = target + <int64_t>to
        c_copy.srcDevice = source + <int64_t>origin
        c_copy.dstHost, c_copy.srcHost = <void*><uintptr_t>c_copy.dstDevice, <void*><uintptr_t>c_copy.srcDevice
        with nogil:
            err = copy_box(c_copy, c_stream)
            if err == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
                err = copy_in_context(c_copy, h_stream)
            HANDLE_RETURN(err, name_of_copy(c_copy))
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


# --- Hints -----------------------------------------------------------------------------------------


# The driver's values, by the strings of the enum members.
cdef dict ORDERS = {
    "stream": <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    "during_api_call":
        <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
    "any": <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
}
cdef dict MODES = {
    "default": <int>cydriver.CUmemcpyFlags.CU_MEMCPY_FLAG_DEFAULT,
    "prefer_overlap_with_compute":
        <int>cydriver.CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE,
}


cdef bint copy_with_hints(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1:
    cdef cydriver.CUmemcpyAttributes hints = hints_of(options)
    cdef cydriver.CUstream c_stream = h_stream.get()
    check_stream(h_stream)
    if not has_hints(hints, 13020):
        return False
    if size != 0 and target != source:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemcpyWithAttributesAsync(target, source, size, &hints, c_stream),
                b"cuMemcpyWithAttributesAsync",
            )
    return True


cdef cydriver.CUmemcpyAttributes hints_of(object options) except *:
    cdef cydriver.CUmemcpyAttributes hints
    memset(&hints, 0, sizeof(hints))
    if not isinstance(options, CopyOptions):
        raise TypeError(f"options must be a CopyOptions or None, not {type(options).__name__}")
    hints.srcAccessOrder = <cydriver.CUmemcpySrcAccessOrder><int>ORDERS[options.src_access_order]
    if options.src_location_hint is not None:
        hints.srcLocHint = location_argument(options.src_location_hint)
    if options.dst_location_hint is not None:
        hints.dstLocHint = location_argument(options.dst_location_hint)
    hints.flags = <int>MODES[options.overlap_mode]
    return hints


cdef int check_stream(const StreamHandle& h_stream) except -1:
    if <uintptr_t>h_stream.get() <= 1:
        raise TypeError("options must be None on the legacy default stream; use another stream")
    if stream_captures(h_stream.get()):
        raise TypeError("options must be None on a capturing stream")
    return 0


cdef bint has_hints(const cydriver.CUmemcpyAttributes& hints, int version) except -1:
    if c_driver_version() >= version:
        return True
    # Other hints can be ignored. Without this one, the source would be read later than the caller expects.
    if hints.srcAccessOrder == cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        require_driver(version, "src_access_order='during_api_call'")
    return False


# --- Fills -----------------------------------------------------------------------------------------

# Longer patterns are copied from the host, except on a capturing stream, whose graph would read the pattern later.
cdef size_t MAX_PIECEWISE = 64


cdef int fill_bytes(cydriver.CUdeviceptr pointer, size_t size, object value, cydriver.CUstream c_stream) except -1:
    cdef int overflow = 0
    cdef long number = 0
    cdef Py_buffer view
    if PyLong_Check(value):
        number = PyLong_AsLongAndOverflow(value, &overflow)
        if overflow != 0 or not 0 <= number < 256:
            raise OverflowError(f"value must be from 0 to 255 or have the buffer protocol, not {shown(value)}")
        if size != 0:
            with nogil:
                HANDLE_RETURN(cydriver.cuMemsetD8Async(pointer, <uint8_t>number, size, c_stream), b"cuMemsetD8Async")
        return 0
    if not PyObject_CheckBuffer(value):
        advice = f"; use np.float32({value:g}), or the type of your elements" if isinstance(value, float) else ""
        raise TypeError(
            f"value must be an int or an object with the buffer protocol, not {type(value).__name__}{advice}"
        )
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        layout = b"" if view.format == NULL else view.format
        if not isinstance(value, bytes) and holds_objects(value, layout):
            raise TypeError(f"value must be plain data; this {type(value).__name__} refers to Python objects")
        if view.len == 0:
            raise ValueError("value must have at least one byte, not be empty")
        if size % <size_t>view.len != 0:
            raise ValueError(f"the buffer must be a multiple of the {view.len} bytes of value, not {size} bytes")
        if size != 0:
            with nogil:
                fill_pattern(pointer, size, <const uint8_t*>view.buf, view.len, c_stream)
    finally:
        PyBuffer_Release(&view)
    return 0


cdef int fill_rows(
    cydriver.CUdeviceptr pointer, size_t width, size_t rows, size_t pitch, bytes element, cydriver.CUstream c_stream
) except -1:
    cdef const uint8_t* pattern = element
    cdef size_t length = len(element)
    cdef size_t period = shortest_period(pattern, length)
    cdef size_t row
    cdef size_t offset
    cdef uint16_t two = 0
    cdef uint32_t four = 0
    with nogil:
        if rows == 1:
            return fill_pattern(pointer, width, pattern, length, c_stream)
        if period == 1:
            return HANDLE_RETURN(
                cydriver.cuMemsetD2D8Async(pointer, pitch, pattern[0], width, rows, c_stream), b"cuMemsetD2D8Async"
            )
        if period == 2 and pointer % 2 == 0:
            memcpy(&two, pattern, 2)
            return HANDLE_RETURN(
                cydriver.cuMemsetD2D16Async(pointer, pitch, two, width // 2, rows, c_stream), b"cuMemsetD2D16Async"
            )
        if period == 4 and pointer % 4 == 0:
            memcpy(&four, pattern, 4)
            return HANDLE_RETURN(
                cydriver.cuMemsetD2D32Async(pointer, pitch, four, width // 4, rows, c_stream), b"cuMemsetD2D32Async"
            )
        # Tall arrays are filled column by column, one word of 4 bytes at a time.
        if width // 4 < rows and length % 4 == 0 and pointer % 4 == 0:
            for offset in range(0, width, 4):
                memcpy(&four, pattern + offset % length, 4)
                HANDLE_RETURN(
                    cydriver.cuMemsetD2D32Async(pointer + offset, pitch, four, 1, rows, c_stream), b"cuMemsetD2D32Async"
                )
            return 0
        for row in range(rows):
            fill_pattern(pointer + row * pitch, width, pattern, length, c_stream)
    return 0


cdef int fill_pattern(
    cydriver.CUdeviceptr pointer, size_t size, const uint8_t* pattern, size_t width, cydriver.CUstream c_stream
) except -1 nogil:
    cdef size_t period = shortest_period(pattern, width)
    cdef size_t done = width
    cdef size_t step = 0
    if period <= 4 and period != 3 and pointer % period == 0:
        return set_memory(pointer, pattern, period, size // period, c_stream)
    write_once(pointer, pattern, width, c_stream)
    while done < size:
        step = min(done, size - done)
        HANDLE_RETURN(cydriver.cuMemcpyAsync(pointer + done, pointer, step, c_stream), b"cuMemcpyAsync")
        done += step
    return 0


# The length of the shortest pattern that `pattern` is a repetition of: 1, 2 or 4 bytes, or its own length.
cdef size_t shortest_period(const uint8_t* pattern, size_t width) noexcept nogil:
    cdef size_t period = 1
    while period <= 4:
        if width % period == 0 and memcmp(pattern, pattern + period, width - period) == 0:
            return period
        period *= 2
    return width


cdef int write_once(
    cydriver.CUdeviceptr pointer, const uint8_t* pattern, size_t width, cydriver.CUstream c_stream
) except -1 nogil:
    cdef size_t done = 0
    cdef size_t piece = 0
    if width > MAX_PIECEWISE and not stream_captures(c_stream):
        # When the call returns, the driver has already read pageable host memory.
        return HANDLE_RETURN(
            cydriver.cuMemcpyAsync(pointer, <cydriver.CUdeviceptr><uintptr_t>pattern, width, c_stream), b"cuMemcpyAsync"
        )
    while done < width:
        piece = 4
        while piece > width - done or (pointer + done) % piece != 0:
            piece //= 2
        set_memory(pointer + done, pattern + done, piece, 1, c_stream)
        done += piece
    return 0


# Writes the first 1, 2 or 4 bytes of `pattern` `count` times.
cdef int set_memory(
    cydriver.CUdeviceptr pointer, const uint8_t* pattern, size_t width, size_t count, cydriver.CUstream c_stream
) except -1 nogil:
    cdef uint16_t two = 0
    cdef uint32_t four = 0
    if width == 1:
        HANDLE_RETURN(cydriver.cuMemsetD8Async(pointer, pattern[0], count, c_stream), b"cuMemsetD8Async")
    elif width == 2:
        memcpy(&two, pattern, 2)
        HANDLE_RETURN(cydriver.cuMemsetD16Async(pointer, two, count, c_stream), b"cuMemsetD16Async")
    else:
        memcpy(&four, pattern, 4)
        HANDLE_RETURN(cydriver.cuMemsetD32Async(pointer, four, count, c_stream), b"cuMemsetD32Async")
    return 0
