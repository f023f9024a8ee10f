# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# distutils: language = c++
# cython: language_level=3, freethreading_compatible=True
"""An extension in Cython, which uses objects of cuda.core."""

from libc.stdint cimport uintptr_t

from cuda.core._memory._buffer cimport Buffer, Buffer_allocate, Buffer_create, Buffer_pin
from cuda.core._memory._memory_resource cimport MemoryResource, borrow
from cuda.core._native._cuda_core cimport AllocationHandle, AllocationPin, Anchor, StreamPin
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin, Stream_wrap
from cuda.core._utils cimport cydriver

from cpython.object cimport PyObject


def stream_address(stream):
    """Return the address of a stream; the pin keeps it alive for the call."""
    cdef StreamPin pin
    Stream_pin(Stream_accept(stream, True), &pin)
    return <uintptr_t>pin.get()


def wrap_stream(uintptr_t address, owner=None):
    return Stream_wrap(<cydriver.CUstream>address, owner)


def range_of(Buffer buffer not None):
    """Return the address and the size of a buffer's memory."""
    cdef AllocationPin pin
    Buffer_pin(buffer, &pin)
    return pin.get().pointer, pin.get().size


def second_half(Buffer buffer not None):
    """Return a buffer of the second half, which keeps the buffer alive."""
    cdef AllocationPin pin
    cdef AllocationHandle h_allocation
    Buffer_pin(buffer, &pin)
    cdef size_t half = pin.get().size // 2
    borrow(pin.get().pointer + half, half, Anchor.of_object(<PyObject*>buffer), &h_allocation)
    return Buffer_create(Buffer, h_allocation, None, buffer)


def allocate(MemoryResource resource not None, size_t size, stream):
    return Buffer_allocate(resource, size, Stream_accept(stream, True))
