# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport Allocation, AllocationHandle, Keep


cdef class SubBuffers:
    cdef dict _references   # the address of each sub-buffer -> a weak reference to it

    cdef int add(self, DriverObject part) except -1
    cdef void remove(self, DriverObject part) noexcept
    # Close all sub-buffers that are left.
    cdef void close(self) noexcept


# Reads the bounds of `buffer[key]`, which are not yet adjusted to the size of the buffer.
cdef int read_bounds(object key, Py_ssize_t* start, Py_ssize_t* stop) except -1

# Creates the handle of a slice of `whole`; `keep` keeps the memory of the parent.
cdef int narrow(
    const Allocation& whole, Py_ssize_t start, Py_ssize_t stop, const Keep& keep, AllocationHandle* h_part
) except -1
