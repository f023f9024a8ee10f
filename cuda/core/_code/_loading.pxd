# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code images: checks, loading and unloading them, and their kernels and variables."""

from libc.stddef cimport size_t

from cuda.core._native._cuda_core cimport DriverObject, LibraryField, LibraryHandle
from cuda.core._utils cimport cydriver


cdef class LazyCode(DriverObject):
    cdef:
        LibraryField _h_library     # empty until loaded
        object _code                # bytes, bytearray, or the path as a str
        str _code_type
        str _name
        object _lock                # held while loading; None when closed


# The code, which stays valid if the object is closed. Raises RuntimeError if it is already closed.
cdef object keep_code(LazyCode self)

# The library. The first call loads it.
cdef LibraryHandle load(LazyCode self) except *

# The log of the driver's PTX compiler as the end of a message, or an empty string without a log.
cdef str ptx_log(object code, str code_type)

# A description of the code for messages.
cdef str described(object code, str code_type, str name)

# The symbol for a name: the mangled name of a name expression, otherwise the name itself.
cdef bytes mapped_symbol(dict mapping, object name)

cdef cydriver.CUkernel find_kernel(const LibraryHandle& h_library, bytes symbol) except NULL
cdef int find_variable(
    const LibraryHandle& h_library, bytes symbol, cydriver.CUdeviceptr* c_pointer, size_t* c_size
) except -1

# The names of all kernels in a library, or None if the driver cannot list them.
cdef list kernel_names(const LibraryHandle& h_library)

# The C++ function or variable that a symbol stands for, or None for a plain name.
cpdef str demangled(str symbol)
