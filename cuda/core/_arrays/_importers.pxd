# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importers: fast views of arrays from other libraries, and of buffers."""

from libc.stdint cimport uintptr_t

from cuda.core._arrays._views cimport Importer, Purpose, ViewState
from cuda.core._dlpack cimport DLPackExchangeAPI
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer


# A class of a library; None if the program has not imported the module.
cdef object loaded_class(str module, str name)

# Whether the class is that of PyTorch's tensors or derived from it. PyTorch is not imported for the check.
cdef bint is_torch_type(object cls) except -1
# Fills an empty state from a tensor, ordered after PyTorch's current stream.
cdef bint import_torch(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1

# The exchange table of a class of any library; NULL if it has none, or none of a supported version.
cdef const DLPackExchangeAPI* find_exchange(object cls) except? NULL
# Fills an empty state from an object whose class has an exchange table. False if the table's functions refuse.
cdef bint import_with_table(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1


# Whether the class is that of CuPy's arrays or derived from it. CuPy is not imported for the check.
cdef bint is_cupy_type(object cls) except -1
# Fills an empty state from an array, ordered after CuPy's current stream.
cdef bint import_cupy(ViewState self, object array, object stream_ptr, Purpose purpose) except -1


# Returns the array class of Numba, JAX or Warp that `cls` is or is derived from, and its importer; None for others.
cdef object library_class(object cls, Importer* importer)

# Whether an importer uses the protocol; both are false for importers that read arrays without one.
cdef bint reads_dlpack(Importer importer) noexcept
cdef bint reads_interface(Importer importer) noexcept


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


# Fills an empty state for the memory of a buffer, with a layout.
cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1
