# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts: primary contexts and green contexts."""

from __future__ import annotations

from libc.stdint cimport intptr_t
from libcpp.vector cimport vector

from cuda.core._device_resources cimport (
    DeviceResources,
    DeviceResources_of_context,
    Resource_add,
)
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    ContextPin,
    DriverObject,
    Green,
    GreenHandle,
    PinnedHandle,
    address,
    bindings_object,
    capture_lock,
    context_registry,
    green_registry,
    is_context_capturing,
    note_other_library,
    pin_as,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport (
    HANDLE_RETURN,
    LEAVE_RETURN,
    WARN_RETURN,
    check_or_create_options,
    init_driver,
    require_driver,
)

from cuda.core._utils import slots
from cuda.core._utils.options import Options, options
from cuda.core.typing import DeviceResourcesType  # no-cython-lint (programs import it from here)

__all__ = ["Context", "ContextOptions"]


cdef class Context(DriverObject):
    """A CUDA context.

    A context cannot be constructed directly: :attr:`Device.context`, :meth:`Device.create_context`,
    :attr:`Stream.context`, :attr:`Event.context` and :meth:`Device.set_current` return one.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> device.context == device.create_stream().context
    True
    """

    _made_by = "Device.context, Device.create_context(), Stream.context or Event.context"

    def __repr__(self):
        return f"<{type(self).__name__} handle={self._address():#x} device={self._device_id}>"

    def close(self) -> None:
        """Drop this object's reference to the context.

        A green context is destroyed when its last reference is dropped (``cuGreenCtxDestroy``). Its streams and events
        also hold references. A primary context stays retained until the process exits. Closing an object again does
        nothing.

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

    def create_stream(self, options: StreamOptions | dict[str, Any] | None = None) -> Stream:
        """Create a stream whose kernels run on this green context's multiprocessors (``cuGreenCtxStreamCreate``).

        The context need not be current.

        Parameters
        ----------
        options : :class:`StreamOptions`, optional
            The priority of the stream. ``nonblocking`` must be True, because green contexts have no other streams.

        Returns
        -------
        :class:`Stream`
            The stream, which keeps the context alive.

        Raises
        ------
        TypeError
            If ``options`` has the wrong type.
        ValueError
            If ``options.nonblocking`` is False, or the priority is outside the device's range.
        RuntimeError
            If the context is closed or not a green context.
        NotSupportedError
            If the driver is older than CUDA 12.5.
        """
        cdef ContextPin pin
        Context_pin(self, &pin)
        if not Context_green(pin.handle()):
            raise RuntimeError(
                "only green contexts create streams; use Device.create_stream() for a stream of this context"
            )
        require_driver(12050, "Context.create_stream()")
        return slots.get("green stream")(self, self._device_id, options)

    @property
    def handle(self):
        """The ``CUcontext`` of the bindings, or None if closed."""
        return None if self.is_closed else bindings_object("CUcontext", self._address())

    @property
    def is_green(self) -> bool:
        """Whether this is a green context, which has only some of the device's resources. False if closed."""
        cdef ContextPin pin
        cdef GreenHandle h_green
        if pin.hold(self._h_context):
            h_green = Context_green(pin.handle())
        return True if h_green else False

    @property
    def resources(self) -> DeviceResources:
        """The multiprocessors and work queues of the context, which are the whole device's unless it is green.

        Raises
        ------
        RuntimeError
            If the context is closed.
        """
        cdef ContextPin pin
        Context_pin(self, &pin)
        return DeviceResources_of_context(pin.handle(), self._device_id)

    @property
    def id(self) -> int:
        """The number of the context in this process (``cuCtxGetId``, ``cuGreenCtxGetId``).

        Green contexts can be numbered apart from the others.

        Raises
        ------
        RuntimeError
            If the context is closed.
        NotSupportedError
            If the context is green and the driver is older than CUDA 13.0.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> device.context.id == device.create_stream().context.id
        True
        """
        cdef ContextPin pin
        cdef GreenHandle h_green
        cdef unsigned long long c_id = 0
        Context_pin(self, &pin)
        h_green = Context_green(pin.handle())
        with nogil:
            if h_green:
                HANDLE_RETURN(cydriver.cuGreenCtxGetId(h_green.get().green, &c_id), b"cuGreenCtxGetId")
            else:
                HANDLE_RETURN(cydriver.cuCtxGetId(pin.get(), &c_id), b"cuCtxGetId")
        return c_id

    def record(self, event: Event) -> Event:
        """Record an event, which completes once the pending work in all streams of the context has completed
        (``cuCtxRecordEvent``, ``cuGreenCtxRecordEvent``).

        Parameters
        ----------
        event : :class:`Event`
            The event, of this context, such as one of :meth:`Device.create_event`.

        Returns
        -------
        :class:`Event`
            ``event``.

        Raises
        ------
        TypeError
            If ``event`` is not an :class:`Event`.
        RuntimeError
            If the context or the event is closed.
        NotSupportedError
            If the driver is older than CUDA 12.5.
        CUDAError
            If the event belongs to another context, or a stream of the context is capturing.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> event = device.context.record(device.create_event())
        >>> event.sync()
        """
        record_or_wait(self, event, True)
        return event

    def wait(self, event: Event) -> None:
        """Make later work in all streams wait for an event (``cuCtxWaitEvent``, ``cuGreenCtxWaitEvent``).

        The host does not wait.

        Parameters
        ----------
        event : :class:`Event`
            The event.

        Raises
        ------
        TypeError
            If ``event`` is not an :class:`Event`.
        RuntimeError
            If the context or the event is closed.
        NotSupportedError
            If the driver is older than CUDA 12.5.
        CUDAError
            If a stream of the context is capturing.
        """
        record_or_wait(self, event, False)

    def _pin(self) -> PinnedHandle:
        cdef ContextPin pin
        Context_pin(self, &pin)
        return pin_as("CUcontext", <intptr_t>pin.get(), pin.anchor())

    cdef intptr_t _address(self) noexcept:
        return address(self._h_context)

    cdef void _release(self) noexcept:
        self._h_context.reset()


@options
class ContextOptions(Options):
    """Options of :meth:`Device.create_context`: the resources of a new green context.

    Attributes
    ----------
    resources : sequence of :class:`SMResource` | :class:`WorkqueueResource`
        At least one group of multiprocessors or work queues, all of the same device.
    """

    resources: DeviceResourcesType


# --- Events ---------------------------------------------------------------------------------------

# Events belong to a higher layer, so the address comes from a pin.
cdef int record_or_wait(Context self, object event, bint is_record) except -1:
    cdef ContextPin pin
    cdef GreenHandle h_green
    cdef cydriver.CUevent c_event
    cdef cydriver.CUresult err
    cdef const char* api
    if not isinstance(event, slots.get("Event")):
        raise TypeError(f"event must be an Event, not {type(event).__name__}")
    pinned = event._pin()
    c_event = <cydriver.CUevent><intptr_t>int(pinned.handle)
    Context_pin(self, &pin)
    h_green = Context_green(pin.handle())
    if not h_green:  # here, because the calls are made with a lock
        require_driver(12050, "cuCtxRecordEvent" if is_record else "cuCtxWaitEvent")
    with nogil:
        err, api = call_unless_capturing(pin.get(), h_green, c_event, is_record)
    HANDLE_RETURN(err, api)
    return 0


# During a capture, the driver would invalidate the capture, fail, and crash if the capture ends meanwhile.
cdef (cydriver.CUresult, const char*) call_unless_capturing(
    cydriver.CUcontext c_context, const GreenHandle& h_green, cydriver.CUevent c_event, bint is_record
) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    cdef const char* api = b"cuCtxRecordEvent" if is_record else b"cuCtxWaitEvent"
    capture_lock().lock()
    if not is_context_capturing(c_context):
        if h_green and is_record:
            err = cydriver.cuGreenCtxRecordEvent(h_green.get().green, c_event)
        elif h_green:
            err = cydriver.cuGreenCtxWaitEvent(h_green.get().green, c_event)
        elif is_record:
            err = cydriver.cuCtxRecordEvent(c_context, c_event)
        else:
            err = cydriver.cuCtxWaitEvent(c_context, c_event)
    capture_lock().unlock()
    if h_green:
        api = b"cuGreenCtxRecordEvent" if is_record else b"cuGreenCtxWaitEvent"
    return err, api


# --- Green contexts -------------------------------------------------------------------------------

cdef GreenHandle Context_green(const ContextHandle& h_context):
    cdef Green key
    key.context = h_context.get()
    return green_registry().find(key)


cdef Context Context_create_green(int device_id, object options):
    cdef vector[cydriver.CUdevResource] c_resources
    cdef cydriver.CUdevResourceDesc c_description = NULL
    cdef Green green
    cdef GreenHandle h_green
    if options is None:
        raise ValueError("options must be a ContextOptions with the resources of the context, not None")
    options = check_or_create_options(ContextOptions, options, "context options")
    resources = options.resources
    if resources is None:
        raise ValueError("resources must contain at least one SMResource or WorkqueueResource, not be None")
    try:
        resources = list(resources)
    except TypeError as error:
        raise TypeError(
            f"resources must be a sequence of SMResource and WorkqueueResource, not {type(resources).__name__}"
        ) from error
    if not resources:
        raise ValueError("resources must contain at least one SMResource or WorkqueueResource, not be empty")
    for resource in resources:
        Resource_add(resource, device_id, &c_resources)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDevResourceGenerateDesc(&c_description, c_resources.data(), <unsigned int>c_resources.size()),
            b"cuDevResourceGenerateDesc",
        )
        HANDLE_RETURN(
            cydriver.cuGreenCtxCreate(
                &green.green, c_description, device_id, cydriver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
            ),
            b"cuGreenCtxCreate",
        )
        if cydriver.cuCtxFromGreenCtx(&green.context, green.green) != cydriver.CUresult.CUDA_SUCCESS:
            green.context = NULL
    h_green = GreenHandle.own(green, &Green_destroy, Anchor())
    if green.context == NULL:
        raise RuntimeError("the driver returned no context for the green context (cuCtxFromGreenCtx failed)")
    green_registry().add(h_green)
    return Context_wrap(
        context_registry().add(ContextHandle.own(green.context, &Green_forget, h_green.anchor())), device_id
    )


cdef void Green_destroy(Green green) noexcept nogil:
    green_registry().remove(green)
    WARN_RETURN(cydriver.cuGreenCtxDestroy(green.green), b"cuGreenCtxDestroy", green.green)


# The CUcontext refers to the green context and is destroyed with it.
cdef void Green_forget(cydriver.CUcontext c_context) noexcept nogil:
    context_registry().remove(c_context)


# --- All contexts ---------------------------------------------------------------------------------

cdef Context Context_wrap(const ContextHandle& h_context, int device_id):
    cdef Context self = Context.__new__(Context)
    self._h_context.set(h_context)
    self._device_id = device_id
    return self


cdef int Context_primary(int device_id, ContextHandle* h_context) except -1:
    cdef cydriver.CUcontext c_context = NULL
    cdef ContextHandle h_retained
    cdef ContextHandle* h_kept = NULL
    cdef unsigned int c_flags = 0
    cdef int is_active = 0
    init_driver()
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDevicePrimaryCtxGetState(device_id, &c_flags, &is_active), b"cuDevicePrimaryCtxGetState"
        )
        HANDLE_RETURN(cydriver.cuDevicePrimaryCtxRetain(&c_context, device_id), b"cuDevicePrimaryCtxRetain")
    if is_active and not context_registry().find(c_context):
        note_other_library()  # another library uses the device
    h_retained = ContextHandle.borrow(c_context, Anchor())
    h_context[0] = context_registry().add(h_retained)
    if h_retained.use_count() == 1:
        # The registry already had it, from another thread or an earlier call. Drop the second reference.
        with nogil:
            HANDLE_RETURN(cydriver.cuDevicePrimaryCtxRelease(device_id), b"cuDevicePrimaryCtxRelease")
    else:
        # Retained until the process exits, as by the CUDA runtime, because creating it again takes long.
        h_kept = new ContextHandle()
        h_kept[0] = h_retained
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
        h_context[0] = ContextHandle.borrow(c_context, Anchor())
    return 0


cdef int Context_ordinal(const ContextHandle& h_context) except -1:
    cdef cydriver.CUdevice c_device = 0
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    cdef ContextHandle h_kept = h_context
    with nogil:
        is_entered = Context_enter(h_kept.get())
        err = cydriver.cuCtxGetDevice(&c_device)
        LEAVE_RETURN(err, b"cuCtxGetDevice", Context_leave(is_entered))
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


cdef cydriver.CUresult Context_leave(int is_entered) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    return cydriver.cuCtxPopCurrent(&c_context) if is_entered else cydriver.CUresult.CUDA_SUCCESS


cdef int Context_enter_to_release(cydriver.CUcontext c_context) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUresult err
    # If the driver does not report the current context, push it anyway.
    if cydriver.cuCtxGetCurrent(&c_current) == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return 0
    err = cydriver.cuCtxPushCurrent(c_context)
    WARN_RETURN(err, b"cuCtxPushCurrent", c_context)
    return 1 if err == cydriver.CUresult.CUDA_SUCCESS else -1


cdef void Context_leave_to_release(int is_entered) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err = Context_leave(is_entered)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        cydriver.cuCtxGetCurrent(&c_context)
        WARN_RETURN(err, b"cuCtxPopCurrent", c_context)


check_self_in_methods(globals())
