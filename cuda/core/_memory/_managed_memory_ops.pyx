# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Managed memory operations: memory advice, prefetching and discarding, of one buffer or batched."""

from __future__ import annotations

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport AllocationHandle, KeptAllocation, KeptStream
from cuda.core._memory._buffer cimport Buffer, buffers_argument
from cuda.core._memory.ranges._location cimport location_argument, location_object, location_of
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep
from cuda.core._stream cimport Stream_accept, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

from collections.abc import Sequence

from cuda.core._host import Host

__all__ = ["discard_batch", "discard_prefetch_batch", "prefetch_batch"]


def prefetch_batch(stream, buffers: Sequence[Buffer], locations) -> None:
    """Prefetch managed memory: migrate buffers to locations, in stream order (``cuMemPrefetchBatchAsync``).

    Parameters
    ----------
    stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
        The stream that the operation is enqueued on.
    buffers : Sequence[:class:`Buffer`]
        The buffers; the driver may process them in any order.
    locations : :class:`Device` | :class:`Host` | Sequence
        The destination of all buffers, or one for each.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are no buffers, a buffer is not managed, a location is None, or there is another number of locations.
    RuntimeError
        If a buffer is closed.
    """
    cdef KeptStream kept_stream
    cdef Ranges ranges
    cdef size_t i
    Stream_keep(Stream_accept(stream), &kept_stream)
    ranges = Ranges_of(buffers)
    Ranges_locate(ranges, locations)
    if ranges._pointers.size() == 0:
        return
    if ranges._pointers.size() > 1 and c_driver_version() >= 13000:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemPrefetchBatchAsync(
                    ranges._pointers.data(), ranges._sizes.data(), ranges._pointers.size(),
                    ranges._locations.data(), ranges._indices.data(), ranges._locations.size(),
                    0, kept_stream.get(),
                ),
                b"cuMemPrefetchBatchAsync",
            )
        return
    for i in range(ranges._pointers.size()):
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemPrefetchAsync(
                    ranges._pointers[i], ranges._sizes[i], ranges._locations[min(i, ranges._locations.size() - 1)],
                    0, kept_stream.get(),
                ),
                b"cuMemPrefetchAsync",
            )


def discard_batch(stream, buffers: Sequence[Buffer]) -> None:
    """Discard the contents of managed memory, in stream order (``cuMemDiscardBatchAsync``).

    Reads are undefined until the memory is written or prefetched.

    Parameters
    ----------
    stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
        The stream that the operation is enqueued on.
    buffers : Sequence[:class:`Buffer`]
        The buffers; the driver may process them in any order.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are no buffers, or a buffer is not managed.
    RuntimeError
        If a buffer is closed.
    NotImplementedError
        If the driver is older than CUDA 13.0.
    """
    cdef KeptStream kept_stream
    cdef Ranges ranges
    Stream_keep(Stream_accept(stream), &kept_stream)
    ranges = Ranges_of(buffers)
    _refuse_old_driver(c_driver_version())
    if ranges._pointers.size() == 0:
        return
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemDiscardBatchAsync(
                ranges._pointers.data(), ranges._sizes.data(), ranges._pointers.size(), 0, kept_stream.get()
            ),
            b"cuMemDiscardBatchAsync",
        )


def discard_prefetch_batch(stream, buffers: Sequence[Buffer], locations) -> None:
    """Discard the contents of managed memory and prefetch it (``cuMemDiscardAndPrefetchBatchAsync``).

    Because the contents are discarded, the memory migrates without a copy.

    Parameters
    ----------
    stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
        The stream that the operation is enqueued on.
    buffers : Sequence[:class:`Buffer`]
        The buffers; the driver may process them in any order.
    locations : :class:`Device` | :class:`Host` | Sequence
        The destination of all buffers, or one for each.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are no buffers, a buffer is not managed, a location is None, or there is another number of locations.
    RuntimeError
        If a buffer is closed.
    NotImplementedError
        If the driver is older than CUDA 13.0.
    """
    cdef KeptStream kept_stream
    cdef Ranges ranges
    Stream_keep(Stream_accept(stream), &kept_stream)
    ranges = Ranges_of(buffers)
    Ranges_locate(ranges, locations)
    _refuse_old_driver(c_driver_version())
    if ranges._pointers.size() == 0:
        return
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemDiscardAndPrefetchBatchAsync(
                ranges._pointers.data(), ranges._sizes.data(), ranges._pointers.size(),
                ranges._locations.data(), ranges._indices.data(), ranges._locations.size(),
                0, kept_stream.get(),
            ),
            b"cuMemDiscardAndPrefetchBatchAsync",
        )


def get_read_mostly(Buffer buffer not None) -> bool:
    """Return whether the memory is advised to be mostly read."""
    cdef int32_t c_value = 0
    read_attribute(
        buffer, cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, &c_value, sizeof(c_value)
    )
    return c_value != 0


def set_read_mostly(Buffer buffer not None, value: bool) -> None:
    """Advise the driver whether the memory is mostly read."""
    cdef cydriver.CUmem_advise c_advice = cydriver.CUmem_advise.CU_MEM_ADVISE_UNSET_READ_MOSTLY
    if value:
        c_advice = cydriver.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY
    advise(buffer, c_advice, location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0))


def get_preferred_location(Buffer buffer not None):
    """Return the preferred location: a Device, a Host, or None."""
    cdef int32_t c_kind = <int32_t>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_INVALID
    cdef int32_t c_number = 0
    read_attribute(
        buffer, cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, &c_kind, sizeof(c_kind)
    )
    read_attribute(
        buffer, cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, &c_number, sizeof(c_number)
    )
    return location_object(c_kind, c_number)


def set_preferred_location(Buffer buffer not None, location) -> None:
    """Set the preferred location; None removes it."""
    if location is None:
        advise(
            buffer,
            cydriver.CUmem_advise.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
            location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0),
        )
    else:
        advise(buffer, cydriver.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location_argument(location))


def get_accessed_by(Buffer buffer not None) -> list:
    """Return the Devices, and Host(), to which the memory stays mapped."""
    cdef vector[int32_t] ordinals
    cdef int count = 0
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    ordinals.resize(count + 1, cydriver.CU_DEVICE_INVALID)
    read_attribute(
        buffer, cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
        ordinals.data(), ordinals.size() * sizeof(int32_t),
    )
    device = <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return [
        Host() if ordinal == cydriver.CU_DEVICE_CPU else location_object(device, ordinal)
        for ordinal in ordinals
        if ordinal != cydriver.CU_DEVICE_INVALID
    ]


def set_accessed_by(Buffer buffer not None, location, value: bool) -> None:
    """Advise the driver whether the memory stays mapped to a Device or Host()."""
    cdef cydriver.CUmem_advise c_advice = cydriver.CUmem_advise.CU_MEM_ADVISE_UNSET_ACCESSED_BY
    if value:
        c_advice = cydriver.CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY
    advise(buffer, c_advice, location_argument(location))


cdef class Ranges:
    """The memory ranges of several managed buffers, kept alive for one driver call; without empty buffers."""

    cdef:
        vector[AllocationHandle] _h_allocations
        vector[cydriver.CUdeviceptr] _pointers
        vector[size_t] _sizes
        vector[size_t] _positions   # for each range, the position of its buffer in the argument
        size_t _count               # the number of buffers in the argument
        vector[cydriver.CUmemLocation] _locations
        vector[size_t] _indices     # for each location, the first range that it applies to


cdef Ranges Ranges_of(object buffers):
    cdef Ranges self = Ranges.__new__(Ranges)
    for buffer in buffers_argument(buffers, "buffers"):
        Ranges_add(self, <Buffer>buffer)
    return self


cdef int Ranges_add(Ranges self, Buffer buffer) except -1:
    cdef KeptAllocation memory
    MemoryRange_keep(buffer, &memory)
    check_managed(buffer)
    if memory.value().size != 0:
        self._h_allocations.push_back(memory.handle())
        self._pointers.push_back(memory.value().pointer)
        self._sizes.push_back(memory.value().size)
        self._positions.push_back(self._count)
    self._count += 1
    return 0


cdef int Ranges_locate(Ranges self, object locations) except -1:
    cdef size_t i
    cdef vector[cydriver.CUmemLocation] all_locations
    if not isinstance(locations, Sequence) or isinstance(locations, str):
        self._locations.push_back(location_argument(locations))
        self._indices.push_back(0)
        return 0
    locations = tuple(locations)  # another thread may change the list meanwhile
    if len(locations) != self._count:
        raise ValueError(f"locations must be one location or {self._count}, one for each buffer, not {len(locations)}")
    for location in locations:
        all_locations.push_back(location_argument(location))
    for i in range(self._pointers.size()):
        self._locations.push_back(all_locations[self._positions[i]])
        self._indices.push_back(i)
    return 0


cdef int check_managed(Buffer buffer) except -1:
    if not buffer.is_managed:
        raise ValueError("the Buffer must be of managed memory; allocate it from a ManagedMemoryResource")
    return 0


cdef int advise(Buffer buffer, cydriver.CUmem_advise advice, cydriver.CUmemLocation location) except -1:
    cdef KeptAllocation memory
    MemoryRange_keep(buffer, &memory)
    check_managed(buffer)
    if memory.value().size != 0:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemAdvise(memory.value().pointer, memory.value().size, advice, location),
                b"cuMemAdvise",
            )
    return 0


# Leaves `value` unchanged for an empty buffer, for which the driver cannot be asked.
cdef int read_attribute(
    Buffer buffer, cydriver.CUmem_range_attribute attribute, void* value, size_t size
) except -1:
    cdef KeptAllocation memory
    MemoryRange_keep(buffer, &memory)
    check_managed(buffer)
    if memory.value().size != 0:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemRangeGetAttribute(
                    value, size, attribute, memory.value().pointer, memory.value().size
                ),
                b"cuMemRangeGetAttribute",
            )
    return 0


def _refuse_old_driver(version: int) -> None:
    if version < 13000:
        raise NotImplementedError("discarding managed memory needs a driver for CUDA 13.0 or newer")
