# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory for the results of operations on arrays, which each context has in a pool of its own.

Allocating and freeing such memory is work of the default stream, so neither waits for the device, where ``cuMemAlloc``
and ``cuMemFree`` do. An array whose address others know (the program, another library, a stream that does not
synchronise with the default stream) is freed as classic programs expect: after all work of the device.
"""

from __future__ import annotations

import gc
import sys
import weakref

from cuda.core._launch._arguments import register_buffer_class
from cuda.core._memory._device_memory_resource import DeviceMemoryResource, DeviceMemoryResourceOptions
from cuda.core._memory._memory_pool import allocate_as
from cuda.core._memory.ranges._allocation import wait_before_free
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError, OutOfMemoryError
from cuda.core.driver import _context, _memory
from cuda.core.driver._constants import device_attribute
from cuda.core.driver._errors import classic_error
from cuda.core.driver._memory import DeviceAllocation, mem_alloc

__all__ = ["ResultAllocation", "SharedAllocation", "share", "take_result"]


class ResultAllocation(DeviceAllocation):
    """Memory of the result of an operation on arrays, freed in the order of the default stream."""

    _made_by = "an operation on arrays"

    @property
    def _context(self):
        return self.memory_resource.context


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


class _ResultPool(DeviceMemoryResource):
    """The pool of a context, which keeps what is freed for the next results."""

    def __init__(self, context):
        super().__init__(context._device._ordinal, DeviceMemoryResourceOptions())
        allocate_as(ResultAllocation, self)
        self.context = context
        peers = _context.peer_access.get(self.device_id)
        if peers:
            self.peer_accessible_by = peers
        _pools.add(self)

    def end(self) -> None:
        """Let the pool go, and its memory, once what uses it is done."""
        wait_before_free(self.device_id)
        self.close()


_pools: weakref.WeakSet = weakref.WeakSet()


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
        pool = _ResultPool(context)
    except CUDAError as error:
        raise classic_error(error) from None
    allocate, add = pool.allocate, context._objects.add

    def take(size: int) -> ResultAllocation:
        try:
            memory = allocate(size, stream=LEGACY_DEFAULT_STREAM)
        except CUDAError as error:
            memory = take_again(pool, size, error)
        add(memory)
        return memory

    context.take_result, context._end_results = take, pool.end
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
    pools = [pool for pool in _pools if pool.device_id == ordinal and not pool.is_closed]
    for pool in pools:
        wait_before_free(ordinal)
        pool.trim()
    return bool(pools)


def held_bytes(ordinal: int) -> int:
    """Return the bytes that pools of a device hold for reuse."""
    figures = [pool.attributes for pool in _pools if pool.device_id == ordinal and not pool.is_closed]
    return sum(max(item.reserved_mem_current - item.used_mem_current, 0) for item in figures)


def update_peers(ordinal: int, peers: set[int]) -> None:
    for pool in _pools:
        if pool.device_id == ordinal and not pool.is_closed:
            pool.peer_accessible_by = peers


for _kind in (ResultAllocation, SharedAllocation):
    register_buffer_class(_kind)
_memory.held_memory.append((release_held, held_bytes))
_context.peer_listeners.append(update_peers)
