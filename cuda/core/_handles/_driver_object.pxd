# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport intptr_t


cdef class DriverObject:
    cdef object __weakref__

    # The raw driver value, 0 when closed.
    cdef intptr_t _address(self) noexcept
    # Drops this object's reference to the resource; may be called more than once.
    cdef void _release(self) noexcept
    # The value that == and hash use; the address by default.
    cdef object _identity(self)
    # Raises RuntimeError when the object is closed.
    cdef int _check_open(self) except -1


# Raises the RuntimeError for a closed object.
cdef int refuse_closed(object thing) except -1

# Raises the TypeError for an object that cannot be pickled.
cdef int refuse_pickle(object thing) except -1


# The object of cuda.bindings for a raw value, such as a driver.CUstream.
cdef object bindings_object(str name, intptr_t value)


# Replaces the property `name` of `cls` by a faster member descriptor for the Python object at `offset` of an instance.
# The docstring is kept.
cdef int add_member(type cls, str name, Py_ssize_t offset) except -1
