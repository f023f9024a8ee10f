# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport ContextHandle, ContextField
from cuda.core._utils cimport cydriver


cdef class DeviceResources:
    cdef:
        object __weakref__
        ContextField _h_context    # empty for the resources of the whole device
        int _device_id


cdef class SMResource:
    cdef:
        object __weakref__
        cydriver.CUdevResource _resource
        int _device_id
        bint _is_dry_run


cdef class WorkqueueResource:
    cdef:
        object __weakref__
        cydriver.CUdevResource _resource


cdef DeviceResources DeviceResources_of_device(int device_id)
cdef DeviceResources DeviceResources_of_context(const ContextHandle& h_context, int device_id)

# Appends a resource for a new context. TypeError or ValueError if the resource is unsuitable.
cdef int Resource_add(object resource, int device_id, vector[cydriver.CUdevResource]* c_resources) except -1
