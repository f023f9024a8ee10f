# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._device_textures cimport DeviceTextures
from cuda.core._memory._memory_resource cimport MemoryResource


cdef class Device(DeviceTextures):
    cdef:
        object __weakref__
        MemoryResource _memory_resource     # None until it is needed
        bint _has_own_resource              # whether the user has set it
        object _properties
        object _resources
        object _compute_capability
        str _name


# The result of Device(device_id): the only object of this thread for the ordinal.
cdef Device Device_find(object device_id)
