# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices: the entry point to the contexts, streams, memory and properties of a GPU."""

from __future__ import annotations

cimport cython
from cpython.object cimport PyObject, PyTypeObject

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._device_contexts cimport Device_keep_context
from cuda.core._device_instances cimport device_argument, devices_of_thread, ordinal_of
from cuda.core._device_resources cimport DeviceResources, DeviceResources_of_device
from cuda.core._device_textures cimport DeviceTextures
from cuda.core._event cimport Event, Event_create, Event_flags
from cuda.core._handles._handles cimport KeptContext
from cuda.core._handles._waiting cimport wait_for_context
from cuda.core._memory._buffer cimport Buffer, Buffer_allocate
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._memory.adaptors._default_resource cimport chosen_resource, is_chosen, new_resource
from cuda.core._memory.ranges._allocation cimport size_argument
from cuda.core._stream cimport Stream, Stream_accept, Stream_create, default_stream
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe, newfunc, set_constructor, vectorcallfunc
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN

from cuda.core._handles import _late
from cuda.core._utils.cuda_utils import ComputeCapability
from cuda.core._utils.importing.deferred import Deferred, deferred_names

__all__ = ["Device", "DeviceProperties"]  # noqa: F822 (the latter at its first use, below)

_properties = Deferred("cuda.core._device_properties")


@cython.final
cdef class Device(DeviceTextures):
    """Device(device_id=None)
--

    A CUDA device: the entry point to its contexts, streams, memory and properties.

    Within a thread, ``Device(0)`` always returns the same object; each thread has its own, and they compare equal.
    Constructing one initializes the driver (``cuInit``) and creates no context. Methods marked with a dagger (†) need
    a call of :meth:`set_current` on this thread first. They act on this device, whichever device is current.

    ``with device:`` makes the device current inside the block. It pushes the context that this object set last, or
    else the primary context (``cuCtxPushCurrent``), and pops the top of the thread's context stack at the end
    (``cuCtxPopCurrent``). Blocks nest, also across devices. Afterwards the previous context is current again, even if
    the block raised an exception or called :meth:`set_current`.

    Parameters
    ----------
    device_id : int | :class:`Device`, optional
        The ordinal of the device. If None, the device that is current on this thread, or 0 if none is. A Device is
        returned unchanged.

    Raises
    ------
    ValueError
        If there is no device of this ordinal.
    TypeError
        If ``device_id`` has the wrong type.
    RuntimeError
        If the CUDA driver is not installed.
    """

    def __int__(self):
        return self._id

    def __repr__(self):
        return f"<Device {self._id} ({self.name})>"

    def _repr_html_(self):
        return _properties.html_table(self)

    def __eq__(self, other):
        if not isinstance(other, Device):
            return NotImplemented
        return self._id == (<Device>other)._id

    def __hash__(self):
        return hash((Device, self._id))

    def __reduce__(self):
        return Device, (self._id,)

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        """Return all visible devices, ordered by ordinal (``cuDeviceGetCount``)."""
        return devices_of_thread(_make)

    def can_access_peer(self, peer: Device | int) -> bool:
        """Return whether this device can access the memory of another device (``cuDeviceCanAccessPeer``).

        Parameters
        ----------
        peer : :class:`Device` | int
            The other device, or its ordinal.

        Returns
        -------
        bool
            True if peer access can be enabled, and for the device itself.

        Raises
        ------
        ValueError
            If there is no device of this ordinal.
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

    def create_stream(self, obj: IsStreamType | None = None, options: StreamOptions | None = None) -> Stream:
        """† Create a stream on this device (``cuStreamCreateWithPriority``), or wrap a stream of another library.

        Parameters
        ----------
        obj : :obj:`~cuda.core.typing.IsStreamType`, optional
            An object with ``__cuda_stream__``, whose stream is wrapped. The object is kept alive. If None, a stream
            is created.
        options : :class:`StreamOptions` | dict, optional
            Blocking behaviour and priority of a new stream. If None, a non-blocking stream of the lowest priority.

        Returns
        -------
        :class:`Stream`
            The stream. A new one is destroyed with its last reference; a wrapped one is not.

        Raises
        ------
        ValueError
            If both ``obj`` and ``options`` are given, or the priority is outside the range of the device.
        TypeError
            If ``obj`` has no ``__cuda_stream__``, or ``options`` has the wrong type.
        RuntimeError
            If ``obj.__cuda_stream__()`` does not return ``(0, address)``.
        CUDAError
            Before :meth:`set_current`.
        """
        cdef KeptContext kept
        Device_keep_context(self, &kept)
        if obj is not None:
            return Stream._init(obj, options)
        return Stream_create(kept.handle(), self._id, options)

    def create_graph_builder(self) -> GraphBuilder:
        """† Create a :class:`~cuda.core.graph.GraphBuilder` that captures into a graph on a new stream of its own."""
        return _late.graph_builder_on(self.create_stream())

    def create_event(self, options: EventOptions | None = None) -> Event:
        """† Create an event on this device (``cuEventCreate``).

        Parameters
        ----------
        options : :class:`EventOptions` | dict, optional
            Timing and waiting. If None, an event without timing, on which :meth:`Event.sync` spins.

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
        """
        cdef unsigned int c_flags = Event_flags(options)
        cdef KeptContext kept
        Device_keep_context(self, &kept)
        if c_flags & cydriver.CU_EVENT_INTERPROCESS:
            raise TypeError("an event shared between processes must come from Stream.record(), not create_event()")
        return Event_create(kept.handle(), self._id, c_flags)

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        """† Allocate memory from :attr:`memory_resource` in stream order (``cuMemAllocFromPoolAsync`` by default).

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on: work enqueued on it after this call can use the memory.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, uninitialized.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream or graph builder, or ``size`` not an int.
        OverflowError
            If ``size`` is negative or above 2**63 - 1.
        CUDAError
            Before :meth:`set_current`, or if the allocation fails.
        """
        cdef Stream source
        cdef KeptContext kept
        Device_keep_context(self, &kept)
        source = Stream_accept(stream)
        return Buffer_allocate(Device_memory_resource(self), size_argument(size), source)

    def sync(self) -> None:
        """† Block until all work in the device's context has completed (``cuCtxSynchronize``).

        On the main thread, Ctrl-C or another signal handler that raises an exception interrupts the wait.

        Raises
        ------
        CUDAError
            If work in the context failed, or before :meth:`set_current`.
        """
        cdef KeptContext kept
        cdef int is_entered = 0
        Device_keep_context(self, &kept)
        with nogil:
            is_entered = Context_enter(kept.get())
            try:
                wait_for_context(kept.handle())
            finally:
                Context_leave(is_entered)

    def to_system_device(self) -> cuda.core.system.Device:
        """Return the NVML device with the same UUID.

        Returns
        -------
        :class:`cuda.core.system.Device`
            The device, for power, clocks, temperature and other values of NVML.

        Raises
        ------
        RuntimeError
            If the installed cuda-bindings are too old for NVML, or the machine has no NVML library.
        """
        return _late.system_device_of(self.uuid)

    @property
    def device_id(self) -> int:
        """The ordinal of the device among those visible to CUDA, from 0."""
        return self._id

    @property
    def pci_bus_id(self) -> str:
        """The PCI address, ``domain:bus:device.function`` (``cuDeviceGetPCIBusId``)."""
        cdef char[32] c_text
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGetPCIBusId(c_text, sizeof(c_text), self._id), b"cuDeviceGetPCIBusId")
        return (<bytes><char*>c_text).decode()

    @property
    def uuid(self) -> str:
        """The UUID as 8-4-4-4-12 hexadecimal digits (``cuDeviceGetUuid``); for a MIG instance, the instance's UUID.

        Each access queries the driver, because the UUID changes when a process is restored on another GPU
        (:mod:`cuda.core.checkpoint`).
        """
        cdef cydriver.CUuuid c_uuid
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGetUuid(&c_uuid, self._id), b"cuDeviceGetUuid")
        digits = (<bytes>(<char*>c_uuid.bytes)[:16]).hex()
        return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])

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
            properties = _properties.DeviceProperties._of_device(self._id, _read_attribute)
            with cython.critical_section(self):
                if self._properties is None:
                    self._properties = properties
        return self._properties

    @property
    def resources(self) -> DeviceResources:
        """The multiprocessors and work queues of the device, which green contexts are created from."""
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

        The default is a :class:`DeviceMemoryResource` on the device's current pool; on a device without memory pools,
        a resource that allocates synchronously (``cuMemAlloc``). Setting it affects this object, and so only the
        calling thread; :func:`use_memory_resource` affects a ``with`` block, :func:`set_memory_resource` the process.

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
        """
        return default_stream()


def _read_attribute(int device_id, int code):
    """Return an attribute of a device, or None if the driver does not know it."""
    cdef int c_value = 0
    if ALLOW_RETURN(
        cydriver.cuDeviceGetAttribute(&c_value, <cydriver.CUdevice_attribute>code, device_id),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuDeviceGetAttribute",
    ):
        return c_value
    return None


cdef inline MemoryResource Device_memory_resource(Device self):
    cdef MemoryResource chosen = None
    if is_chosen:
        chosen = chosen_resource(self._id, self._has_own_resource)
        if chosen is not None:
            return chosen
    with cython.critical_section(self):
        chosen = self._memory_resource
    return Device_make_memory_resource(self) if chosen is None else chosen


cdef MemoryResource Device_make_memory_resource(Device self):
    resource = new_resource(self._id, self.properties.memory_pools_supported)
    with cython.critical_section(self):
        if self._memory_resource is None:
            self._memory_resource = resource
        return self._memory_resource


# --- One object per thread and ordinal -----------------------------------------------------------

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) noexcept


def _make_device(int ordinal):
    cdef Device self = Device.__new__(Device)
    self._id = ordinal
    return self


cdef object _make = _make_device


cdef Device Device_find(object device_id):
    cdef tuple devices
    if type(device_id) is Device:
        return <Device>device_id
    devices = devices_of_thread(_make)
    return <Device>devices[ordinal_of(device_id, len(devices))]


cdef object Device_call(PyObject* cls, PyObject* const* args, size_t nargsf, PyObject* kwnames):
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if kwnames == NULL and count <= 1:
        return Device_find(<object>args[0] if count else None)
    names = <tuple>kwnames if kwnames != NULL else ()
    values = [<object>args[i] for i in range(count + len(names))]
    return Device_find(device_argument(tuple(values[:count]), dict(zip(names, values[count:]))))


cdef object Device_new(PyObject* cls, PyObject* args, PyObject* kwargs):
    return Device_find(device_argument(<tuple>args, <dict>kwargs if kwargs != NULL else {}))


# Device(0) is a frequent call: through vectorcall it looks up the existing object without an argument tuple.
set_constructor(<PyTypeObject*>Device, <newfunc>Device_new, <vectorcallfunc>Device_call)
make_hasattr_safe(Device)


__getattr__ = deferred_names("cuda.core._device", {"DeviceProperties": "_device_properties"}, root="cuda.core")
