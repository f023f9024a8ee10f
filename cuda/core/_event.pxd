# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport DriverObject, refuse_closed
from cuda.core._native._cuda_core cimport ContextHandle, ContextField, EventHandle, EventField, EventPin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport WARN_RETURN


cdef class Event(DriverObject):
    cdef:
        EventField _h_event
        ContextField _h_context
        int _device_id
        unsigned int _flags
        object _ipc_descriptor      # None before the first access


# Pins the event of an object for a call. RuntimeError if the object is closed.
cdef inline int Event_pin(Event self, EventPin* pin) except -1:
    return 0 if pin.hold(self._h_event) else refuse_closed(self)


cdef class IPCEventDescriptor:
    cdef:
        bytes _payload
        bint _is_blocking_sync


# Creates an event in a context, which need not be current. The caller keeps the context.
cdef Event Event_create(const ContextHandle& h_context, int device_id, unsigned int c_flags)
cdef Event Event_wrap(
    const EventHandle& h_event, const ContextHandle& h_context, int device_id, unsigned int c_flags
)
# Creates only the handle, in the current context, for events that users do not see.
cdef int Event_create_handle(const ContextHandle& h_context, unsigned int c_flags, EventHandle* h_event) except -1 nogil
cdef inline void Event_destroy(cydriver.CUevent c_event) noexcept nogil:
    WARN_RETURN(cydriver.cuEventDestroy(c_event), b"cuEventDestroy", c_event)

cdef unsigned int Event_flags(object options) except? 0xffffffff
