# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One pool of memory with other libraries: PyTorch, CuPy and RMM allocate from this package, or it from RMM."""

from __future__ import annotations

import ctypes
import importlib

from cuda.core._memory._buffer import Buffer, MemoryResource
from cuda.core._memory._memory_pool import _MemPool, current_device_id, set_pool_of_functions
from cuda.core._native import _cuda_core
from cuda.core._stream import Stream, Stream_accept
from cuda.core._utils.cuda_utils import OutOfMemoryError

__all__ = ["allocator_functions", "cupy_allocator", "from_rmm_resource", "rmm_resource", "torch_allocator"]

_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
_kept = {}  # by device: what the exported functions use, for the rest of the process


def torch_allocator(resource: MemoryResource):
    """Return an allocator for PyTorch that allocates from a memory resource.

    Pass it to ``torch.cuda.memory.change_current_allocator()`` before PyTorch allocates memory of a GPU, or to
    ``torch.cuda.MemPool``. PyTorch does not cache this memory again, so use a resource that does, such as
    :class:`~cuda.core.DeviceMemoryResource`, for which no Python runs. On several devices, call this function with a
    resource of each. Copies of tensors between them need ``peer_accessible_by`` of these resources.

    Parameters
    ----------
    resource : :class:`~cuda.core.MemoryResource`
        A resource of device memory. It serves its device for the rest of the process, or until another one replaces it.

    Returns
    -------
    torch.cuda.memory.CUDAPluggableAllocator
        The allocator.

    Raises
    ------
    TypeError
        If ``resource`` is not a :class:`~cuda.core.MemoryResource` of device memory.
    ImportError
        If PyTorch is not installed.
    """
    functions = allocator_functions(resource)
    return importlib.import_module("torch.cuda.memory").CUDAPluggableAllocator(*functions)


def allocator_functions(resource: MemoryResource) -> tuple[str, str, str]:
    """Let the C functions that PyTorch calls allocate from a memory resource, and return where they are.

    Parameters
    ----------
    resource : :class:`~cuda.core.MemoryResource`
        As for :func:`torch_allocator`.

    Returns
    -------
    tuple of str
        The path of a library, and the names of two functions in it: ``void* allocate(ssize_t size, int device,
        CUstream stream)`` and ``void free(void* pointer, ssize_t size, int device, CUstream stream)``.

    Raises
    ------
    TypeError
        If ``resource`` is not a :class:`~cuda.core.MemoryResource` of device memory.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource
    >>> from cuda.core.utils.interop import allocator_functions
    >>> device = Device()
    >>> device.set_current()
    >>> path, allocate, free = allocator_functions(DeviceMemoryResource(device))
    >>> allocate
    'cuda_core_allocate'
    """
    check_resource(resource)
    device_id = resource.device_id
    if isinstance(resource, _MemPool):
        set_pool_of_functions(device_id, resource, 0, 0)
        _kept[device_id] = resource
    else:
        calls = python_functions(resource)
        set_pool_of_functions(device_id, resource, *[ctypes.cast(call, ctypes.c_void_p).value for call in calls])
        _kept[device_id] = resource, calls
    return _cuda_core.__file__, "cuda_core_allocate", "cuda_core_free"


def python_functions(resource: MemoryResource):
    """Return C functions that call a resource of Python, as ``ctypes`` objects that must be kept."""
    hold, release = by_address(resource)

    def allocate(size, device, stream):
        try:
            return hold(size, stream or 0)
        except OutOfMemoryError:
            return None

    def free(pointer, size, device, stream):
        release(pointer, stream or 0)

    return _ALLOCATE(allocate), _FREE(free)


def by_address(resource: MemoryResource):
    """Return functions that allocate memory and return its address, and free it, on the stream of an address."""
    buffers: dict[int, Buffer] = {}

    def hold(size: int, stream: int) -> int:
        buffer = resource.allocate(size, stream=Stream.from_handle(stream))
        buffers[int(buffer.handle)] = buffer
        return int(buffer.handle)

    def release(pointer: int, stream: int) -> None:
        buffers.pop(pointer).close(Stream.from_handle(stream))

    return hold, release


def cupy_allocator(resource: MemoryResource):
    """Return an allocator for CuPy that allocates from a memory resource, on CuPy's current stream.

    Pass it to ``cupy.cuda.set_allocator()``. CuPy does not cache this memory again.

    Parameters
    ----------
    resource : :class:`~cuda.core.MemoryResource`
        A resource of device memory.

    Returns
    -------
    callable
        A function of a size in bytes that returns a ``cupy.cuda.MemoryPointer``. An array keeps its memory, which is
        freed on the stream that allocated it.

    Raises
    ------
    TypeError
        If ``resource`` is not a :class:`~cuda.core.MemoryResource` of device memory.
    """
    check_resource(resource)

    def allocate(size: int):
        cuda = importlib.import_module("cupy.cuda")
        stream = Stream.from_handle(cuda.get_current_stream().ptr)
        buffer = resource.allocate(size, stream=stream)
        memory = cuda.UnownedMemory(int(buffer.handle), size, buffer, resource.device_id)
        return cuda.MemoryPointer(memory, 0)

    return allocate


def rmm_resource(resource: MemoryResource):
    """Return a resource of RMM that allocates from a memory resource (``rmm.mr.CallbackMemoryResource``).

    Pass it to ``rmm.mr.set_current_device_resource()``, for cuDF and other RAPIDS libraries.

    Parameters
    ----------
    resource : :class:`~cuda.core.MemoryResource`
        A resource of device memory.

    Returns
    -------
    rmm.mr.CallbackMemoryResource
        The resource.

    Raises
    ------
    TypeError
        If ``resource`` is not a :class:`~cuda.core.MemoryResource` of device memory.
    ImportError
        If RMM is not installed.
    """
    check_resource(resource)
    hold, release = by_address(resource)

    def allocate(size, stream):
        return hold(size, address_of_stream(stream))

    def free(pointer, size, stream):
        release(pointer, address_of_stream(stream))

    return importlib.import_module("rmm.mr").CallbackMemoryResource(allocate, free)


def from_rmm_resource(resource) -> MemoryResource:
    """Return a memory resource that allocates from a resource of RMM, on the current device.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource
        A resource of device memory, for example ``rmm.mr.get_current_device_resource()``.

    Returns
    -------
    :class:`~cuda.core.MemoryResource`
        The resource, which keeps RMM's resource.

    Raises
    ------
    TypeError
        If ``resource`` has no methods ``allocate`` and ``deallocate``.
    ImportError
        If RMM is not installed.
    """
    if not all(callable(getattr(resource, name, None)) for name in ("allocate", "deallocate")):
        raise TypeError(f"resource must be a resource of RMM, not {type(resource).__name__}")
    return RMMMemoryResource(resource)


class RMMMemoryResource(MemoryResource):
    """The memory of a resource of RMM, from :func:`from_rmm_resource`."""

    is_device_accessible = True
    is_host_accessible = False

    def __init__(self, upstream):
        self._upstream = upstream
        self._device_id = current_device_id()
        self._stream_class = importlib.import_module("rmm.pylibrmm.stream").Stream

    def __repr__(self):
        return f"<{type(self).__name__} of {self._upstream!r}>"

    def allocate(self, size: int, *, stream) -> Buffer:
        """Allocate memory in stream order (``rmm.mr.DeviceMemoryResource.allocate``).

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on.

        Raises
        ------
        MemoryError
            If RMM has not enough memory.
        """
        stream = Stream_accept(stream)
        pointer = self._upstream.allocate(size, self._stream_class(stream))
        return Buffer.from_handle(pointer, size, mr=self, stream=stream)

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Free memory in stream order (``rmm.mr.DeviceMemoryResource.deallocate``)."""
        self._upstream.deallocate(int(ptr), size, self._stream_class(Stream_accept(stream)))

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


def address_of_stream(stream) -> int:
    """Return the address of a stream of RMM, which has the protocol for streams in newer versions."""
    return stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else int(stream)


def check_resource(resource) -> None:
    """Raise TypeError for what is not a resource of device memory."""
    if not isinstance(resource, MemoryResource):
        raise TypeError(f"resource must be a MemoryResource, not {type(resource).__name__}")
    if not resource.is_device_accessible or resource.device_id < 0:
        raise TypeError(f"resource must be of the memory of a device, not {resource!r}")


def __dir__():
    return list(__all__)
