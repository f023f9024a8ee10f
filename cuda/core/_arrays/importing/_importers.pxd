# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._protocols cimport Importer, Purpose


# Registers the importer of a type of this library and its subclasses.
cdef int add_importer(object cls, Importer importer) except -1

# Fills an empty state from any array. False: the object has no protocol.
cdef bint import_array(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same for a known or registered type; false if a protocol of the object has to be used.
cdef bint import_known(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same if the user has named a protocol: types that are read without one, or with that.
cdef bint import_known_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef bint import_known_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Reads the address of any array that has a protocol; true where a device can access it. Nothing is ordered.
cdef int read_address(object array, uintptr_t* pointer) except -1
# Whether an object has a protocol, or a type that is known.
cdef bint is_array(object obj) except -1

cdef bint has_dlpack(object obj) except -1
