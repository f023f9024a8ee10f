# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Registration of host memory, which page-locks existing arrays; a part of ``_unpooled.pyx``."""

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move

from cpython.buffer cimport (
    PyBUF_STRIDED_RO,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from cuda.core._context cimport Context_current
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    Anchor,
    CaptureModeScope,
    ContextHandle,
    StreamHandle,
    limit_backlog,
    relax_capture_mode,
    retire,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport wait_before_release
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

from cuda.core._memory._copies import holds_objects
from cuda.core._utils.cuda_utils import UnavailableError


def register_host_memory(
    array, *, portable: bool = True, mapped: bool = True, read_only: bool = False, io_memory: bool = False
) -> Buffer:
    """Page-lock the memory of an existing array until the returned buffer is closed (``cuMemHostRegister``).

    Copies between page-locked memory and a device are faster, and asynchronous. The array stays usable; the buffer can
    also be passed to kernels. A context must be current.

    Closing the buffer unregisters the memory (``cuMemHostUnregister``). It first synchronizes the stream that was
    passed to :meth:`Buffer.close` or :meth:`Buffer.set_deallocation_stream`, or the context if there is none; the
    driver may wait for more.

    Parameters
    ----------
    array : object
        Contiguous host memory with the buffer protocol, such as a NumPy array. The buffer keeps it alive, and is
        read-only if the array is.
    portable : bool, optional
        Whether the memory is page-locked for all contexts (``CU_MEMHOSTREGISTER_PORTABLE``). Default is True.
    mapped : bool, optional
        Whether the memory is mapped, so that kernels can access it (``CU_MEMHOSTREGISTER_DEVICEMAP``). Default is True.
    read_only : bool, optional
        Whether devices only read the memory (``CU_MEMHOSTREGISTER_READ_ONLY``). Required for pages without write
        permission; see ``properties.read_only_host_register_supported``. The buffer is then read-only. Default is
        False.
    io_memory : bool, optional
        Whether the memory is memory-mapped I/O space of another device (``CU_MEMHOSTREGISTER_IOMEMORY``). Default is
        False.

    Returns
    -------
    :class:`Buffer`
        The registered memory. Its ``owner`` is the array. If the device address differs from the host address, the
        buffer has the device address, and the host can access the memory only through the array.

    Raises
    ------
    TypeError
        If ``array`` is not host memory, its elements refer to Python objects, or an option is not a bool.
    ValueError
        If ``array`` is not contiguous, or empty.
    CUDAError
        If no context is current, part of the memory is already registered, or the driver rejects it.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, register_host_memory
    >>> device = Device()
    >>> device.set_current()
    >>> array = np.arange(1024, dtype=np.float32)
    >>> with register_host_memory(array) as buffer:
    ...     clone = device.allocate(array.nbytes, stream=device.default_stream)
    ...     clone.copy_from(buffer, stream=device.default_stream)
    ...     device.default_stream.sync()
    """
    cdef HostRegistration self = HostRegistration.__new__(HostRegistration)
    cdef AllocationHandle h_allocation
    cdef Buffer buffer
    cdef unsigned int c_flags = (
        flag(portable, "portable", cydriver.CU_MEMHOSTREGISTER_PORTABLE)
        | flag(mapped, "mapped", cydriver.CU_MEMHOSTREGISTER_DEVICEMAP)
        | flag(read_only, "read_only", cydriver.CU_MEMHOSTREGISTER_READ_ONLY)
        | flag(io_memory, "io_memory", cydriver.CU_MEMHOSTREGISTER_IOMEMORY)
    )
    HostRegistration_open(self, array)
    HostRegistration_create(self, c_flags, &h_allocation)
    buffer = Buffer_create(Buffer, h_allocation, self, array)
    buffer._is_readonly = self._view.readonly or read_only
    return buffer


cdef class HostRegistration(MemoryResource):
    """The registration of one array, and the memory resource of its buffer."""

    cdef:
        Py_buffer _view
        bint _has_view
        bint _is_mapped
        bint _has_device_address    # the device address differs from the host address
        ContextHandle _h_context    # set once

    def __dealloc__(self):
        if self._has_view:
            PyBuffer_Release(&self._view)

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
        """Raise RuntimeError, because the memory belongs to the array."""
        raise RuntimeError("a registration of host memory cannot allocate; pass dst to copy_to()")

    @property
    def is_device_accessible(self) -> bool:
        """Whether the memory is mapped, so that devices can access it."""
        return self._is_mapped

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory at the address of the buffer."""
        return not self._has_device_address

    @property
    def device_id(self) -> int:
        """Raises RuntimeError, because host memory is not tied to a device."""
        raise UnavailableError("registered host memory belongs to no device, so it has no device_id")


cdef unsigned int flag(object value, str name, unsigned int c_flag) except? 0:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return c_flag if value else 0


cdef int HostRegistration_open(HostRegistration self, object array) except -1:
    if not PyObject_CheckBuffer(array):
        raise TypeError(
            f"array must be host memory with the buffer protocol, such as a NumPy array, "
            f"not {type(array).__name__}"
        )
    try:
        PyObject_GetBuffer(array, &self._view, PyBUF_STRIDED_RO)
    except (BufferError, ValueError) as error:
        raise TypeError(f"array must be host memory: {error}") from error
    self._has_view = True
    if holds_objects(array, b"" if self._view.format == NULL else self._view.format):
        raise TypeError("array must have elements of plain data, not references to Python objects")
    if not PyBuffer_IsContiguous(&self._view, c"A"):
        raise ValueError("array must be contiguous; register the array that this is a view of")
    if self._view.len == 0:
        raise ValueError("array must not be empty")
    return 0


# The data for unregistering, which may be deferred to another thread.
cdef cppclass Registered:
    PyObject* resource
    void* address
    StreamHandle h_stream
    ContextHandle h_context
    Anchor anchor


cdef int HostRegistration_create(
    HostRegistration self, unsigned int c_flags, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef Anchor anchor = Anchor.of_object(<PyObject*>self)
    cdef cydriver.CUdeviceptr pointer = 0
    cdef cydriver.CUresult err
    value.pointer = <uintptr_t>self._view.buf
    value.size = self._view.len
    value.resource = <PyObject*>self
    Context_current(&self._h_context)
    with nogil:
        limit_backlog()
        err = cydriver.cuMemHostRegister(self._view.buf, value.size, c_flags)
        # An earlier registration might still wait to be unregistered.
        if err == cydriver.CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED and wait_for_retired():
            err = cydriver.cuMemHostRegister(self._view.buf, value.size, c_flags)
        HANDLE_RETURN(err, b"cuMemHostRegister")
    h_allocation[0] = AllocationHandle.own_with_wait(move(value), &HostRegistration_destroy, move(anchor))
    self._is_mapped = c_flags & cydriver.CU_MEMHOSTREGISTER_DEVICEMAP != 0
    if self._is_mapped:
        HANDLE_RETURN(
            cydriver.cuMemHostGetDevicePointer(&pointer, self._view.buf, 0), b"cuMemHostGetDevicePointer"
        )
        self._has_device_address = pointer != h_allocation.value().pointer
        (&h_allocation.value()).pointer = pointer
    return 0


cdef void HostRegistration_destroy(Allocation value, cpp_bool may_wait) noexcept nogil:
    cdef Registered registered
    registered.resource = value.resource
    registered.h_stream = value.h_stream
    registered.h_context = value.h_context
    call_with_interpreter(&read_registration, registered)
    if registered.anchor.object() != NULL:  # NULL if the interpreter is exiting
        end_registration(registered, may_wait)


cdef void read_registration(Registered& value) noexcept:
    cdef HostRegistration self = <HostRegistration>value.resource
    (&value).address = self._view.buf
    if not value.h_context:
        (&value).h_context = self._h_context
    (&value).anchor = Anchor.of_object(value.resource)


cdef void end_retired_registration(Registered registered) noexcept nogil:
    end_registration(registered, False)


cdef void end_registration(Registered registered, bint may_wait) noexcept nogil:
    if (may_wait and wait_before_release()) or not retire(registered, &end_retired_registration, Anchor()):
        unregister(registered)


# If one call fails, the next is made anyway, because the right context might already be current.
cdef void unregister(Registered value) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err = cydriver.cuCtxPushCurrent(value.h_context.get())
    cdef bint is_entered = err == cydriver.CUresult.CUDA_SUCCESS
    cdef CaptureModeScope mode
    WARN_RETURN(err, b"cuCtxPushCurrent", value.h_context.get())
    relax_capture_mode(mode)
    if value.h_stream:
        WARN_RETURN(cydriver.cuStreamSynchronize(value.h_stream.get()), b"cuStreamSynchronize", value.h_stream.get())
    err = cydriver.cuMemHostUnregister(value.address)
    mode.end()
    if is_entered:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", value.h_context.get())
    if err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(err, b"cuMemHostUnregister", value.address)
        # Devices may still access the memory, so it must never be freed.
        call_with_interpreter(&leak_registration, value)


cdef void leak_registration(Registered& value) noexcept:
    Py_INCREF(<object>value.anchor.object())
