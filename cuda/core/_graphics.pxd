# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL buffers and images."""

from cuda.core._native._cuda_core cimport DriverObject, GraphicsField


cdef class GraphicsResource(DriverObject):
    cdef:
        GraphicsField _h_resource
        DriverObject _mapped        # the Buffer or OpaqueArray of the last mapping, or None
        object _mapping_stream
        object _stream              # to map on in a `with` statement; None if it does not map
