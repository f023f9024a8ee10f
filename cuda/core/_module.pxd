# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels, and the layout of their parameters."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport DriverObject, KernelField, KernelHandle, KernelPin, refuse_closed


# The offset and size of a parameter in the parameter block of a kernel, in bytes.
cdef struct ParamSlot:
    size_t offset
    size_t size


cdef class Kernel(DriverObject):
    cdef:
        KernelField _h_kernel      # keeps the library loaded
        object _attributes
        object _occupancy
        str _name                   # for messages; empty if unknown
        # Read once from the driver, by Kernel_read_layout.
        bint _has_layout
        bint _is_layout_known       # false if the driver is too old to report the layout
        vector[ParamSlot] _slots
        size_t _block_size          # the size of the whole parameter block, in bytes
        # The default limit of dynamic shared memory in bytes, 0 until queried. Larger launches raise the limit first.
        unsigned int _default_shared_limit
        # Bit sets of the devices 0 to 63 on which the limit was raised, and on which a launch has loaded the kernel.
        uint64_t _raised_devices
        uint64_t _loaded_devices


# Pins the kernel for a call, or raises RuntimeError if the object is closed.
cdef inline int Kernel_pin(Kernel self, KernelPin* pin) except -1:
    return 0 if pin.hold(self._h_kernel) else refuse_closed(self)


cdef Kernel Kernel_create(const KernelHandle& h_kernel, str name)

# Loads the kernel into the current context or, if none is current, into the primary context of device 0.
cdef int Kernel_read_layout(Kernel self, const KernelPin& pin) except -1
