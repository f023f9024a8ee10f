# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._protocols cimport Importer, Purpose


# Registers the importer of a type of this package and its subclasses.
cdef int add_importer(object cls, Importer importer) except -1

# Fills an empty state from any array. False if the object supports no protocol for arrays.
cdef bint import_array(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same with the importer of the object's type; false if the type has none, and a protocol has to be used.
cdef bint import_known(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same if the user has chosen a protocol; false also if the type's importer uses the other protocol.
cdef bint import_known_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef bint import_known_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Reads the address of any array, without stream ordering. Returns whether a device can access the memory.
cdef int read_address(object array, uintptr_t* pointer) except -1
# Whether an object supports a protocol for arrays, or its type has an importer.
cdef bint is_array(object obj) except -1

cdef bint has_dlpack(object obj) except -1
