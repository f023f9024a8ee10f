# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._images cimport SurfaceMember
from cuda.core.texture._resource_descriptor cimport ResourceDescriptor


cdef class SurfaceObject(DriverObject):
    cdef:
        SurfaceMember _h_surface
        ResourceDescriptor _resource
        int _device_id
