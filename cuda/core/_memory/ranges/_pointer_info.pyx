# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's information about an address, for memory that no memory resource has allocated."""

from __future__ import annotations

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

from cuda.core._utils.cuda_utils import CUDAError

__all__ = []


cdef PointerInfo pointer_info(cydriver.CUdeviceptr pointer) except *:
    cdef PointerInfo info
    cdef cydriver.CUpointer_attribute[3] attributes
    cdef void* values[3]
    cdef int c_kind = 0
    cdef int c_device = -1
    cdef int c_managed = 0
    info.device_id = -1
    info.is_device_accessible = False
    info.is_host_accessible = True
    info.is_managed = False
    if not has_driver():
        return info
    attributes[0] = cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    attributes[1] = cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    attributes[2] = cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    values[0] = &c_kind
    values[1] = &c_device
    values[2] = &c_managed
    HANDLE_RETURN(cydriver.cuPointerGetAttributes(3, attributes, values, pointer), b"cuPointerGetAttributes")
    if c_kind == 0:
        return info     # the driver does not know pageable host memory
    info.device_id = c_device
    info.is_managed = c_managed != 0
    info.is_device_accessible = True
    info.is_host_accessible = info.is_managed or c_kind == <int>cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    return info


# Without a driver or a device, all memory is host memory.
cdef bint has_driver() except -1:
    try:
        init_driver()
    except (CUDAError, RuntimeError):
        return False
    return True
