# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fills in stream order: one memset for patterns of 1, 2 or 4 bytes, doubling copies for longer ones."""

from __future__ import annotations

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uintptr_t
from libc.string cimport memcmp, memcpy

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_Check

from cuda.core._handles._capture_mode cimport stream_captures
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.validators import shown

__all__ = []

_plain_bytes = Deferred("cuda.core._memory.copying._plain_bytes")

# Longer patterns are copied from the host. Not on a capturing stream, because the graph would read the pattern later.
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
        if not isinstance(value, bytes) and _plain_bytes.holds_objects(value, layout):
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
        # The driver has read pageable host memory when the call returns.
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
