# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and memsets of linear memory, in Cython because programs call them in loops."""

from __future__ import annotations

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport strchr

from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)

from cuda.core._handles._handles cimport KeptAllocation, KeptStream
from cuda.core._memory.ranges._memory_range cimport MemoryRange
from cuda.core._stream cimport Stream, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import host_memory, whole
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._contexts._streams import keep_in, stream_of
from cuda.core.driver._errors import INVALID_VALUE, classic_error, logic_error
from cuda.core.driver._memory._device_memory import as_pointer

__all__ = [
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "pattern",
]


cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


# Fills `view` with the host memory of an argument. Returns whether PyBuffer_Release must be called.
cdef bint host_place(object obj, bint is_written, Py_buffer* view) except -1:
    cdef int flags = PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if is_written else 0)
    try:
        PyObject_GetBuffer(obj, view, flags)
        if view.format == NULL or strchr(view.format, b"O") == NULL:
            return True
        PyBuffer_Release(view)
    except (BufferError, TypeError, ValueError):
        pass
    # Raises an exception with the reason, or finds memory that exports no buffer, such as arrays of dates.
    address, size = host_memory(obj, is_written)
    view.buf = <void*><uintptr_t>address
    view.len = size
    return False


# The device address of an argument; `kept` keeps its memory. LogicError if it is known to be smaller than `size`.
cdef cydriver.CUdeviceptr device_place(
    str api, object obj, KeptAllocation* kept, Py_ssize_t size, str what
) except? 0:
    if not isinstance(obj, MemoryRange) or not kept.hold((<MemoryRange>obj)._h_allocation):
        return as_pointer(obj)
    if <size_t>size > kept.get().size:
        raise logic_error(
            api, INVALID_VALUE, f"the {what} has {kept.get().size} bytes, fewer than {size}"
        )
    return kept.get().pointer


cdef Py_ssize_t byte_count(str api, object size, Py_ssize_t width=1) except -1:
    number = whole("size" if width == 1 else "count", size)
    if number < 0:
        text = f"the number of bytes must not be negative: {shown(number * width)}"
        raise logic_error(api, INVALID_VALUE, text)
    if number > PY_SSIZE_T_MAX // width:
        raise logic_error(api, INVALID_VALUE, f"no memory has {shown(number * width)} bytes")
    return number


# Copies between device and host memory; `is_read` means from the device.
cdef int copy_with_host(str api, object device, object host, bint is_read, bint is_async, object stream) except -1:
    cdef Py_buffer view
    cdef bint is_held
    cdef KeptAllocation kept
    cdef KeptStream kept_stream
    cdef cydriver.CUdeviceptr pointer
    context = current_context(api)
    is_held = host_place(host, is_read, &view)
    try:
        pointer = device_place(api, device, &kept, view.len, "source" if is_read else "destination")
        if is_async:
            inner = stream_of(stream)
            Stream_keep(<Stream>inner, &kept_stream)
        if view.len:
            with nogil:
                if is_read and is_async:
                    HANDLE_RETURN(
                        cydriver.cuMemcpyDtoHAsync(view.buf, pointer, view.len, kept_stream.get()),
                        b"cuMemcpyDtoHAsync",
                    )
                elif is_read:
                    HANDLE_RETURN(cydriver.cuMemcpyDtoH(view.buf, pointer, view.len), b"cuMemcpyDtoH")
                elif is_async:
                    HANDLE_RETURN(
                        cydriver.cuMemcpyHtoDAsync(pointer, view.buf, view.len, kept_stream.get()),
                        b"cuMemcpyHtoDAsync",
                    )
                else:
                    HANDLE_RETURN(cydriver.cuMemcpyHtoD(pointer, view.buf, view.len), b"cuMemcpyHtoD")
            if is_async:
                keep_in(context, <uintptr_t>kept_stream.get(), inner, host)
    except CUDAError as error:
        raise classic_error(error) from None
    finally:
        if is_held:
            PyBuffer_Release(&view)
    return 0


def memcpy_htod(dest, src) -> None:
    """Copy from the host to the device, and wait for the copy (``cuMemcpyHtoD``).

    Parameters
    ----------
    dest : device pointer
        The destination.
    src : buffer
        The source: bytes, or an array that is contiguous in C or F order. All of its bytes are copied.

    Raises
    ------
    LogicError
        If the destination is smaller, as far as its size is known.
    ValueError
        If the source is not contiguous.
    """
    copy_with_host("cuMemcpyHtoD", dest, src, False, False, None)


def memcpy_htod_async(dest, src, stream=None) -> None:
    """Enqueue a copy from the host to the device (``cuMemcpyHtoDAsync``).

    The copy is asynchronous to the host only if ``src`` is page-locked. ``src`` is kept alive until the copy has
    completed. The other parameters and errors are those of :func:`memcpy_htod`; without ``stream``, the NULL stream.
    """
    copy_with_host("cuMemcpyHtoDAsync", dest, src, False, True, stream)


def memcpy_dtoh(dest, src) -> None:
    """Copy from the device to the host, and wait for the copy (``cuMemcpyDtoH``).

    Parameters
    ----------
    dest : writable buffer
        The destination: an array that is contiguous in C or F order. All of its bytes are written.
    src : device pointer
        The source.

    Raises
    ------
    LogicError
        If the source is smaller, as far as its size is known.
    ValueError, BufferError
        If the destination is not contiguous, or is read-only.
    """
    copy_with_host("cuMemcpyDtoH", src, dest, True, False, None)


def memcpy_dtoh_async(dest, src, stream=None) -> None:
    """Enqueue a copy from the device to the host (``cuMemcpyDtoHAsync``).

    The copy is asynchronous to the host only if ``dest`` is page-locked. ``dest`` is kept alive until the copy has
    completed. The other parameters and errors are those of :func:`memcpy_dtoh`; without ``stream``, the NULL stream.
    """
    copy_with_host("cuMemcpyDtoHAsync", src, dest, True, True, stream)


def memcpy_dtod(dest, src, size: int) -> None:
    """Copy ``size`` bytes between device pointers on the NULL stream, without waiting (``cuMemcpyDtoD``)."""
    cdef KeptAllocation kept, kept_source
    cdef cydriver.CUdeviceptr pointer, source
    cdef Py_ssize_t count
    current_context("cuMemcpyDtoD")
    count = byte_count("cuMemcpyDtoD", size)
    pointer = device_place("cuMemcpyDtoD", dest, &kept, count, "destination")
    source = device_place("cuMemcpyDtoD", src, &kept_source, count, "source")
    if count:
        try:
            with nogil:
                HANDLE_RETURN(cydriver.cuMemcpyDtoD(pointer, source, count), b"cuMemcpyDtoD")
        except CUDAError as error:
            raise classic_error(error) from None


def memcpy_dtod_async(dest, src, size: int, stream=None) -> None:
    """Enqueue a copy of ``size`` bytes between device pointers (``cuMemcpyDtoDAsync``)."""
    cdef KeptAllocation kept, kept_source
    cdef KeptStream kept_stream
    cdef cydriver.CUdeviceptr pointer, source
    cdef Py_ssize_t count
    current_context("cuMemcpyDtoDAsync")
    inner = stream_of(stream)
    count = byte_count("cuMemcpyDtoDAsync", size)
    pointer = device_place("cuMemcpyDtoDAsync", dest, &kept, count, "destination")
    source = device_place("cuMemcpyDtoDAsync", src, &kept_source, count, "source")
    Stream_keep(<Stream>inner, &kept_stream)
    if count:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuMemcpyDtoDAsync(pointer, source, count, kept_stream.get()), b"cuMemcpyDtoDAsync"
                )
        except CUDAError as error:
            raise classic_error(error) from None


def memset_d8(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set ``count`` bytes to ``data`` (``cuMemsetD8``); ``size`` is another name of ``count``."""
    fill("cuMemsetD8", 1, dest, data, count, size)


def memset_d16(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set ``count`` 16-bit elements to ``data`` (``cuMemsetD16``)."""
    fill("cuMemsetD16", 2, dest, data, count, size)


def memset_d32(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set ``count`` 32-bit elements to ``data`` (``cuMemsetD32``)."""
    fill("cuMemsetD32", 4, dest, data, count, size)


def memset_d8_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set ``count`` bytes to ``data`` in stream order (``cuMemsetD8Async``)."""
    fill_async("cuMemsetD8Async", 1, dest, data, count, size, stream)


def memset_d16_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set ``count`` 16-bit elements to ``data`` in stream order (``cuMemsetD16Async``)."""
    fill_async("cuMemsetD16Async", 2, dest, data, count, size, stream)


def memset_d32_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set ``count`` 32-bit elements to ``data`` in stream order (``cuMemsetD32Async``)."""
    fill_async("cuMemsetD32Async", 4, dest, data, count, size, stream)


cpdef uint64_t pattern(str api, object data, int width) except? 0:
    """Return the value of a memset as an unsigned number of ``width`` bytes; LogicError if it does not fit."""
    cdef int64_t most = (<int64_t>1 << 8 * width) - 1
    number = whole("data", data)
    if not -(most // 2) - 1 <= number <= most:
        raise logic_error(api, INVALID_VALUE, f"data must fit {8 * width} bits, not be {shown(number)}")
    return number & most


cdef Py_ssize_t element_count(str api, int width, object count, object size) except -1:
    if (count is None) == (size is None):
        raise TypeError("exactly one of count and size, the number of elements, must be given")
    return byte_count(api, size if count is None else count, width)


cdef int fill(str api, int width, object dest, object data, object count, object size) except -1:
    cdef KeptAllocation kept
    cdef Py_ssize_t c_count
    cdef cydriver.CUdeviceptr pointer
    cdef uint64_t value
    current_context(api)
    c_count = element_count(api, width, count, size)
    pointer = device_place(api, dest, &kept, c_count * width, "destination")
    if not c_count:
        return 0
    value = pattern(api, data, width)
    try:
        with nogil:
            if width == 1:
                HANDLE_RETURN(cydriver.cuMemsetD8(pointer, value, c_count), b"cuMemsetD8")
            elif width == 2:
                HANDLE_RETURN(cydriver.cuMemsetD16(pointer, value, c_count), b"cuMemsetD16")
            else:
                HANDLE_RETURN(cydriver.cuMemsetD32(pointer, value, c_count), b"cuMemsetD32")
    except CUDAError as error:
        raise classic_error(error) from None
    return 0


cdef int fill_async(
    str api, int width, object dest, object data, object count, object size, object stream
) except -1:
    cdef KeptAllocation kept
    cdef KeptStream kept_stream
    cdef Py_ssize_t c_count
    cdef cydriver.CUdeviceptr pointer
    cdef uint64_t value
    current_context(api)
    inner = stream_of(stream)
    c_count = element_count(api, width, count, size)
    pointer = device_place(api, dest, &kept, c_count * width, "destination")
    Stream_keep(<Stream>inner, &kept_stream)
    if not c_count:
        return 0
    value = pattern(api, data, width)
    try:
        with nogil:
            if width == 1:
                HANDLE_RETURN(cydriver.cuMemsetD8Async(pointer, value, c_count, kept_stream.get()), b"cuMemsetD8Async")
            elif width == 2:
                HANDLE_RETURN(
                    cydriver.cuMemsetD16Async(pointer, value, c_count, kept_stream.get()), b"cuMemsetD16Async"
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuMemsetD32Async(pointer, value, c_count, kept_stream.get()), b"cuMemsetD32Async"
                )
    except CUDAError as error:
        raise classic_error(error) from None
    return 0
