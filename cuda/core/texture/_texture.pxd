# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, and resource descriptors."""

from cuda.core._native._cuda_core cimport DriverObject, SurfaceField, TextureField


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
        TextureField _h_texture
        ResourceDescriptor _resource
        object _options
        int _device_id


cdef class SurfaceObject(DriverObject):
    cdef:
        SurfaceField _h_surface
        ResourceDescriptor _resource
        int _device_id
