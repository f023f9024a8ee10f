# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject, PyTypeObject


# The value of a data argument, or of an item of one.
cdef enum WordType:
    SIGNED
    UNSIGNED        # an int from 2**63 on
    DOUBLE          # the bits of one

cdef struct DataWord:
    uint64_t bits
    uint64_t type   # a WordType


cdef enum:
    MOST_WORDS = 48     # calls with more data than that are not compared fast


# What an argument must be like to be of the same kind.
cdef enum Way:
    IDENTICAL       # the same object
    EQUAL_TEXT
    EQUAL_INT
    EQUAL_FLOAT
    EQUAL_CONFIG
    EQUAL_MEMORY
    EQUAL_VALUE     # what value_of() gives
    ITEMS           # a tuple or list of as many, which follow
    DATA_INT
    DATA_FLOAT
    DATA_MEMORY
    DATA_VALUE      # what data_of() gives

cdef struct Expected:
    Way way
    PyTypeObject* cls
    PyObject* thing             # kept by the pattern, but for kernels
    uint64_t bits
    size_t size                 # of memory in bytes, of a sequence in items
    PyTypeObject* resource      # of memory
    bint is_readonly


# The kind of a call: two are equal where what they capture differs in the values of data at most.
cdef class CallPattern:
    cdef:
        readonly uintptr_t context
        readonly tuple shape        # all that may decide about the work, and the kinds of the data
        readonly list kinds         # of the data
        Py_hash_t hash
        Py_ssize_t count            # of positional arguments
        tuple names                 # of the others
        list kept
        vector[Expected] expected
        vector[uint32_t] configs    # 12 numbers for each

    # Whether a call is of this kind; `words` takes the data. Only for patterns with `is_fast`.
    cdef bint match(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, DataWord* words
    ) except -1
    cdef bint is_fast(self) noexcept


# Which arguments are data.
cdef enum DataChoice:
    NAMED           # those that the program names
    MEMORY          # all memory


# The kind of a call, and its data: addresses and ints as ints, floats as their bytes. NotComparable where an argument
# is of a type that is not compared by value.
cdef CallPattern CallPattern_create(
    uintptr_t context, tuple args, dict kwargs, DataChoice choice, frozenset positions, frozenset names, list data
)

cdef int write_words(list data, DataWord* words) except -1
