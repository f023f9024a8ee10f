# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport ArrayHandle, DriverObject, InContext, MipmappedArrayHandle
from cuda.core._utils cimport cydriver


# Wraps an array of another library, whose shape and format the driver reports. Its context must be current.
cdef DriverObject Array_wrap_foreign(const ArrayHandle& h_array, int device_id)

# Fills the driver's descriptor of an array, or of a mipmapped array, from its options.
cdef int Array_describe(object options, cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description) except -1

cdef void MipmappedArray_destroy(InContext[cydriver.CUmipmappedArray] value) noexcept nogil

# A mipmapped array with checked options.
cdef DriverObject MipmappedArray_wrap(
    const MipmappedArrayHandle& h_mipmap, object options, unsigned int flags, int device_id
)
