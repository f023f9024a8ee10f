# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport KernelHandle


cdef class KernelAttributes:
    cdef:
        KernelHandle _h_kernel      # set once
        int _device_id      # -1 for the device that is current when an attribute is read
        dict _constants     # (device, attribute) -> value, shared by all views of the kernel


cdef class KernelOccupancy:
    cdef KernelHandle _h_kernel     # set once


cdef object KernelAttributes_create(const KernelHandle& h_kernel)
cdef object KernelOccupancy_create(const KernelHandle& h_kernel)
