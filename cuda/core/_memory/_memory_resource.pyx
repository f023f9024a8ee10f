# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resources: their base class, pointer information, locations, and allocations with their release."""

from __future__ import annotations

cimport cython
from libc.stdint cimport int64_t, uintptr_t
from libc.stdio cimport snprintf
from libc.string cimport memset
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move

from cpython.long cimport PyLong_CheckExact
from cpython.number cimport PyIndex_Check
from cpython.object cimport PyObject

from cuda.core._context cimport (
    Context_current,
    Context_enter,
    Context_enter_to_release,
    Context_leave_to_release,
    Context_ordinal,
)
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    CaptureModeScope,
    ContextHandle,
    InContext,
    Anchor,
    StreamPin,
    MemoryPoolHandle,
    StreamHandle,
    captures_in_progress,
    context_handle,
    note_foreign_free,
    relax_capture_mode,
    retire,
    retire_until_capture_ends,
    stream_captures,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport raise_later_if_from_handler, wait_before_release
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin, default_stream, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport (
    call_with_interpreter,
    check_self_in_methods,
    is_interpreter_exiting,
    read_short_int,
)
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    WARN_RETURN,
    init_driver,
    require_driver,
    show_unraisable,
    warn_driver_error,
)

import operator

from cuda.core._utils import slots
from cuda.core._host import Host
from cuda.core._utils.cuda_utils import CUDAError, TooOldError, UnavailableError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import address_argument, check_address, shown

__all__ = ["MemoryResource", "free_async", "nearest_numa_node"]


cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX
    Py_ssize_t PyNumber_AsSsize_t(object number, void* error) except? -1


@cython.auto_pickle(True)
cdef class MemoryResource:
    """The base class of memory resources, which allocate and free memory for buffers.

    A subclass must define :meth:`allocate`, :meth:`deallocate`, :attr:`is_device_accessible`,
    :attr:`is_host_accessible` and :attr:`device_id`.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, MemoryResource
    >>> class Rounding(MemoryResource):
    ...     is_device_accessible, is_host_accessible, device_id = True, False, 0
    ...     def __init__(self, upstream):
    ...         self.upstream = upstream
    ...     def allocate(self, size, *, stream):
    ...         return self.upstream.allocate(-(-size // 256) * 256, stream=stream)
    ...     def deallocate(self, ptr, size, *, stream):
    ...         self.upstream.deallocate(ptr, size, stream=stream)
    >>> device = Device()
    >>> device.set_current()
    >>> Rounding(DeviceMemoryResource(device)).allocate(100, stream=device.default_stream).size
    256
    """

    # Whether allocation is stream-ordered; if not, allocate() accepts stream=None.
    _needs_stream = True
    # What can access the memory: "device", "host" or both. None if a class defines the two properties instead.
    _accessible_by = None
    # Whether freeing blocks until the device is idle. If so, memory dropped by a garbage collection, not by close(),
    # is freed later, once the device is idle.
    _waits_to_free = False
    # The deallocate() of a class of this library, which calls the driver directly, so that its failures are warnings.
    _own_deallocate = None
    __signature__ = ConstructorSignature()

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        """Allocate memory. A subclass returns ``Buffer.from_handle(ptr, size, mr=self)``.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, of at least ``size`` bytes.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise missing(self, "allocate()")

    def deallocate(self, ptr: DevicePointerType, size: int, *, stream: Stream | GraphBuilder) -> None:
        """Free memory. A :class:`Buffer` calls this once, when it is closed or deleted.

        An exception raised in such a call is passed to ``sys.unraisablehook``. After the interpreter has begun to
        exit, buffers do not call this method.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : :class:`Stream`
            The stream that the free is ordered on.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise missing(self, "deallocate()")

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        if self._accessible_by is None:
            raise missing_property(self, "is_device_accessible")
        return "device" in self._accessible_by

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory."""
        if self._accessible_by is None:
            raise missing_property(self, "is_host_accessible")
        return "host" in self._accessible_by

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, which migrates between the host and devices."""
        return False

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory, or -1 if the memory is not tied to one."""
        raise missing_property(self, "device_id")

    cdef object _allocate(self, size_t size, Stream stream):
        return self.allocate(size, stream=stream)

    cdef bint _is_shared(self) noexcept:
        return False

    cdef object _export(self, object buffer):
        raise not_shared(self)

    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1:
        raise not_shared(self)


def nearest_numa_node() -> int:
    """Return the NUMA node nearest to the device of the current context.

    Raises
    ------
    RuntimeError
        If no context is current, or the driver reports no node.
    """
    cdef ContextHandle h_context
    cdef int node = -1
    Context_current(&h_context)
    if h_context:
        node = attribute_or_zero(
            cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, Context_ordinal(h_context)
        )
    _check_node(<bint>h_context, node)
    return node


def free_async(pointer: int, Stream stream) -> None:
    """Free memory of a pool in stream order (``cuMemFreeAsync``).

    If the context was destroyed, the memory was freed with it, and this only warns.
    """
    cdef Allocation value
    cdef cydriver.CUresult err
    cdef StreamPin stream_pin
    value.pointer = pointer
    if value.pointer == 0:
        return
    Stream_pin(stream, &stream_pin)
    with nogil:
        err = cydriver.cuMemFreeAsync(value.pointer, stream_pin.get())
        note_free(stream_pin.handle())
    if (
        err == cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT
        or err == cydriver.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED
    ):
        warn_leak(value, err, b"cuMemFreeAsync")
    else:
        HANDLE_RETURN(err, b"cuMemFreeAsync")


cdef object missing(MemoryResource resource, str member):
    return TypeError(f"{type(resource).__name__} must define {member}, as every memory resource does")


class MissingPropertyError(TypeError, AttributeError):
    """Raised for a property that a resource does not define.

    It is also an AttributeError, so ``hasattr()`` returns False.
    """


cdef object missing_property(MemoryResource resource, str name):
    return MissingPropertyError(*missing(resource, name).args)


cdef object not_shared(MemoryResource resource):
    return UnavailableError(f"this {type(resource).__name__} is not shared between processes; set ipc_enabled=True")


# --- Pointer information and locations -------------------------------------------------------------

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


cdef cydriver.CUmemLocation location_argument(object location) except *:
    if location is None:
        raise ValueError("location must be a Device or a Host, not None")
    if isinstance(location, Host):
        if location.numa_id is None and not location.is_numa_current:
            return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0)
        check_numa(location)
        if location.is_numa_current:
            return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)
        return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, location.numa_id)
    if isinstance(location, slots.get("Device")):
        return location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, location.device_id)
    raise TypeError(f"location must be a Device or a Host, not {type(location).__name__}")


class LocationTooNewError(TooOldError, TypeError):
    """The driver is too old for the location. The official package raises TypeError."""


cdef int check_numa(object location) except -1:
    try:
        return require_driver(13000, f"location {shown(location)}", "use Host()")
    except TooOldError as error:
        raise LocationTooNewError(str(error)) from None


cdef cydriver.CUmemLocation location_of(cydriver.CUmemLocationType kind, int ordinal) noexcept nogil:
    cdef cydriver.CUmemLocation c_location
    memset(&c_location, 0, sizeof(c_location))
    c_location.type = kind
    c_location.id = ordinal
    return c_location


cdef cydriver.CUmemLocation domain_of(int device_id, int domain) noexcept nogil:
    cdef cydriver.CUmemLocation c_location
    memset(&c_location, 0, sizeof(c_location))
    c_location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN
    c_location.localized.deviceId = <unsigned char>device_id
    c_location.localized.localityDomainId = <unsigned char>domain
    return c_location


cdef object location_object(int kind, int ordinal):
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        return slots.get("Device")(ordinal)
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST:
        return Host()
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return Host(ordinal)
    if kind == <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return Host.numa_current()
    return None


cdef int attribute_or_zero(cydriver.CUdevice_attribute attribute, int device_id) except? -1:
    cdef int c_value = 0
    ALLOW_RETURN(
        cydriver.cuDeviceGetAttribute(&c_value, attribute, device_id),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuDeviceGetAttribute",
    )
    return c_value


def _check_node(has_context: bool, node: int) -> None:
    if not has_context:
        raise RuntimeError(
            "the NUMA node nearest to the current device needs a current context; call Device.set_current() first"
        )
    if node < 0:
        raise RuntimeError("the driver reports no NUMA node nearest to the device; pass the number of one")


cdef size_t size_argument(object size) except? <size_t>-1:
    cdef int64_t number = 0
    cdef Py_ssize_t c_size
    if PyLong_CheckExact(size) and read_short_int(<PyObject*>size, &number) and number >= 0:
        return number
    if isinstance(size, float) or not PyIndex_Check(size):
        raise TypeError(f"size must be an int, a number of bytes, not {type(size).__name__}")
    # Without an exception type, the result saturates on overflow.
    c_size = PyNumber_AsSsize_t(size, NULL)
    if c_size < 0 or (c_size == PY_SSIZE_T_MAX and operator.index(size) > PY_SSIZE_T_MAX):
        raise OverflowError(f"size must be a number of bytes, from 0 to 2**63 - 1, not {shown(size)}")
    return c_size


# --- Stream-ordered allocations from pools ---------------------------------------------------------

cdef int allocate_from_pool(
    const MemoryPoolHandle& h_pool, size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef cydriver.CUresult err
    cdef cydriver.CUmemoryPool c_pool = h_pool.get()
    cdef Anchor anchor
    value.h_stream = h_stream
    if size == 0:
        h_allocation[0] = AllocationHandle.borrow(move(value), Anchor())
        return 0
    fix_context(value)
    # On a capturing stream, the memory would belong to the graph, and could not be freed to the pool.
    if stream_captures(value.h_stream.get()):
        raise RuntimeError("stream must not be capturing, because pools cannot allocate then; use GraphMemoryResource")
    value.size = size
    anchor = h_pool.anchor()
    with nogil:
        err = cydriver.cuMemAllocFromPoolAsync(&value.pointer, size, c_pool, value.h_stream.get())
        if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
            err = cydriver.cuMemAllocFromPoolAsync(&value.pointer, size, c_pool, value.h_stream.get())
        HANDLE_RETURN(err, b"cuMemAllocFromPoolAsync")
    h_allocation[0] = AllocationHandle.own(move(value), &free_in_stream_order, move(anchor))
    return 0


cdef void free_in_stream_order(Allocation value) noexcept nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef int is_entered = enter_to_free(value)
    if is_entered < 0:
        return
    # Captures begun by another library are only detected by the error.
    if captures_in_progress.load() == 0 or not retire_if_capturing(value):
        relax_capture_mode(mode)
        err = cydriver.cuMemFreeAsync(value.pointer, value.h_stream.get())
        if err != cydriver.CUresult.CUDA_SUCCESS and not retire_if_capturing(value):
            warn_leak(value, err, b"cuMemFreeAsync")
        note_free(value.h_stream)
    Context_leave_to_release(is_entered)


cdef atomic[int]* own_pools = new atomic[int](0)


# Before a pool is destroyed, its frees must have completed. Only streams of this library are queried for that, so note
# frees on other streams.
cdef void note_free(const StreamHandle& h_stream) noexcept nogil:
    if own_pools.load() != 0 and not h_stream.is_owner() and <uintptr_t>h_stream.get() != LEGACY:
        note_foreign_free(h_stream.get())


cdef uintptr_t LEGACY = cydriver.CU_STREAM_LEGACY


# Returns true if the stream is capturing. It then cannot free memory from outside the capture, which is therefore freed
# when the capture ends, or on the next synchronization if another library began the capture.
cdef bint retire_if_capturing(const Allocation& value) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_capture = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err = cydriver.cuStreamIsCapturing(value.h_stream.get(), &c_capture)
    # The legacy default stream would synchronize with a capturing stream.
    if err != cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        WARN_RETURN(err, b"cuStreamIsCapturing", value.h_stream.get())
        if c_capture == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
            return False
    return retire_until_capture_ends(value, &free_in_stream_order)


# Makes the context of a default stream current. Returns 1 if it was pushed, 0 if it was already current, and -1 if
# pushing failed, after a warning.
cdef int enter_to_free(const Allocation& value) noexcept nogil:
    cdef cydriver.CUcontext c_context = value.h_context.get()
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUresult err
    if c_context == NULL:
        return 0
    # Usually the context is already current. If the driver does not report the current context, push it anyway.
    if cydriver.cuCtxGetCurrent(&c_current) == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return 0
    err = cydriver.cuCtxPushCurrent(c_context)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        warn_leak(value, err, b"cuCtxPushCurrent")
        return -1
    return 1


# --- Graph memory ----------------------------------------------------------------------------------

cdef int allocate_in_graph(size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation) except -1:
    cdef Allocation value
    value.h_stream = h_stream
    fix_context(value)
    if not stream_captures(value.h_stream.get()):
        raise RuntimeError("stream must be capturing, because graph memory can only be allocated during a capture")
    if size == 0:
        h_allocation[0] = AllocationHandle.borrow(move(value), Anchor())
        return 0
    value.size = size
    with nogil:
        HANDLE_RETURN(cydriver.cuMemAllocAsync(&value.pointer, size, value.h_stream.get()), b"cuMemAllocAsync")
    h_allocation[0] = AllocationHandle.own(move(value), &free_in_graph, Anchor())
    return 0


cdef void free_in_graph(Allocation value) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_capture = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef int is_entered = enter_to_free(value)
    if is_entered < 0:
        return
    err = cydriver.cuStreamIsCapturing(value.h_stream.get(), &c_capture)
    WARN_RETURN(err, b"cuStreamIsCapturing", value.h_stream.get())
    relax_capture_mode(mode)
    err = cydriver.cuMemFreeAsync(value.pointer, value.h_stream.get())
    # After the capture, the memory only exists between a launch of the graph and its free. If it does not exist, there
    # is nothing to free.
    if err != cydriver.CUresult.CUDA_SUCCESS and not (
        err == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE
        and c_capture == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    ):
        warn_leak(value, err, b"cuMemFreeAsync")
    Context_leave_to_release(is_entered)


# --- Wrapped memory --------------------------------------------------------------------------------

cdef int wrap(
    object ptr, object size, object resource, object owner, object stream, AllocationHandle* h_allocation
) except -1:
    cdef StreamPin stream_pin
    cdef cydriver.CUdeviceptr pointer = pointer_argument(ptr)
    cdef size_t c_size = size_argument(size)
    if resource is None:
        if stream is not None:
            raise ValueError("stream must be None without mr, because it is the stream on which mr frees the memory")
        return borrow(pointer, c_size, Anchor() if owner is None else Anchor.of_object(<PyObject*>owner), h_allocation)
    if owner is not None:
        raise ValueError("mr and owner are mutually exclusive: mr frees the memory, owner only keeps it alive")
    if not isinstance(resource, MemoryResource):
        raise TypeError(f"mr must be a MemoryResource or None, not {type(resource).__name__}")
    if stream is not None:
        Stream_pin(Stream_accept(stream), &stream_pin)
    return adopt(pointer, c_size, resource, stream_pin.handle(), h_allocation)


cdef cydriver.CUdeviceptr pointer_argument(object ptr) except? 0:
    return check_address("ptr", ptr)


cdef int adopt(
    cydriver.CUdeviceptr pointer, size_t size, object resource, const StreamHandle& h_stream,
    AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef bint waits = prepare(resource, h_stream, pointer != 0, value)
    value.pointer = pointer
    value.size = size
    return own_by_resource(value, waits, h_allocation)


cdef bint prepare(object resource, const StreamHandle& h_stream, bint has_memory, Allocation& value) except -1:
    value.resource = <PyObject*>resource
    value.h_stream = h_stream
    if has_memory and needs_context(resource, h_stream):
        if not value.h_stream:
            value.h_stream = default_stream()._h_stream.copy()
        fix_context(value)
    return resource._waits_to_free


cdef int own_by_resource(Allocation& value, bint waits, AllocationHandle* h_allocation) except -1:
    cdef Anchor anchor = Anchor.of_object(value.resource)
    if waits:
        h_allocation[0] = AllocationHandle.own_with_wait(move(value), &free_or_retire, move(anchor))
    else:
        h_allocation[0] = AllocationHandle.own(move(value), &free_by_resource, move(anchor))
    return 0


cdef cydriver.CUdeviceptr freed_address(object ptr) except? 0:
    # An int is converted without Python code, because an interrupted free would lose the memory.
    return ptr if PyLong_CheckExact(ptr) else address_argument("ptr", ptr)


# Freeing blocks until the device is idle. close() waits; but if the last reference is dropped by a garbage collection,
# the memory is retired, because the collection might run on the very thread that the device's work depends on.
cdef void free_or_retire(Allocation value, cpp_bool may_wait) noexcept nogil:
    if may_wait or is_interpreter_exiting() or not retire(value, &free_retired, anchor_of(value)):
        free_by_resource(value)


cdef void free_retired(Allocation value) noexcept nogil:
    free_or_retire(value, False)


# A call that frees memory.
cdef struct Release:
    FreeCall function
    cydriver.CUdeviceptr pointer
    size_t size
    const char* api


cdef int free_after_wait(FreeCall function, cydriver.CUdeviceptr pointer, size_t size, const char* api) except -1:
    cdef InContext[Release] release
    cdef cydriver.CUcontext c_context = NULL
    cdef CaptureModeScope mode
    WARN_RETURN(cydriver.cuCtxGetCurrent(&c_context), b"cuCtxGetCurrent")
    if c_context != NULL:
        release.h_context = context_handle(c_context)
    release.raw.function, release.raw.pointer, release.raw.size, release.raw.api = function, pointer, size, api
    with nogil:
        if wait_before_release() or not retire(release, &free_later, Anchor()):
            relax_capture_mode(mode)
            HANDLE_RETURN(function(pointer, size), api)
    return 0


cdef void free_later(InContext[Release] release) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = 0
    # The driver would also wait for newer work.
    if retire(release, &free_later, Anchor()):
        return
    if release.h_context:
        is_entered = Context_enter_to_release(release.h_context.get())
    relax_capture_mode(mode)
    WARN_RETURN(release.raw.function(release.raw.pointer, release.raw.size), release.raw.api)
    Context_leave_to_release(is_entered > 0)


cdef void free_by_resource(Allocation value) noexcept nogil:
    call_with_interpreter(&call_deallocate, value)


cdef Anchor anchor_of(Allocation& value) noexcept nogil:
    cdef Anchor anchor
    cdef AnchoredResource found
    found.resource = value.resource
    found.anchor = &anchor
    call_with_interpreter(&take_anchor, found)
    return anchor


cdef struct AnchoredResource:
    PyObject* resource
    Anchor* anchor


cdef void take_anchor(AnchoredResource& found) noexcept:
    found.anchor[0] = Anchor.of_object(found.resource)


cdef void call_deallocate(Allocation& value) noexcept:
    cdef int is_entered = 0
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    resource = <object>value.resource
    try:
        stream = stream_of(value) or default_stream()
        # If the context cannot be made current, `deallocate` is called anyway, because it might not need one.
        try:
            is_entered = Context_enter(value.h_context.get())
        finally:
            try:
                resource.deallocate(value.pointer, value.size, stream=stream)
            finally:
                Context_leave_to_release(is_entered)
    except BaseException as error:
        if raise_later_if_from_handler(error):
            return
        if isinstance(error, CUDAError) and type(resource).deallocate is type(resource)._own_deallocate:
            warn_leak(value, error.code, error.api.encode())
        else:
            show_unraisable(error, resource)


cdef object stream_of(const Allocation& value):
    cdef Stream stream
    if not value.h_stream:
        return None
    stream = Stream.__new__(Stream)
    stream._h_stream.set(value.h_stream)
    stream._device_id = -1
    return stream


cdef int borrow(
    cydriver.CUdeviceptr pointer, size_t size, const Anchor& anchor, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    value.pointer = pointer
    value.size = size
    h_allocation[0] = AllocationHandle.borrow(move(value), anchor)
    return 0


cdef int set_stream(Allocation& value, const StreamHandle& h_stream, object resource) except -1:
    cdef Allocation changed
    if value.h_stream.get() == h_stream.get() and not is_default(h_stream):
        return 0
    changed.h_stream = h_stream
    if needs_context(resource, h_stream):
        fix_context(changed)
    value.h_stream = changed.h_stream
    value.h_context = changed.h_context
    return 0


# --- The stream and context of a free --------------------------------------------------------------

# Returns true if the memory must be freed in the context that is current now.
cdef inline bint needs_context(object resource, const StreamHandle& h_stream) except -1:
    return is_default(h_stream) and resource is not None and resource.is_device_accessible


cdef int fix_context(Allocation& value) except -1:
    if not is_default(value.h_stream):
        return 0
    Context_current(&value.h_context)
    if not value.h_context:
        raise RuntimeError("a default stream needs a current context; call Device.set_current() first")
    return 0


cdef void warn_leak(const Allocation& value, cydriver.CUresult err, const char* api) noexcept nogil:
    cdef char[80] what
    snprintf(what, sizeof(what), b"%zu bytes at 0x%llx", value.size, <unsigned long long>value.pointer)
    warn_driver_error(err, api, what)


check_self_in_methods(globals())
