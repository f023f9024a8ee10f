# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: addresses are reserved and physical memory is mapped separately, so that buffers can grow."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from cuda.core._handles import _late
from cuda.core._handles._capture_mode import capture_count
from cuda.core._handles._waiting import may_wait_for_device, note_raised
from cuda.core._memory._buffer import Buffer, MemoryResource
from cuda.core._stream import Stream_accept
from cuda.core._utils import cuda_utils, enums
from cuda.core._utils.cuda_utils import CUDAError, call_driver, check_or_create_options
from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.errors.values import answering
from cuda.core._utils.helpers import Transaction
from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import address_argument, check_str_enum, int_argument, shown
from cuda.core._utils.waiting import call_interruptibly
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)

__all__ = ["VirtualMemoryResource", "VirtualMemoryResourceOptions"]


@dataclass
class _Block:
    """The physical memory of one buffer: adjacent pieces, the first at the address of the buffer."""

    reserved: list[tuple[int, int]] = field(default_factory=list)  # addresses and sizes
    mapped: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(size for _, size in self.mapped)


@answering
@needs_init("_config", "_owner", "_blocks", "_lock")
class VirtualMemoryResource(MemoryResource):
    """Memory whose addresses are reserved and whose physical memory is mapped separately, so that it can grow.

    Parameters
    ----------
    device_id : :class:`Device` | int
        The device.
    config : :class:`VirtualMemoryResourceOptions` | dict, optional
        How to allocate.

    Raises
    ------
    RuntimeError
        If the device has no virtual memory management, or RDMA is asked for and not supported.
    NotImplementedError
        If memory is to be exported by handles of Windows.
    """

    _needs_stream = False

    _waits_to_free = True

    def __init__(self, device_id, config: VirtualMemoryResourceOptions | None = None):
        if device_id is None:
            raise TypeError("device_id must be a Device or an int, not None")
        # A Device makes sure of the driver and of the ordinal.
        self._owner = _late.device_of(getattr(device_id, "device_id", device_id))
        self._blocks = {}
        self._lock = threading.RLock()
        self.config = config
        self._check_support()

    def __repr__(self):
        return f"<{type(self).__name__} device={self.device!r}>"

    def __reduce__(self):
        # What travels is how to allocate; the memory belongs to this process.
        return type(self), (self._owner, self.config)

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Reserve addresses, create memory and map it (``cuMemAddressReserve``, ``cuMemCreate``, ``cuMemMap``).

        Parameters
        ----------
        size : int
            The number of bytes; rounded up to the granularity. No bytes have the address 0.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream whose work must be over before the memory is unmapped. It can be used at once.

        Returns
        -------
        :class:`Buffer`
            A buffer of the rounded size.

        Raises
        ------
        CUDAError
            If the driver refuses; nothing stays allocated.
        RuntimeError
            If no context is current.
        """
        size = _check_size("size", size)
        if stream is not None:
            stream = Stream_accept(stream)
        if size == 0:
            return Buffer.from_handle(0, 0, mr=self, stream=stream)
        properties = self._properties(self.config)
        granularity = self._granularity(self.config, properties)
        size = _round_up(size, granularity)
        block = _Block()
        with Transaction() as transaction:
            align = granularity if self.config.addr_align is None else self.config.addr_align
            address = _reserve(transaction, block, size, align, self.config.addr_hint)
            _back(transaction, block, address, size, properties)
            self._grant(self._access(self.config), block.mapped)
            with self._lock:
                self._blocks[address] = block
            transaction.append(self._blocks.pop, address, None)
            buffer = Buffer.from_handle(address, size, mr=self, stream=stream)
            transaction.commit()
        return buffer

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Unmap memory and free its addresses (``cuMemUnmap``, ``cuMemAddressFree``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address.
        size : int
            The number of bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            What is waited for first.
        """
        if stream is not None:
            stream = Stream_accept(stream)
        address = address_argument("ptr", ptr)
        if address == 0:
            return
        block = self._block_of(address, size)
        with self._lock:
            del self._blocks[address]
        # Another thread would not know that this one may wait beside a capture.
        if may_wait_for_device() and not capture_count():
            context = call_driver("cuCtxGetCurrent")
            try:
                call_interruptibly(lambda: _release_in(context, block, stream), _nothing, lambda: _nothing)
            except CUDAError:
                raise
            except BaseException as error:  # of a signal handler: the other thread goes on
                note_raised(error)
                raise
        else:
            _release(block, stream)

    def modify_allocation(
        self, buf: Buffer, new_size: int, config: VirtualMemoryResourceOptions | None = None
    ) -> Buffer:
        """Grow a buffer, in place if the addresses behind it are free; its contents are kept.

        Parameters
        ----------
        buf : :class:`Buffer`
            A buffer of this resource.
        new_size : int
            The new number of bytes. If the buffer already has as many, only its access is set again.
        config : :class:`VirtualMemoryResourceOptions` | dict, optional
            The new options, which replace :attr:`config`.

        Returns
        -------
        :class:`Buffer`
            ``buf``, or if it had to move, a new buffer; ``buf`` is then closed.

        Raises
        ------
        TypeError
            If ``buf`` is no buffer, or ``new_size`` no integer.
        RuntimeError
            If ``buf`` is closed.
        ValueError
            If ``buf`` is not of this resource.
        AssertionError
            If the memory is on the host.
        CUDAError
            If the driver refuses; nothing has changed then.
        """
        if not isinstance(buf, Buffer):
            raise TypeError(f"buf must be a Buffer, not {type(buf).__name__}")
        if buf.is_closed:
            raise RuntimeError("buf is closed")
        if buf.memory_resource is not self or buf.owner is not None:
            raise ValueError("buf must be a whole buffer of this resource")
        new_size = _check_size("new_size", new_size)
        config = (
            check_or_create_options(
                VirtualMemoryResourceOptions, config, "virtual memory resource options", keep_none=True
            )
            or self.config
        )
        if not self.config.location_type == config.location_type == "device":
            raise AssertionError("only memory of a device can be modified, not memory of the host")
        self._check_support(config)
        grown = self._modify(buf, new_size, config)
        self.config = config
        return grown

    @property
    def device(self):
        """The :class:`Device`, or None for memory of the host."""
        return self._owner if self.is_device_accessible else None

    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """The options of later allocations."""
        return self._config

    @config.setter
    def config(self, config: VirtualMemoryResourceOptions | dict | None) -> None:
        options = check_or_create_options(VirtualMemoryResourceOptions, config, "virtual memory resource options")
        self._config = options

    @property
    def device_id(self) -> int:
        """The ordinal of the device; -1 for memory of the host."""
        return int(self._owner) if self.is_device_accessible else -1

    @property
    def is_device_accessible(self) -> bool:
        """Whether the memory is on the device."""
        return self.config.location_type == "device"

    @property
    def is_host_accessible(self) -> bool:
        """Whether the memory is on the host."""
        return not self.is_device_accessible

    def _check_support(self, config=None):
        config = config or self.config
        properties = self._owner.properties
        if not properties.virtual_memory_management_supported:
            raise RuntimeError(f"device {int(self._owner)} has no virtual memory management")
        if config.gpu_direct_rdma and not properties.gpu_direct_rdma_with_cuda_vmm_supported:
            raise RuntimeError(f"device {int(self._owner)} does not support gpu_direct_rdma with virtual memory")

    def _block_of(self, address, size) -> _Block:
        with self._lock:
            # Memory that was wrapped is taken for one piece.
            return self._blocks.setdefault(address, _Block([(address, size)], [(address, size)]))

    def _modify(self, buf, new_size, config):
        if buf.size == 0:
            raise ValueError("buf has no bytes, and so no addresses to grow from; allocate another one")
        block = self._block_of(buf.handle, buf.size)
        if new_size <= buf.size:
            self._change_access(config, block.mapped)
            return buf
        properties = self._properties(config)
        granularity = self._granularity(config, properties)
        more = _round_up(new_size - buf.size, granularity)
        if self._grow_in_place(buf, block, more, config, properties):
            return buf
        return self._move(buf, block, more, granularity, config, properties)

    def _grow_in_place(self, buf, block, more, config, properties) -> bool:
        extension = _Block()
        end = buf.handle + buf.size
        with Transaction() as transaction:
            if _reserve(transaction, extension, more, 0, end) != end:
                return False  # the transaction gives the addresses back
            _back(transaction, extension, end, more, properties)
            self._grant(self._access(config), extension.mapped)
            # What is there already keeps its access unless the options change.
            if config != self.config:
                self._change_access(config, block.mapped)
            buf._size = buf.size + more
            block.reserved += extension.reserved
            block.mapped += extension.mapped
            transaction.commit()
        return True

    def _move(self, buf, block, more, granularity, config, properties):
        moved = _Block()
        size = buf.size + more
        with Transaction() as transaction:
            align = granularity if config.addr_align is None else config.addr_align
            address = _reserve(transaction, moved, size, align, config.addr_hint)
            for old, length in block.mapped:
                # The same memory, at a second address.
                memory = call_driver("cuMemRetainAllocationHandle", old)
                _map(transaction, moved, address + moved.size, length, memory)
            _back(transaction, moved, address + moved.size, more, properties)
            self._grant(self._access(config), moved.mapped)
            with self._lock:
                self._blocks[address] = moved
            transaction.append(self._blocks.pop, address, None)
            grown = Buffer.from_handle(address, size, mr=self, stream=buf._deallocation_stream)
            transaction.commit()
        buf.close()
        return grown

    def _properties(self, config):
        """Return the driver's description of memory as ``config`` wants it."""
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
        return properties

    def _location(self, config):
        location = cuda_utils.driver.CUmemLocation()
        location.type = enums.VIRTUAL_MEMORY_LOCATION.to_driver(config.location_type, "location_type")
        location.id = 0
        if config.location_type == "device":
            location.id = int(self._owner)
        elif config.location_type == "host_numa":
            location.id = self._owner.properties.host_numa_id
            if location.id < 0:
                raise RuntimeError(f"the driver does not know the NUMA node nearest to device {int(self._owner)}")
        return location

    def _granularity(self, config, properties) -> int:
        kind = enums.VIRTUAL_MEMORY_GRANULARITY.to_driver(config.granularity, "granularity")
        return call_driver("cuMemGetAllocationGranularity", properties, kind)

    def _change_access(self, config, pieces) -> None:
        """Grant what ``config`` says for pieces with the access of :attr:`config`, which they keep where one fails."""
        wanted, before = self._access(config), self._access(self.config)
        try:
            self._grant(wanted, pieces)
        except CUDAError:
            nothing = cuda_utils.driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
            self._grant({place: before.get(place, nothing) for place in wanted}, pieces)
            raise

    def _access(self, config) -> dict:
        """Return what ``config`` grants: the driver's flags by the type and number of the place."""
        location = self._location(config)
        device = enums.VIRTUAL_MEMORY_LOCATION.to_driver("device", "peers")
        granted = {(location.type, location.id): config.self_access}
        granted.update(((device, peer), config.peer_access) for peer in config.peers)
        to_driver = enums.VIRTUAL_MEMORY_ACCESS.to_driver
        return {place: to_driver(access, "access") for place, access in granted.items() if access is not None}

    def _grant(self, access, pieces) -> None:
        """Set the access to some mapped pieces."""
        descriptions = []
        for (kind, number), flags in access.items():
            description = cuda_utils.driver.CUmemAccessDesc()
            description.location.type, description.location.id = kind, number
            description.flags = flags
            descriptions.append(description)
        if descriptions:
            for address, size in pieces:
                call_driver("cuMemSetAccess", address, size, descriptions, len(descriptions))


@options_class
class VirtualMemoryResourceOptions(Options):
    """Options of a :class:`VirtualMemoryResource`.

    Attributes
    ----------
    allocation_type : :class:`~cuda.core.typing.VirtualMemoryAllocationType`, optional
        ``"pinned"``, the default, or ``"managed"``, which needs CUDA 13.
    location_type : :class:`~cuda.core.typing.VirtualMemoryLocationType`, optional
        Where the memory is. Default is ``"device"``; ``"host_numa"`` means the node nearest to it.
    handle_type : :class:`~cuda.core.typing.VirtualMemoryHandleType`, optional
        How the memory can be exported to other processes. Default is ``"posix_fd"``; None for not at all.
    granularity : :class:`~cuda.core.typing.VirtualMemoryGranularityType`, optional
        What sizes are rounded up to. Default is ``"recommended"``.
    gpu_direct_rdma : bool, optional
        Whether other devices on the bus, such as network adapters, reach the memory. Default is False.
    addr_hint : int, optional
        The preferred address; 0, the default, leaves the choice to the driver.
    addr_align : int, optional
        The alignment of the address, a power of two in bytes. If None, the granularity.
    peers : iterable of :class:`Device` or int, optional
        Further devices that get access.
    self_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        What the owner may do. Default is ``"rw"``; None for nothing.
    peer_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        What the peers may do. Default is ``"rw"``; None for nothing.
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

    # What other packages look the driver's values up in.
    _access_flags = enums.EnumTable(enums.VIRTUAL_MEMORY_ACCESS, none=0)
    _allocation_type = enums.EnumTable(enums.VIRTUAL_MEMORY_ALLOCATION)
    _granularity = enums.EnumTable(enums.VIRTUAL_MEMORY_GRANULARITY)
    _handle_types = enums.EnumTable(enums.VIRTUAL_MEMORY_HANDLE, none="NONE")
    _location_type = enums.EnumTable(enums.VIRTUAL_MEMORY_LOCATION)

    def __post_init__(self):
        self.allocation_type = check_str_enum(self.allocation_type, VirtualMemoryAllocationType)
        self.location_type = check_str_enum(self.location_type, VirtualMemoryLocationType)
        # A kind of Windows that has no member, and that the resource refuses when it is used.
        if not (isinstance(self.handle_type, str) and self.handle_type.lower() == "win32"):
            self.handle_type = check_str_enum(self.handle_type, VirtualMemoryHandleType, allow_none=True)
        self.granularity = check_str_enum(self.granularity, VirtualMemoryGranularityType)
        self.self_access = check_str_enum(self.self_access, VirtualMemoryAccessType, allow_none=True)
        self.peer_access = check_str_enum(self.peer_access, VirtualMemoryAccessType, allow_none=True)
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


def _reserve(transaction, block, size, align, hint) -> int:
    address = int(call_driver("cuMemAddressReserve", size, align, hint, 0))
    transaction.append(_free_addresses, address, size)
    block.reserved.append((address, size))
    return address


def _back(transaction, block, address, size, properties) -> None:
    """Create physical memory and map it at some addresses."""
    _map(transaction, block, address, size, call_driver("cuMemCreate", size, properties, 0))


def _map(transaction, block, address, size, memory) -> None:
    """Map physical memory at some addresses; from then on it exists as long as it is mapped."""
    try:
        call_driver("cuMemMap", address, size, 0, memory, 0)
        transaction.append(_unmap, address, size)
        block.mapped.append((address, size))
    finally:
        call_driver("cuMemRelease", memory)


def _release(block, stream) -> None:
    with Transaction() as transaction:
        # Undone in reverse order; each step is tried even if another one failed.
        for piece in block.reserved:
            transaction.append(_free_addresses, *piece)
        for piece in block.mapped:
            transaction.append(_unmap, *piece)
        if stream is not None:
            # Memory that is unmapped under running work is a fault of the device.
            transaction.append(stream.sync)


def _release_in(context, block, stream) -> None:
    call_driver("cuCtxSetCurrent", context)
    _release(block, stream)


def _nothing() -> None:
    pass


def _unmap(address, size) -> None:
    call_driver("cuMemUnmap", address, size)


def _free_addresses(address, size) -> None:
    call_driver("cuMemAddressFree", address, size)


def _check_size(name, size) -> int:
    if isinstance(size, bool):
        raise TypeError(f"{name} must be an int, a number of bytes, not bool")
    size = int_argument(name, size, "an int, a number of bytes")
    if not 0 <= size < 1 << 63:
        raise OverflowError(f"{name} must be a number of bytes, from 0 to 2**63 - 1, not {shown(size)}")
    return size


def _round_up(size, granularity) -> int:
    return -(-size // granularity) * granularity
