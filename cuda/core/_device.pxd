# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices."""

from cuda.core._context cimport Context
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport ContextPin


cdef class Device:
    cdef:
        object __weakref__
        int _id
        Context _primary                    # None until needed
        # The context that this object made current last, or None. Other packages read it.
        readonly Context _context
        MemoryResource _memory_resource     # None until needed
        bint _has_own_resource              # whether the user has set it
        object _properties
        object _resources
        object _compute_capability
        str _name


# The result of Device(device_id): this thread's only object for the ordinal.
cdef Device Device_find(object device_id)

# The ordinal of the current device, or 0 if no context is current.
cdef Py_ssize_t current_ordinal() except -1

# Pins the context that the device made current last. CUDAError before the first set_current().
cdef int Device_pin_context(Device self, ContextPin* pin) except -1
