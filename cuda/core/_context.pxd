# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts: primary contexts and green contexts."""

from libc.stdint cimport intptr_t

from cuda.core._native._cuda_core cimport (
    ContextField,
    ContextHandle,
    ContextPin,
    DriverObject,
    GreenHandle,
    refuse_closed,
)
from cuda.core._utils cimport cydriver


cdef class Context(DriverObject):
    cdef:
        ContextField _h_context
        int _device_id


# Pins the context of an object for a call. RuntimeError if the object is closed.
cdef inline int Context_pin(Context self, ContextPin* pin) except -1:
    return 0 if pin.hold(self._h_context) else refuse_closed(self)


# The green context of a context, or empty for another kind.
cdef GreenHandle Context_green(const ContextHandle& h_context)

cdef Context Context_wrap(const ContextHandle& h_context, int device_id)

# A new green context of a device, which is not made current.
cdef Context Context_create_green(int device_id, object options)

# The primary context of a device, which stays retained until the process exits.
cdef int Context_primary(int device_id, ContextHandle* h_context) except -1

# Makes the primary context of a device current if no context is.
cdef int Context_require(int device_id) except -1

# The handle of the context that is current on this thread, or empty if none is.
cdef int Context_current(ContextHandle* h_context) except -1

# The handle of a context that the driver reports.
cdef int Context_find(cydriver.CUcontext c_context, ContextHandle* h_context) except -1
cdef int Context_ordinal(const ContextHandle& h_context) except -1

# Makes a context current for a few calls. Pass the result of Context_enter() to Context_leave(), and the result of that
# to LEAVE_RETURN() or, in an `except` clause, to note_left_context().
cdef int Context_enter(cydriver.CUcontext c_context) except -1 nogil
cdef cydriver.CUresult Context_leave(int is_entered) noexcept nogil

# The same for destructors, with warnings. If the context cannot be made current, the first returns -1.
cdef int Context_enter_to_release(cydriver.CUcontext c_context) noexcept nogil
cdef void Context_leave_to_release(int is_entered) noexcept nogil
