# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays and mipmapped arrays."""

from cuda.core._native._cuda_core cimport (
    ArrayField,
    ArrayHandle,
    ArrayPin,
    DriverObject,
    MipmappedArrayField,
    MipmappedArrayPin,
    refuse_closed,
)


cpdef int element_size(object format, int num_channels) except -1


cdef class DescribedArray(DriverObject):
    cdef:
        tuple _shape            # of level 0
        object _format
        int _num_channels
        unsigned int _flags     # of cuArray3DCreate
        int _device_id

    cdef int _describe(self, tuple shape, object format, int num_channels, unsigned int flags, int device_id) except -1


cdef class OpaqueArray(DescribedArray):
    cdef ArrayField _h_array


# Pins the array for a call. RuntimeError if the object is closed.
cdef inline int Array_pin(OpaqueArray self, ArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_array) else refuse_closed(self)


# Wraps an array of another library, whose shape and format the driver reports. Its context must be current.
cdef OpaqueArray Array_wrap_foreign(const ArrayHandle& h_array, int device_id)


cdef class MipmappedArray(DescribedArray):
    cdef:
        MipmappedArrayField _h_mipmap
        int _num_levels


# Pins the mipmapped array for a call. RuntimeError if the object is closed.
cdef inline int MipmappedArray_pin(MipmappedArray self, MipmappedArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_mipmap) else refuse_closed(self)
