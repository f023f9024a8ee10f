# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sub-buffers: slices of a Buffer that share its allocation and close with it."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cpython.weakref cimport PyWeakref_NewRef

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport Allocation, AllocationHandle, Keep
from cuda.core._memory.ranges._allocation cimport borrow

__all__ = []


cdef extern from "Python.h":
    int PySlice_Check(object key)
    int PySlice_Unpack(object key, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t size, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t step) nogil


cdef class SubBuffers:
    """The sub-buffers of one buffer, as weak references, because each sub-buffer keeps the buffer alive.

    It closes the sub-buffers with their parent, so that a sub-buffer need not check whether its parent is open. The
    lifetime of the memory does not depend on it: each sub-buffer keeps the allocation itself.
    """

    def __cinit__(self):
        self._references = {}

    cdef int add(self, DriverObject part) except -1:
        self._references[<uintptr_t><void*>part] = PyWeakref_NewRef(part, None)
        return 0

    cdef void remove(self, DriverObject part) noexcept:
        self._references.pop(<uintptr_t><void*>part, None)

    cdef void close(self) noexcept:
        cdef object part
        while self._references:
            try:
                part = self._references.popitem()[1]()
            except KeyError:    # another thread has removed the last one
                return
            if part is not None:
                (<DriverObject>part)._release()


cdef int read_bounds(object key, Py_ssize_t* start, Py_ssize_t* stop) except -1:
    cdef Py_ssize_t step = 1
    if not PySlice_Check(key):
        raise TypeError(f"the index of a Buffer must be a slice, such as buffer[16:32], not {type(key).__name__}")
    PySlice_Unpack(key, start, stop, &step)
    if step != 1:
        raise ValueError(f"the step of a slice of a Buffer must be 1, not {step}")
    return 0


cdef int narrow(
    const Allocation& whole, Py_ssize_t start, Py_ssize_t stop, const Keep& keep, AllocationHandle* h_part
) except -1:
    cdef Py_ssize_t size = PySlice_AdjustIndices(<Py_ssize_t>whole.size, &start, &stop, 1)
    return borrow(whole.pointer + start, <size_t>size, keep, h_part)
