# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code: :class:`ObjectCode`, :class:`Kernel`, and the layout of kernel parameters."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda.core._code._loading cimport LazyCode
from cuda.core._native._cuda_core cimport DriverObject, KernelPin, KernelHandle, KernelField, refuse_closed
from cuda.core._utils cimport cydriver


# The position and the size of a parameter in the parameter block of a kernel, in bytes.
cdef struct ParamSlot:
    size_t offset
    size_t size


# Appends the slots of all parameters. Loads the kernel into the current context or, if none is current, into the
# primary context of device 0.
cdef int read_kernel_layout(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1

# The same for a function of a module, which is loaded already; a context must be current.
cdef int read_function_layout(cydriver.CUfunction c_function, vector[ParamSlot]& slots) except -1


cdef class ObjectCode(LazyCode):
    cdef:
        dict _symbol_mapping
        dict _kernels               # name -> Kernel; a cache of get_kernel()


cdef class Kernel(DriverObject):
    cdef:
        KernelField _h_kernel      # keeps the library loaded
        object _attributes
        object _occupancy
        str _name                   # for messages; empty when unknown
        # Read once from the driver, by Kernel_read_layout.
        bint _has_layout
        bint _is_layout_known       # false where the driver is too old to tell
        vector[ParamSlot] _slots
        size_t _block_size          # bytes of the whole parameter block
        # The default limit of dynamic shared memory in bytes; 0 until queried. Larger launches raise the limit first.
        unsigned int _default_shared_limit
        # Bit sets of the devices 0 to 63: where the limit was raised, and where a launch has loaded the kernel.
        uint64_t _raised_devices
        uint64_t _loaded_devices


# Pins the kernel of an object for a call; RuntimeError when it is closed.
cdef inline int Kernel_pin(Kernel self, KernelPin* pin) except -1:
    return 0 if pin.hold(self._h_kernel) else refuse_closed(self)


cdef Kernel Kernel_create(const KernelHandle& h_kernel, str name)
cdef int Kernel_read_layout(Kernel self, const KernelPin& pin) except -1
