# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport KeptMipmappedArray, MipmappedArrayMember
from cuda.core.texture._described_array cimport DescribedArray


cdef class MipmappedArray(DescribedArray):
    cdef:
        MipmappedArrayMember _h_mipmap
        int _num_levels


# Holds a reference to the mipmapped array for a call; RuntimeError if the object is closed.
cdef inline int MipmappedArray_keep(MipmappedArray self, KeptMipmappedArray* kept) except -1:
    return 0 if kept.hold(self._h_mipmap) else refuse_closed(self)
