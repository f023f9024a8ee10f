# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices: the starting point for contexts, streams, memory and properties of a GPU."""

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
from cuda.core._utils._cpython cimport answer_hasattr, newfunc, set_constructor, vectorcallfunc
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

    A CUDA device, and the way to all that is made on it.

    There is one object per thread and ordinal: ``Device(0)`` returns the same one each time, and
    in another thread another, equal one. Creating it initialises the driver but no context. Methods
    marked with a dagger need :meth:`set_current` first, once per thread. They act on this device,
    whichever device is current.

    As a context manager a device is current inside the block: its context (the one installed last
    through this object, else the primary one) is pushed, and at the end what is on top of this
    thread's context stack is popped. Blocks nest, also across devices, and what was current before
    is current again afterwards, also after an exception or a :meth:`set_current` inside.

    Parameters
    ----------
    device_id : int | :class:`Device`, optional
        The ordinal. If None, that of the device current on this thread, or 0. A Device is returned unchanged.

    Raises
    ------
    ValueError
        If there is no device of this ordinal.
    TypeError
        If ``device_id`` is of another type.
    RuntimeError
        If the CUDA driver is not installed.
    """

    def __int__(self):
        return self._id

    def __repr__(self):
        return f"<Device {self._id} ({self.name})>"

    def _repr_html_(self):
        return _properties.table_of(self)

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
        """Return one device per visible ordinal, ascending (``cuDeviceGetCount``)."""
        return devices_of_thread(_make)

    def can_access_peer(self, peer: Device | int) -> bool:
        """Return whether this device can access the memory of another (``cuDeviceCanAccessPeer``).

        Parameters
        ----------
        peer : :class:`Device` | int
            The other device; a device always accesses its own memory.

        Raises
        ------
        ValueError
            If there is no device of this ordinal.
        TypeError
            If ``peer`` is neither a device nor an int.
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
        """† Return a new stream of this device, or a wrapper around an existing one.

        Parameters
        ----------
        obj : :obj:`~cuda.core.typing.IsStreamType`, optional
            An object with ``__cuda_stream__``, which is wrapped and kept alive.
        options : :class:`StreamOptions`, optional
            How a new stream is made (``cuStreamCreateWithPriority``).

        Raises
        ------
        ValueError
            If both are given, or the priority is outside the range of the device.
        TypeError
            If ``obj`` is no stream.
        CUDAError
            Before :meth:`set_current`.
        """
        cdef KeptContext kept
        Device_keep_context(self, &kept)
        if obj is not None:
            return Stream._init(obj, options)
        return Stream_create(kept.handle(), self._id, options)

    def create_graph_builder(self) -> GraphBuilder:
        """† Return a :class:`~cuda.core.graph.GraphBuilder` that captures on a new stream of its own."""
        return _late.graph_builder_on(self.create_stream())

    def create_event(self, options: EventOptions | None = None) -> Event:
        """† Return a new event of this device, not yet recorded (``cuEventCreate``).

        Parameters
        ----------
        options : :class:`EventOptions`, optional
            How the event is made; without timing by default.

        Raises
        ------
        TypeError
            If the event is to be shared between processes, which only :meth:`Stream.record` can do.
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
        """† Allocate memory from :attr:`memory_resource`, in the order of a stream.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            Work enqueued on it after this call can use the memory.

        Returns
        -------
        :class:`Buffer`
            The allocated memory.

        Raises
        ------
        TypeError
            If ``stream`` is no stream, or ``size`` no int.
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
        """† Wait on the host for all work of this device's context (``cuCtxSynchronize``).

        On the main thread a signal handler that raises ends the wait, as Ctrl-C does.

        Raises
        ------
        CUDAError
            If work failed, or before :meth:`set_current`.
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
        """Return this device as NVML sees it, found by its UUID.

        Raises
        ------
        RuntimeError
            If the bindings have no NVML that fits, or the machine has none.
        """
        return _late.system_device_of(self.uuid)

    @property
    def device_id(self) -> int:
        """The ordinal."""
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
        """The UUID as 8-4-4-4-12 hexadecimal digits, under MIG that of the instance (``cuDeviceGetUuid``).

        Read each time: it changes when the process is restored on another GPU (:mod:`cuda.core.checkpoint`).
        """
        cdef cydriver.CUuuid c_uuid
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGetUuid(&c_uuid, self._id), b"cuDeviceGetUuid")
        digits = (<bytes>(<char*>c_uuid.bytes)[:16]).hex()
        return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])

    @property
    def name(self) -> str:
        """The name of the product (``cuDeviceGetName``)."""
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
        """The properties of the device, as attributes; see :class:`DeviceProperties`."""
        if self._properties is None:
            properties = _properties.DeviceProperties._of_device(self._id, _read_attribute)
            with cython.critical_section(self):
                if self._properties is None:
                    self._properties = properties
        return self._properties

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
        """The compute capability as a compiler takes it, such as ``"90"``."""
        major, minor = self.compute_capability
        return f"{major}{minor}"

    @property
    def memory_resource(self) -> MemoryResource:
        """Get or set the memory resource of :meth:`allocate`.

        By default it is a :class:`DeviceMemoryResource` on the device's current pool, or a resource
        that allocates synchronously where the device has no pools. Setting it applies to this
        object, and so to the calling thread; :func:`use_memory_resource` applies to a block, and
        :func:`set_memory_resource` to the process.

        Raises
        ------
        TypeError
            If what is set is no :class:`MemoryResource`.
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
        """The default stream, ``LEGACY_DEFAULT_STREAM`` unless the environment chooses the other."""
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


# Calling the class returns the existing object, without a tuple of arguments.
set_constructor(<PyTypeObject*>Device, <newfunc>Device_new, <vectorcallfunc>Device_call)
answer_hasattr(Device)


__getattr__ = deferred_names("cuda.core._device", {"DeviceProperties": "_device_properties"}, root="cuda.core")
