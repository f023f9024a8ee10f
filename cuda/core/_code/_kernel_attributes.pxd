# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport KernelHandle
from cuda.core._utils cimport cydriver


cdef class KernelAttributes:
    cdef:
        KernelHandle _h_kernel      # set once
        int _device_id      # -1 for the device that is current at the access
        dict _known         # (device, attribute) -> value, shared by all views


cdef class KernelOccupancy:
    cdef KernelHandle _h_kernel     # set once


cdef KernelAttributes KernelAttributes_create(const KernelHandle& h_kernel)
cdef KernelOccupancy KernelOccupancy_create(const KernelHandle& h_kernel)


# Where one parameter of a kernel lies in its parameter block, in bytes.
cdef struct ParamSlot:
    size_t offset
    size_t size


# Appends the slots of all parameters; a context has to be current. The kernel is loaded into it, which its first
# launch would do instead.
cdef int read_slots(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1
