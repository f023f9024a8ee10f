# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copy and fill, in stream order."""

from __future__ import annotations

from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_Check
from cuda.bindings cimport cydriver

from cuda.core._handles._handles cimport AllocationHandle, StreamHandle
from cuda.core._stream cimport Stream
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

__all__ = []


cdef int copy(const AllocationHandle& h_target, const AllocationHandle& h_source, Stream stream) except -1:
    # Copies of the handles, because another thread may close the buffers while this one has no lock.
    cdef AllocationHandle h_to = h_target
    cdef AllocationHandle h_from = h_source
    cdef StreamHandle h_stream = stream._h_stream
    cdef size_t size = h_to.value().size
    if h_from.value().size != size:
        raise ValueError(
            f"both buffers of a copy must have the same size, not {size} bytes (destination) "
            f"and {h_from.value().size} bytes (source)"
        )
    if size == 0:
        return 0
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemcpyAsync(h_to.value().pointer, h_from.value().pointer, size, h_stream.get()),
            b"cuMemcpyAsync",
        )
    return 0


cdef int fill(const AllocationHandle& h_target, object value, Stream stream) except -1:
    cdef uint32_t pattern = 0
    cdef size_t width = read_pattern(value, &pattern)
    cdef AllocationHandle h_to = h_target
    cdef StreamHandle h_stream = stream._h_stream
    cdef cydriver.CUdeviceptr pointer = h_to.value().pointer
    cdef size_t size = h_to.value().size
    if size % width != 0:
        raise ValueError(f"the buffer's size, {size} bytes, is no multiple of the {width} bytes of value")
    if pointer % width != 0:
        raise ValueError(f"the buffer's address, {pointer:#x}, is no multiple of the {width} bytes of value")
    if size == 0:
        return 0
    with nogil:
        if width == 1:
            HANDLE_RETURN(
                cydriver.cuMemsetD8Async(pointer, <unsigned char>pattern, size, h_stream.get()), b"cuMemsetD8Async"
            )
        elif width == 2:
            HANDLE_RETURN(
                cydriver.cuMemsetD16Async(pointer, <unsigned short>pattern, size // 2, h_stream.get()),
                b"cuMemsetD16Async",
            )
        else:
            HANDLE_RETURN(
                cydriver.cuMemsetD32Async(pointer, pattern, size // 4, h_stream.get()), b"cuMemsetD32Async"
            )
    return 0


# Writes the pattern and returns how many bytes it has.
cdef size_t read_pattern(object value, uint32_t* pattern) except 0:
    cdef int overflow = 0
    cdef long number = 0
    cdef Py_buffer view
    if PyLong_Check(value):
        number = PyLong_AsLongAndOverflow(value, &overflow)
        if overflow != 0 or not 0 <= number < 256:
            raise OverflowError(f"value must be an int from 0 to 255, or a pattern of 1, 2 or 4 bytes, not {value}")
        pattern[0] = number
        return 1
    if not PyObject_CheckBuffer(value):
        raise TypeError(f"value must be an int or an object with the buffer protocol, not {type(value).__name__}")
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        if view.len not in (1, 2, 4):
            raise ValueError(f"value must have 1, 2 or 4 bytes, not {view.len}")
        memcpy(pattern, view.buf, view.len)
        return view.len
    finally:
        PyBuffer_Release(&view)
