# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport Keep
from cuda.core._handles._images cimport TextureMember
from cuda.core._utils cimport cydriver


cdef class ResourceDescriptor:
    cdef readonly object _size_bytes
    cdef:
        str _kind
        object _source
        object _format
        object _num_channels
        object _width
        object _height
        object _pitch_bytes


cdef class TextureObject(DriverObject):
    cdef:
        TextureMember _h_texture
        ResourceDescriptor _resource
        object _options
        int _device_id


# What the driver needs to read from a resource, and what keeps it; RuntimeError when the source is closed.
cdef int ResourceDescriptor_describe(
    ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Keep* keep
) except -1
