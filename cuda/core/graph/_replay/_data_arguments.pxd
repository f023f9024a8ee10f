# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject, PyTypeObject


# The value of a data argument, or of an item of one.
cdef enum WordType:
    SIGNED
    UNSIGNED        # an int from 2**63 on
    DOUBLE          # the bits of a double

cdef struct DataWord:
    uint64_t bits
    uint64_t type   # a WordType


cdef enum:
    MAX_WORDS = 48  # calls with more data arguments are not compared on the fast path


# How an argument is compared with that of an earlier call.
cdef enum Comparison:
    IDENTICAL       # the same object
    EQUAL_TEXT
    EQUAL_INT
    EQUAL_FLOAT
    EQUAL_CONFIG
    EQUAL_MEMORY
    EQUAL_VALUE     # the result of value_of()
    ITEMS           # a tuple or list of the same length; entries for its items follow
    DATA_INT
    DATA_FLOAT
    DATA_MEMORY
    DATA_VALUE      # the result of data_of()

cdef struct Expected:
    Comparison comparison
    PyTypeObject* cls
    PyObject* thing             # the expected object or value; the pattern keeps it, except kernels
    uint64_t bits
    size_t size                 # of memory in bytes, of a sequence in items
    PyTypeObject* resource      # the type of the memory resource
    bint is_readonly


# The pattern of a call. Calls of equal patterns capture the same work, except for the values of data arguments.
cdef class CallPattern:
    cdef:
        readonly uintptr_t context
        readonly tuple shape        # the values of other arguments, and the kinds of the data arguments
        readonly list kinds         # the kinds of the data arguments, such as type and size
        Py_hash_t hash
        Py_ssize_t count            # the number of positional arguments
        tuple names                 # the names of keyword arguments
        list kept                   # objects to which `expected` refers
        vector[Expected] expected
        vector[uint32_t] configs    # 12 numbers for each

    # Whether a call has this pattern; writes its data to `words`. Only for patterns with is_fast().
    cdef bint match(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, DataWord* words
    ) except -1
    cdef bint is_fast(self) noexcept


# Which arguments are data.
cdef enum DataChoice:
    NAMED           # the parameters that the program names
    MEMORY          # all buffers and device arrays


# Describes a call, and appends its data to `data`: addresses and ints as ints, floats as bytes. Raises NotComparable if
# an argument has a type that cannot be compared by value.
cdef CallPattern CallPattern_create(
    uintptr_t context, tuple args, dict kwargs, DataChoice choice, frozenset positions, frozenset names, list data
)

cdef int write_words(list data, DataWord* words) except -1
