# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory management: address ranges and physical memory are separate, so that buffers can grow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuda.core._memory._buffer import Buffer, _rebuild_buffer
from cuda.core._memory._ipc import (
    VirtualMemoryFabricBufferDescriptor,
    VirtualMemoryIPCBufferDescriptor,
    export_virtual_memory,
    register_handles,
)
from cuda.core._memory._memory_pool import require_domains
from cuda.core._memory._unpooled import SynchronousAllocator
from cuda.core._memory._virtual_memory import (
    VirtualMemory,
    call_with_memory,
    check_not_capturing,
    free_virtual_memory,
    set_domain,
    virtual_memory_of,
)
from cuda.core._stream import Stream_accept
from cuda.core._utils import cuda_utils, enums, slots
from cuda.core._utils.cuda_utils import call_driver, check_or_create_options
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_locality_domain, check_str_enum, int_argument, shown
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)

if TYPE_CHECKING:
    from cuda.core._stream import Stream
    from cuda.core.graph import GraphBuilder

__all__ = ["VirtualMemoryBuffer", "VirtualMemoryResource", "VirtualMemoryResourceOptions"]


class VirtualMemoryBuffer(Buffer):
    """A buffer of a :class:`VirtualMemoryResource`. It owns its address ranges and its physical memory.

    Only closing or dropping it releases them. Unmapping is synchronous, so :meth:`close` waits for the work on the
    deallocation stream.
    """

    _made_by = "VirtualMemoryResource.allocate()"

    def __reduce__(self):
        return _rebuild_buffer, (type(self), self.memory_resource, self.ipc_descriptor)

    @property
    def ipc_descriptor(self) -> VirtualMemoryIPCBufferDescriptor | VirtualMemoryFabricBufferDescriptor:
        """A new descriptor from which another process maps this buffer (``cuMemExportToShareableHandle``).

        The option ``handle_type`` of the resource selects its kind. A descriptor of files keeps the memory alive.

        Raises
        ------
        RuntimeError
            If the buffer is closed or a sub-buffer, or the option ``handle_type`` does not allow exports.
        CUDAError
            If the driver cannot export the memory.
        """
        resource = self.memory_resource
        memory = None if self.is_closed or self.owner is not None else virtual_memory_of(self)
        if memory is None:
            raise cuda_utils.UnavailableError(
                "only a whole, open buffer that a VirtualMemoryResource allocated can be shared between processes"
            )
        if not getattr(resource, "is_ipc_enabled", False):
            raise cuda_utils.UnavailableError(
                "the memory is not shared between processes; set handle_type='posix_fd' in the options of the resource"
            )
        return export_virtual_memory(self, memory, resource.config.handle_type == "fabric")

    def close(self, stream=None) -> None:
        """Unmap the memory and free its addresses (``cuMemUnmap``, ``cuMemAddressFree``).

        Waits for the work on the deallocation stream. Closing a closed buffer has no effect.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize first. Defaults to the one passed to :meth:`VirtualMemoryResource.allocate` or
            last to :meth:`Buffer.set_deallocation_stream`.

        Raises
        ------
        RuntimeError
            If the stream is capturing. The buffer stays open.
        BufferError
            If a memoryview or NumPy array still uses the buffer or one of its slices.
        TypeError
            If ``stream`` is not a stream.
        """
        stream = None if stream is None else Stream_accept(stream)
        if not self.is_closed and self.owner is None:
            check_not_capturing(self._deallocation_stream if stream is None else stream)
        super().close(stream)


class VirtualMemoryResource(SynchronousAllocator):
    """Allocates memory with the virtual memory management API, so that buffers can grow in place.

    An allocation reserves an address range (``cuMemAddressReserve``), creates physical memory (``cuMemCreate``), maps
    it (``cuMemMap``) and sets the access (``cuMemSetAccess``).

    Parameters
    ----------
    device_id : :class:`Device` | int
        The device, or its ordinal.
    config : :class:`VirtualMemoryResourceOptions` | dict, optional
        The options of allocations. If None, the defaults.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there is no such device.
    RuntimeError
        If the device does not support virtual memory management, or ``gpu_direct_rdma`` is set and not supported.

    Examples
    --------
    >>> from cuda.core import Device, VirtualMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> resource = VirtualMemoryResource(device)
    >>> buffer = resource.allocate(1 << 21)
    >>> buffer.size >= 1 << 21
    True
    """

    # For wrapped memory (from_handle()). Buffers of this resource own their memory.
    _free = free_virtual_memory

    def __init__(self, device_id, config: VirtualMemoryResourceOptions | None = None):
        if device_id is None:
            raise TypeError("device_id must be a Device or an int, not None")
        # Device() initializes the driver and checks the ordinal.
        self._owner = slots.get("Device")(getattr(device_id, "device_id", device_id))
        self.config = config
        self._check_support()

    def __repr__(self):
        return f"<{type(self).__name__} device={self.device!r}>"

    def __reduce__(self):
        # Only the device and the options are pickled: the memory belongs to this process.
        return type(self), (self._owner, self.config)

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> VirtualMemoryBuffer:
        """Allocate memory synchronously (``cuMemAddressReserve``, ``cuMemCreate``, ``cuMemMap``, ``cuMemSetAccess``).

        Parameters
        ----------
        size : int
            The size in bytes, which is rounded up to the allocation granularity. A buffer of 0 bytes has the address 0.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize before the memory is freed. The allocation itself does not use it. Defaults to
            the default stream for device memory, and to none for host memory.

        Returns
        -------
        :class:`VirtualMemoryBuffer`
            The allocated memory, of the rounded size.

        Raises
        ------
        TypeError
            If ``size`` is not an integer, or ``stream`` not a stream.
        OverflowError
            If ``size`` is negative or 2**63 or more.
        NotImplementedError
            If :attr:`config` requests a Windows handle type.
        NotSupportedError
            If :attr:`config` has a locality domain and the driver is older than CUDA 13.4.
        CUDAError
            If the driver rejects the allocation. Nothing stays allocated.
        RuntimeError
            If ``stream`` is a default stream and no context is current.
        """
        size = _check_size("size", size)
        if stream is not None:
            stream = Stream_accept(stream)
        if size == 0:
            return VirtualMemoryBuffer._init(0, 0, mr=self, stream=stream)
        config = check_or_create_options(VirtualMemoryResourceOptions, self.config)
        properties = self._properties(config)
        granularity = self._granularity(config, properties)
        # If anything fails, dropping the memory releases it.
        memory = VirtualMemory()
        size = _round_up(size, granularity)
        address = _reserve(memory, size, granularity, config)
        memory.back(address, size, properties.getPtr())
        self._grant(self._access(config), memory.pieces)
        return memory.make_buffer(VirtualMemoryBuffer, self, stream)

    def modify_allocation(
        self, buf: Buffer, new_size: int, config: VirtualMemoryResourceOptions | None = None
    ) -> VirtualMemoryBuffer:
        """Return a larger buffer over the memory of a buffer, and more.

        Both buffers share the memory of ``buf``, which is freed when the last of them is closed; ``buf`` stays as it
        is. The new buffer has the same address if the addresses after ``buf`` are free; otherwise the memory is mapped
        at a second address.

        Parameters
        ----------
        buf : :class:`Buffer`
            A buffer of this resource, not a sub-buffer.
        new_size : int
            The new size in bytes, rounded up to the allocation granularity.
        config : :class:`VirtualMemoryResourceOptions` | dict, optional
            The options for the added memory. Defaults to :attr:`config`, which does not change.

        Returns
        -------
        :class:`VirtualMemoryBuffer`
            The new buffer, or ``buf`` itself if it has ``new_size`` bytes already.

        Raises
        ------
        TypeError
            If ``buf`` is not a :class:`Buffer`, or ``new_size`` not an integer.
        RuntimeError
            If ``buf`` is closed.
        ValueError
            If ``buf`` belongs to another resource, or is empty or a sub-buffer.
        AssertionError
            If the memory is host memory.
        CUDAError
            If the driver rejects a change. Nothing is changed.
        """
        if not isinstance(buf, Buffer):
            raise TypeError(f"buf must be a Buffer, not {type(buf).__name__}")
        if buf.is_closed:
            raise RuntimeError("buf must be open, but is closed")
        if buf.memory_resource is not self or buf.owner is not None:
            raise ValueError("buf must be a whole buffer of this resource")
        new_size = _check_size("new_size", new_size)
        config = check_or_create_options(
            VirtualMemoryResourceOptions, self.config if config is None else config, "virtual memory resource options"
        )
        if not self.config.location_type == config.location_type == "device":
            raise AssertionError("location_type must be 'device', because host memory cannot be modified")
        self._check_support(config)
        return call_with_memory(buf, self._modify, buf, new_size, config)

    @property
    def device(self):
        """The :class:`Device`, or None for host memory."""
        return self._owner if self.is_device_accessible else None

    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """Get or set the options of later allocations."""
        return self._config

    @config.setter
    def config(self, config: VirtualMemoryResourceOptions | dict | None) -> None:
        options = check_or_create_options(VirtualMemoryResourceOptions, config, "virtual memory resource options")
        self._config = options
        if options.handle_type == "posix_fd":
            register_handles()

    @property
    def device_id(self) -> int:
        """The ordinal of the device, or -1 for host memory."""
        return int(self._owner) if self.is_device_accessible else -1

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can map the memory, as the option ``handle_type`` says."""
        return self.config.handle_type in ("posix_fd", "fabric")

    @property
    def is_device_accessible(self) -> bool:
        """Whether the memory is device memory."""
        return self.config.location_type == "device"

    @property
    def is_host_accessible(self) -> bool:
        """Whether the memory is host memory."""
        return not self.is_device_accessible

    def _open_buffer(self, descriptor, stream) -> VirtualMemoryBuffer:
        """Map memory that was exported, for :meth:`Buffer.from_ipc_descriptor`."""
        if not isinstance(descriptor, (VirtualMemoryIPCBufferDescriptor, VirtualMemoryFabricBufferDescriptor)):
            raise TypeError(f"ipc_descriptor must be of virtual memory, not {type(descriptor).__name__}")
        handles = descriptor._copies()  # another thread may close the descriptor
        kind = int(enums.VIRTUAL_MEMORY_HANDLE.to_driver(descriptor.handle_type, "handle_type"))
        config = self.config
        memory = VirtualMemory()
        address = _reserve(memory, sum(descriptor.sizes), self._granularity(config, self._properties(config)), config)
        for handle, size in zip(handles, descriptor.sizes, strict=True):
            memory.open(address + memory.size, size, handle if isinstance(handle, bytes) else int(handle), kind)
        self._grant(self._access(config), memory.pieces)
        return memory.make_buffer(VirtualMemoryBuffer, self, stream, descriptor.size)

    def _check_support(self, config=None):
        config = config or self.config
        properties = self._owner.properties
        if not properties.virtual_memory_management_supported:
            raise RuntimeError(f"device {int(self._owner)} does not support virtual memory management")
        if config.gpu_direct_rdma and not properties.gpu_direct_rdma_with_cuda_vmm_supported:
            raise RuntimeError(f"device {int(self._owner)} does not support gpu_direct_rdma with virtual memory")

    def _modify(self, buf, new_size, config):
        size, stream = buf.size, buf._deallocation_stream
        if size == 0:
            raise ValueError("buf must not be empty, because it has no address range to grow; allocate a new buffer")
        memory = virtual_memory_of(buf)
        if memory is None:
            raise ValueError("buf must be memory that this resource allocated, not wrapped memory")
        if new_size <= size:
            return buf
        properties = self._properties(config)
        granularity = self._granularity(config, properties)
        # Memory that was imported can be larger than its buffer.
        more = _round_up(max(new_size - memory.size, 0), granularity)
        grown = self._continued(memory, more, config, properties)
        if grown is None:
            grown = self._moved(memory, more, granularity, config, properties)
        return grown.make_buffer(VirtualMemoryBuffer, self, stream)

    def _continued(self, memory, more, config, properties) -> VirtualMemory | None:
        grown = VirtualMemory(memory)
        if more == 0:
            return grown
        end = memory.pieces[0][0] + memory.size
        if grown.reserve(more, 0, end) != end:
            return None
        grown.back(end, more, properties.getPtr())
        self._grant(self._access(config), [(end, more)])
        return grown

    def _moved(self, memory, more, granularity, config, properties) -> VirtualMemory:
        moved = VirtualMemory()
        address = _reserve(moved, memory.size + more, granularity, config)
        for old, length in memory.pieces:
            # Map the same physical memory at a second address.
            moved.share(address + moved.size, length, old)
        self._grant(self._access(self.config), moved.pieces)
        end = address + moved.size
        moved.back(end, more, properties.getPtr())
        self._grant(self._access(config), [(end, more)])
        return moved

    def _properties(self, config):
        """Return the ``CUmemAllocationProp`` for ``config``."""
        if config.handle_type is not None and config.handle_type.startswith("win32"):
            raise NotImplementedError(f"handle_type {shown(config.handle_type)} is for Windows, which is not supported")
        driver = cuda_utils.driver
        properties = driver.CUmemAllocationProp()
        properties.type = enums.VIRTUAL_MEMORY_ALLOCATION.to_driver(config.allocation_type, "allocation_type")
        properties.location = self._location(config)
        properties.requestedHandleTypes = (
            driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
            if config.handle_type is None
            else enums.VIRTUAL_MEMORY_HANDLE.to_driver(config.handle_type, "handle_type")
        )
        properties.allocFlags.gpuDirectRDMACapable = int(config.gpu_direct_rdma)
        if config.locality_domain is not None:
            require_domains()
            set_domain(properties.getPtr(), int(self._owner), config.locality_domain)
        return properties

    def _location(self, config):
        location = cuda_utils.driver.CUmemLocation()
        location.type = enums.VIRTUAL_MEMORY_LOCATION.to_driver(config.location_type, "location_type")
        location.id = 0
        if config.location_type == "device":
            location.id = int(self._owner)
        elif config.location_type == "host_numa":
            location.id = self._owner.properties.host_numa_id if config.numa_id is None else config.numa_id
            if location.id < 0:
                raise RuntimeError(f"the driver reports no NUMA node nearest to device {int(self._owner)}")
        return location

    def _granularity(self, config, properties) -> int:
        kind = enums.VIRTUAL_MEMORY_GRANULARITY.to_driver(config.granularity, "granularity")
        return call_driver("cuMemGetAllocationGranularity", properties, kind)

    def _access(self, config) -> dict:
        """Return the access that ``config`` grants: a dict from (location type, location ID) to access flags."""
        location = self._location(config)
        device = enums.VIRTUAL_MEMORY_LOCATION.to_driver("device", "peers")
        granted = {(location.type, location.id): config.self_access}
        granted.update(((device, peer), config.peer_access) for peer in config.peers)
        to_driver = enums.VIRTUAL_MEMORY_ACCESS.to_driver
        return {location: to_driver(access, "access") for location, access in granted.items() if access is not None}

    def _grant(self, access, pieces) -> None:
        """Set the access of mapped ranges (``cuMemSetAccess``)."""
        descriptions = []
        for (kind, number), flags in access.items():
            description = cuda_utils.driver.CUmemAccessDesc()
            description.location.type, description.location.id = kind, number
            description.flags = flags
            descriptions.append(description)
        if descriptions:
            for address, size in pieces:
                call_driver("cuMemSetAccess", address, size, descriptions, len(descriptions))


@options
class VirtualMemoryResourceOptions(Options):
    """Options of a :class:`VirtualMemoryResource`.

    Attributes
    ----------
    allocation_type : :class:`~cuda.core.typing.VirtualMemoryAllocationType`, optional
        ``"pinned"``, the only type. :class:`ManagedMemoryResource` allocates managed memory.
    location_type : :class:`~cuda.core.typing.VirtualMemoryLocationType`, optional
        The location of the memory: ``"device"``, the default, ``"host"``, or ``"host_numa"``, the NUMA node
        ``numa_id``.
    handle_type : :class:`~cuda.core.typing.VirtualMemoryHandleType`, optional
        The handle type that the memory can be exported as. Default is ``"posix_fd"``. If None, it cannot be exported.
    granularity : :class:`~cuda.core.typing.VirtualMemoryGranularityType`, optional
        The granularity that sizes are rounded up to, ``"minimum"`` or ``"recommended"``. Default is ``"recommended"``.
    gpu_direct_rdma : bool, optional
        Whether other PCIe devices, such as network adapters, can access the memory (GPUDirect RDMA). Default is False.
    addr_hint : int, optional
        The preferred address. Default is 0: the driver chooses.
    addr_align : int, optional
        The alignment of the address in bytes, a power of two. If None, the granularity.
    peers : iterable[:class:`Device` | int], optional
        The peer devices with access. Defaults to none.
    self_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        The access of the owner: ``"r"``, ``"rw"`` or None for no access. Default is ``"rw"``.
    peer_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        The access of the peers: ``"r"``, ``"rw"`` or None for no access. Default is ``"rw"``.
    numa_id : int, optional
        The NUMA node of ``location_type="host_numa"``. If None, the node nearest to the device.
    locality_domain : int, optional
        The locality domain of device memory, from 0 to ``Device.properties.locality_domain_count - 1``. If None, the
        memory is in all domains. Needs a driver of CUDA 13.4.
    """

    allocation_type: VirtualMemoryAllocationType | str = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType | str = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | str | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType | str = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    numa_id: int | None = None
    locality_domain: int | None = None

    # What other packages look the driver's values up in.
    _access_flags = enums.EnumTable(enums.VIRTUAL_MEMORY_ACCESS, none=0)
    _allocation_type = enums.EnumTable(enums.VIRTUAL_MEMORY_ALLOCATION)
    _granularity = enums.EnumTable(enums.VIRTUAL_MEMORY_GRANULARITY)
    _handle_types = enums.EnumTable(enums.VIRTUAL_MEMORY_HANDLE, none="NONE")
    _location_type = enums.EnumTable(enums.VIRTUAL_MEMORY_LOCATION)

    def _check(self):
        self.allocation_type = check_str_enum(self.allocation_type, VirtualMemoryAllocationType)
        self.location_type = check_str_enum(self.location_type, VirtualMemoryLocationType)
        if self.allocation_type == VirtualMemoryAllocationType.MANAGED:
            raise ValueError("allocation_type must be 'pinned'; use ManagedMemoryResource for managed memory")
        if self.location_type == VirtualMemoryLocationType.HOST_NUMA_CURRENT:
            raise ValueError(
                "location_type must not be 'host_numa_current', because drivers reject it for physical memory; use "
                "'host_numa' with numa_id"
            )
        # "win32" is not a member of the enum; the resource rejects it, as it does the other Windows handle types.
        if not (isinstance(self.handle_type, str) and self.handle_type.lower() == "win32"):
            self.handle_type = check_str_enum(self.handle_type, VirtualMemoryHandleType, allow_none=True)
        self.granularity = check_str_enum(self.granularity, VirtualMemoryGranularityType)
        self.self_access = check_str_enum(self.self_access, VirtualMemoryAccessType, allow_none=True)
        self.peer_access = check_str_enum(self.peer_access, VirtualMemoryAccessType, allow_none=True)
        if self.numa_id is not None:
            _check_number("numa_id", self.numa_id)
            if self.location_type != VirtualMemoryLocationType.HOST_NUMA:
                raise ValueError(f"numa_id must be None unless location_type is 'host_numa', not {shown(self.numa_id)}")
        check_locality_domain(self.locality_domain)
        if self.locality_domain is not None and self.location_type != VirtualMemoryLocationType.DEVICE:
            raise ValueError("locality_domain must be None unless location_type is 'device'")
        self.addr_hint = _check_number("addr_hint", 0 if self.addr_hint is None else self.addr_hint)
        if self.addr_align is not None:
            _check_number("addr_align", self.addr_align)
            if self.addr_align & (self.addr_align - 1):
                raise ValueError(f"addr_align must be a power of two, not {shown(self.addr_align)}")
        if not isinstance(self.peers, Iterable):
            raise TypeError(f"peers must be an iterable of Device or int, not {type(self.peers).__name__}")
        self.peers = tuple([_check_number("peers", getattr(peer, "device_id", peer)) for peer in self.peers])


def _check_number(name: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, not {shown(value)}")
    if value >> 64:
        raise OverflowError(f"{name} must be at most 2**64 - 1, not {shown(value)}")
    return value


def _reserve(memory, size, granularity, config) -> int:
    align = granularity if config.addr_align is None else config.addr_align
    return memory.reserve(size, align, config.addr_hint)


def _check_size(name, size) -> int:
    if isinstance(size, bool):
        raise TypeError(f"{name} must be an int, a number of bytes, not bool")
    size = int_argument(name, size, "an int, a number of bytes")
    if not 0 <= size < 1 << 63:
        raise OverflowError(f"{name} must be a number of bytes, from 0 to 2**63 - 1, not {shown(size)}")
    return size


def _round_up(size, granularity) -> int:
    return -(-size // granularity) * granularity
