# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts: where the resources of one device live."""

from __future__ import annotations

from libc.stdint cimport intptr_t

from cuda.bindings cimport cydriver

from cuda.core._handles._driver_object cimport DriverObject, bindings_object
from cuda.core._handles._handles cimport ContextHandle, Keep, address, context_registry
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, init_driver

__all__ = ["Context"]


cdef class Context(DriverObject):
    """A CUDA context.

    Contexts come from :attr:`Device.context`, :attr:`Stream.context`, :attr:`Event.context` and
    :meth:`Device.set_current`; there is no direct construction.
    """

    _made_by = "Device.context, Stream.context or Event.context"

    def __repr__(self):
        return f"<{type(self).__name__} handle={self._address():#x} device={self._device_id}>"

    def close(self):
        """Drop this object's reference to the context; calling it again does nothing.

        Raises
        ------
        RuntimeError
            If the context is current on the calling thread.
        """
        cdef cydriver.CUcontext c_current = NULL
        if self.is_closed:
            return
        HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
        if <intptr_t>c_current == self._address():
            raise RuntimeError("cannot close a context that is current on this thread; make another one current first")
        self._release()

    @property
    def handle(self):
        """The ``CUcontext`` of the bindings, or None when closed."""
        return None if self.is_closed else bindings_object("CUcontext", self._address())

    @property
    def is_green(self) -> bool:
        """Whether the context was made from a part of a device's resources; False when closed."""
        return False

    cdef intptr_t _address(self) noexcept:
        return address(self._h_context)

    cdef void _release(self) noexcept:
        self._h_context.reset()


cdef Context Context_wrap(const ContextHandle& h_context, int device_id):
    cdef Context self = Context.__new__(Context)
    self._h_context.set(h_context)
    self._device_id = device_id
    return self


cdef int Context_primary(int device_id, ContextHandle* h_context) except -1:
    cdef cydriver.CUcontext c_context = NULL
    cdef ContextHandle h_mine
    cdef ContextHandle* h_kept = NULL
    init_driver()
    with nogil:
        HANDLE_RETURN(cydriver.cuDevicePrimaryCtxRetain(&c_context, device_id), b"cuDevicePrimaryCtxRetain")
    h_mine = ContextHandle.borrow(c_context, Keep())
    h_context[0] = context_registry().add(h_mine)
    if h_mine.use_count() == 1:
        # Another thread, or an earlier call, had retained it: give this reference back.
        with nogil:
            HANDLE_RETURN(cydriver.cuDevicePrimaryCtxRelease(device_id), b"cuDevicePrimaryCtxRelease")
    else:
        # As the CUDA runtime does, keep it until the process ends: making it again takes long.
        h_kept = new ContextHandle()
        h_kept[0] = h_mine
    return 0


cdef int Context_require(int device_id) except -1:
    cdef ContextHandle h_context
    Context_current(&h_context)
    if not h_context:
        Context_primary(device_id, &h_context)
        HANDLE_RETURN(cydriver.cuCtxSetCurrent(h_context.get()), b"cuCtxSetCurrent")
    return 0


cdef int Context_current(ContextHandle* h_context) except -1:
    cdef cydriver.CUcontext c_context = NULL
    init_driver()
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_context), b"cuCtxGetCurrent")
    if c_context != NULL:
        Context_find(c_context, h_context)
    return 0


cdef int Context_find(cydriver.CUcontext c_context, ContextHandle* h_context) except -1:
    h_context[0] = context_registry().find(c_context)
    if not h_context[0]:
        h_context[0] = ContextHandle.borrow(c_context, Keep())
    return 0


cdef int Context_ordinal(const ContextHandle& h_context) except -1:
    cdef cydriver.CUdevice c_device = 0
    cdef int is_entered = 0
    cdef ContextHandle h_kept = h_context
    with nogil:
        is_entered = Context_enter(h_kept.get())
        try:
            HANDLE_RETURN(cydriver.cuCtxGetDevice(&c_device), b"cuCtxGetDevice")
        finally:
            Context_leave(is_entered)
    return c_device


cdef int Context_enter(cydriver.CUcontext c_context) except -1 nogil:
    cdef cydriver.CUcontext c_current = NULL
    if c_context == NULL:
        return 0
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
    if c_current == c_context:
        return 0
    HANDLE_RETURN(cydriver.cuCtxPushCurrent(c_context), b"cuCtxPushCurrent")
    return 1


cdef void Context_leave(int is_entered) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    if is_entered:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")


cdef int Context_enter_to_release(cydriver.CUcontext c_context) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUresult err
    # Where the driver does not say what is current, the push decides.
    if cydriver.cuCtxGetCurrent(&c_current) == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return 0
    err = cydriver.cuCtxPushCurrent(c_context)
    WARN_RETURN(err, b"cuCtxPushCurrent")
    return 1 if err == cydriver.CUresult.CUDA_SUCCESS else -1
