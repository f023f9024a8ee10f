# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t


# A call: two are equal where what they capture is.
cdef class CallKey:
    cdef:
        uintptr_t context
        tuple shape             # all that may decide about the work, and the kinds of the data arguments
        tuple data              # the values of the data arguments: addresses and ints as ints, floats as their bytes
        Py_hash_t kind_hash     # of all but the data
        Py_hash_t hash
        bint is_unequal         # to any other

    # Whether both differ in data only.
    cdef bint is_of_kind(self, CallKey other) except -1


# NotComparable where an argument is of a type that is not compared by value.
cdef CallKey CallKey_create(uintptr_t context, tuple args, dict kwargs, frozenset positions, frozenset names)
cdef CallKey CallKey_unequal(uintptr_t context)

# The kinds of the data arguments, in their order.
cdef list kinds_of(tuple args, dict kwargs, frozenset positions, frozenset names)
