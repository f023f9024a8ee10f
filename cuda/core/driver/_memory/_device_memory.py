# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device memory, and what counts as a device pointer."""

from __future__ import annotations

import ctypes
import operator

import numpy

from cuda.core._arrays.importing._interfaces import interface_address
from cuda.core._memory._buffer import Buffer
from cuda.core._memory._legacy import _SynchronousMemoryResource
from cuda.core._memory.ranges._allocation import allocate_device, free_device
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError, OutOfMemoryError
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import MOST_BYTES, flags_argument, whole
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, call, classic_error, logic_error

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
    """Base of device pointers: conversion to int, and views of the memory for other libraries."""

    __slots__ = ()

    def __int__(self):
        return as_pointer(self)

    __index__ = __int__

    def __array__(self, dtype=None, copy=None):
        # numpy.intp(allocation) is the address.
        return numpy.array(as_pointer(self), dtype=numpy.uintp if dtype is None else dtype)

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """Return a memoryview over the *device* address, for libraries that know such: the host must not read it.

        Parameters
        ----------
        size : int
            The number of bytes.
        offset : int, optional
            Where it begins, in bytes from the address. Default is 0.
        """
        size, offset = operator.index(size), operator.index(offset)
        whole = getattr(self, "size", None)
        if size < 0 or (isinstance(whole, int) and not 0 <= offset <= offset + size <= whole):
            raise logic_error("as_buffer", INVALID_VALUE, f"{size} bytes at {offset} are not within the allocation")
        kind = type("DeviceBytes", (ctypes.c_ubyte * size,), {})
        view = kind.from_address(as_pointer(self) + offset)
        view.allocation = self  # a memoryview keeps what it was made of
        return memoryview(view).cast("B")


class DeviceAllocation(DevicePointer, Buffer):
    """Memory of a device, freed when it is unreachable. It is a :class:`cuda.core.Buffer`, too."""

    _made_by = "mem_alloc()"

    def __len__(self):
        return self.size

    def free(self) -> None:
        """Free the memory now (``cuMemFree``).

        Raises
        ------
        LogicError
            If it was freed before, or its context is detached.
        """
        if self.is_closed:
            raise logic_error("cuMemFree", INVALID_HANDLE, "the memory was freed already, or its context is detached")
        try:
            self.close()
        except CUDAError as error:
            raise classic_error(error) from None

    def _invalidate(self) -> None:
        self.close()


class PointerHolderBase(DevicePointer):
    """Base of classes that pass for a device pointer: a subclass defines ``get_pointer() -> int``."""

    def __init__(self):
        pass

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} at {id(self):#x}, a device pointer>"

    def get_pointer(self) -> int:
        """Return the address; a subclass must define this."""
        raise NotImplementedError(f"{type(self).__name__} must define get_pointer()")


def mem_alloc(bytes: int) -> DeviceAllocation:
    """Allocate memory of the current device (``cuMemAlloc``).

    Parameters
    ----------
    bytes : int
        The size in bytes.

    Raises
    ------
    LogicError
        If the size is not positive, or no context is current.
    MemoryError
        If there is not so much memory.
    """
    context = current_context("cuMemAlloc")
    size = check_size("cuMemAlloc", bytes)
    ordinal = context._device._ordinal
    try:
        pointer = _allocate(size, ordinal)
    except CUDAError as error:
        raise classic_error(error) from None
    return adopt(DeviceAllocation, pointer, size, _resource(ordinal), context)


def _allocate(size: int, ordinal: int) -> int:
    try:
        return allocate_device(size, ordinal)
    except OutOfMemoryError:
        if not any([release(ordinal) for release, _ in held_memory]):
            raise
    return allocate_device(size, ordinal)


def mem_alloc_like(ary) -> DeviceAllocation:
    """Allocate as many bytes as an array has; see :func:`mem_alloc`."""
    if not hasattr(ary, "nbytes"):
        raise TypeError(f"ary must be an array, something with nbytes, not {type(ary).__name__}")
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Allocate rows that begin at addresses that suit the device (``cuMemAllocPitch``).

    Parameters
    ----------
    width : int
        The bytes of a row.
    height : int
        The number of rows.
    access_size : int
        The bytes of the widest access, 4, 8 or 16.

    Returns
    -------
    tuple of DeviceAllocation and int
        The memory, and the pitch: the bytes from one row to the next.
    """
    context = current_context("cuMemAllocPitch")
    api = "cuMemAllocPitch"
    width, height = whole("width", width, 0, MOST_BYTES, api), whole("height", height, 0, MOST_BYTES, api)
    pointer, pitch = call(api, width, height, flags_argument("access_size", access_size, api))
    resource = _resource(context._device._ordinal)
    return adopt(DeviceAllocation, int(pointer), int(pitch) * height, resource, context), int(pitch)


def mem_get_info() -> tuple[int, int]:
    """Return the free and the total bytes of the current device (``cuMemGetInfo``).

    What is held for the results of operations on arrays, and used by none, counts as free.
    """
    ordinal = current_context("cuMemGetInfo")._device._ordinal
    free, total = call("cuMemGetInfo")
    return int(free) + sum(held(ordinal) for _, held in held_memory), int(total)


def mem_get_address_range(ptr) -> tuple[int, int]:
    """Return the base address and the bytes of the allocation around an address (``cuMemGetAddressRange``)."""
    current_context("cuMemGetAddressRange")
    base, size = call("cuMemGetAddressRange", as_pointer(ptr))
    return int(base), int(size)


def as_pointer(obj) -> int:
    """Return the address behind anything that counts as a device pointer.

    That is an int (or anything with ``__index__``), an allocation, a :class:`cuda.core.Buffer`, a
    :class:`PointerHolderBase`, an object with ``gpudata`` or ``__cuda_array_interface__``, and a NumPy array
    of managed or page-locked mapped memory.

    Raises
    ------
    LogicError
        If the memory was freed, or its context is detached.
    TypeError
        If ``obj`` is something else.
    """
    if type(obj) is int:
        return obj if 0 <= obj < 1 << 64 else out_of_range(obj)
    if isinstance(obj, Buffer):
        if obj.is_closed:
            raise logic_error("the device pointer", INVALID_HANDLE, "the memory was freed, or its context is detached")
        return obj.handle
    if isinstance(obj, PointerHolderBase):
        return as_pointer(whole("what get_pointer() returns", obj.get_pointer()))
    if isinstance(obj, numpy.ndarray) and obj.ndim:
        address = managed_address(obj)
        if address is not None:
            return address
    elif hasattr(obj, "gpudata"):
        # A view has an int there, and an array without elements None.
        memory = obj.gpudata
        if memory is obj:
            raise TypeError(f"the gpudata of the {type(obj).__name__} is the object itself, and no device pointer")
        return 0 if memory is None else as_pointer(memory)
    elif hasattr(obj, "__cuda_array_interface__"):
        return pointer_of_interface(obj)
    elif hasattr(obj, "__index__") and not isinstance(obj, bool):
        return as_pointer(whole("a device pointer", obj))
    raise TypeError(f"a device pointer is needed, such as a DeviceAllocation or an int, not {type(obj).__name__}")


def out_of_range(address: int):
    """Refuse an int that is no address."""
    text = f"an address must be from 0 to 2**64 - 1, not {shown(address)}"
    raise logic_error("the device pointer", INVALID_VALUE, text)


def pointer_of_interface(obj) -> int:
    """Return the address in the CUDA array interface of an object; TypeError where it has none."""
    try:
        return interface_address(obj)
    except BufferError as error:
        raise TypeError(f"no device pointer in the CUDA array interface of the {type(obj).__name__}: {error}") from None


def managed_address(array: numpy.ndarray) -> int | None:
    """Return the address of an array, or of a view of one, whose memory devices reach by it; None for others."""
    base = array
    while isinstance(base, numpy.ndarray):
        base = base.base
    if isinstance(base, Buffer) and base.is_managed:
        return array.__array_interface__["data"][0]
    return None


def adopt(kind: type, pointer: int, size: int, resource, context):
    """Return an allocation of the class ``kind`` that a resource frees, as a member of a context."""
    allocation = kind._init(pointer, size, mr=resource, stream=LEGACY_DEFAULT_STREAM)
    allocation._context = context
    context._objects.add(allocation)
    return allocation


def check_size(api: str, size) -> int:
    """Return a number of bytes as an int; LogicError where it is not positive."""
    size = whole("size", size)
    if size <= 0:
        raise logic_error(api, INVALID_VALUE, f"the size must be at least 1 byte, not {shown(size)}")
    if size > MOST_BYTES:
        raise logic_error(api, 2, f"no device has {shown(size)} bytes")
    return size


class PlainMemory(_SynchronousMemoryResource):
    """Memory of ``cuMemAlloc``, which ``cuMemFree`` frees after all work: no stream is waited for before.

    Parameters
    ----------
    device_id : int
        The ordinal of the device.
    kind : type
        The class of the allocations.
    """

    def __init__(self, device_id: int, kind: type):
        super().__init__(device_id)
        self._kind = kind

    def allocate(self, size: int, *, stream=None) -> DeviceAllocation:
        return self._kind._init(allocate_device(size, self.device_id), size, mr=self, stream=stream)

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        free_device(int(ptr), self.device_id)


# For memory that is held for reuse: what gives it back, and what tells its bytes, for the number of a device.
held_memory = []
_resources = {}


def _resource(ordinal: int) -> PlainMemory:
    resource = _resources.get(ordinal)
    return _resources.setdefault(ordinal, PlainMemory(ordinal, DeviceAllocation)) if resource is None else resource
