# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments, in the block that the driver reads; it needs no heap memory for most kernels."""

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport KeptKernel
from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._module cimport Kernel


# The result of writing one argument; -1 with an exception for arguments that cannot be used at all.
cdef enum Fit:
    FITS = 0
    WRONG_SIZE = 1
    OUT_OF_RANGE = 2
    ON_HOST = 3


# Writes `argument`, whose own size is `natural_size`, into the `size` bytes of a parameter.
ctypedef int (*ArgumentWriter)(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1

# Registers a type and its subclasses. A `natural_size` of 0 means the size of its buffer.
cdef int register_argument_type(object cls, ArgumentWriter write, size_t natural_size) except -1

# A writer for types whose buffer has the bytes of the value.
cdef int write_buffer_bytes(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1


# Fills a block by the layout of the kernel, or without one by the natural sizes of the arguments.
cdef int ArgumentBlock_fill(
    ArgumentBlock& self, Kernel kernel, const KeptKernel& kept, PyObject* const* arguments, Py_ssize_t count
) except -1
cdef int ArgumentBlock_fill_naturally(ArgumentBlock& self, PyObject* const* arguments, Py_ssize_t count) except -1
