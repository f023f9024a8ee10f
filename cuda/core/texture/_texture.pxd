# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, resource descriptors and sampling."""

from cuda.core._native._cuda_core cimport DriverObject, Anchor, SurfaceField, TextureField
from cuda.core._utils cimport cydriver


# What the validity of texture options depends on.
cdef struct Elements:
    int axes            # the number of coordinates of a fetch, without the index of a layer or face
    bint are_floats
    bint are_cubes

# Fills the driver's texture descriptor from a TextureObjectOptions, and checks its fields.
cdef int describe_sampling(object options, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1


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


# Fills the driver's descriptor and the reference that keeps the source alive; RuntimeError if the source is closed.
cdef int ResourceDescriptor_describe(
    ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Anchor* anchor
) except -1

# Whether the resource is an array that this library owns, and not a buffer or a foreign array.
cdef bint ResourceDescriptor_has_own_array(ResourceDescriptor self) noexcept

# The axes and the element type of the resource, which decide what texture options are valid.
cdef Elements ResourceDescriptor_elements(ResourceDescriptor self) except *


cdef class TextureObject(DriverObject):
    cdef:
        TextureField _h_texture
        ResourceDescriptor _resource
        object _options
        int _device_id


cdef class SurfaceObject(DriverObject):
    cdef:
        SurfaceField _h_surface
        ResourceDescriptor _resource
        int _device_id
