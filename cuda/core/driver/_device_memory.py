# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device memory and device pointers."""

from __future__ import annotations

import ctypes
import operator

import numpy

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, CUDAError, OutOfMemoryError
from cuda.core._classic import _SynchronousMemoryResource, allocate_pitched, interface_address, shown
from cuda.core.driver._checks import MAX_BYTES, checked_int, flags_argument
from cuda.core.driver._context import context_for
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, call, called, classic_error, logic_error

__all__ = [
    "DeviceAllocation",
    "PointerHolderBase",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
]


class DevicePointer:
    """Base class of device pointers, with conversion to int and views of the memory for other libraries."""

    __slots__ = ()

    def __int__(self):
        return as_pointer(self)

    __index__ = __int__

    def __array__(self, dtype=None, copy=None):
        # numpy.intp(allocation) is the address.
        return numpy.array(as_pointer(self), dtype=numpy.uintp if dtype is None else dtype)

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """Return a memoryview of the *device* memory, whose address can be passed to other libraries.

        The host must not access the memory through the view.

        Parameters
        ----------
        size : int
            The number of bytes.
        offset : int, optional
            The offset from the address, in bytes. Defaults to 0.

        Raises
        ------
        LogicError
            If the range is not within the allocation, the memory was freed, or its context is detached.
        """
        size, offset = operator.index(size), operator.index(offset)
        total = getattr(self, "size", None)
        if size < 0 or (isinstance(total, int) and not 0 <= offset <= offset + size <= total):
            text = f"{size} bytes at offset {offset} are not within the allocation"
            raise logic_error("as_buffer", INVALID_VALUE, text)
        kind = type("DeviceBytes", (ctypes.c_ubyte * size,), {})
        view = kind.from_address(as_pointer(self) + offset)
        view.allocation = self  # the memoryview keeps `view`, which keeps the allocation
        return memoryview(view).cast("B")


class DeviceAllocation(DevicePointer, Buffer):
    """Device memory, freed once nothing refers to it (``cuMemFree``). It is also a :class:`cuda.core.Buffer`."""

    _made_by = "mem_alloc()"

    def __len__(self):
        return self.size

    def free(self) -> None:
        """Free the memory now (``cuMemFree``).

        Raises
        ------
        LogicError
            If the memory was already freed, or its context is detached.
        """
        if self.is_closed:
            raise logic_error("cuMemFree", INVALID_HANDLE, "the memory was already freed, or its context is detached")
        try:
            self.close()
        except CUDAError as error:
            raise classic_error(error) from None

    def _invalidate(self) -> None:
        self.close()


class PointerHolderBase(DevicePointer):
    """Base class for user-defined device pointers. Subclasses define ``get_pointer() -> int``."""

    def __init__(self):
        pass

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} at {id(self):#x}, a device pointer>"

    def get_pointer(self) -> int:
        """Return the address. Subclasses must define this method."""
        raise NotImplementedError(f"{type(self).__name__} must define get_pointer()")


def mem_alloc(bytes: int) -> DeviceAllocation:
    """Allocate memory on the current device (``cuMemAlloc``).

    Parameters
    ----------
    bytes : int
        The size in bytes.

    Raises
    ------
    LogicError
        If the size is not positive, or no context is current.
    MemoryError
        If the device does not have enough free memory.
    """
    context = context_for("cuMemAlloc")
    size = allocation_size("cuMemAlloc", bytes)
    try:
        memory = _allocate_plain(_resource(context._device._ordinal), size)
    except CUDAError as error:
        raise classic_error(error) from None
    return register_allocation(memory, context)


def _allocate_plain(resource: PlainMemory, size: int) -> DeviceAllocation:
    try:
        return resource.allocate(size, stream=LEGACY_DEFAULT_STREAM)
    except OutOfMemoryError:
        if not any([release(resource.device_id) for release, _ in held_memory]):
            raise
    return resource.allocate(size, stream=LEGACY_DEFAULT_STREAM)


def mem_alloc_like(ary) -> DeviceAllocation:
    """Allocate as many bytes as an array has (``cuMemAlloc``).

    Parameters
    ----------
    ary : array
        An object with ``nbytes``, such as a NumPy array.

    Raises
    ------
    TypeError
        If ``ary`` has no ``nbytes``.
    LogicError, MemoryError
        As for :func:`mem_alloc`.
    """
    if not hasattr(ary, "nbytes"):
        raise TypeError(f"ary must be an array with nbytes, not {type(ary).__name__}")
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Allocate pitched memory, whose rows start at addresses aligned for the device (``cuMemAllocPitch``).

    Parameters
    ----------
    width : int
        The size of a row in bytes.
    height : int
        The number of rows.
    access_size : int
        The size of the widest access in bytes: 4, 8 or 16.

    Returns
    -------
    tuple of DeviceAllocation and int
        The memory and the pitch, which is the distance between the starts of two rows in bytes.

    Raises
    ------
    LogicError
        If an argument is out of range, or no context is current.
    MemoryError
        If the device does not have enough free memory.
    """
    context = context_for("cuMemAllocPitch")
    api = "cuMemAllocPitch"
    width, height = checked_int("width", width, 0, MAX_BYTES, api), checked_int("height", height, 0, MAX_BYTES, api)
    resource, access_size = _resource(context._device._ordinal), flags_argument("access_size", access_size, api)
    memory, pitch = called(allocate_pitched, resource, width, height, access_size, LEGACY_DEFAULT_STREAM)
    return register_allocation(memory, context), pitch


def mem_get_info() -> tuple[int, int]:
    """Return the current device's free and total memory in bytes (``cuMemGetInfo``).

    Unused memory cached for arrays counts as free.

    Raises
    ------
    LogicError
        If no context is current.
    """
    ordinal = context_for("cuMemGetInfo")._device._ordinal
    free, total = call("cuMemGetInfo")
    return int(free) + sum(held(ordinal) for _, held in held_memory), int(total)


def mem_get_address_range(ptr) -> tuple[int, int]:
    """Return the base address and the size of the allocation that contains an address (``cuMemGetAddressRange``).

    Parameters
    ----------
    ptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The address.

    Returns
    -------
    (int, int)
        The base address, and the size in bytes.

    Raises
    ------
    LogicError
        If the address does not belong to an allocation, or no context is current.
    """
    context_for("cuMemGetAddressRange")
    base, size = call("cuMemGetAddressRange", as_pointer(ptr))
    return int(base), int(size)


def as_pointer(obj) -> int:
    """Return the address of a device pointer.

    Device pointers are ints and objects with ``__index__``, allocations and other :class:`cuda.core.Buffer` objects,
    :class:`PointerHolderBase` objects, objects with ``gpudata`` or ``__cuda_array_interface__``, and NumPy arrays in
    managed memory.

    Raises
    ------
    LogicError
        If the memory was freed, its context is detached, or an int is not an address.
    TypeError
        If ``obj`` is not a device pointer.
    """
    if type(obj) is int:
        return obj if 0 <= obj < 1 << 64 else out_of_range(obj)
    if isinstance(obj, Buffer):
        if obj.is_closed:
            raise logic_error("the device pointer", INVALID_HANDLE, "the memory was freed, or its context is detached")
        return obj.handle
    if isinstance(obj, PointerHolderBase):
        return as_pointer(checked_int("the result of get_pointer()", obj.get_pointer()))
    if isinstance(obj, numpy.ndarray) and obj.ndim:
        address = managed_address(obj)
        if address is not None:
            return address
    elif hasattr(obj, "gpudata"):
        # gpudata is an int for views, and None for arrays without elements.
        memory = obj.gpudata
        if memory is obj:
            raise TypeError(f"gpudata of the {type(obj).__name__} must be a device pointer, not the object itself")
        return 0 if memory is None else as_pointer(memory)
    elif hasattr(obj, "__cuda_array_interface__"):
        return pointer_of_interface(obj)
    elif hasattr(type(obj), "__index__") and not isinstance(obj, bool):
        return as_pointer(checked_int("a device pointer", obj))
    raise TypeError(f"a device pointer must be a DeviceAllocation, an int or similar, not {type(obj).__name__}")


def out_of_range(address: int):
    """Raise LogicError for an int that is not an address."""
    text = f"an address must be from 0 to 2**64 - 1, not {shown(address)}"
    raise logic_error("the device pointer", INVALID_VALUE, text)


def pointer_of_interface(obj) -> int:
    """Return the address in an object's CUDA Array Interface, or raise TypeError if the interface is invalid."""
    try:
        return interface_address(obj)
    except BufferError as error:
        text = f"the CUDA array interface of the {type(obj).__name__} contains no device pointer: {error}"
        raise TypeError(text) from None


def managed_address(array: numpy.ndarray) -> int | None:
    """Return the address of an array in managed memory, or of a view of one, or None for other arrays."""
    base = array
    while isinstance(base, numpy.ndarray):
        base = base.base
    if isinstance(base, Buffer) and base.is_managed:
        return array.__array_interface__["data"][0]
    return None


def register_allocation(allocation, context):
    """Register an allocation with its context, and return it."""
    allocation._context = context
    context._objects.add(allocation)
    return allocation


def allocation_size(api: str, size) -> int:
    """Return a size in bytes as an int.

    Raises
    ------
    LogicError
        If the size is not positive.
    MemoryError
        If the size exceeds the address space.
    """
    size = checked_int("size", size)
    if size <= 0:
        raise logic_error(api, INVALID_VALUE, f"the size must be at least 1 byte, not {shown(size)}")
    if size > MAX_BYTES:
        raise logic_error(api, 2, f"no device has {shown(size)} bytes")
    return size


class PlainMemory(_SynchronousMemoryResource):
    """Memory from ``cuMemAlloc``. Because ``cuMemFree`` itself waits for all device work, no stream is synchronized.

    Parameters
    ----------
    device_id : int
        The device ordinal.
    kind : type
        The class of the allocations.
    """

    _synchronizes = False

    def __init__(self, device_id: int, kind: type):
        super().__init__(device_id)
        self._buffer_class = kind


# Memory caches, as pairs of functions that free the cached memory of a device ordinal, and that return its size in
# bytes.
held_memory = []
_resources = {}


def _resource(ordinal: int) -> PlainMemory:
    resource = _resources.get(ordinal)
    return _resources.setdefault(ordinal, PlainMemory(ordinal, DeviceAllocation)) if resource is None else resource
