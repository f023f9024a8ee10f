# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Ownership of multicast objects of the driver; a part of ``_virtual_memory.pyx``, where they are mapped."""

from libc.stdint cimport uintptr_t

from cuda.core._memory._buffer cimport Buffer, Buffer_pin
from cuda.core._native._cuda_core cimport AllocationPin, Anchor, Handle, HandleField, Pin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

from cuda.core._utils.cuda_utils import UnavailableError

ctypedef cydriver.CUmemGenericAllocationHandle MulticastMemory
ctypedef Handle[MulticastMemory] MulticastHandle
ctypedef HandleField[MulticastMemory] MulticastField
ctypedef Pin[MulticastMemory] MulticastPin


cdef class Multicast:
    """Owns a multicast object of the driver (``cuMulticastCreate``). Each method raises if it is closed.

    Parameters
    ----------
    properties : int
        The address of a ``CUmulticastObjectProp``.
    """

    cdef MulticastField _h_multicast

    def __init__(self, uintptr_t properties):
        cdef MulticastMemory memory
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMulticastCreate(&memory, <cydriver.CUmulticastObjectProp*>properties), b"cuMulticastCreate"
            )
        self._h_multicast.set(MulticastHandle.own(memory, &release_multicast, Anchor()))

    def add_device(self, int device_id) -> None:
        """Add a device to the team (``cuMulticastAddDevice``)."""
        cdef MulticastPin pin
        Multicast_pin(self, &pin)
        with nogil:
            HANDLE_RETURN(cydriver.cuMulticastAddDevice(pin.get(), device_id), b"cuMulticastAddDevice")

    def bind(self, size_t offset, Buffer buffer not None) -> None:
        """Bind the memory of a buffer (``cuMulticastBindAddr``)."""
        cdef MulticastPin pin
        cdef AllocationPin memory
        Multicast_pin(self, &pin)
        Buffer_pin(buffer, &memory)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMulticastBindAddr(pin.get(), offset, memory.value().pointer, memory.value().size, 0),
                b"cuMulticastBindAddr",
            )

    def unbind(self, int device_id, size_t offset, size_t size) -> None:
        """Unbind memory of a device (``cuMulticastUnbind``)."""
        cdef MulticastPin pin
        Multicast_pin(self, &pin)
        with nogil:
            HANDLE_RETURN(cydriver.cuMulticastUnbind(pin.get(), device_id, offset, size), b"cuMulticastUnbind")

    def map(self, VirtualMemory memory not None, cydriver.CUdeviceptr pointer, size_t size) -> None:
        """Map the object in a reserved range (``cuMemMap``)."""
        cdef MulticastPin pin
        cdef Ranges* ranges = memory._h_ranges.get()
        Multicast_pin(self, &pin)
        make_room(ranges.mapped)
        with nogil:
            HANDLE_RETURN(cydriver.cuMemMap(pointer, size, 0, pin.get(), 0), b"cuMemMap")
        ranges.mapped.push_back(Range(pointer, size))

    def close(self) -> None:
        """Release the object, which stays mapped (``cuMemRelease``)."""
        self._h_multicast.close()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_multicast


cdef int Multicast_pin(Multicast self, MulticastPin* pin) except -1:
    if not pin.hold(self._h_multicast):
        raise UnavailableError("this MulticastObject is closed")
    return 0


cdef void release_multicast(MulticastMemory memory) noexcept nogil:
    WARN_RETURN(cydriver.cuMemRelease(memory), b"cuMemRelease", <void*><uintptr_t>memory)
