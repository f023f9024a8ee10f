# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array memory: each context caches freed memory for later arrays of similar size.

Results of operations use a stream-ordered pool. Their memory is allocated and freed on the default stream, so neither
step synchronizes with the device, unlike ``cuMemFree``. Arrays created by the program use ``cuMemAlloc``, so other
processes can open their memory, and any stream can use it immediately. That memory is reused once the work enqueued
before the free has completed.

If the address of an array is visible to other code (the program, another library, another stream), its memory is freed
as classic programs expect: after all pending device work.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import weakref

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    CachingMemoryResource,
    CUDAError,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    OutOfMemoryError,
)
from cuda.core._classic import allocate_as, checks_memory, keep_until_idle, register_buffer_class, wait_before_free
from cuda.core.driver import _context
from cuda.core.driver import _device_memory as _memory
from cuda.core.driver._constants import device_attribute
from cuda.core.driver._device_memory import DeviceAllocation, PlainMemory, mem_alloc
from cuda.core.driver._errors import classic_error
from cuda.core.driver._storage import ResultSource

__all__ = ["ResultAllocation", "SharedAllocation", "is_of_pool", "share_result", "take_array", "take_result"]

KEPT_SHARE = 16


class ResultAllocation(DeviceAllocation):
    """Array memory freed in default-stream order (``cuMemFreeAsync``)."""

    _made_by = "GPUArray() or an operation on arrays"

    @property
    def _context(self):
        return self.memory_resource.context()


class SharedAllocation(ResultAllocation):
    """Array memory whose address is visible to other code, freed after all pending device work."""

    def close(self, stream=None) -> None:
        """Free the memory after all device work has completed. Closing closed memory has no effect."""
        if not self.is_closed:
            wait_before_free(self.memory_resource.device_id)
        super().close(stream)

    def __del__(self):
        if not self.is_closed and not sys.is_finalizing():
            keep_until_idle(self)


class _ContextMemory(CachingMemoryResource):
    """Array memory for a context: an upstream resource and a cache of freed memory."""

    _idle: dict  # device ordinal -> resources not used by any context

    def __init__(self, upstream, kept_bytes: int):
        super().__init__(upstream, max_cached_bytes=kept_bytes)
        _memories.append(self)

    def set_peers(self, peers) -> None:
        """Grant other devices access to the memory, unless the driver does so itself."""

    def lend(self, context) -> None:
        """Assign the resource to a context until the context is detached or unreferenced."""
        self.context = weakref.ref(context)
        self._give_back = weakref.finalize(context, self._idle.setdefault(self.device_id, []).append, self)
        self._give_back.atexit = False

    def end(self) -> None:
        """Make the resource available to another context, and free unused memory."""
        with contextlib.suppress(CUDAError):  # an error of earlier work, which the next call reports
            self.release()
        self._give_back()

    def release(self) -> None:
        """Free all unused memory."""
        self.trim()

    @property
    def held(self) -> int:
        """The number of cached bytes."""
        return self.cached_bytes


class _ResultPool(_ContextMemory):
    """Memory for a context's results, from a driver memory pool.

    The pool is never destroyed, because a pool must not be destroyed while another thread synchronizes or frees. After
    a context is detached, the device's next context uses its pool.
    """

    _idle: dict[int, list[_ResultPool]] = {}

    def __init__(self, ordinal: int):
        pool = DeviceMemoryResource(ordinal, DeviceMemoryResourceOptions())
        allocate_as(ResultAllocation, pool)
        # If another library runs out of memory, the driver reclaims unused memory in its pools, but not this cache.
        super().__init__(pool, kept_bytes(ordinal))
        self.set_peers(_context.peer_access.get(ordinal))

    def set_peers(self, peers) -> None:
        if peers or self.upstream.peer_accessible_by:
            self.upstream.peer_accessible_by = peers

    def release(self) -> None:
        super().release()
        wait_before_free(self.device_id)  # memory returns to the pool once the device has executed the frees
        self.upstream.trim()

    @property
    def held(self) -> int:
        figures = self.attributes
        return max(figures.reserved_mem_current - figures.used_mem_current, 0) + self.cached_bytes


class _ArrayMemory(_ContextMemory):
    """Memory for the arrays that programs create in a context, from ``cuMemAlloc``."""

    _idle: dict[int, list[_ArrayMemory]] = {}

    def __init__(self, ordinal: int):
        # A cached block can be larger than the array, so a check would miss accesses past the array's end.
        kept = 0 if checks_memory() else kept_bytes(ordinal)
        super().__init__(PlainMemory(ordinal, ResultAllocation), kept)
        self._waits = True


_memories: list[_ContextMemory] = []


def kept_bytes(ordinal: int) -> int:
    """Return the maximum number of bytes that a context caches on a device."""
    return _context.Device(ordinal).total_memory() // KEPT_SHARE


def memory_for(context, kind: type) -> _ContextMemory:
    """Return an unused resource of class ``kind``, newly assigned to a context."""
    ordinal = context._device._ordinal
    try:
        memory = kind._idle.setdefault(ordinal, []).pop()
    except IndexError:
        memory = kind(ordinal)
    memory.lend(context)
    return memory


def take_result(context, size: int) -> DeviceAllocation:
    """Allocate memory for a result in a context.

    Raises
    ------
    MemoryError
        If the device does not have enough memory, even after all cached memory is freed.
    """
    return (context.take_result or open_results(context))(size)


def take_array(context, size: int) -> DeviceAllocation:
    """Allocate memory for an array that a program creates in a context. See :func:`take_result`."""
    return (context.take_array or open_arrays(context))(size)


def open_results(context):
    """Set a context's ``take_result``, the function that allocates memory for results, and return it."""
    has_pools = context._device.get_attribute(device_attribute.MEMORY_POOLS_SUPPORTED)
    context.take_result = take = _source(context, _ResultPool if has_pools else None)
    return take


def open_arrays(context):
    """Set a context's ``take_array``, the function that allocates memory for the program's arrays, and return it."""
    context.take_array = take = _source(context, _ArrayMemory)
    return take


def _source(context, kind: type | None):
    if kind is None or not context._is_primary:
        return mem_alloc
    try:
        memory = memory_for(context, kind)
    except CUDAError as error:
        raise classic_error(error) from None
    context._ends.append(memory.end)
    return ResultSource(memory, context._objects, functools.partial(take_again, memory))


def take_again(pool: _ContextMemory, size: int, error: CUDAError) -> ResultAllocation:
    """Retry an allocation that failed with ``error`` after freeing cached memory."""
    try:
        if not isinstance(error, OutOfMemoryError):
            raise error
        gc.collect()
        release_held(pool.device_id)
        return pool.allocate(size, stream=LEGACY_DEFAULT_STREAM)
    except CUDAError as failure:
        raise classic_error(failure) from None


def is_of_pool(memory) -> bool:
    """Return whether memory belongs to a driver pool, which means that other processes cannot open it."""
    return isinstance(memory, ResultAllocation) and isinstance(memory.memory_resource, _ResultPool)


def share_result(memory: ResultAllocation) -> None:
    """Defer freeing memory to the end of all pending device work, because external code might use it."""
    if type(memory) is ResultAllocation:
        memory.__class__ = SharedAllocation


def release_held(ordinal: int) -> bool:
    """Free the cached memory of a device, and return whether the device has a cache."""
    memories = [memory for memory in _memories if memory.device_id == ordinal]
    for memory in memories:
        memory.release()
    return bool(memories)


def held_bytes(ordinal: int) -> int:
    """Return the number of bytes cached on a device."""
    return sum(memory.held for memory in _memories if memory.device_id == ordinal)


def update_peers(ordinal: int, peers: set[int]) -> None:
    for memory in _memories:
        if memory.device_id == ordinal:
            memory.set_peers(peers)


for _kind in (ResultAllocation, SharedAllocation):
    register_buffer_class(_kind)
_memory.held_memory.append((release_held, held_bytes))
_context.peer_listeners.append(update_peers)
