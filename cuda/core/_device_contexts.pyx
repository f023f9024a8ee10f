# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The contexts of a device: making one current, and creating green contexts."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t

from cuda.core._context cimport (
    Context,
    Context_create_green,
    Context_find,
    Context_keep,
    Context_ordinal,
    Context_primary,
    Context_wrap,
)
from cuda.core._handles._handles cimport ContextHandle, KeptContext
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

from cuda.core._utils.cuda_utils import CUDAError

__all__ = []


cdef class DeviceContexts:
    """The contexts of a device, as methods of :class:`Device`."""

    def __enter__(self):
        cdef KeptContext kept
        cdef Context context = Device_context(self)
        if context is None or not kept.hold(context._h_context):
            context = Device_primary(self)
            Context_keep(context, &kept)
        HANDLE_RETURN(cydriver.cuCtxPushCurrent(kept.get()), b"cuCtxPushCurrent")
        Device_set_context(self, context)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        cdef cydriver.CUcontext c_context = NULL
        HANDLE_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Make this device current on the calling thread.

        Without ``ctx``, the primary context of the device becomes current (``cuCtxSetCurrent``). With ``ctx``, the
        current context is popped and returned, and ``ctx`` is pushed (``cuCtxPopCurrent``, ``cuCtxPushCurrent``).
        Pass the returned context to another call to restore it.

        Parameters
        ----------
        ctx : :class:`Context`, optional
            A context of this device. If None, the primary context.

        Returns
        -------
        :class:`Context` | None
            The context that ``ctx`` replaced; the same object that was passed in, if it was set through this Device.
            None if no context was current, or ``ctx`` is None.

        Raises
        ------
        TypeError
            If ``ctx`` is not a :class:`Context`.
        RuntimeError
            If ``ctx`` is closed or belongs to another device.
        """
        cdef KeptContext kept
        cdef Context context
        if isinstance(ctx, Context):
            return Device_exchange(self, ctx)
        if ctx is not None:
            raise TypeError(f"ctx must be a Context or None, not {type(ctx).__name__}")
        context = Device_primary(self)
        Context_keep(context, &kept)
        HANDLE_RETURN(cydriver.cuCtxSetCurrent(kept.get()), b"cuCtxSetCurrent")
        Device_set_context(self, context)

    def create_context(self, options: ContextOptions | None = None) -> Context:
        """Create a green context, which uses a part of the multiprocessors of this device (``cuGreenCtxCreate``).

        A green context shares memory, loaded code and errors with the primary context. It does not become current:
        enqueue work on a stream from :meth:`Context.create_stream`, or call :meth:`set_current`.

        Parameters
        ----------
        options : :class:`ContextOptions` | dict
            The resources of the context: multiprocessors from :meth:`SMResource.split`, work queues, or both.

        Returns
        -------
        :class:`Context`
            The context. It is destroyed after it and everything that was created in it are closed.

        Raises
        ------
        TypeError
            If ``options`` or a resource has the wrong type.
        ValueError
            If ``options`` is None or has no resources, or a resource comes from a dry run or from another device.
        RuntimeError
            If the driver is older than CUDA 12.4.
        CUDAError
            If the driver refuses the resources.
        """
        return Context_create_green(self._id, options)

    @property
    def context(self) -> Context:
        """† The :class:`Context` that this Device made current last, with :meth:`set_current` or ``with``."""
        Device_check_set(self)
        return Device_context(self)


cdef int Device_check_set(DeviceContexts self) except -1:
    if Device_context(self) is None:
        raise CUDAError(f"device {self._id} was not made current by this object; call Device.set_current() first")
    return 0


cdef int Device_keep_context(DeviceContexts self, KeptContext* kept) except -1:
    Device_check_set(self)
    return Context_keep(Device_context(self), kept)


cdef Context Device_primary(DeviceContexts self):
    cdef ContextHandle h_context
    cdef Context primary
    with cython.critical_section(self):
        primary = self._primary
    if primary is None or not primary._h_context:
        Context_primary(self._id, &h_context)
        with cython.critical_section(self):
            if self._primary is None or not self._primary._h_context:
                self._primary = Context_wrap(h_context, self._id)
            primary = self._primary
    return primary


cdef Context Device_exchange(DeviceContexts self, Context context):
    cdef Context previous = None
    cdef ContextHandle h_previous
    cdef cydriver.CUcontext c_previous = NULL
    cdef KeptContext kept
    Context_keep(context, &kept)
    if context._device_id != self._id:
        raise RuntimeError(f"ctx belongs to device {context._device_id}, not to device {self._id}")
    init_driver()
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_previous), b"cuCtxGetCurrent")
    if c_previous != NULL:
        previous = Device_find_context(self, c_previous)
        if previous is None:
            Context_find(c_previous, &h_previous)
            previous = Context_wrap(h_previous, Context_ordinal(h_previous))
        HANDLE_RETURN(cydriver.cuCtxPopCurrent(&c_previous), b"cuCtxPopCurrent")
    HANDLE_RETURN(cydriver.cuCtxPushCurrent(kept.get()), b"cuCtxPushCurrent")
    Device_set_context(self, context)
    return previous


# The Context object that this device has made current; None if that was another context.
cdef Context Device_find_context(DeviceContexts self, cydriver.CUcontext c_context):
    with cython.critical_section(self):
        contexts = (self._context, self._primary)
    for context in contexts:
        if context is not None and (<Context>context)._address() == <intptr_t>c_context:
            return context
    return None


make_hasattr_safe(DeviceContexts)
