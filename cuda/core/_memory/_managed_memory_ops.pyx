# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies, prefetches and discards of many buffers in one call, and advice for managed memory."""

from __future__ import annotations

from libc.stdint cimport int32_t
from libc.string cimport memcmp, memset
from libcpp.vector cimport vector

from cuda.core._memory._buffer cimport Buffer, Buffer_pin, buffers_argument, check_writable
from cuda.core._memory._copies cimport check_disjoint, check_stream, has_hints, hints_of
from cuda.core._memory._memory_resource cimport location_argument, location_object, location_of
from cuda.core._native._cuda_core cimport AllocationHandle, AllocationPin, StreamPin
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN, c_driver_version

from collections.abc import Sequence

from cuda.core._host import Host
from cuda.core._memory._copy_options import CopyOptions
from cuda.core._utils.cuda_utils import require_call
from cuda.core._utils.validators import find_str_enum, int_argument, shown

__all__ = ["copy_batch", "decompress_batch", "discard_batch", "discard_prefetch_batch", "prefetch_batch"]

_ALGORITHMS = {
    "deflate": cydriver.CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE,
    "snappy": cydriver.CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY,
    "lz4": cydriver.CU_MEM_DECOMPRESS_ALGORITHM_LZ4,
}


def copy_batch(
    stream: Stream,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions] | None = None,
) -> None:
    """Copy many buffers in one call, in stream order (``cuMemcpyBatchAsync``).

    The copies of a batch are not ordered among themselves. With a driver older than CUDA 13.0, and with CUDA 13.0 if
    no copy has a hint, each copy is a separate call (``cuMemcpyAsync``).

    Parameters
    ----------
    stream : :class:`Stream`
        The stream that the copies are enqueued on. It must not be the legacy default stream, nor be capturing.
    srcs, dsts : Sequence[:class:`Buffer`]
        The sources and the destinations: ``srcs[i]`` is copied to ``dsts[i]``, which has the same size.
    options : :class:`CopyOptions` | Sequence[:class:`CopyOptions`], optional
        Hints for all copies, or one for each copy. If None, no hints.

    Raises
    ------
    TypeError
        If an argument has the wrong type, ``stream`` is the legacy default stream or capturing, or a destination is
        read-only.
    ValueError
        If there are no buffers, the numbers or sizes differ, or a source overlaps its destination.
    RuntimeError
        If a buffer or the stream is closed, or the option ``"during_api_call"`` is given and the driver is older than
        CUDA 13.0.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.utils import copy_batch
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> sources = [device.allocate(64, stream=stream) for _ in range(8)]
    >>> targets = [device.allocate(64, stream=stream) for _ in range(8)]
    >>> copy_batch(stream, sources, targets)
    """
    cdef vector[AllocationHandle] h_sources
    cdef vector[AllocationHandle] h_targets
    cdef vector[cydriver.CUmemcpyAttributes] hints
    cdef StreamPin stream_pin
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    Stream_pin(<Stream>stream, &stream_pin)
    collect(srcs, "srcs", False, &h_sources)
    collect(dsts, "dsts", True, &h_targets)
    if h_sources.size() != h_targets.size():
        raise ValueError(
            f"srcs and dsts must have the same number of buffers, not {h_sources.size()} and {h_targets.size()}"
        )
    collect_hints(options, h_sources.size(), &hints)
    check_stream(stream_pin.handle())
    enqueue(h_targets, h_sources, hints, stream_pin.get())


def decompress_batch(
    stream: Stream, srcs: Sequence[Buffer], dsts: Sequence[Buffer], sizes: Buffer, *, algorithm: str = "lz4"
) -> None:
    """Decompress many buffers in one call, in stream order, with the engine of the device
    (``cuMemBatchDecompressAsync``).

    The engine needs memory that it can access: from no pool, or from a pool or virtual memory that was made for it.

    Parameters
    ----------
    stream : :class:`Stream`
        The stream that the operations are enqueued on. It must not be capturing.
    srcs, dsts : Sequence[:class:`Buffer`]
        The compressed buffers and those for their contents, of at most ``mem_decompress_maximum_length`` bytes.
    sizes : :class:`Buffer`
        Memory for the number of bytes written for each operation, as 32-bit integers.
    algorithm : str, optional
        ``"lz4"``, the default, ``"snappy"`` or ``"deflate"``: blocks without the header of a file.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are no buffers, the numbers differ, ``sizes`` is too small, or ``algorithm`` is unknown.
    RuntimeError
        If a buffer or the stream is closed.
    NotSupportedError
        If the device has no such engine (``mem_decompress_algorithm_mask`` of its properties), or the driver is older
        than CUDA 12.6.
    CUDAError
        If the engine cannot access the memory, or a buffer is too large.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.utils import decompress_batch
    >>> device = Device()
    >>> device.set_current()
    >>> def decompress(stream, blocks, outputs, sizes):
    ...     if device.properties.mem_decompress_algorithm_mask & 4:  # LZ4
    ...         decompress_batch(stream, blocks, outputs, sizes)
    """
    cdef vector[AllocationHandle] h_sources
    cdef vector[AllocationHandle] h_targets
    cdef vector[cydriver.CUmemDecompressParams] operations
    cdef cydriver.CUmemDecompressParams operation
    cdef AllocationPin written
    cdef StreamPin stream_pin
    cdef size_t i
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    if not isinstance(sizes, Buffer):
        raise TypeError(f"sizes must be a Buffer, not {type(sizes).__name__}")
    code = _ALGORITHMS[find_str_enum(algorithm, list(_ALGORITHMS), "algorithm")]
    Stream_pin(<Stream>stream, &stream_pin)
    Buffer_pin(<Buffer>sizes, &written)
    collect(srcs, "srcs", False, &h_sources)
    collect(dsts, "dsts", True, &h_targets)
    if h_sources.size() != h_targets.size() or written.value().size < 4 * h_sources.size():
        raise ValueError(
            f"srcs and dsts must have the same number of buffers, and sizes 4 bytes for each, not {h_sources.size()}, "
            f"{h_targets.size()} and {written.value().size}"
        )
    for i in range(h_sources.size()):
        memset(&operation, 0, sizeof(operation))
        operation.srcNumBytes, operation.src = h_sources[i].value().size, <void*>h_sources[i].value().pointer
        operation.dstNumBytes, operation.dst = h_targets[i].value().size, <void*>h_targets[i].value().pointer
        operation.dstActBytes = <cydriver.cuuint32_t*>(written.value().pointer + 4 * i)
        operation.algo = <cydriver.CUmemDecompressAlgorithm><int>code
        operations.push_back(operation)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemBatchDecompressAsync(operations.data(), operations.size(), 0, NULL, stream_pin.get()),
            b"cuMemBatchDecompressAsync",
        )


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
    cdef StreamPin stream_pin
    cdef Ranges ranges
    cdef size_t i
    Stream_pin(Stream_accept(stream), &stream_pin)
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
                    0, stream_pin.get(),
                ),
                b"cuMemPrefetchBatchAsync",
            )
        return
    for i in range(ranges._pointers.size()):
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemPrefetchAsync(
                    ranges._pointers[i], ranges._sizes[i], ranges._locations[min(i, ranges._locations.size() - 1)],
                    0, stream_pin.get(),
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
    cdef StreamPin stream_pin
    cdef Ranges ranges
    Stream_pin(Stream_accept(stream), &stream_pin)
    ranges = Ranges_of(buffers)
    require_call("cuMemDiscardBatchAsync", "discarding managed memory")
    if ranges._pointers.size() == 0:
        return
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemDiscardBatchAsync(
                ranges._pointers.data(), ranges._sizes.data(), ranges._pointers.size(), 0, stream_pin.get()
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
    cdef StreamPin stream_pin
    cdef Ranges ranges
    Stream_pin(Stream_accept(stream), &stream_pin)
    ranges = Ranges_of(buffers)
    Ranges_locate(ranges, locations)
    require_call("cuMemDiscardBatchAsync", "discarding managed memory")
    if ranges._pointers.size() == 0:
        return
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemDiscardAndPrefetchBatchAsync(
                ranges._pointers.data(), ranges._sizes.data(), ranges._pointers.size(),
                ranges._locations.data(), ranges._indices.data(), ranges._locations.size(),
                0, stream_pin.get(),
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
    """Return the preferred location, a Device or a Host, or None if there is none."""
    return read_location(
        buffer,
        cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
        cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
    )


def get_last_prefetch_location(Buffer buffer not None):
    """Return the location that all pages were last prefetched to, a Device or a Host, or None if there is none."""
    return read_location(
        buffer,
        cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
        cydriver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
    )


def get_locations(Buffer buffer not None, granularity, sampling) -> list:
    """Return where parts of managed memory are (``cuMemGetLocationInfo``)."""
    cdef vector[cydriver.CUmemLocation] locations
    cdef AllocationPin memory
    cdef size_t c_granularity, c_sampling, c_size
    require_call("cuMemGetLocationInfo", "the locations of managed memory")
    Buffer_pin(buffer, &memory)
    c_size = memory.value().size
    c_granularity = c_size if granularity is None else positive_bytes("granularity", granularity)
    c_sampling = 0 if sampling is None else positive_bytes("sampling", sampling)
    if c_size == 0:
        return []
    c_granularity = min(c_granularity, c_size)
    if c_sampling > c_granularity:
        raise ValueError(f"sampling must be at most the granularity, {c_granularity} bytes, not {c_sampling}")
    locations.resize((c_size - 1) // c_granularity + 1)
    check_managed(buffer)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemGetLocationInfo(
                memory.value().pointer, c_size, c_granularity, c_sampling, locations.data()
            ),
            b"cuMemGetLocationInfo",
        )
    return [location_object(<int>location.type, location.id) for location in locations]


cdef size_t positive_bytes(str name, object value) except 0:
    number = int_argument(name, value, accepts_bool=False)
    if not 0 < number < 1 << 63:
        raise ValueError(f"{name} must be a positive number of bytes, not {shown(number)}")
    return number


cdef object read_location(
    Buffer buffer, cydriver.CUmem_range_attribute kind, cydriver.CUmem_range_attribute number
):
    cdef int32_t c_kind = <int32_t>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_INVALID
    cdef int32_t c_number = 0
    read_attribute(buffer, kind, &c_kind, sizeof(c_kind))
    read_attribute(buffer, number, &c_number, sizeof(c_number))
    return location_object(c_kind, c_number)


def set_preferred_location(Buffer buffer not None, location) -> None:
    """Set the preferred location, or remove it with None."""
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


# --- Batches of copies -----------------------------------------------------------------------------

# The attributes of default options: converting a CopyOptions takes longer than a small batch.
cdef cydriver.CUmemcpyAttributes PLAIN = hints_of(CopyOptions())


cdef int collect(object buffers, str name, bint is_written, vector[AllocationHandle]* handles) except -1:
    cdef AllocationPin memory
    cdef list checked = buffers_argument(buffers, name)
    handles.reserve(len(checked))
    for buffer in checked:
        Buffer_pin(<Buffer>buffer, &memory)
        if is_written:
            check_writable(<Buffer>buffer, name)
        handles.push_back(memory.handle())
    return 0


# Converts the options to one hint for all copies, or one for each.
cdef int collect_hints(object options, size_t count, vector[cydriver.CUmemcpyAttributes]* hints) except -1:
    if options is None:
        hints.push_back(PLAIN)
    elif isinstance(options, Sequence) and not isinstance(options, str):
        options = tuple(options)  # another thread might change the list in the meantime
        if len(options) != count:
            raise ValueError(f"options must be one CopyOptions or {count}, one for each copy, not {len(options)}")
        for one in options:
            hints.push_back(hints_of(one))
    else:
        hints.push_back(hints_of(options))
    return 0


cdef int enqueue(
    const vector[AllocationHandle]& h_targets,
    const vector[AllocationHandle]& h_sources,
    const vector[cydriver.CUmemcpyAttributes]& hints,
    cydriver.CUstream c_stream,
) except -1:
    cdef vector[cydriver.CUdeviceptr] targets
    cdef vector[cydriver.CUdeviceptr] sources
    cdef vector[size_t] sizes
    cdef vector[cydriver.CUmemcpyAttributes] attributes
    cdef vector[size_t] firsts      # for each of the attributes, the index of the first copy that it applies to
    cdef bint is_native = True
    cdef bint is_plain = True
    cdef size_t size
    cdef size_t i
    targets.reserve(h_sources.size())
    sources.reserve(h_sources.size())
    sizes.reserve(h_sources.size())
    for i in range(h_sources.size()):
        size = h_sources[i].value().size
        if h_targets[i].value().size != size:
            raise ValueError(f"copy {i} has {size} bytes in srcs and {h_targets[i].value().size} bytes in dsts")
        if not (h_targets[i].is_owner() and h_sources[i].is_owner()):
            check_disjoint(h_targets[i].value().pointer, h_sources[i].value().pointer, size)
        if size == 0 or h_targets[i].value().pointer == h_sources[i].value().pointer:
            continue
        if hints.size() > 1 or attributes.size() == 0:
            attributes.push_back(hints[i if hints.size() > 1 else 0])
            firsts.push_back(sizes.size())
        targets.push_back(h_targets[i].value().pointer)
        sources.push_back(h_sources[i].value().pointer)
        sizes.push_back(size)
        # CUDA 13.0 drivers crash for addresses that they do not track, such as pageable memory.
        is_native = is_native and is_known(targets.back()) and is_known(sources.back())
    for i in range(hints.size()):
        is_native = has_hints(hints[i], 13000) and is_native
        is_plain = is_plain and memcmp(&hints[i], &PLAIN, sizeof(PLAIN)) == 0
    # CUDA 13.0 drivers have crashed in this call while other threads destroyed streams and pools.
    is_native = is_native and not (is_plain and c_driver_version() < 13010)
    if sizes.size() == 0:
        return 0
    with nogil:
        if is_native:
            HANDLE_RETURN(
                cydriver.cuMemcpyBatchAsync(
                    targets.data(), sources.data(), sizes.data(), sizes.size(),
                    attributes.data(), firsts.data(), attributes.size(), c_stream,
                ),
                b"cuMemcpyBatchAsync",
            )
        else:
            for i in range(sizes.size()):
                HANDLE_RETURN(
                    cydriver.cuMemcpyAsync(targets[i], sources[i], sizes[i], c_stream), b"cuMemcpyAsync"
                )
    return 0


cdef bint is_known(cydriver.CUdeviceptr pointer) except -1:
    cdef cydriver.CUmemorytype c_type = <cydriver.CUmemorytype>0
    return ALLOW_RETURN(
        cydriver.cuPointerGetAttribute(
            &c_type, cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer
        ),
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        b"cuPointerGetAttribute",
    )


# --- Managed memory --------------------------------------------------------------------------------

cdef class Ranges:
    """The memory ranges of several managed buffers that are not empty, kept alive for one driver call."""

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
    cdef AllocationPin memory
    Buffer_pin(buffer, &memory)
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
    locations = tuple(locations)  # another thread might change the list in the meantime
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
    cdef AllocationPin memory
    Buffer_pin(buffer, &memory)
    check_managed(buffer)
    if memory.value().size != 0:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemAdvise(memory.value().pointer, memory.value().size, advice, location),
                b"cuMemAdvise",
            )
    return 0


# Leaves `value` unchanged for an empty buffer, which the driver cannot query.
cdef int read_attribute(
    Buffer buffer, cydriver.CUmem_range_attribute attribute, void* value, size_t size
) except -1:
    cdef AllocationPin memory
    Buffer_pin(buffer, &memory)
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


check_self_in_methods(globals())
