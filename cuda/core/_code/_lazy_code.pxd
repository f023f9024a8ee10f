# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport LibraryHandle, LibraryMember


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
