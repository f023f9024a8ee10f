# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments, written where the driver reads them: in a block that needs no heap for most kernels."""

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport KeptKernel
from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._module cimport Kernel


# What writing one argument comes to. An exception of its own (-1) is for arguments that cannot be used at all.
cdef enum Fit:
    FITS = 0
    WRONG_SIZE = 1
    OUT_OF_RANGE = 2
    ON_HOST = 3


# Writes `argument`, whose own size is `natural_size`, into the `size` bytes of a parameter.
ctypedef int (*ArgumentWriter)(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1

# Teaches launches a type and its subclasses. A `natural_size` of 0 stands for what its buffer tells.
cdef int register_argument_type(object cls, ArgumentWriter write, size_t natural_size) except -1

# A writer for types whose buffer is the value, byte for byte.
cdef int write_buffer_bytes(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1


# Fills a block by the layout of the kernel, or each argument by its own size.
cdef int ArgumentBlock_fill(
    ArgumentBlock& self, Kernel kernel, const KeptKernel& kept, PyObject* const* arguments, Py_ssize_t count
) except -1
cdef int ArgumentBlock_fill_naturally(ArgumentBlock& self, PyObject* const* arguments, Py_ssize_t count) except -1
