# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importers: the fastest way to fill a view state from an array, by its type."""

from cuda.core._arrays._views cimport Purpose, ViewState
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport ArrayArgument, Buffer


# Fills an empty state from any array. False if the object supports no protocol for arrays.
cdef bint import_array(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Like import_array(), but only with the importer of the object's type. False if the type has none.
cdef bint import_known(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Like import_known(), if the user has chosen a protocol. Also false if the type's importer uses the other protocol.
cdef bint import_known_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef bint import_known_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Fills an empty state for the memory of a buffer, with a layout.
cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1

# Reads any array as a kernel argument, without stream ordering. Returns true if a device can access the memory.
cdef int read_argument(object array, ArrayArgument* argument) except -1
# Returns true if the class itself, not a base class, has an importer, so it is never freed.
cdef bint is_known_class(object cls) except -1
# Registers the importer of a view class.
cdef int add_view_class(object cls) except -1
# Returns true if an object supports a protocol for arrays, or its type has an importer.
cdef bint is_array(object obj) except -1
cdef bint has_dlpack(object obj) except -1
# Returns true if the class is PyTorch's tensor class or derived from it. The check does not import PyTorch.
cdef bint is_torch_type(object cls) except -1
