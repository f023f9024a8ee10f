# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport Keep
from cuda.core._utils cimport cydriver
from cuda.core.texture._sampling cimport Elements


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
    ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Keep* keep
) except -1

# Whether the resource is an array that this library owns, and not a buffer or a foreign array.
cdef bint ResourceDescriptor_has_own_array(ResourceDescriptor self) noexcept

# The axes and the element type of the resource, which decide what texture options are valid.
cdef Elements ResourceDescriptor_elements(ResourceDescriptor self) except *
