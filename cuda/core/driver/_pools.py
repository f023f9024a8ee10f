# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools, which hold freed blocks for reuse in size classes (bins)."""

from __future__ import annotations

import gc
import operator
import weakref

import numpy

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, MemoryResource
from cuda.core._classic import RLock, shown
from cuda.core.driver._checks import checked_int, flags_argument
from cuda.core.driver._context import context_for
from cuda.core.driver._device_memory import DeviceAllocation, mem_alloc, register_allocation
from cuda.core.driver._errors import INVALID_VALUE, MemoryError, logic_error
from cuda.core.driver._host_memory import PagelockedHostAllocation, array_over, mem_host_alloc

__all__ = [
    "DeviceMemoryPool",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "bitlog2",
]

# With eight bins per power of two, less than an eighth of a block is unused.
_STEPS = 8


class PooledDeviceAllocation(DeviceAllocation):
    """Memory from a :class:`DeviceMemoryPool`, returned to the pool when it is freed or unreferenced."""

    _made_by = "DeviceMemoryPool.allocate()"


class PooledHostAllocation(PagelockedHostAllocation):
    """Memory from a :class:`PageLockedMemoryPool`, returned to the pool once no array refers to it."""

    _made_by = "PageLockedMemoryPool.allocate()"


class _Blocks(MemoryResource):
    """The blocks of a pool."""

    _needs_stream = False

    def __init__(self, make, is_host: bool):
        self._make = make
        self._is_host = is_host
        self._accessible_by = ("device", "host") if is_host else ("device",)
        self._lock = RLock()  # reentrant, because garbage collection can free a block while the lock is held
        self._held = {}  # bin -> free blocks
        self._active = {}  # ID of a lease -> weak reference to it
        self._is_holding = True
        self._context = None

    def take(self, kind: type, size: int):
        """Return an allocation of class ``kind`` from a block of at least ``size`` bytes."""
        size = size if type(size) is int else checked_int("size", size)
        if size < 0:
            raise logic_error("allocate", INVALID_VALUE, f"size must not be negative: {shown(size)}")
        number = bin_number(size)
        with self._lock:
            block = self._pop(number) or self._new_block(alloc_size(number))
            self._context = block._context
        lease = _Lease(self, block, number, size)
        self._active[id(lease)] = weakref.ref(lease)
        # Passing the stream avoids looking it up.
        allocation = kind._init(block.handle, size or 1, mr=lease, stream=LEGACY_DEFAULT_STREAM)
        return register_allocation(allocation, block._context)

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Return a buffer of the pool."""
        return self.take(PooledHostAllocation if self._is_host else PooledDeviceAllocation, size)

    def give_back(self, lease: _Lease) -> None:
        """Hold a lease's block for reuse."""
        with self._lock:
            self._active.pop(id(lease), None)
            if self._is_holding and not lease.block.is_closed:
                self._held.setdefault(lease.number, []).append(lease.block)

    def leases(self) -> list[_Lease]:
        """Return the leases of the blocks in use."""
        leases = [reference() for reference in list(self._active.values())]
        return [lease for lease in leases if lease is not None]

    def free_held(self) -> None:
        with self._lock:
            held, self._held = self._held, {}
        for blocks in held.values():
            for block in blocks:
                _close(block)

    def stop_holding(self) -> None:
        self._is_holding = False
        self.free_held()

    def _pop(self, number: int):
        blocks = self._held.get(number, ())
        while blocks:
            block = blocks.pop()
            if not block.is_closed and not block._context._is_detached:
                return block
        return None

    def _new_block(self, size: int):
        try:
            return self._make(size)
        except MemoryError:
            gc.collect()
        while True:
            try:
                return self._make(size)
            except MemoryError:
                # Free the largest held blocks first. If none are left, the caller gets the error.
                number = max((number for number, blocks in self._held.items() if blocks), default=None)
                if number is None:
                    raise
                _close(self._held[number].pop())

    @property
    def device_id(self) -> int:
        """The device ordinal, or -1 for host memory."""
        return -1 if self._is_host or self._context is None else self._context._device._ordinal


class _Lease(MemoryResource):
    """A block in use, and the memory resource of its allocation.

    Only the lease refers to the block, so the block is freed if an exception interrupts its return to the pool.
    """

    _needs_stream = False

    def __init__(self, blocks: _Blocks, block, number: int, size: int):
        # These are not Python properties, because NumPy would swallow an exception that a signal handler raises in one.
        self._accessible_by = blocks._accessible_by
        self._blocks = blocks
        self.block = block
        self.number = number
        self.size = size

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Return a buffer of the pool."""
        return self._blocks.allocate(size)

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Return the block to the pool, which holds it for reuse."""
        self._blocks.give_back(self)

    @property
    def device_id(self) -> int:
        """The device ordinal, or -1 for host memory."""
        return self._blocks.device_id


class _Pool:
    """Base class of memory pools."""

    def __init__(self, make, is_host: bool):
        self._blocks = _Blocks(make, is_host)
        # Held blocks are freed with the pool. Allocations in use keep the block table alive.
        weakref.finalize(self, self._blocks.stop_holding).atexit = False

    def __repr__(self):
        return (
            f"<cuda.core.driver.{type(self).__name__} with {self.active_blocks} blocks in use, {self.held_blocks} held>"
        )

    def free_held(self) -> None:
        """Free the blocks held for reuse."""
        self._blocks.free_held()

    def stop_holding(self) -> None:
        """Free the held blocks, and from now on free every returned block."""
        self._blocks.stop_holding()

    @staticmethod
    def bin_number(size: int) -> int:
        """Return the number of the bin for ``size`` bytes."""
        return bin_number(operator.index(size))

    @staticmethod
    def alloc_size(bin_: int) -> int:
        """Return the block size of a bin in bytes."""
        return alloc_size(operator.index(bin_))

    @property
    def held_blocks(self) -> int:
        """The number of free blocks held for reuse."""
        return sum(map(len, list(self._blocks._held.values())))

    @property
    def active_blocks(self) -> int:
        """The number of blocks in use."""
        return len(self._blocks.leases())

    @property
    def managed_bytes(self) -> int:
        """The total size of the blocks held and in use, in bytes."""
        held = sum(alloc_size(number) * len(blocks) for number, blocks in list(self._blocks._held.items()))
        return held + sum(alloc_size(lease.number) for lease in self._blocks.leases())

    @property
    def active_bytes(self) -> int:
        """The sum of the requested sizes of the blocks in use, in bytes."""
        return sum(lease.size for lease in self._blocks.leases())


class DeviceMemoryPool(_Pool):
    """A pool of device memory.

    Freed blocks are held for reuse by allocations of similar size. A block can be reused immediately, so work on
    streams other than the NULL stream must have completed before its memory is freed. If the device runs out of memory,
    the pool runs garbage collection and then frees held blocks, largest first.
    """

    def __init__(self):
        super().__init__(mem_alloc, False)

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """Allocate memory, from a held block if possible (``cuMemAlloc``).

        Parameters
        ----------
        size : int
            The minimum size in bytes.

        Raises
        ------
        LogicError
            If ``size`` is negative, or no context is current.
        MemoryError
            If the device does not have enough memory, even after all held blocks are freed.
        """
        context_for("cuMemAlloc")
        return self._blocks.take(PooledDeviceAllocation, size)


class PageLockedAllocator:
    """An allocator of page-locked blocks for a :class:`PageLockedMemoryPool`.

    Parameters
    ----------
    flags : int, optional
        A combination of :data:`host_alloc_flags`. Defaults to 0.
    """

    def __init__(self, flags: int = 0):
        self._flags = flags_argument("flags", flags, "cuMemHostAlloc")

    def __repr__(self):
        return f"cuda.core.driver.PageLockedAllocator(flags={self._flags})"

    def __call__(self, size: int) -> PagelockedHostAllocation:
        """Return a new block of ``size`` bytes. See :func:`mem_host_alloc`."""
        return mem_host_alloc(size, self._flags)


class PageLockedMemoryPool(_Pool):
    """A pool of page-locked host memory that allocates NumPy arrays.

    Parameters
    ----------
    allocator : :class:`PageLockedAllocator`, optional
        The block allocator. Defaults to an allocator without flags.
    """

    def __init__(self, allocator: PageLockedAllocator | None = None):
        super().__init__(PageLockedAllocator() if allocator is None else allocator, True)

    def allocate(self, shape, dtype, order: str = "C") -> numpy.ndarray:
        """Return a new array whose ``base`` is a :class:`PooledHostAllocation`. See :func:`pagelocked_empty`."""
        context_for("cuMemHostAlloc")
        return array_over(lambda size: self._blocks.take(PooledHostAllocation, size), shape, dtype, order)


def bitlog2(n: int) -> int:
    """Return the binary logarithm of ``n``, rounded down, or 0 if ``n`` is 0.

    Parameters
    ----------
    n : int
        The number.

    Raises
    ------
    ValueError
        If ``n`` is negative.
    """
    n = checked_int("n", n, 0)
    return max(n.bit_length() - 1, 0)


def bin_number(size: int) -> int:
    """Return the bin of a size. There are eight bins per power of two, and one per size for the smallest sizes."""
    if size < 2 * _STEPS:
        return size
    shift = size.bit_length() - _STEPS.bit_length()
    # Rounding up can produce the next power of two, which belongs to the next bin.
    return shift * _STEPS + -(-size >> shift)


def alloc_size(number: int) -> int:
    """Return the largest size in a bin."""
    if number < 2 * _STEPS:
        return max(number, 1)
    shift = number // _STEPS - 1
    return (number - shift * _STEPS) << shift


def _close(block: Buffer) -> None:
    if not block.is_closed:
        block.close()
