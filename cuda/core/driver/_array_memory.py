# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory for the results of operations on arrays, which each context has in a pool of its own.

Allocating and freeing such memory is work of the default stream, so neither waits for the device, where ``cuMemAlloc``
and ``cuMemFree`` do. What is freed is kept for the next result of about that size, which needs no call of the driver
then. An array whose address others know (the program, another library, a stream that does not synchronise with the
default stream) is freed as classic programs expect: after all work of the device.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import weakref

from cuda.core._launch._arguments import register_buffer_class
from cuda.core._memory._device_memory_resource import DeviceMemoryResource, DeviceMemoryResourceOptions
from cuda.core._memory._memory_pool import allocate_as
from cuda.core._memory.adaptors._caching_memory_resource import CachingMemoryResource
from cuda.core._memory.ranges._allocation import wait_before_free
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError, OutOfMemoryError
from cuda.core.driver import _context, _memory
from cuda.core.driver._array_storage import ResultSource
from cuda.core.driver._constants import device_attribute
from cuda.core.driver._errors import classic_error
from cuda.core.driver._memory import DeviceAllocation, mem_alloc

__all__ = ["ResultAllocation", "SharedAllocation", "share", "take_result"]

KEPT_SHARE = 16


class ResultAllocation(DeviceAllocation):
    """Memory of the result of an operation on arrays, freed in the order of the default stream."""

    _made_by = "an operation on arrays"

    @property
    def _context(self):
        return self.memory_resource.context()


class SharedAllocation(ResultAllocation):
    """Memory of a result whose address others know, freed after all work of the device."""

    def close(self, stream=None) -> None:
        """Free the memory once all work of the device is done; calling this again does nothing."""
        if not self.is_closed:
            wait_before_free(self.memory_resource.device_id)
        super().close(stream)

    def __del__(self):
        if not self.is_closed and not sys.is_finalizing():
            wait_before_free(self.memory_resource.device_id)


class _ResultPool(CachingMemoryResource):
    """The memory of a context's results: a pool of the driver, and what was freed, for the next results.

    Pools are never destroyed, which the driver must not do while another thread waits or frees: that of a context
    that ended is for the next one of the device.
    """

    def __init__(self, ordinal: int):
        pool = DeviceMemoryResource(ordinal, DeviceMemoryResourceOptions())
        allocate_as(ResultAllocation, pool)
        # The driver reclaims what its pools hold where another library finds no memory, but not what is kept here.
        super().__init__(pool, max_cached_bytes=_context.Device(ordinal).total_memory() // KEPT_SHARE)
        self.set_peers(_context.peer_access.get(ordinal))
        _pools.append(self)

    def set_peers(self, peers) -> None:
        """Let other devices have access."""
        if peers or self.upstream.peer_accessible_by:
            self.upstream.peer_accessible_by = peers

    def lend(self, context) -> None:
        """Serve a context, until it is detached or unreachable."""
        self.context = weakref.ref(context)
        self._give_back = weakref.finalize(context, _idle.setdefault(self.device_id, []).append, self)
        self._give_back.atexit = False

    def end(self) -> None:
        """Serve the next context, and let memory go that is not in use any more."""
        with contextlib.suppress(CUDAError):  # failed work, of which the next call tells
            self.release()
        self._give_back()

    def release(self) -> None:
        """Give all memory back that is not in use."""
        self.trim()
        wait_before_free(self.device_id)  # the pool has what is freed once the device comes to it
        self.upstream.trim()

    @property
    def held(self) -> int:
        """The bytes that are kept for the next results."""
        figures = self.attributes
        return max(figures.reserved_mem_current - figures.used_mem_current, 0) + self.cached_bytes


_pools: list[_ResultPool] = []
# By the number of a device: the pools that serve no context.
_idle: dict[int, list[_ResultPool]] = {}


def pool_for(context) -> _ResultPool:
    ordinal = context._device._ordinal
    try:
        pool = _idle.setdefault(ordinal, []).pop()
    except IndexError:
        pool = _ResultPool(ordinal)
    pool.lend(context)
    return pool


def take_result(context, size: int) -> DeviceAllocation:
    """Return memory for a result in a context.

    Raises
    ------
    MemoryError
        If there is not so much memory, also without what is held for reuse.
    """
    return (context.take_result or open_results(context))(size)


def open_results(context):
    """Give a context the function that returns memory for results, and return it."""
    if not (context._is_primary and context._device.get_attribute(device_attribute.MEMORY_POOLS_SUPPORTED)):
        context.take_result = mem_alloc
        return mem_alloc
    try:
        pool = pool_for(context)
    except CUDAError as error:
        raise classic_error(error) from None
    context.take_result = take = ResultSource(pool, context._objects, functools.partial(take_again, pool))
    context._end_results = pool.end
    return take


def take_again(pool: _ResultPool, size: int, error: CUDAError) -> ResultAllocation:
    """Allocate once more, after giving back what nobody uses."""
    try:
        if not isinstance(error, OutOfMemoryError):
            raise error
        gc.collect()
        release_held(pool.device_id)
        return pool.allocate(size, stream=LEGACY_DEFAULT_STREAM)
    except CUDAError as failure:
        raise classic_error(failure) from None


def share(memory: ResultAllocation) -> None:
    """Let memory be freed after all work of the device: others than the operations on arrays use it now."""
    if type(memory) is ResultAllocation:
        memory.__class__ = SharedAllocation


def release_held(ordinal: int) -> bool:
    """Give back what pools of a device hold for reuse; False if there are none."""
    pools = [pool for pool in _pools if pool.device_id == ordinal]
    for pool in pools:
        pool.release()
    return bool(pools)


def held_bytes(ordinal: int) -> int:
    """Return the bytes that pools of a device hold for reuse."""
    return sum(pool.held for pool in _pools if pool.device_id == ordinal)


def update_peers(ordinal: int, peers: set[int]) -> None:
    for pool in _pools:
        if pool.device_id == ordinal:
            pool.set_peers(peers)


for _kind in (ResultAllocation, SharedAllocation):
    register_buffer_class(_kind)
_memory.held_memory.append((release_held, held_bytes))
_context.peer_listeners.append(update_peers)
