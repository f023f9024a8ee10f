# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays and mipmapped arrays, and the formats of their elements."""

from cuda.core._native._cuda_core cimport (
    ArrayHandle,
    ArrayField,
    DriverObject,
    ArrayPin,
    MipmappedArrayPin,
    MipmappedArrayField,
    refuse_closed,
)
from cuda.core._utils cimport cydriver


# Width, height and depth as the driver takes them: 0 for missing axes.
cpdef tuple driver_extents(tuple shape, unsigned int flags)

# The shape of a mipmap level: extents are halved, layers and faces are not.
cpdef tuple level_shape(tuple shape, unsigned int flags, int level)

# The maximum number of levels: in the last one all extents but layers and faces are 1.
cpdef object max_levels(tuple shape, unsigned int flags)

# The size in bytes of an element, and of all elements when packed.
cpdef int element_size(object format, int num_channels) except -1
cpdef object image_bytes(tuple shape, object format, int num_channels)


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


# Holds a reference to the CUDA array for a call; RuntimeError if the object is closed.
cdef inline int Array_pin(OpaqueArray self, ArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_array) else refuse_closed(self)


cdef OpaqueArray Array_wrap(
    const ArrayHandle& h_array, tuple shape, object format, int num_channels, unsigned int flags, int device_id
)

# Wraps an array that another library created; shape and format come from the driver. Its context must be current.
cdef OpaqueArray Array_wrap_foreign(const ArrayHandle& h_array, int device_id)

# Fills the driver's descriptor of an array, or of a mipmapped array, from the fields of its options.
cdef int Array_describe(object options, cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description) except -1

# Whether an array is so small that its destruction may be deferred and batched with others.
cdef bint Array_is_small(const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description, int element_bytes) noexcept


cdef class MipmappedArray(DescribedArray):
    cdef:
        MipmappedArrayField _h_mipmap
        int _num_levels


# Holds a reference to the mipmapped array for a call; RuntimeError if the object is closed.
cdef inline int MipmappedArray_pin(MipmappedArray self, MipmappedArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_mipmap) else refuse_closed(self)
