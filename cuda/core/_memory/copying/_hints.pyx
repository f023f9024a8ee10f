# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Hints of copies: conversion to CUmemcpyAttributes, and which drivers and streams accept them."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libc.string cimport memset

from cuda.core._handles._capture_mode cimport stream_captures
from cuda.core._handles._handles cimport StreamHandle
from cuda.core._memory.ranges._location cimport location_argument
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

from cuda.core._utils.importing.deferred import Deferred

__all__ = []

_options = Deferred("cuda.core._memory.copying._options")

# The driver's values, by the strings of the enum members.
cdef dict ORDERS = {
    "stream": <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    "during_api_call":
        <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
    "any": <int>cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
}
cdef dict MODES = {
    "default": <int>cydriver.CUmemcpyFlags.CU_MEMCPY_FLAG_DEFAULT,
    "prefer_overlap_with_compute":
        <int>cydriver.CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE,
}


cdef bint copy_with_hints(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1:
    cdef cydriver.CUmemcpyAttributes hints = hints_of(options)
    cdef cydriver.CUstream c_stream = h_stream.get()
    check_stream(h_stream)
    if not has_hints(hints, 13020):
        return False
    if size != 0 and target != source:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemcpyWithAttributesAsync(target, source, size, &hints, c_stream),
                b"cuMemcpyWithAttributesAsync",
            )
    return True


cdef cydriver.CUmemcpyAttributes hints_of(object options) except *:
    cdef cydriver.CUmemcpyAttributes hints
    memset(&hints, 0, sizeof(hints))
    if not isinstance(options, _options.CopyOptions):
        raise TypeError(f"options must be a CopyOptions or None, not {type(options).__name__}")
    hints.srcAccessOrder = <cydriver.CUmemcpySrcAccessOrder><int>ORDERS[options.src_access_order]
    if options.src_location_hint is not None:
        hints.srcLocHint = location_argument(options.src_location_hint)
    if options.dst_location_hint is not None:
        hints.dstLocHint = location_argument(options.dst_location_hint)
    hints.flags = <int>MODES[options.overlap_mode]
    return hints


cdef int check_stream(const StreamHandle& h_stream) except -1:
    if <uintptr_t>h_stream.get() <= 1:
        raise TypeError("options must be None on the legacy default stream; use another stream")
    if stream_captures(h_stream.get()):
        raise TypeError("options must be None on a capturing stream")
    return 0


cdef bint has_hints(const cydriver.CUmemcpyAttributes& hints, int version) except -1:
    if c_driver_version() >= version:
        return True
    # Other hints may be ignored. Without this one, the source would be read later than the caller expects.
    if hints.srcAccessOrder == cydriver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        raise RuntimeError(
            "src_access_order='during_api_call' needs a driver for "
            f"CUDA {version // 1000}.{version % 1000 // 10} or newer"
        )
    return False
