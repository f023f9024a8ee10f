# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport DriverObject
from cuda.core._native._cuda_core cimport GraphicsField


cdef class GraphicsResource(DriverObject):
    cdef:
        GraphicsField _h_resource
        DriverObject _mapped        # the Buffer or the OpaqueArray of the last mapping; None before
        object _mapping_stream
        object _stream              # on which `with` maps; None where it does not
