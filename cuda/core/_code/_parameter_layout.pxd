# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver


# The position and the size of a parameter in the parameter block of a kernel, in bytes.
cdef struct ParamSlot:
    size_t offset
    size_t size


# Appends the slots of all parameters. Loads the kernel into the current context or, if none is current, into the
# primary context of device 0.
cdef int read_kernel_layout(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1

# The same for a function of a module, which is loaded already; a context must be current.
cdef int read_function_layout(cydriver.CUfunction c_function, vector[ParamSlot]& slots) except -1
