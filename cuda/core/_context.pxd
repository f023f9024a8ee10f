# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport intptr_t

from cuda.core._native._cuda_core cimport DriverObject, refuse_closed
from cuda.core._native._cuda_core cimport ContextHandle, ContextField, GreenHandle, ContextPin
from cuda.core._utils cimport cydriver


cdef class Context(DriverObject):
    cdef:
        ContextField _h_context
        int _device_id


# Pins the context of an object for a call; RuntimeError when it is closed.
cdef inline int Context_pin(Context self, ContextPin* pin) except -1:
    return 0 if pin.hold(self._h_context) else refuse_closed(self)


# The green context behind a context; empty for another kind.
cdef GreenHandle Context_green(const ContextHandle& h_context)

cdef Context Context_wrap(const ContextHandle& h_context, int device_id)

# A new green context of a device, which is not made current.
cdef Context Context_create_green(int device_id, object options)

# The primary context of a device, which stays retained until the process ends.
cdef int Context_primary(int device_id, ContextHandle* h_context) except -1

# Makes the primary context of a device current if no context is.
cdef int Context_require(int device_id) except -1

# The handle of the context current on this thread; empty when there is none.
cdef int Context_current(ContextHandle* h_context) except -1

# The handle of a context that the driver reports.
cdef int Context_find(cydriver.CUcontext c_context, ContextHandle* h_context) except -1
cdef int Context_ordinal(const ContextHandle& h_context) except -1

# Makes a context current for a few calls. Pass the result of `enter` to `leave`: whether the context was pushed.
cdef int Context_enter(cydriver.CUcontext c_context) except -1 nogil
cdef void Context_leave(int is_entered) noexcept nogil

# The same for destructors: if the context cannot be made current, it warns and returns -1.
cdef int Context_enter_to_release(cydriver.CUcontext c_context) noexcept nogil
