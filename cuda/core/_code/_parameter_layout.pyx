# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter layouts: the offset and the size of each parameter of a kernel, read from the driver."""

from __future__ import annotations

from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._handles cimport ContextHandle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

from collections import namedtuple

__all__ = ["ParamInfo"]

ParamInfo = namedtuple("ParamInfo", ("offset", "size"), module="cuda.core._module")
ParamInfo.__doc__ = "The offset of a parameter in the parameter block of a kernel, and its size, in bytes."


cdef int read_kernel_layout(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1:
    cdef ContextHandle h_context
    cdef int is_entered = 0
    cdef CaptureModeScope mode
    # The driver needs a context, but any one will do.
    Context_current(&h_context)
    if not h_context:
        Context_primary(0, &h_context)
    is_entered = Context_enter(h_context.get())
    # The query may load the kernel, which the capture modes "global" and "thread_local" forbid.
    relax_capture_mode(mode)
    try:
        read_slots(c_kernel, slots)
        load_kernel(c_kernel)
    finally:
        Context_leave(is_entered)
    return 0


cdef int read_function_layout(cydriver.CUfunction c_function, vector[ParamSlot]& slots) except -1:
    cdef ParamSlot slot
    slot.offset = slot.size = 0
    # After the last parameter, the call returns "invalid value".
    while ALLOW_RETURN(
        cydriver.cuFuncGetParamInfo(c_function, slots.size(), &slot.offset, &slot.size),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuFuncGetParamInfo",
    ):
        slots.push_back(slot)
    return 0


cdef int read_slots(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1:
    cdef ParamSlot slot
    cdef size_t c_count = 0
    cdef bint has_count = c_driver_version() >= 13020
    if has_count:
        HANDLE_RETURN(cydriver.cuKernelGetParamCount(c_kernel, &c_count), b"cuKernelGetParamCount")
    while not has_count or slots.size() < c_count:
        slot.offset = slot.size = 0
        if has_count:
            HANDLE_RETURN(
                cydriver.cuKernelGetParamInfo(c_kernel, slots.size(), &slot.offset, &slot.size),
                b"cuKernelGetParamInfo",
            )
        # Without a count, the call returns "invalid value" after the last parameter.
        elif not ALLOW_RETURN(
            cydriver.cuKernelGetParamInfo(c_kernel, slots.size(), &slot.offset, &slot.size),
            cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
            b"cuKernelGetParamInfo",
        ):
            break
        slots.push_back(slot)
    return 0


# Loads the kernel now, because the first launch, which would load it otherwise, may be captured. A kernel without code
# for this device is not an error here: it may be for another device.
cdef int load_kernel(cydriver.CUkernel c_kernel) except -1:
    cdef cydriver.CUfunction c_function = NULL
    with nogil:
        if ALLOW_RETURN(
            cydriver.cuKernelGetFunction(&c_function, c_kernel),
            cydriver.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
            b"cuKernelGetFunction",
        ):
            HANDLE_RETURN(cydriver.cuFuncLoad(c_function), b"cuFuncLoad")
    return 0
