# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport ArrayHandle, ArrayMember, KeptArray
from cuda.core._utils cimport cydriver
from cuda.core.texture._described_array cimport DescribedArray


cdef class OpaqueArray(DescribedArray):
    cdef ArrayMember _h_array


# Holds a reference to the CUDA array for a call; RuntimeError if the object is closed.
cdef inline int Array_keep(OpaqueArray self, KeptArray* kept) except -1:
    return 0 if kept.hold(self._h_array) else refuse_closed(self)


cdef OpaqueArray Array_wrap(
    const ArrayHandle& h_array, tuple shape, object format, int num_channels, unsigned int flags, int device_id
)

# Wraps an array that another library created; shape and format come from the driver. Its context must be current.
cdef OpaqueArray Array_wrap_foreign(const ArrayHandle& h_array, int device_id)

# Fills the driver's descriptor of an array, or of a mipmapped array, from the fields of its options.
cdef int Array_describe(dict values, cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description) except -1

# Whether an array is so small that its destruction may be deferred and batched with others.
cdef bint Array_is_small(const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description, int element_bytes) noexcept
