# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory locations: devices, the host and its NUMA nodes."""

from cuda.core._utils cimport cydriver


# Checks an argument `location`: a Device or a Host.
cdef cydriver.CUmemLocation location_argument(object location) except *

# Builds a location from its type and ID; the ID is ignored for types without one.
cdef cydriver.CUmemLocation location_of(cydriver.CUmemLocationType kind, int ordinal) noexcept nogil

# The Device or Host that the driver reports; None for no location.
cdef object location_object(int kind, int ordinal)

# The NUMA node nearest to the device that is current.
cdef int nearest_numa_node() except -1

# An attribute of a device; 0 if the driver does not know the attribute.
cdef int device_attribute(cydriver.CUdevice_attribute attribute, int device_id) except? -1
