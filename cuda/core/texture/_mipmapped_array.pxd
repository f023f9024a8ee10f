# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject, refuse_closed
from cuda.core._handles._handles cimport KeptMipmappedArray, MipmappedArrayMember


cdef class MipmappedArray(DriverObject):
    cdef:
        MipmappedArrayMember _h_mipmap
        tuple _shape            # of level 0
        object _format
        int _num_channels
        unsigned int _flags     # of cuArray3DCreate
        int _num_levels
        int _device_id


# Holds a reference to the mipmapped array for a call; RuntimeError if the object is closed.
cdef inline int MipmappedArray_keep(MipmappedArray self, KeptMipmappedArray* kept) except -1:
    return 0 if kept.hold(self._h_mipmap) else refuse_closed(self)
