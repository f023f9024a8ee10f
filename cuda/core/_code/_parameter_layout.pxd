# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver


# Where one parameter of a kernel lies in its parameter block, in bytes.
cdef struct ParamSlot:
    size_t offset
    size_t size


# Appends the slots of all parameters, and loads the kernel into the current context, or into the primary context of
# device 0 where none is current.
cdef int read_kernel_layout(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1

# The same of a function of a module, which is loaded; a context has to be current.
cdef int read_function_layout(cydriver.CUfunction c_function, vector[ParamSlot]& slots) except -1
