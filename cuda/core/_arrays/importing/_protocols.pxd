# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


# The purpose of an import. It decides how streams are ordered, and whether strides must be whole elements.
cdef enum Purpose:
    FOR_VIEW        # strides must be whole elements; `stream_ptr` comes from the user: an int, or None
    FOR_COPY        # `stream_ptr` is the address of the copy's stream, which is not ordered against host memory
    FOR_ADDRESS     # only the address is needed; no streams are ordered

# Fills an empty state from an object. False if the importer does not handle it, and a protocol has to be used.
ctypedef bint (*Importer)(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1

# Each fills an empty state from an object through a protocol. AttributeError if the object does not support the
# protocol, BufferError if it violates the protocol.
cdef int import_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same for exporters that use another value than -1 for "no ordering".
cdef int import_dlpack_as(ViewState self, object obj, object stream_ptr, Purpose purpose, object unordered) except -1
cdef int import_cuda_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef int import_array_interface(ViewState self, object obj) except -1
cdef int import_python_buffer(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Imports an array of NumPy's own class without a protocol; false if a protocol has to be used.
cdef bint import_numpy(ViewState self, object array, bint is_interface, Purpose purpose) except -1

# Whether the class of `obj` is numpy.ndarray, not a subclass. NumPy is not imported for the check.
cdef bint is_numpy(object obj) except -1
# The `stream` argument of the protocols for memory of this DLPack device type: the address of the consumer's stream, -1
# for no ordering, or None.
cdef object stream_argument(object stream_ptr, int device_type, Purpose purpose)
# Orders later work of the consumer's stream after the work now in the producer's; the arguments are addresses.
cdef int order_streams(object consumer, object producer) except -1
