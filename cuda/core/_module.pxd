# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels, and the layout of their parameters."""

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport DriverObject, KernelField, KernelHandle, KernelPin, refuse_closed
from cuda.core._utils cimport cydriver


# What is known about the type of a parameter, as bits of the masks of the types of arguments.
cdef enum ParamKind:
    SIZED = 1 << 0          # only the size
    POINTER = 1 << 1
    SHORT_INT = 1 << 2      # bool, and integers of 8 or 16 bits
    INT32 = 1 << 3
    UINT32 = 1 << 4
    INT64 = 1 << 5
    UINT64 = 1 << 6         # also an address, a texture or a condition
    FLOAT16 = 1 << 7
    FLOAT32 = 1 << 8
    FLOAT64 = 1 << 9
    COMPLEX64 = 1 << 10     # also a float2
    COMPLEX128 = 1 << 11
    OTHER = 1 << 12         # vector types, bfloat16, 128-bit integers
    STRUCTURE = 1 << 13     # a struct that the source defines, or a class template: Python numbers are rejected
    ANY_SIZED = SIZED | STRUCTURE
    ANY_INTEGER = SHORT_INT | INT32 | UINT32 | INT64 | UINT64


# A parameter: its offset and size in the parameter block of a kernel, in bytes, and what its type is.
cdef struct ParamSlot:
    size_t offset
    size_t size
    int kind
    bint takes_int          # an int from `low` to `high` may be stored; ints beyond 60 bits are checked apart
    int64_t low
    int64_t high
    # For a pointer: the elements of arrays that match, as DLDataType numbers, 0 for none, or any elements; and whether
    # an array may be read-only. Other arrays are examined more closely.
    uint32_t[2] elements
    bint takes_elements
    bint takes_readonly


# Sets what follows from the C type of a parameter, or from its size if the type is None or has another size.
cdef int ParamSlot_set_type(ParamSlot* slot, object c_type) except -1


cdef extern from "launch_record.hpp" namespace "cuda_core":
    cppclass LaunchRecord:
        LaunchRecord() noexcept
        void note(const cydriver.CUlaunchConfig& config, const void* arguments, size_t size) noexcept
        uint64_t number() noexcept
        unsigned int[6] sizes
        char[128] block


# The last launch of the kernels with a symbol and a layout, for messages about failed kernels. It keeps no library
# loaded.
@cython.final
cdef class LastLaunch:
    cdef:
        str symbol
        tuple parameters        # (C type or None, offset, size) of each; None if the driver is too old to tell
        LaunchRecord record
        object code             # the Python code that launched, with the index of its instruction; or None
        int instruction


cdef class Kernel(DriverObject):
    cdef:
        KernelField _h_kernel      # keeps the library loaded
        object _attributes
        object _occupancy
        dict _resident_blocks       # (device, threads, shared memory) -> blocks that fill the device
        str _name                   # for messages; empty if unknown
        tuple _origin               # the name that found it and the name of its code, for repr(); None if unknown
        # Read once from the driver, by Kernel_read_layout.
        bint _has_layout
        bint _is_layout_known       # false if the driver is too old to report the layout
        vector[ParamSlot] _slots
        bint _has_sizes_only        # arguments are checked by size, even if the types are known
        object _declarations        # the kernels in the source, or None
        list _records               # the dtype or class of the last record that had the layout of each parameter
        list _types                 # the C types of the parameters, or None if unknown
        list _parameters            # the result of Kernel_parameters, or None before its first call
        LastLaunch _last_launch     # None until the layout was read
        size_t _block_size          # the size of the whole parameter block, in bytes
        # The default limit of dynamic shared memory in bytes, 0 until queried. Larger launches raise the limit first.
        unsigned int _default_shared_limit
        # Bit sets of the devices 0 to 63 on which the limit was raised, and on which a launch has loaded the kernel.
        uint64_t _raised_devices
        uint64_t _loaded_devices


# Pins the kernel for a call, or raises RuntimeError if the object is closed.
cdef inline int Kernel_pin(Kernel self, KernelPin* pin) except -1:
    return 0 if pin.hold(self._h_kernel) else refuse_closed(self)


cdef Kernel Kernel_create(const KernelHandle& h_kernel, str name, object declarations=*)

# The parameters, pairs of name and C type with None for what is unknown. The layout must have been read.
cdef list Kernel_parameters(Kernel self)

# The name in the source, for messages.
cdef str Kernel_function(Kernel self)

# Reads the layout, or raises NotSupportedError if the driver is too old to report it.
cdef int Kernel_check_layout(Kernel self) except -1

# Loads the kernel into the current context or, if none is current, into the primary context of device 0.
cdef int Kernel_read_layout(Kernel self, const KernelPin& pin) except -1
