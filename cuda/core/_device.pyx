# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices: the entry points to contexts, streams, events, memory and textures."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t, uint64_t

from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF

from cuda.core._context cimport (
    Context,
    Context_create_green,
    Context_enter,
    Context_find,
    Context_leave,
    Context_pin,
    Context_primary,
    Context_wrap,
)
from cuda.core._device_resources cimport DeviceResources, DeviceResources_of_device
from cuda.core._event cimport Event, Event_create, Event_flags
from cuda.core._memory._buffer cimport Buffer, Buffer_allocate
from cuda.core._memory._memory_resource cimport MemoryResource, size_argument
from cuda.core._native._cuda_core cimport ContextHandle, ContextPin
from cuda.core._native._device_wait cimport recover_device, wait_for_context
from cuda.core._stream cimport (
    Stream,
    Stream_accept,
    Stream_create,
    default_stream,
    default_stream_of,
    other_current_device,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods, newfunc, set_constructor, vectorcallfunc
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    LEAVE_RETURN,
    c_driver_version,
    init_driver,
    note_left_context,
)

import contextlib
import importlib
import operator
from contextvars import ContextVar

from cuda.core._arrays import _device_arrays
from cuda.core._device_properties import P2P_ATTRIBUTES, DeviceProperties, PeerAttributes, html_table
from cuda.core._native._completion import MemoryNotices
from cuda.core._native._cuda_core import explain_other_names
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError, ComputeCapability, NotSupportedError
from cuda.core._utils.late import LateModule
from cuda.core._utils.validators import find_str_enum, shown

__all__ = ["Device", "DeviceProperties", "set_memory_resource", "use_memory_resource"]

_device_limits = LateModule("cuda.core._device_limits")
_device_memory_resource = LateModule("cuda.core._memory._device_memory_resource")
_system = LateModule("cuda.core.system")
_unpooled = LateModule("cuda.core._memory._unpooled")


cdef extern from *:
    """
    #include <cstdint>
    // A borrowed reference to the devices of the calling thread, and the thread state that owns them.
    static thread_local struct { std::uint64_t owner; PyObject* devices; } this_thread;
    """
    struct ThisThread:
        uint64_t owner
        PyObject* devices
    ThisThread this_thread

cdef extern from "Python.h":
    ctypedef struct PyThreadState

    PyThreadState* PyThreadState_Get() noexcept
    PyObject* PyThreadState_GetDict() noexcept
    uint64_t PyThreadState_GetID(PyThreadState* state) noexcept
    int PyContextVar_Get(object variable, PyObject* default, PyObject** value) except -1
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) noexcept


@cython.final
cdef class Device:
    """Device(device_id=None)
--

    A CUDA device: the entry point to its contexts, streams, memory and properties.

    Within a thread, ``Device(0)`` always returns the same object; each thread has its own, and they compare equal.
    Constructing one initializes the driver (``cuInit``) but creates no context. Before calling a method marked with a
    dagger (†), call :meth:`set_current` on this thread. The method acts on this device, whichever device is current.

    ``with device:`` makes the device current inside the block. It pushes the context that this object made current
    last, or else the primary context (``cuCtxPushCurrent``), and pops the top of the thread's context stack at the end
    (``cuCtxPopCurrent``). Blocks nest, even across devices. Afterwards the previous context is current again, even if
    the block raised an exception or called :meth:`set_current`.

    Parameters
    ----------
    device_id : int | :class:`Device`, optional
        The ordinal of the device. Defaults to the device that is current on this thread, or 0 if none is. A Device is
        returned unchanged.

    Raises
    ------
    ValueError
        If no device has this ordinal.
    TypeError
        If ``device_id`` has the wrong type.
    RuntimeError
        If the CUDA driver is not installed.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> device.name.strip() != ""
    True
    >>> Device() is device
    True
    """

    def __int__(self):
        return self._id

    def __repr__(self):
        return f"<Device {self._id} ({self.name})>"

    def _repr_html_(self):
        return html_table(self)

    def __eq__(self, other):
        if not isinstance(other, Device):
            return NotImplemented
        return self._id == (<Device>other)._id

    def __hash__(self):
        return hash((Device, self._id))

    def __reduce__(self):
        return Device, (self._id,)

    def __enter__(self):
        cdef ContextPin pin
        cdef Context context = Device_context(self)
        if context is None or not pin.hold(context._h_context):
            context = Device_primary(self)
            Context_pin(context, &pin)
        HANDLE_RETURN(cydriver.cuCtxPushCurrent(pin.get()), b"cuCtxPushCurrent")
        Device_set_context(self, context)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        cdef cydriver.CUcontext c_context = NULL
        cdef cydriver.CUresult left = cydriver.cuCtxPopCurrent(&c_context)
        if exc_value is not None:
            note_left_context(exc_value, left)
        else:
            LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, left)

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        """Return all visible devices, ordered by ordinal (``cuDeviceGetCount``).

        Examples
        --------
        >>> from cuda.core import Device
        >>> Device(0) in Device.get_all_devices()
        True
        """
        return devices_of_thread()

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Make this device current on the calling thread.

        Without ``ctx``, the primary context of the device becomes current (``cuCtxSetCurrent``). With ``ctx``, that
        context replaces the current one, which is returned. Pass it to another call, of any Device, to restore it.

        Parameters
        ----------
        ctx : :class:`Context`, optional
            A context. Defaults to the primary context of this device. With a context of another device, the call is
            that of the other :class:`Device`, and this object does not change.

        Returns
        -------
        :class:`Context` | None
            The context that ``ctx`` replaced, as the same object if it was set through this Device. None if no context
            was current, another thread closed it, or ``ctx`` is None.

        Raises
        ------
        TypeError
            If ``ctx`` is not a :class:`Context`.
        RuntimeError
            If ``ctx`` is closed.

        Examples
        --------
        >>> from cuda.core import Device
        >>> Device(0).set_current()
        >>> Device().device_id
        0
        """
        cdef ContextPin pin
        cdef Context context
        if isinstance(ctx, Context):
            return Device_exchange(self, ctx)
        if ctx is not None:
            raise TypeError(f"ctx must be a Context or None, not {type(ctx).__name__}")
        context = Device_primary(self)
        Context_pin(context, &pin)
        HANDLE_RETURN(cydriver.cuCtxSetCurrent(pin.get()), b"cuCtxSetCurrent")
        Device_set_context(self, context)

    def create_context(self, options: ContextOptions | dict[str, Any] | None = None) -> Context:
        """Create a green context, which uses some of this device's multiprocessors (``cuGreenCtxCreate``).

        A green context shares memory, loaded code and errors with the primary context. It does not become current:
        enqueue work on a stream from :meth:`Context.create_stream`, or call :meth:`set_current`.

        Parameters
        ----------
        options : :class:`ContextOptions` | dict
            The resources of the context: multiprocessors from :meth:`SMResource.split`, work queues, or both.

        Returns
        -------
        :class:`Context`
            The context. It is destroyed once it and everything created in it are closed.

        Raises
        ------
        TypeError
            If ``options`` or a resource has the wrong type.
        ValueError
            If ``options`` is None or has no resources, or a resource comes from a dry run or from another device.
        RuntimeError
            If the driver is older than CUDA 12.4.
        CUDAError
            If the driver rejects the resources.
        """
        return Context_create_green(self._id, options)

    def can_access_peer(self, peer: Device | int) -> bool:
        """Return whether this device can access the memory of another device (``cuDeviceCanAccessPeer``).

        Parameters
        ----------
        peer : :class:`Device` | int
            The other device, or its ordinal.

        Returns
        -------
        bool
            True if peer access can be enabled, or ``peer`` is this device.

        Raises
        ------
        ValueError
            If no device has this ordinal.
        TypeError
            If ``peer`` is neither a :class:`Device` nor an int.
        """
        cdef int c_can_access = 0
        if peer is None:
            raise TypeError("peer must be a Device or an int, not None")
        cdef int c_peer = Device_find(peer)._id
        if c_peer == self._id:
            return True
        with nogil:
            HANDLE_RETURN(
                cydriver.cuDeviceCanAccessPeer(&c_can_access, self._id, c_peer), b"cuDeviceCanAccessPeer"
            )
        return bool(c_can_access)

    def create_stream(
        self, obj: IsStreamType | None = None, options: StreamOptions | dict[str, Any] | None = None
    ) -> Stream:
        """† Create a stream on this device (``cuStreamCreateWithPriority``), or wrap an external stream.

        Parameters
        ----------
        obj : :obj:`~cuda.core.typing.IsStreamType`, optional
            An object with ``__cuda_stream__``. Its stream is wrapped, and the object is kept alive. If None, a stream
            is created.
        options : :class:`StreamOptions` | dict, optional
            Blocking behavior and priority of a new stream. Defaults to a non-blocking stream of the lowest priority.

        Returns
        -------
        :class:`Stream`
            The stream. A new stream is destroyed with its last reference, a wrapped one is not.

        Raises
        ------
        ValueError
            If both ``obj`` and ``options`` are given, or the priority is outside the device's range.
        TypeError
            If ``obj`` has no ``__cuda_stream__``, or ``options`` has the wrong type.
        RuntimeError
            If ``obj.__cuda_stream__()`` does not return ``(0, address)``.
        CUDAError
            Before :meth:`set_current`.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> with device.create_stream(options={"priority": 0}) as stream:
        ...     stream.sync()
        """
        cdef ContextPin pin
        Device_pin_context(self, &pin)
        if obj is not None:
            return Stream._init(obj, options)
        return Stream_create(pin.handle(), self._id, options)

    def create_graph_builder(self) -> GraphBuilder:
        """† Create a :class:`~cuda.core.graph.GraphBuilder` that captures work on its own new stream.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> builder = device.create_graph_builder().begin_building()
        >>> calls = []
        >>> builder.callback(lambda: calls.append("step"))
        >>> graph = builder.end_building().complete()
        >>> stream = device.create_stream()
        >>> graph.launch(stream)
        >>> stream.sync()
        >>> calls
        ['step']
        """
        return slots.get("graph builder")(self.create_stream())

    def create_event(self, options: EventOptions | dict[str, Any] | None = None) -> Event:
        """† Create an event on this device (``cuEventCreate``).

        Parameters
        ----------
        options : :class:`EventOptions` | dict, optional
            Timing and waiting. Defaults to an event without timing. :meth:`Event.sync` spins on it.

        Returns
        -------
        :class:`Event`
            The event, which has not been recorded.

        Raises
        ------
        TypeError
            If ``options`` has the wrong type or sets ``ipc_enabled``: only :meth:`Stream.record` creates such events.
        CUDAError
            Before :meth:`set_current`.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> event = device.create_event(options={"timing_enabled": True})
        >>> event.is_timing_enabled
        True
        """
        cdef unsigned int c_flags = Event_flags(options)
        cdef ContextPin pin
        Device_pin_context(self, &pin)
        if c_flags & cydriver.CU_EVENT_INTERPROCESS:
            raise TypeError("an event shared between processes must come from Stream.record(), not create_event()")
        return Event_create(pin.handle(), self._id, c_flags)

    def create_opaque_array(self, options: OpaqueArrayOptions | dict[str, Any]) -> OpaqueArray:
        """† Create a CUDA array, whose memory layout is opaque (``cuArray3DCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.OpaqueArrayOptions` | dict
            The shape, the element format and the number of channels.

        Returns
        -------
        :class:`~cuda.core.texture.OpaqueArray`
            The array, with undefined contents.

        Raises
        ------
        TypeError
            If ``options`` has the wrong type.
        ValueError
            If an option has an invalid value, or two options exclude each other.
        CUDAError
            Before :meth:`set_current`, or if the driver rejects the options, such as a shape over the device's limits.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> from cuda.core.texture import OpaqueArrayOptions
        >>> device = Device()
        >>> device.set_current()
        >>> array = device.create_opaque_array(OpaqueArrayOptions(shape=(8, 4), format=np.float32, num_channels=1))
        >>> array.shape
        (8, 4)
        """
        return slots.get("opaque array")(self, options)

    def create_mipmapped_array(self, options: MipmappedArrayOptions | dict[str, Any]) -> MipmappedArray:
        """† Create a mipmapped array (``cuMipmappedArrayCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.MipmappedArrayOptions` | dict
            The shape of level 0, the element format, and the numbers of channels and levels.

        Returns
        -------
        :class:`~cuda.core.texture.MipmappedArray`
            The mipmapped array, with undefined contents.

        Raises
        ------
        TypeError, ValueError, CUDAError
            As for :meth:`create_opaque_array`.
        """
        return slots.get("mipmapped array")(self, options)

    def create_texture_object(
        self, *, resource: ResourceDescriptor, options: TextureObjectOptions | dict[str, Any] | None = None
    ) -> TextureObject:
        """† Create a texture object (``cuTexObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            The memory that the texture reads: an array, a mipmapped array, or linear or pitched memory.
        options : :class:`~cuda.core.texture.TextureObjectOptions` | dict, optional
            Address modes, filter mode and read mode. Defaults to coordinates in elements and no filtering.

        Returns
        -------
        :class:`~cuda.core.texture.TextureObject`
            The texture object, which keeps the memory alive.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If an option has an unknown value.
        RuntimeError
            If the resource's array or buffer is closed.
        CUDAError
            Before :meth:`set_current`, or if the driver rejects these options for this resource.
        """
        return slots.get("texture object")(self, resource, options)

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """† Create a surface object (``cuSurfObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            A descriptor of an array that was created with ``is_surface_load_store=True``.

        Returns
        -------
        :class:`~cuda.core.texture.SurfaceObject`
            The surface object, which keeps the array alive.

        Raises
        ------
        TypeError
            If ``resource`` has the wrong type.
        ValueError
            If it does not describe an array, or the array was created without ``is_surface_load_store``.
        RuntimeError
            If the array is closed.
        CUDAError
            Before :meth:`set_current`.
        """
        return slots.get("surface object")(self, resource)

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        """† Allocate memory from :attr:`memory_resource` in stream order (``cuMemAllocFromPoolAsync`` by default).

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the allocation is ordered: work enqueued on it after this call can use the memory.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, uninitialized.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream or graph builder, or ``size`` is not an int.
        OverflowError
            If ``size`` is negative or exceeds 2**63 - 1.
        CUDAError
            Before :meth:`set_current`, or if the allocation fails.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> with device.allocate(1024, stream=stream) as buffer:
        ...     buffer.size
        1024
        """
        cdef Stream source
        cdef ContextPin pin
        Device_pin_context(self, &pin)
        source = Stream_accept(stream)
        return Buffer_allocate(Device_memory_resource(self), size_argument(size), source)

    def empty(
        self, shape: int | tuple[int, ...], dtype, *, stream: Stream | GraphBuilder | None = None, pinned: bool = False
    ) -> StridedMemoryView:
        """† Allocate an array in C order, with undefined elements, as :meth:`allocate` does.

        The memory is freed in stream order when the last view of it is dropped, or by ``array.exporting_obj.close()``.
        On a thread without a current context, this method, :meth:`zeros` and :meth:`to_device` make the device current,
        as :meth:`set_current` does.

        Parameters
        ----------
        shape, dtype
            The number of elements along each axis, and the element type, as for ``numpy.empty``.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream on which the allocation is ordered. Without it, the array is allocated and freed on the default
            stream, and work on any stream can use it when this call returns. Then keep the array until work on other
            streams has completed.
        pinned : bool, optional
            Whether to allocate page-locked host memory (``cuMemAllocHost``), which ``numpy.asarray(array)`` shares.

        Raises
        ------
        TypeError, ValueError, CUDAError
            If an argument is wrong, or the allocation fails.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> result = device.empty((4, 3), np.float32, stream=stream)
        >>> result.shape
        (4, 3)
        >>> staging = device.empty((4, 3), np.float32, pinned=True)
        >>> result.to_host(staging, stream=stream) is staging
        True
        """
        self._set_if_none()
        return _device_arrays.empty(self, shape, dtype, stream, pinned)

    def zeros(
        self, shape: int | tuple[int, ...], dtype, *, stream: Stream | GraphBuilder | None = None, pinned: bool = False
    ) -> StridedMemoryView:
        """† Allocate an array in C order, with all bytes zero.

        The rest is as for :meth:`empty`: ``histogram = device.zeros(256, np.int32)``.
        """
        self._set_if_none()
        return _device_arrays.new_zeros(self, shape, dtype, stream, pinned)

    def to_device(self, array, *, stream: Stream | GraphBuilder | None = None) -> StridedMemoryView:
        """† Copy an array to new memory of this device, in C order and in stream order (``cuMemcpyAsync``).

        Pageable host memory, such as that of most NumPy arrays, has been read when the call returns. Any other source
        must not be changed before the copy has completed. ``to_host()`` of the result copies back.

        Parameters
        ----------
        array : array
            An array of NumPy, or of any library with DLPack, the CUDA array interface or the buffer protocol.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream on which the allocation and the copy are ordered. Without it, both use the default stream, as
            with :meth:`empty`, and the copy has completed when this call returns.

        Raises
        ------
        TypeError, BufferError, CUDAError
            If an argument is wrong, elements refer to Python objects, or the allocation or the copy fails.
        ValueError
            If elements are masked.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> x = device.to_device(np.arange(6, dtype=np.float32))
        >>> x.to_host()
        array([0., 1., 2., 3., 4., 5.], dtype=float32)
        """
        self._set_if_none()
        return _device_arrays.copied(self, array, stream)

    def _set_if_none(self) -> None:
        """Make this device current if the thread has no current context."""
        cdef cydriver.CUcontext c_current = NULL
        HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
        if c_current == NULL:
            self.set_current()

    def sync(self) -> None:
        """† Block until all work in the device's context has completed (``cuCtxSynchronize``).

        On the main thread, Ctrl-C or another signal handler that raises an exception interrupts the wait.

        Raises
        ------
        CUDAError
            If work in the context failed, or before :meth:`set_current`.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> device.sync()
        """
        cdef ContextPin pin
        cdef int is_entered = 0
        Device_pin_context(self, &pin)
        try:
            with nogil:
                is_entered = Context_enter(pin.get())
                wait_for_context(pin.handle())
        except BaseException as error:
            note_left_context(error, Context_leave(is_entered))
            raise
        LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))

    def reset(self) -> None:
        """Make the device usable again after a kernel has failed, which only the software device supports.

        A failed kernel loses its context: every later call returns the kernel's error. On the software device, this
        method ends that state. Streams, buffers, kernels and other objects stay valid, and memory keeps its contents.
        Open captures end, and so do kernels that are still running after one second.

        Raises
        ------
        NotSupportedError
            If the device is a GPU. NVIDIA's driver restores a lost context only in a new process.

        Examples
        --------
        >>> from cuda.core import Device, LaunchError
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> try:
        ...     stream.sync()
        ... except LaunchError:
        ...     device.reset()
        """
        if not recover_device():
            raise NotSupportedError(
                "a GPU's lost context cannot be restored in this process; restart it, or run kernels that might fail "
                "in a child process or on the software device"
            )

    def to_system_device(self) -> cuda.core.system.Device:
        """Return the NVML device with the same UUID.

        Returns
        -------
        :class:`cuda.core.system.Device`
            The device, for power, clocks, temperature and other NVML values.

        Raises
        ------
        RuntimeError
            If the installed cuda-bindings package is too old for NVML, or the machine has no NVML library.
        """
        _system._support.require("Device.to_system_device")
        return _system.Device(uuid=self.uuid)

    @property
    def device_id(self) -> int:
        """The ordinal of the device among those visible to CUDA, from 0."""
        return self._id

    @property
    def context(self) -> Context:
        """† The :class:`Context` that this object made current last, with :meth:`set_current` or ``with``."""
        Device_check_set(self)
        return Device_context(self)

    @property
    def pci_bus_id(self) -> str:
        """The PCI address, ``domain:bus:device.function`` (``cuDeviceGetPCIBusId``)."""
        cdef char[32] c_text
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGetPCIBusId(c_text, sizeof(c_text), self._id), b"cuDeviceGetPCIBusId")
        return (<bytes><char*>c_text).decode()

    @property
    def uuid(self) -> str:
        """The UUID as 8-4-4-4-12 hexadecimal digits (``cuDeviceGetUuid``), or the UUID of a MIG instance.

        Every access queries the driver, because the UUID changes when a process is restored on another GPU
        (:mod:`cuda.core.checkpoint`).
        """
        cdef cydriver.CUuuid c_uuid
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGetUuid(&c_uuid, self._id), b"cuDeviceGetUuid")
        return uuid_text((<char*>c_uuid.bytes)[:16])

    @property
    def name(self) -> str:
        """The product name of the device (``cuDeviceGetName``)."""
        cdef char[256] c_text
        if self._name is None:
            with nogil:
                HANDLE_RETURN(cydriver.cuDeviceGetName(c_text, sizeof(c_text), self._id), b"cuDeviceGetName")
            name = (<bytes><char*>c_text).decode(errors="replace")
            with cython.critical_section(self):
                if self._name is None:
                    self._name = name
        return self._name

    @property
    def properties(self) -> DeviceProperties:
        """The hardware properties and limits of the device, a :class:`DeviceProperties`."""
        if self._properties is None:
            properties = DeviceProperties._of_device(self._id, _read_attribute)
            with cython.critical_section(self):
                if self._properties is None:
                    self._properties = properties
        return self._properties

    @property
    def limits(self) -> DeviceLimits:
        """† The limits of the device's context, such as the memory of ``printf``, a :class:`DeviceLimits`."""
        return _device_limits.DeviceLimits._of_device(self, read_limit, write_limit)

    def reset_persisting_l2(self) -> None:
        """† Make all persisting lines of the L2 cache normal (``cuCtxResetPersistingL2Cache``).

        Raises
        ------
        NotSupportedError
            If the device has no persisting accesses.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> device.reset_persisting_l2()
        """
        reset_persisting_lines(self)

    def flush_rdma_writes(self, scope: str = "owner") -> None:
        """† Make GPUDirect RDMA writes of other devices, such as network adapters, visible
        (``cuFlushGPUDirectRDMAWrites``).

        Parameters
        ----------
        scope : str, optional
            ``"owner"``, the default, for kernels on this device, or ``"all_devices"``.

        Raises
        ------
        ValueError
            If ``scope`` is unknown.
        NotSupportedError
            If the host cannot flush writes (``gpu_direct_rdma_flush_writes_options`` of the properties).

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> if device.properties.gpu_direct_rdma_flush_writes_options & 1:
        ...     device.flush_rdma_writes()
        """
        flush_writes(self, _RDMA_SCOPES[find_str_enum(scope, list(_RDMA_SCOPES), "scope")])

    def on_memory_pressure(self, function: Callable[[int], object]) -> MemoryNotices:
        """Call a function whenever the driver asks this process for memory (``cuDeviceRegisterAsyncNotification``).

        The function can free caches, such as those of :class:`CachingMemoryResource`. It runs in the event loop of the
        calling thread, if that thread runs one, and otherwise on a thread of this library.

        Parameters
        ----------
        function : callable
            Called with the number of bytes over the budget. An exception that it raises is passed to
            :func:`sys.unraisablehook`.

        Returns
        -------
        MemoryNotices
            The registration, with a method ``cancel()``.

        Raises
        ------
        TypeError
            If ``function`` is not callable.
        NotSupportedError
            If the driver is older than CUDA 12.4, or has no budgets.

        Examples
        --------
        >>> from cuda.core import Device
        >>> notices = Device().on_memory_pressure(lambda size: print(f"{size} bytes over the budget"))
        >>> notices.cancel()
        """
        if not callable(function):
            raise TypeError(f"function must be callable, not {type(function).__name__}")
        return MemoryNotices(self._id, function)

    def peer_attributes(self, peer: Device | int) -> PeerAttributes:
        """Return what the link to another device can do (``cuDeviceGetP2PAttribute``).

        Parameters
        ----------
        peer : :class:`Device` | int
            The other device.

        Returns
        -------
        :class:`PeerAttributes`
            The attributes of the link.

        Raises
        ------
        TypeError
            If ``peer`` is neither a :class:`Device` nor an int.
        ValueError
            If ``peer`` is this device.

        Examples
        --------
        >>> from cuda.core import Device
        >>> first, *others = Device.get_all_devices()
        >>> {peer.device_id: first.peer_attributes(peer).access_supported for peer in others}
        {1: True}
        """
        cdef int c_peer = other_device(self, peer)
        rank, *flags = [peer_attribute(self._id, c_peer, code) for code in P2P_ATTRIBUTES.values()]
        return PeerAttributes(rank, *map(bool, flags))

    def atomic_capabilities(self, peer: Device | int | None = None) -> dict[str, frozenset[str]]:
        """Return which atomic operations the link to the host or to another device supports
        (``cuDeviceGetHostAtomicCapabilities``, ``cuDeviceGetP2PAtomicCapabilities``).

        Parameters
        ----------
        peer : :class:`Device` | int, optional
            The other device. Defaults to the host.

        Returns
        -------
        dict
            The capabilities by the name of the operation, such as ``{"signed", "scalar_32"}`` for ``"add"``.

        Raises
        ------
        TypeError
            If ``peer`` is neither a :class:`Device` nor an int.
        ValueError
            If ``peer`` is this device.
        NotSupportedError
            If the driver is older than CUDA 13.0.

        Examples
        --------
        >>> from cuda.core import Device
        >>> "add" in Device().atomic_capabilities()
        True
        """
        return read_atomics(self._id, -1 if peer is None else other_device(self, peer))

    @property
    def fabric_cluster_uuid(self) -> str | None:
        """The UUID of the NVLink fabric's cluster, or None for a device without one
        (``cuDeviceGetFabricClusterUuid``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.4.
        """
        return read_cluster(self._id)

    @property
    def fabric_cliques(self) -> list[tuple[str, int]]:
        """The fabric cliques of the device: the type, such as ``"unicast_pointer"``, and the number
        (``cuDeviceGetCliqueCount``, ``cuDeviceGetCliqueInfo``).

        Devices with the same number of a type reach each other in that way. A device outside of fabrics has none.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.4.
        """
        return read_cliques(self._id)

    @property
    def resources(self) -> DeviceResources:
        """The multiprocessors and work queues of the device, from which green contexts are created."""
        if self._resources is None:
            resources = DeviceResources_of_device(self._id)
            with cython.critical_section(self):
                if self._resources is None:
                    self._resources = resources
        return self._resources

    @property
    def compute_capability(self) -> ComputeCapability:
        """The compute capability as a named tuple ``(major, minor)``."""
        if self._compute_capability is None:
            pair = ComputeCapability(
                _read_attribute(self._id, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                _read_attribute(self._id, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
            )
            with cython.critical_section(self):
                if self._compute_capability is None:
                    self._compute_capability = pair
        return self._compute_capability

    @property
    def arch(self) -> str:
        """The compute capability as digits, such as ``"90"``: the number of ``sm_90`` and ``compute_90``."""
        major, minor = self.compute_capability
        return f"{major}{minor}"

    @property
    def memory_resource(self) -> MemoryResource:
        """Get or set the memory resource that :meth:`allocate` uses.

        Defaults to a :class:`DeviceMemoryResource` on the device's current pool. On a device without memory pools,
        defaults to a resource that allocates synchronously (``cuMemAlloc``). Setting it affects this object, and
        therefore only the calling thread. :func:`use_memory_resource` affects a ``with`` block, and
        :func:`set_memory_resource` the process.

        Raises
        ------
        TypeError
            If the new value is not a :class:`MemoryResource`.
        """
        return Device_memory_resource(self)

    @memory_resource.setter
    def memory_resource(self, resource):
        if not isinstance(resource, MemoryResource):
            raise TypeError(f"memory_resource must be a MemoryResource, not {type(resource).__name__}")
        with cython.critical_section(self):
            self._memory_resource = resource
            self._has_own_resource = True

    @property
    def default_stream(self) -> Stream:
        """The default stream: ``LEGACY_DEFAULT_STREAM``, or ``PER_THREAD_DEFAULT_STREAM`` if the environment variable
        ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is a number other than 0.

        These constants mean the stream of the context that is current when they are used. While another device is
        current, an equal stream is returned that can only be used while this device is current, and otherwise raises
        RuntimeError. Closing a default stream does nothing, because all code of the process shares it.
        """
        return default_stream() if other_current_device(self._id) < 0 else default_stream_of(self._id)


def _read_attribute(int device_id, int code):
    """Return a device attribute, or None if the driver does not recognize it."""
    cdef int c_value = 0
    if ALLOW_RETURN(
        cydriver.cuDeviceGetAttribute(&c_value, <cydriver.CUdevice_attribute>code, device_id),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuDeviceGetAttribute",
    ):
        return c_value
    return None


# --- Current contexts -----------------------------------------------------------------------------

# In critical sections, because another thread may use the object and make another context current.
cdef inline Context Device_context(Device self):
    with cython.critical_section(self):
        return self._context


cdef inline int Device_set_context(Device self, Context context) except -1:
    with cython.critical_section(self):
        self._context = context
    return 0


cdef int Device_check_set(Device self) except -1:
    if Device_context(self) is None:
        raise CUDAError(f"device {self._id} was not made current by this object; call Device.set_current() first")
    return 0


cdef int Device_pin_context(Device self, ContextPin* pin) except -1:
    Device_check_set(self)
    return Context_pin(Device_context(self), pin)


cdef Context Device_primary(Device self):
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


cdef Context Device_exchange(Device self, Context context):
    cdef Context previous = None
    cdef ContextHandle h_previous
    cdef cydriver.CUcontext c_previous = NULL
    cdef cydriver.CUdevice c_device = 0
    cdef ContextPin pin
    Context_pin(context, &pin)
    if context._device_id != self._id:
        return Device_exchange(Device_find(context._device_id), context)
    init_driver()
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_previous), b"cuCtxGetCurrent")
    if c_previous != NULL:
        previous = Device_find_context(self, c_previous)
        # A green context that another thread closed is no longer a context, and can be replaced, but not restored.
        if previous is None and ALLOW_RETURN(
            cydriver.cuCtxGetDevice(&c_device), cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, b"cuCtxGetDevice"
        ):
            Context_find(c_previous, &h_previous)
            previous = Context_wrap(h_previous, c_device)
    # One call: if it fails, the previous context is still current.
    HANDLE_RETURN(cydriver.cuCtxSetCurrent(pin.get()), b"cuCtxSetCurrent")
    Device_set_context(self, context)
    return previous


# The Context object if this device made the context current, or None.
cdef Context Device_find_context(Device self, cydriver.CUcontext c_context):
    with cython.critical_section(self):
        contexts = (self._context, self._primary)
    for context in contexts:
        if context is not None and (<Context>context)._address() == <intptr_t>c_context:
            return context
    return None


# --- One object per thread and ordinal ------------------------------------------------------------

cdef Device Device_find(object device_id):
    cdef tuple devices
    if type(device_id) is Device:
        return <Device>device_id
    devices = devices_of_thread()
    return <Device>devices[find_ordinal(device_id, len(devices))]


# The dictionary of the thread state holds it, so it lives as long as the thread.
@cython.final
@cython.no_gc_clear
cdef class ThreadDevices:
    cdef tuple devices

    def __dealloc__(self):
        if this_thread.devices == <PyObject*>self:
            this_thread.devices = NULL


# Compares the ID of the thread state, because a native thread gets a new thread state each time it enters Python
# (PyGILState_Ensure). The old one, with its devices, is gone.
cdef tuple devices_of_thread():
    if this_thread.devices != NULL and this_thread.owner == PyThreadState_GetID(PyThreadState_Get()):
        return (<ThreadDevices>this_thread.devices).devices
    return create_devices()


cdef tuple create_devices():
    cdef ThreadDevices mine = ThreadDevices.__new__(ThreadDevices)
    cdef PyObject* state = NULL
    cdef int c_count = 0
    init_driver()
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetCount(&c_count), b"cuDeviceGetCount")
    if c_driver_version() // 1000 < cydriver.CUDA_VERSION // 1000:
        warn_if_bindings_are_newer()
    mine.devices = tuple([Device_create(ordinal) for ordinal in range(c_count)])
    state = PyThreadState_GetDict()
    if state == NULL:
        raise RuntimeError("this thread has no Python thread state, so it cannot have Device objects")
    (<dict>state)[ThreadDevices] = mine
    this_thread.owner = PyThreadState_GetID(PyThreadState_Get())
    this_thread.devices = <PyObject*>mine
    return mine.devices


cdef int warn_if_bindings_are_newer() except -1:
    try:
        utils = importlib.import_module("cuda.bindings.utils")
    except ImportError:
        return 0  # not installed
    if hasattr(utils, "warn_if_cuda_major_version_mismatch"):  # bindings of CUDA 12 do not have it
        utils.warn_if_cuda_major_version_mismatch()
    return 0


cdef Device Device_create(int ordinal):
    cdef Device self = Device.__new__(Device)
    self._id = ordinal
    return self


# The ordinal for Device(device_id). For None, the current context's device.
cdef Py_ssize_t find_ordinal(object device_id, Py_ssize_t count) except -1:
    cdef Py_ssize_t ordinal
    cdef int is_too_large = 0
    if device_id is None:
        ordinal = current_ordinal()
    else:
        if not PyLong_CheckExact(device_id):
            device_id = check_index(device_id)
        ordinal = PyLong_AsLongAndOverflow(device_id, &is_too_large)
    if not 0 <= ordinal < count:
        raise ValueError(f"there is no device {shown(device_id)}; the machine has {count}, numbered from 0")
    return ordinal


cdef object check_index(object device_id):
    if isinstance(device_id, bool):
        raise ValueError(f"device_id must be an ordinal, not {device_id}")
    if not hasattr(type(device_id), "__index__"):
        raise TypeError(f"device_id must be an int, a Device or None, not {type(device_id).__name__}")
    return operator.index(device_id)


cdef Py_ssize_t current_ordinal() except -1:
    cdef cydriver.CUdevice c_device = 0
    if ALLOW_RETURN(
        cydriver.cuCtxGetDevice(&c_device), cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, b"cuCtxGetDevice"
    ):
        return c_device
    return 0


cdef object Device_call(PyObject* cls, PyObject* const* args, size_t nargsf, PyObject* kwnames):
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if kwnames == NULL and count <= 1:
        return Device_find(<object>args[0] if count else None)
    names = <tuple>kwnames if kwnames != NULL else ()
    values = [<object>args[i] for i in range(count + len(names))]
    return Device_find(only_argument(tuple(values[:count]), dict(zip(names, values[count:]))))


cdef object Device_new(PyObject* cls, PyObject* args, PyObject* kwargs):
    return Device_find(only_argument(<tuple>args, <dict>kwargs if kwargs != NULL else {}))


cdef object only_argument(tuple args, dict kwargs):
    unknown = [name for name in kwargs if name != "device_id"]
    if unknown:
        raise TypeError(f"Device() got an unexpected keyword argument {shown(unknown[0])}; it takes one, device_id")
    if len(args) + len(kwargs) > 1:
        raise TypeError("Device() takes at most one argument, device_id")
    return kwargs["device_id"] if kwargs else args[0] if args else None


# Device(0) is a frequent call: through vectorcall it looks up the existing object without an argument tuple.
set_constructor(<PyTypeObject*>Device, <newfunc>Device_new, <vectorcallfunc>Device_call)


# --- The default memory resource ------------------------------------------------------------------

# Both map ordinals to resources, with -1 for every device. The choices of a block are replaced, never changed. Those of
# the process are changed key by key, because other threads read them without a lock.
cdef object _of_block = ContextVar("cuda.core memory resources")
cdef dict _of_process = {}
cdef bint is_chosen = False  # until a program makes a choice, the two need not be read


def use_memory_resource(mr: MemoryResource, device: Device | int | None = None):
    """Return a context manager that sets the memory resource of :meth:`Device.allocate` in its block.

    The setting is a :class:`contextvars.ContextVar`: it applies to the code of the block and to ``asyncio`` tasks
    started in it, but not to other threads. If threads inherit the context (``sys.flags.thread_inherit_context``, the
    default on free-threaded Python), it also applies to threads started in the block. Blocks nest; the innermost one
    for a device takes precedence over :attr:`Device.memory_resource` and :func:`set_memory_resource`. It can also be
    used as a decorator.

    Parameters
    ----------
    mr : :class:`MemoryResource`
        The memory resource.
    device : :class:`Device` | int, optional
        The device that uses the resource. Defaults to the resource's device, or to all devices if it belongs to none.

    Returns
    -------
    context manager
        The context manager, whose ``as`` target is ``mr``.

    Raises
    ------
    TypeError
        If ``mr`` is not a :class:`MemoryResource`, or ``device`` is neither a Device nor an int.
    ValueError
        If no device has this ordinal.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, StatisticsMemoryResource, use_memory_resource
    >>> device = Device()
    >>> device.set_current()
    >>> counting = StatisticsMemoryResource(DeviceMemoryResource(device))
    >>> with use_memory_resource(counting):
    ...     buffer = device.allocate(64, stream=device.default_stream)
    >>> counting.statistics.total_count
    1
    """
    return _use(mr, resource_ordinal(mr, device))


def set_memory_resource(mr: MemoryResource | None, device: Device | int | None = None) -> None:
    """Set the memory resource of :meth:`Device.allocate` for all threads of the process.

    A resource set with :func:`use_memory_resource` or :attr:`Device.memory_resource` takes precedence.

    Parameters
    ----------
    mr : :class:`MemoryResource` | None
        The memory resource. None restores the default.
    device : :class:`Device` | int, optional
        The device that uses the resource. Defaults to the device of ``mr``, or to all devices if it belongs to none,
        which replaces all earlier settings. With ``mr=None``, the default is all devices.

    Raises
    ------
    TypeError
        If ``mr`` is not a :class:`MemoryResource` or None, or ``device`` is neither a Device nor an int.
    ValueError
        If no device has this ordinal.
    """
    global is_chosen
    if mr is not None:
        ordinal = resource_ordinal(mr, device)
        _of_process[ordinal] = mr
        is_chosen = True
        if ordinal < 0:
            keep_choices([-1])
    elif device is not None:
        _of_process.pop(int(Device(device)), None)
    else:
        keep_choices([])


@contextlib.contextmanager
def _use(mr, ordinal):
    global is_chosen
    token = _of_block.set(with_choice(_of_block.get({}), mr, ordinal))
    # Stays true after the block, because a task that was started in it may run longer.
    is_chosen = True
    try:
        yield mr
    finally:
        _of_block.reset(token)


cdef dict with_choice(dict choices, MemoryResource mr, int ordinal):
    # A choice for all devices replaces the others.
    return {-1: mr} if ordinal < 0 else {**choices, ordinal: mr}


cdef int keep_choices(list ordinals) except -1:
    for ordinal in list(_of_process):
        if ordinal not in ordinals:
            _of_process.pop(ordinal, None)
    return 0


cdef int resource_ordinal(object mr, object device) except -2:
    if not isinstance(mr, MemoryResource):
        raise TypeError(f"mr must be a MemoryResource, not {type(mr).__name__}")
    if device is not None:
        return int(Device(device))
    try:
        return mr.device_id
    except RuntimeError:
        return -1  # page-locked host memory belongs to no device


cdef inline MemoryResource Device_memory_resource(Device self):
    cdef MemoryResource resource = None
    if is_chosen:
        resource = chosen_resource(self._id, self._has_own_resource)
        if resource is not None:
            return resource
    with cython.critical_section(self):
        resource = self._memory_resource
    return Device_create_memory_resource(self) if resource is None else resource


# The choice of a `with` block, or else of the process, unless `has_own`: the thread has made its own.
cdef MemoryResource chosen_resource(int device_id, bint has_own):
    cdef PyObject* found = NULL
    cdef MemoryResource resource = None
    PyContextVar_Get(_of_block, NULL, &found)
    if found != NULL:
        resource = choice_of(<dict>found, device_id)
        Py_DECREF(<object>found)
    if resource is None and not has_own:
        resource = choice_of(_of_process, device_id)
    return resource


cdef MemoryResource choice_of(dict choices, int device_id):
    found = choices.get(device_id)
    return choices.get(-1) if found is None else found


cdef MemoryResource Device_create_memory_resource(Device self):
    # Both are loaded only here, because a program may allocate from its own resources.
    if self.properties.memory_pools_supported:
        resource = _device_memory_resource.DeviceMemoryResource(self._id)
    else:
        resource = _unpooled._SynchronousMemoryResource(self._id)
    with cython.critical_section(self):
        if self._memory_resource is None:
            self._memory_resource = resource
        return self._memory_resource


include "_device_queries.pxi"

slots.register("Device", Device)
explain_other_names(Device)
check_self_in_methods(globals())
