# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Batched copies: many copies in one driver call."""

from __future__ import annotations

from libc.string cimport memcmp
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport AllocationHandle, KeptAllocation, KeptStream
from cuda.core._memory._buffer cimport Buffer, buffers_argument
from cuda.core._memory.copying._copies cimport check_apart
from cuda.core._memory.copying._hints cimport check_stream, has_hints, hints_of
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep, check_writable
from cuda.core._stream cimport Stream, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

from collections.abc import Sequence

from cuda.core._memory.copying._options import CopyOptions

__all__ = ["copy_batch"]

# The attributes of default options, as a constant: converting a CopyOptions takes longer than a small batch.
cdef cydriver.CUmemcpyAttributes PLAIN = hints_of(CopyOptions())


def copy_batch(
    stream: Stream,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions] | None = None,
) -> None:
    """Copy many buffers in one call, in stream order (``cuMemcpyBatchAsync``).

    The copies of a batch are not ordered among themselves. With a driver older than CUDA 13.0, and with CUDA 13.0 if
    no copy has a hint, each copy is a call of its own (``cuMemcpyAsync``).

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
    """
    cdef vector[AllocationHandle] h_sources
    cdef vector[AllocationHandle] h_targets
    cdef vector[cydriver.CUmemcpyAttributes] hints
    cdef KeptStream kept_stream
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    Stream_keep(<Stream>stream, &kept_stream)
    collect(srcs, "srcs", False, &h_sources)
    collect(dsts, "dsts", True, &h_targets)
    if h_sources.size() != h_targets.size():
        raise ValueError(
            f"srcs and dsts must have the same number of buffers, not {h_sources.size()} and {h_targets.size()}"
        )
    collect_hints(options, h_sources.size(), &hints)
    check_stream(kept_stream.handle())
    enqueue(h_targets, h_sources, hints, kept_stream.get())


cdef int collect(object buffers, str name, bint is_written, vector[AllocationHandle]* handles) except -1:
    cdef KeptAllocation memory
    cdef list checked = buffers_argument(buffers, name)
    handles.reserve(len(checked))
    for buffer in checked:
        MemoryRange_keep(<Buffer>buffer, &memory)
        if is_written:
            check_writable(<Buffer>buffer, name)
        handles.push_back(memory.handle())
    return 0


# Converts the options to one hint for all copies, or one for each.
cdef int collect_hints(object options, size_t count, vector[cydriver.CUmemcpyAttributes]* hints) except -1:
    if options is None:
        hints.push_back(PLAIN)
    elif isinstance(options, Sequence) and not isinstance(options, str):
        options = tuple(options)  # another thread may change the list meanwhile
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
            check_apart(h_targets[i].value().pointer, h_sources[i].value().pointer, size)
        if size == 0 or h_targets[i].value().pointer == h_sources[i].value().pointer:
            continue
        if hints.size() > 1 or attributes.size() == 0:
            attributes.push_back(hints[i if hints.size() > 1 else 0])
            firsts.push_back(sizes.size())
        targets.push_back(h_targets[i].value().pointer)
        sources.push_back(h_sources[i].value().pointer)
        sizes.push_back(size)
        # A driver of CUDA 13.0 crashes for addresses that it does not know, such as those of pageable memory.
        is_native = is_native and is_known(targets.back()) and is_known(sources.back())
    for i in range(hints.size()):
        is_native = has_hints(hints[i], 13000) and is_native
        is_plain = is_plain and memcmp(&hints[i], &PLAIN, sizeof(PLAIN)) == 0
    # A driver of CUDA 13.0 has crashed in this call while other threads destroyed streams and pools.
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
