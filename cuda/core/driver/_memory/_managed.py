# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Managed memory, valid at the same address on host and devices, as NumPy arrays."""

from __future__ import annotations

import operator

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._legacy import free_device
from cuda.core._memory._memory_resource import MemoryResource
from cuda.core.driver._checks import flags_argument, ndarray_argument
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._contexts._streams import stream_of
from cuda.core.driver._errors import call
from cuda.core.driver._memory._device_memory import DeviceAllocation, adopt, check_size
from cuda.core.driver._memory._host_memory import ArrayMemory, array_over, order_of

__all__ = ["ManagedAllocation", "managed_empty", "managed_empty_like", "managed_zeros", "managed_zeros_like"]


class ManagedAllocation(ArrayMemory, DeviceAllocation):
    """Managed memory, the ``base`` of arrays; freed when nothing refers to it (``cuMemFree``)."""

    _made_by = "managed_empty()"
    _freed_by = "cuMemFree"

    def get_device_pointer(self) -> int:
        """Return the address, which is the same for host and devices."""
        self._check_allocated("the device pointer")
        return self.handle

    def attach(self, mem_flags: int, stream=None) -> None:
        """Change which streams may access the memory (``cuStreamAttachMemAsync``).

        Parameters
        ----------
        mem_flags : mem_attach_flags | int
            ``GLOBAL``: all streams; ``HOST``: none, only the host; ``SINGLE``: only ``stream``.
        stream : :class:`Stream`, optional
            The stream on which the change is enqueued. If None, the NULL stream.
        """
        self._check_allocated("cuStreamAttachMemAsync")
        call("cuStreamAttachMemAsync", stream_of(stream), self.handle, 0, operator.index(mem_flags))


class _ManagedMemoryResource(MemoryResource):
    """Managed memory of a device, allocated without a pool."""

    _accessible_by = ("device", "host")

    _needs_stream = False

    _waits_to_free = True

    def __init__(self, device_id: int):
        self._device_id = device_id

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Raise NotImplementedError: use :func:`managed_empty`."""
        raise NotImplementedError("managed memory of the classic interface comes from managed_empty()")

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Free memory (``cuMemFree``)."""
        free_device(int(ptr), self._device_id)

    @property
    def is_managed(self) -> bool:
        """True: the memory is managed."""
        return True

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


def managed_empty(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in managed memory (``cuMemAllocManaged``), which kernels take as an argument.

    Parameters
    ----------
    shape : int | iterable of int
        The shape of the array.
    dtype : dtype
        The data type of the elements.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Default is ``"C"``.
    mem_flags : mem_attach_flags | int
        Which streams may access the memory, usually ``GLOBAL``. The driver refuses the default, 0.

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
