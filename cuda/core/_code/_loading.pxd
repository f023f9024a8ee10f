# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stddef cimport size_t

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport LibraryHandle, LibraryMember
from cuda.core._utils cimport cydriver


cdef class LazyCode(DriverObject):
    cdef:
        LibraryMember _h_library    # empty until loaded
        object _code                # bytes, bytearray, or the path as str
        str _code_type
        str _name
        object _lock                # held while loading; None when closed


# The code, which stays with the caller when the object is closed; RuntimeError when it is already.
cdef object keep_code(LazyCode self)

# The library, loaded if it was not yet.
cdef LibraryHandle load(LazyCode self) except *

# The log of the driver's compiler for PTX, as the end of a message; empty without one.
cdef str ptx_log(object code, str code_type)

# What the code is, for messages.
cdef str described(object code, str code_type, str name)

# The symbol that a name stands for: the one of a name expression, or the name itself.
cdef bytes mapped_symbol(dict mapping, object name)

cdef cydriver.CUkernel find_kernel(const LibraryHandle& h_library, bytes symbol) except NULL
cdef int find_variable(
    const LibraryHandle& h_library, bytes symbol, cydriver.CUdeviceptr* c_pointer, size_t* c_size
) except -1

# The names of all kernels of a library; None where the driver cannot tell.
cdef list kernel_names(const LibraryHandle& h_library)
