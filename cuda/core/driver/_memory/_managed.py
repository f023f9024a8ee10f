# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Managed memory, which host and devices reach by the same address, as NumPy arrays."""

from __future__ import annotations

import operator

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._memory_resource import MemoryResource
from cuda.core._memory.ranges._allocation import free_device
from cuda.core.driver._checks import flags_argument, ndarray_argument
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._contexts._streams import stream_of
from cuda.core.driver._errors import call
from cuda.core.driver._memory._device_memory import DeviceAllocation, adopt, check_size
from cuda.core.driver._memory._host_memory import ArrayMemory, array_over, order_of

__all__ = ["ManagedAllocation", "managed_empty", "managed_empty_like", "managed_zeros", "managed_zeros_like"]


class ManagedAllocation(ArrayMemory, DeviceAllocation):
    """Managed memory, the ``base`` of arrays; freed when nothing refers to it."""

    _made_by = "managed_empty()"
    _freed_by = "cuMemFree"

    def get_device_pointer(self) -> int:
        """Return the address, which is the same for host and devices."""
        self._check_allocated("the device pointer")
        return self.handle

    def attach(self, mem_flags: int, stream=None) -> None:
        """Attach the memory to a stream, to all or to the host (``cuStreamAttachMemAsync``).

        Parameters
        ----------
        mem_flags : mem_attach_flags | int
            ``GLOBAL``, ``HOST`` or ``SINGLE``.
        stream : :class:`Stream`, optional
            The stream in whose order it is attached, with ``SINGLE`` to it.
        """
        self._check_allocated("cuStreamAttachMemAsync")
        call("cuStreamAttachMemAsync", stream_of(stream), self.handle, 0, operator.index(mem_flags))


class _ManagedMemoryResource(MemoryResource):
    """Managed memory of a device, from no pool."""

    _accessible_by = ("device", "host")

    _needs_stream = False

    _waits_to_free = True

    def __init__(self, device_id: int):
        self._device_id = device_id

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Refused: what is allocated here is a ManagedAllocation."""
        raise NotImplementedError("managed memory of the classic interface comes from managed_empty()")

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Free memory (``cuMemFree``)."""
        free_device(int(ptr), self._device_id)

    @property
    def is_managed(self) -> bool:
        """True: the memory migrates between host and devices."""
        return True

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


def managed_empty(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in managed memory (``cuMemAllocManaged``), which is also an argument of kernels.

    Parameters
    ----------
    shape : int | iterable of int
        The extents.
    dtype : dtype
        The type of the elements.
    order : str, optional
        ``"C"`` or ``"F"``.
    mem_flags : mem_attach_flags | int
        Who reaches the memory; usually ``GLOBAL``. The driver refuses 0.

    Returns
    -------
    numpy.ndarray
        The array, whose ``base`` is a :class:`ManagedAllocation`.
    """
    return array_over(lambda size: _allocate(size, mem_flags), shape, dtype, order)


def managed_zeros(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in managed memory; see :func:`managed_empty`."""
    array = managed_empty(shape, dtype, order, mem_flags)
    array.reshape(-1, order="A").view(numpy.uint8)[...] = 0
    return array


def managed_empty_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in managed memory, with the shape, type and order of another contiguous array."""
    array = ndarray_argument("array", array)
    return managed_empty(array.shape, array.dtype, order_of(array), mem_flags)


def managed_zeros_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in managed memory; see :func:`managed_empty_like`."""
    array = ndarray_argument("array", array)
    return managed_zeros(array.shape, array.dtype, order_of(array), mem_flags)


_resources = {}


def _allocate(size: int, mem_flags: int) -> ManagedAllocation:
    context = current_context("cuMemAllocManaged")
    size = check_size("cuMemAllocManaged", size)
    ordinal = context._device._ordinal
    pointer = int(call("cuMemAllocManaged", size, flags_argument("mem_flags", mem_flags, "cuMemAllocManaged")))
    resource = _resources.setdefault(ordinal, _ManagedMemoryResource(ordinal))
    return adopt(ManagedAllocation, pointer, size, resource, context)
