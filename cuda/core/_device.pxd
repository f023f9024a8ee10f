# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices: the objects, their contexts, their textures, and the default memory resource."""

cimport cython

from cuda.core._context cimport Context
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport ContextPin


# Whether a default was ever set; until then the tables need not be read.
cdef bint is_chosen

# The resource set for a device: by a `with` block, else (unless the thread has set one itself) for
# the process; None if there is none.
cdef MemoryResource chosen_resource(int device_id, bint has_own)

# The resource of a device for which none was set.
cdef MemoryResource new_resource(int device_id, bint has_pools)


# The base of Device with its contexts: the primary one, and the one that was made current last.
cdef class DeviceContexts:
    cdef:
        int _id
        Context _primary                    # None until it is needed
        # The context that this object has made current last; None before. Other packages read it.
        readonly Context _context


# In a critical section, because another thread may use the object and set another context.
cdef inline Context Device_context(DeviceContexts self):
    with cython.critical_section(self):
        return self._context


cdef inline int Device_set_context(DeviceContexts self, Context context) except -1:
    with cython.critical_section(self):
        self._context = context
    return 0


# Pins the context of Device_context() for a call; CUDAError before the first set_current().
cdef int Device_pin_context(DeviceContexts self, ContextPin* pin) except -1


# The base of Device with its methods for arrays, textures and surfaces.
cdef class DeviceTextures(DeviceContexts):
    pass


# The devices of the calling thread, by ordinal. At the thread's first call, `make(ordinal)` creates each.
cdef tuple devices_of_thread(object make)

# The ordinal for Device(device_id); for None, that of the current context. ValueError if there is no such device.
cdef Py_ssize_t ordinal_of(object device_id, Py_ssize_t count) except -1

# The argument `device_id` of a call of Device(); TypeError for other arguments.
cdef object device_argument(tuple args, dict kwargs)


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
