# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


# What an array is read for. All three take whatever the array has; they differ in what they ask of streams and strides.
cdef enum Purpose:
    FOR_VIEW        # strides are whole elements; `stream_ptr` is an int or None, as users give it
    FOR_COPY        # `stream_ptr` is the address of the stream of the copy; for memory of the host it does not count
    FOR_ADDRESS     # nothing is ordered

# Fills an empty state from an object; false if a protocol of the object has to be used.
ctypedef bint (*Importer)(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1

# Each fills an empty state from an object with the protocol; AttributeError without, BufferError for what breaks it.
cdef int import_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# The same for exporters that take something else than -1 for "no ordering".
cdef int import_dlpack_as(ViewState self, object obj, object stream_ptr, Purpose purpose, object unordered) except -1
cdef int import_cuda_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef int import_array_interface(ViewState self, object obj) except -1
cdef int import_python_buffer(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Exactly an array of NumPy; false where only a protocol can tell.
cdef bint import_numpy(ViewState self, object array, bint is_interface, Purpose purpose) except -1

# Whether `obj` is exactly an array of NumPy, which is not imported for that.
cdef bint is_numpy(object obj) except -1
# The consumer's stream for memory on a device of such a type: an int, or None.
cdef object stream_argument(object stream_ptr, int device_type, Purpose purpose)
# Lets later work of the consumer's stream wait for the producer's.
cdef int order_streams(object consumer, object producer) except -1
