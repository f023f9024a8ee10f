# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._images cimport TextureMember
from cuda.core.texture._resource_descriptor cimport ResourceDescriptor as CResourceDescriptor


cdef class TextureObject(DriverObject):
    cdef:
        TextureMember _h_texture
        CResourceDescriptor _resource
        object _options
        int _device_id
