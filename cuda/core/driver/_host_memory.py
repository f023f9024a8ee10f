# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays in page-locked, aligned, registered and managed memory."""

from __future__ import annotations

import math
import operator

import numpy

from cuda import core
from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, CUDAError, LegacyPinnedMemoryResource
from cuda.core._classic import _SynchronousMemoryResource, allocate_host_with_flags, allocate_managed, shown
from cuda.core.driver._checks import (
    MAX_BYTES,
    checked_int,
    flags_argument,
    host_shape,
    ndarray_argument,
    numpy_dtype,
    ordered,
)
from cuda.core.driver._context import context_for
from cuda.core.driver._device_memory import DeviceAllocation, allocation_size, register_allocation
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, call, called, classic_error, logic_error
from cuda.core.driver._streams import core_stream

__all__ = [
    "AlignedHostAllocation",
    "HostAllocation",
    "HostPointer",
    "ManagedAllocation",
    "PagelockedHostAllocation",
    "RegisteredHostMemory",
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "mem_host_alloc",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "register_host_memory",
]


class HostPointer:
    """Base class of page-locked host memory, which has a device pointer."""

    __slots__ = ()

    def __repr__(self):
        return f"<cuda.core.driver.{type(self).__name__} of {self._host_size()} bytes>"

    def get_device_pointer(self) -> int:
        """Return the device address of the memory (``cuMemHostGetDevicePointer``).

        Raises
        ------
        LogicError
            If the memory was freed, or is not mapped.
        """
        return int(call("cuMemHostGetDevicePointer", self._host_address(), 0))


class ArrayMemory:
    """Memory that serves as the ``base`` of arrays and is freed with the last of them."""

    __slots__ = ()
    _is_freed = False
    _freed_by: str  # the driver's entry point

    def free(self) -> None:
        """Mark the memory as freed. It is released once no array refers to it.

        Raises
        ------
        LogicError
            If the memory was already freed, or its context is detached.
        """
        self._check_allocated(self._freed_by)
        self._is_freed = True

    def _check_allocated(self, api: str) -> None:
        if self._is_freed or self.is_closed:
            raise logic_error(api, INVALID_HANDLE, "the memory was already freed, or its context is detached")

    def _invalidate(self) -> None:
        self._is_freed = True


class PagelockedHostAllocation(HostPointer, ArrayMemory, Buffer):
    """Page-locked host memory, the ``base`` of arrays, freed once nothing refers to it (``cuMemFreeHost``)."""

    _made_by = "pagelocked_empty() or mem_host_alloc()"
    _freed_by = "cuMemFreeHost"

    def __len__(self):
        return self.size

    def get_flags(self) -> int:
        """Return the allocation's flags, including flags added by the driver (``cuMemHostGetFlags``).

        Raises
        ------
        LogicError
            If the memory was freed, or its context is detached.
        """
        return int(call("cuMemHostGetFlags", self._host_address()))

    def _host_size(self) -> int:
        return self.size

    def _host_address(self) -> int:
        self._check_allocated("cuMemHostGetDevicePointer")
        return self.handle


HostAllocation = PagelockedHostAllocation


class AlignedHostAllocation:
    """Pageable host memory at an aligned address, the ``base`` of arrays.

    Parameters
    ----------
    size : int
        The number of bytes.
    alignment : int
        The alignment in bytes, a power of two.
    """

    _is_freed = False

    def __init__(self, size: int, alignment: int):
        size = checked_int("size", size, 0, MAX_BYTES // 2)
        alignment = checked_int("alignment", alignment, 1, MAX_BYTES // 2)
        # The operating system provides zeroed pages on first access.
        block = numpy.zeros(size + alignment, numpy.uint8)
        start = -block.__array_interface__["data"][0] % alignment
        self._bytes = block[start : start + size]

    def __len__(self):
        return self._bytes.nbytes

    def __repr__(self):
        return f"<cuda.core.driver.AlignedHostAllocation of {len(self)} bytes>"

    def free(self) -> None:
        """Mark the memory as freed. It is released once no array refers to it.

        Raises
        ------
        LogicError
            If the memory was already freed.
        """
        if self._is_freed:
            raise logic_error("free", INVALID_HANDLE, "the memory was already freed")
        self._is_freed = True


class RegisteredHostMemory(HostPointer):
    """The registration of an array as page-locked memory, and the ``base`` of the array that shares its memory.

    Attributes
    ----------
    base : numpy.ndarray
        The registered array.
    """

    def __init__(self, base: numpy.ndarray, buffer: Buffer):
        self.base = ndarray_argument("base", base)
        self._buffer = buffer
        self.__array_interface__ = base.__array_interface__

    def unregister(self) -> None:
        """Unregister the memory (``cuMemHostUnregister``).

        The arrays stay valid in pageable memory.

        Raises
        ------
        LogicError
            If the memory was already unregistered, or its context is detached.
        """
        self._host_address("cuMemHostUnregister")
        self._buffer.close()

    def _host_size(self) -> int:
        return self.base.nbytes

    def _host_address(self, api: str = "cuMemHostGetDevicePointer") -> int:
        if self._buffer.is_closed:
            raise logic_error(api, INVALID_HANDLE, "the memory was already unregistered, or its context is detached")
        return self.base.__array_interface__["data"][0]

    def _invalidate(self) -> None:
        self._buffer.close()


class _HostMemoryResource(LegacyPinnedMemoryResource):
    """Page-locked memory with flags."""

    _buffer_class = PagelockedHostAllocation
    _synchronizes = False

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Raise NotImplementedError, because :func:`mem_host_alloc` allocates this memory."""
        raise NotImplementedError("this resource cannot allocate memory; use mem_host_alloc()")


_RESOURCE = _HostMemoryResource()


def mem_host_alloc(size: int, flags: int = 0) -> PagelockedHostAllocation:
    """Allocate page-locked host memory (``cuMemHostAlloc``).

    Parameters
    ----------
    size : int
        The number of bytes.
    flags : int, optional
        A combination of :data:`host_alloc_flags`. Defaults to 0.

    Raises
    ------
    LogicError
        If the size is not positive, a flag is unknown, or no context is current.
    MemoryError
        If there is not enough memory.
    """
    context = context_for("cuMemHostAlloc")
    size = allocation_size("cuMemHostAlloc", size)
    flags = flags_argument("flags", flags, "cuMemHostAlloc")
    return register_allocation(called(allocate_host_with_flags, _RESOURCE, size, flags, LEGACY_DEFAULT_STREAM), context)


def pagelocked_empty(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in page-locked memory (``cuMemHostAlloc``), with undefined elements.

    Parameters
    ----------
    shape : int | iterable[int]
        The array shape.
    dtype : dtype
        The data type of the elements.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Defaults to ``"C"``.
    mem_flags : int, optional
        A combination of :data:`host_alloc_flags`. Defaults to 0.

    Returns
    -------
    numpy.ndarray
        The array, whose ``base`` is a :class:`PagelockedHostAllocation`.

    Raises
    ------
    TypeError, ValueError
        If ``shape``, ``dtype`` or ``order`` is invalid.
    LogicError
        If a flag is unknown, or no context is current.
    MemoryError
        If there is not enough memory.
    """
    return array_over(lambda size: mem_host_alloc(size, mem_flags), shape, dtype, order)


def pagelocked_zeros(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in page-locked memory. See :func:`pagelocked_empty` for the parameters."""
    return _zeroed(pagelocked_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in page-locked memory, with undefined elements, like another array (``cuMemHostAlloc``).

    Parameters
    ----------
    array : numpy.ndarray
        A contiguous array that defines the shape, data type and order.
    mem_flags : int, optional
        A combination of :data:`host_alloc_flags`. Defaults to 0.

    Raises
    ------
    TypeError, ValueError
        If ``array`` is not a NumPy array, or is not contiguous.
    LogicError, MemoryError
        As for :func:`pagelocked_empty`.
    """
    array = ndarray_argument("array", array)
    return pagelocked_empty(array.shape, array.dtype, order_of(array), mem_flags)


def pagelocked_zeros_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in page-locked memory. See :func:`pagelocked_empty_like`."""
    return _zeroed(pagelocked_empty_like(array, mem_flags))


def aligned_empty(shape, dtype, order: str = "C", alignment: int = 4096) -> numpy.ndarray:
    """Return a new array in pageable memory at an aligned address.

    Parameters
    ----------
    shape, dtype, order
        As for :func:`pagelocked_empty`.
    alignment : int, optional
        The alignment of the address in bytes, a power of two. Defaults to 4096.

    Raises
    ------
    LogicError
        If ``alignment`` is not a power of two.
    TypeError, ValueError
        If ``shape``, ``dtype`` or ``order`` is invalid.
    """
    alignment = checked_int("alignment", alignment)
    if alignment <= 0 or alignment & (alignment - 1):
        raise logic_error("aligned_empty", INVALID_VALUE, f"alignment must be a power of two, not {shown(alignment)}")
    return array_over(lambda size: AlignedHostAllocation(size, alignment), shape, dtype, order)


def aligned_zeros(shape, dtype, order: str = "C", alignment: int = 4096) -> numpy.ndarray:
    """Return a new array of zeros at an aligned address. See :func:`aligned_empty` for the parameters."""
    return aligned_empty(shape, dtype, order, alignment)


def aligned_empty_like(array: numpy.ndarray, alignment: int = 4096) -> numpy.ndarray:
    """Return a new array at an aligned address, like another array.

    Parameters
    ----------
    array : numpy.ndarray
        A contiguous array that defines the shape, data type and order.
    alignment : int, optional
        The alignment of the address in bytes, a power of two. Defaults to 4096.

    Raises
    ------
    LogicError
        If ``alignment`` is not a power of two.
    TypeError, ValueError
        If ``array`` is not a NumPy array, or is not contiguous.
    """
    array = ndarray_argument("array", array)
    return aligned_empty(array.shape, array.dtype, order_of(array), alignment)


def aligned_zeros_like(array: numpy.ndarray, alignment: int = 4096) -> numpy.ndarray:
    """Return a new array of zeros at an aligned address. See :func:`aligned_empty_like`."""
    return aligned_empty_like(array, alignment)


def register_host_memory(ary: numpy.ndarray, flags: int = 0) -> numpy.ndarray:
    """Page-lock the memory of an array (``cuMemHostRegister``).

    Parameters
    ----------
    ary : numpy.ndarray
        The array, contiguous in C or F order.
    flags : int, optional
        A combination of :data:`mem_host_register_flags`. Defaults to 0.

    Returns
    -------
    numpy.ndarray
        An array over the same memory, whose ``base`` is a :class:`RegisteredHostMemory`. The memory is unregistered
        once nothing refers to this base.

    Raises
    ------
    LogicError
        If ``ary`` is not a contiguous array or is already registered, a flag is unknown, or no context is current.
    """
    context = context_for("cuMemHostRegister")
    if not isinstance(ary, numpy.ndarray) or not ary.flags.forc:
        raise logic_error("cuMemHostRegister", INVALID_VALUE, "ary must be a contiguous ndarray")
    flags = checked_int("flags", flags)
    if flags & ~3:
        raise logic_error(
            "cuMemHostRegister", INVALID_VALUE, f"flags must combine mem_host_register_flags, not {shown(flags)}"
        )
    try:
        buffer = core.register_host_memory(ary, portable=bool(flags & 1), mapped=bool(flags & 2))
    except CUDAError as error:
        raise classic_error(error) from None
    except ValueError as error:
        raise logic_error("cuMemHostRegister", INVALID_VALUE, str(error)) from None
    base = RegisteredHostMemory(ary, buffer)
    context._objects.add(base)
    return numpy.asarray(base)


def array_over(allocate, shape, dtype, order: str) -> numpy.ndarray:
    """Return an array over memory from ``allocate``, a function that takes a size in bytes."""
    dtype = numpy_dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype must not contain Python objects, got {dtype}")
    shape, order = host_shape(shape, dtype.itemsize), ordered(order)
    size = dtype.itemsize * math.prod(shape)
    memory = allocate(max(size, 1))
    if isinstance(memory, Buffer):
        return numpy.ndarray(shape, dtype, memory, order=order)
    array = numpy.ndarray(shape, dtype, memory._bytes, order=order)
    memory.__array_interface__ = array.__array_interface__
    return numpy.asarray(memory)


def order_of(array: numpy.ndarray) -> str:
    """Return the order of a contiguous array, "C" or "F", or raise ValueError if it is not contiguous."""
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("the array is contiguous in neither C nor F order")


def _zeroed(array: numpy.ndarray) -> numpy.ndarray:
    # Written as bytes, because structures have no zero.
    array.reshape(-1, order="A").view(numpy.uint8)[...] = 0
    return array


class ManagedAllocation(ArrayMemory, DeviceAllocation):
    """Managed memory, the ``base`` of arrays, freed once nothing refers to it (``cuMemFree``)."""

    _made_by = "managed_empty()"
    _freed_by = "cuMemFree"

    def get_device_pointer(self) -> int:
        """Return the address, which is the same on the host and on devices.

        Raises
        ------
        LogicError
            If the memory was freed, or its context is detached.
        """
        self._check_allocated("the device pointer")
        return self.handle

    def attach(self, mem_flags: int, stream=None) -> None:
        """Change which streams can access the memory (``cuStreamAttachMemAsync``).

        Parameters
        ----------
        mem_flags : mem_attach_flags | int
            ``GLOBAL`` for all streams, ``HOST`` for the host only, or ``SINGLE`` for ``stream`` only.
        stream : :class:`Stream`, optional
            The stream to enqueue the change on. Defaults to the NULL stream.

        Raises
        ------
        LogicError
            If the driver rejects the flags, the memory was freed, or its context is detached.
        """
        self._check_allocated("cuStreamAttachMemAsync")
        call("cuStreamAttachMemAsync", core_stream(stream), self.handle, 0, operator.index(mem_flags))


class _ManagedMemoryResource(_SynchronousMemoryResource):
    """A device's managed memory, allocated without a pool."""

    _accessible_by = ("device", "host")
    _buffer_class = ManagedAllocation
    _synchronizes = False

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Raise NotImplementedError, because :func:`managed_empty` allocates this memory."""
        raise NotImplementedError("this resource cannot allocate memory; use managed_empty()")

    @property
    def is_managed(self) -> bool:
        """True, because the memory is managed."""
        return True


def managed_empty(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in managed memory, which kernels accept as an argument (``cuMemAllocManaged``).

    Parameters
    ----------
    shape : int | iterable[int]
        The array shape.
    dtype : dtype
        The data type of the elements.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Defaults to ``"C"``.
    mem_flags : mem_attach_flags | int
        The streams that can access the memory, usually ``GLOBAL``. The driver rejects the default, 0.

    Returns
    -------
    numpy.ndarray
        The array, whose ``base`` is a :class:`ManagedAllocation`.

    Raises
    ------
    TypeError, ValueError
        If ``shape``, ``dtype`` or ``order`` is invalid.
    LogicError
        If the driver rejects the flags, or no context is current.
    MemoryError
        If there is not enough memory.
    """
    return array_over(lambda size: _allocate_managed(size, mem_flags), shape, dtype, order)


def managed_zeros(shape, dtype, order: str = "C", mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in managed memory. See :func:`managed_empty` for the parameters."""
    array = managed_empty(shape, dtype, order, mem_flags)
    array.reshape(-1, order="A").view(numpy.uint8)[...] = 0
    return array


def managed_empty_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array in managed memory, like another array (``cuMemAllocManaged``).

    Parameters
    ----------
    array : numpy.ndarray
        A contiguous array that defines the shape, data type and order.
    mem_flags : mem_attach_flags | int
        The streams that can access the memory. See :func:`managed_empty`.

    Raises
    ------
    TypeError, ValueError
        If ``array`` is not a NumPy array, or is not contiguous.
    LogicError, MemoryError
        As for :func:`managed_empty`.
    """
    array = ndarray_argument("array", array)
    return managed_empty(array.shape, array.dtype, order_of(array), mem_flags)


def managed_zeros_like(array: numpy.ndarray, mem_flags: int = 0) -> numpy.ndarray:
    """Return a new array of zeros in managed memory. See :func:`managed_empty_like`."""
    array = ndarray_argument("array", array)
    return managed_zeros(array.shape, array.dtype, order_of(array), mem_flags)


_resources = {}


def _allocate_managed(size: int, mem_flags: int) -> ManagedAllocation:
    context = context_for("cuMemAllocManaged")
    size = allocation_size("cuMemAllocManaged", size)
    ordinal = context._device._ordinal
    mem_flags = flags_argument("mem_flags", mem_flags, "cuMemAllocManaged")
    resource = _resources.setdefault(ordinal, _ManagedMemoryResource(ordinal))
    return register_allocation(called(allocate_managed, resource, size, mem_flags, LEGACY_DEFAULT_STREAM), context)
