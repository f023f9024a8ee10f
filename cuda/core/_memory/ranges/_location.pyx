# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory locations: conversion between Python objects and the driver's structures."""

from __future__ import annotations

from libc.string cimport memset

from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._handles._handles cimport ContextHandle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN
from cuda.core._utils.version cimport c_driver_version

from cuda.core._handles import _late
from cuda.core._host import Host
from cuda.core._utils.validators import shown

__all__ = []


cdef cydriver.CUmemLocation location_argument(object location) except *:
    if location is None:
        raise ValueError("location must be a Device or a Host, not None")
    if isinstance(location, Host):
        if location.numa_id is None and not location.is_numa_current:
            return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0)
        _check_numa(location, c_driver_version())
        if location.is_numa_current:
            return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)
        return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, location.numa_id)
    if _late.is_device(location):
        return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, location.device_id)
    raise TypeError(f"location must be a Device or a Host, not {type(location).__name__}")


def _check_numa(location: Host, driver: int) -> None:
    if driver < 13000:
        raise TypeError(f"location {shown(location)} needs a driver of CUDA 13.0 or newer; use Host()")


cdef cydriver.CUmemLocation location_of(cydriver.CUmemLocationType kind, int ordinal) noexcept nogil:
    cdef cydriver.CUmemLocation c_location
    memset(&c_location, 0, sizeof(c_location))
    c_location.type = kind
    c_location.id = ordinal
    return c_location


cdef object location_object(int kind, int ordinal):
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        return _late.device_of(ordinal)
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST:
        return Host()
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return Host(ordinal)
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return Host.numa_current()
    return None


cdef int nearest_numa_node() except -1:
    cdef ContextHandle h_context
    cdef int node = -1
    Context_current(&h_context)
    if h_context:
        node = device_attribute(
            cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, Context_ordinal(h_context)
        )
    _check_node(<bint>h_context, node)
    return node


def _check_node(has_context: bool, node: int) -> None:
    if not has_context:
        raise RuntimeError(
            "the NUMA node nearest to the current device needs a current context; call Device.set_current() first"
        )
    if node < 0:
        raise RuntimeError("the driver reports no NUMA node nearest to the device; pass the number of a NUMA node")


cdef int device_attribute(cydriver.CUdevice_attribute attribute, int device_id) except? -1:
    cdef int c_value = 0
    ALLOW_RETURN(
        cydriver.cuDeviceGetAttribute(&c_value, attribute, device_id),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuDeviceGetAttribute",
    )
    return c_value
