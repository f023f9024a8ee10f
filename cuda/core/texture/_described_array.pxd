# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject


cdef class DescribedArray(DriverObject):
    cdef:
        tuple _shape            # of level 0
        object _format
        int _num_channels
        unsigned int _flags     # of cuArray3DCreate
        int _device_id

    cdef int _describe(self, tuple shape, object format, int num_channels, unsigned int flags, int device_id) except -1
