# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments: checked, converted, and laid out as the driver expects them."""

from cpython.object cimport PyObject

from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport ArgumentBlock, KernelPin


# The result of writing an argument; an ArgumentWriter can also return -1 with an exception.
cdef enum Fit:
    FITS = 0
    WRONG_SIZE = 1
    OUT_OF_RANGE = 2
    ON_HOST = 3


# Writes `argument`, whose own size is `natural_size` bytes, to the `size` bytes of a parameter.
ctypedef int (*ArgumentWriter)(PyObject* argument, size_t natural_size, char* target, size_t size) except -1

# Registers the writer for a type and its subclasses. A `natural_size` of 0 means the size of the argument's buffer.
cdef int register_argument_type(object cls, ArgumentWriter write, size_t natural_size) except -1

# Fills a block by the layout of the kernel or, if the layout is unknown, by the natural sizes of the arguments.
cdef int ArgumentBlock_fill(
    ArgumentBlock& self, Kernel kernel, const KernelPin& pin, PyObject* const* arguments, Py_ssize_t count
) except -1
