# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of adaptors that count or record the allocations and frees of another resource."""

from __future__ import annotations

cimport cython
from libc.stdint cimport UINT64_MAX, uint64_t
from libcpp.utility cimport move

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport Allocation, AllocationHandle, Keep, free_after
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory.adaptors._adaptor cimport Adaptor_allocate_upstream, Adaptor_set_stream, MemoryResourceAdaptor
from cuda.core._stream cimport Stream
from cuda.core._utils._cpython cimport call_with_interpreter

from collections import namedtuple

__all__ = ["AccountingMemoryResource", "MemoryStatistics"]


class MemoryStatistics(
    namedtuple(
        "MemoryStatistics", "current_bytes current_count peak_bytes peak_count total_bytes total_count failed_count"
    )
):
    """A snapshot of the counts of a :class:`StatisticsMemoryResource`.

    Attributes
    ----------
    current_bytes, current_count : int
        The size in bytes, and the number, of the allocations in use.
    peak_bytes, peak_count : int
        The largest ``current_bytes`` and ``current_count`` since the last reset.
    total_bytes, total_count : int
        The size in bytes, and the number, of all allocations so far.
    failed_count : int
        The number of allocations that failed.
    """

    __slots__ = ()


cdef struct Usage:
    uint64_t reserved       # bytes in use, or about to be
    uint64_t current_bytes
    uint64_t current_count
    uint64_t peak_bytes
    uint64_t peak_count
    uint64_t total_bytes
    uint64_t total_count
    uint64_t failed_count


cdef class AccountingMemoryResource(MemoryResourceAdaptor):
    """Base of adaptors that count allocations, and call methods of a subclass for each allocation and free.

    Counting runs no Python code, so it cannot be interrupted halfway. If an exception interrupts an allocation, the
    allocation is undone.
    """

    cdef:
        Usage _usage
        uint64_t _limit
        dict _records           # for each allocation in use, the result of _allocated(), in order of allocation
        uint64_t _next_number

    def __cinit__(self, *args, **kwargs):
        self._limit = UINT64_MAX
        self._records = {}

    def __init__(self, upstream, limit: int | None = None):
        """Wrap another resource, and refuse allocations that exceed the limit in bytes."""
        MemoryResourceAdaptor.__init__(self, upstream)
        if limit is not None:
            self._limit = limit

    def _refusal(self, size: int) -> BaseException:
        """Return the exception for an allocation that exceeds the limit."""
        return MemoryError(f"an allocation of {size} bytes exceeds the limit")

    def _failed(self, size: int, stream: int, error: BaseException) -> None:
        """Called when the upstream resource has raised an exception."""

    def _allocated(self, pointer: int, size: int, stream: int) -> object:
        """Called after an allocation: return a record to keep until it is freed, or None."""

    def _freed(self, pointer: int, size: int, stream: int) -> None:
        """Called after a free was enqueued on a stream."""

    def _kept(self) -> list:
        """Return the records of the allocations in use, the oldest first."""
        return list(self._records.values())

    def _count(self) -> MemoryStatistics:
        """Return the current counts."""
        cdef Usage usage
        with cython.critical_section(self):
            usage = self._usage
        return MemoryStatistics(
            usage.current_bytes, usage.current_count, usage.peak_bytes, usage.peak_count,
            usage.total_bytes, usage.total_count, usage.failed_count,
        )

    def _reset_peaks(self) -> None:
        """Reset the peaks to the current values."""
        with cython.critical_section(self):
            self._usage.peak_bytes = self._usage.current_bytes
            self._usage.peak_count = self._usage.current_count

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        cdef AllocationHandle h_allocation
        cdef Allocation value
        cdef Keep keep
        cdef Buffer inner
        cdef size_t c_stream
        # If anything fails from here on, the lease is destroyed and undoes its counts.
        cdef Lease lease = Lease_create(self)
        Adaptor_set_stream(self, stream, &value)
        c_stream = <size_t>value.h_stream.get()
        try:
            Lease_reserve(lease, size)
            inner = Adaptor_allocate_upstream(self, size, stream, &lease.h_memory)
            value.pointer = lease.h_memory.value().pointer
            value.size = lease.h_memory.value().size
            # The buffer may be larger than requested, because some resources round sizes up.
            Lease_reserve(lease, value.size)
        except BaseException as error:
            with cython.critical_section(self):
                self._usage.failed_count += 1
            self._failed(size, c_stream, error)
            raise
        note = self._allocated(value.pointer, value.size, c_stream)
        if note is not None:
            self._records[lease.number] = note
        Lease_commit(lease)
        value.resource = <PyObject*>lease
        keep = Keep.of_object(<PyObject*>lease)
        h_allocation = AllocationHandle.own_without_blocking(move(value), &end_lease, move(keep))
        return Buffer_create(type(inner), h_allocation, self, None)


# --- Leases ----------------------------------------------------------------------------------------

# An allocation in use, or in progress, with its share of the counts, which it takes back when it is destroyed.
@cython.final
@cython.no_gc_clear
cdef class Lease:
    cdef:
        AllocationHandle h_memory   # set once: the allocation of the upstream resource
        AccountingMemoryResource adaptor
        uint64_t number
        uint64_t size               # the bytes reserved
        bint is_committed

    def __dealloc__(self):
        self.h_memory.reset()
        if self.adaptor is not None:
            Lease_withdraw(self)
            self.adaptor._records.pop(self.number, None)


cdef Lease Lease_create(AccountingMemoryResource adaptor):
    cdef Lease self = Lease.__new__(Lease)
    with cython.critical_section(adaptor):
        self.number = adaptor._next_number
        adaptor._next_number += 1
    self.adaptor = adaptor
    return self


# Sets the number of bytes that the lease counts.
cdef int Lease_reserve(Lease self, uint64_t size) except -1:
    cdef AccountingMemoryResource adaptor = self.adaptor
    cdef bint is_within = True
    with cython.critical_section(adaptor):
        if size > self.size:
            is_within = size <= adaptor._limit and adaptor._usage.reserved - self.size <= adaptor._limit - size
        if is_within:
            adaptor._usage.reserved += size - self.size
            self.size = size
    if not is_within:
        raise adaptor._refusal(size)
    return 0


cdef int Lease_commit(Lease self) except -1:
    cdef Usage* usage = &self.adaptor._usage
    with cython.critical_section(self.adaptor):
        self.is_committed = True
        usage.current_bytes += self.size
        usage.current_count += 1
        usage.total_bytes += self.size
        usage.total_count += 1
        usage.peak_bytes = max(usage.peak_bytes, usage.current_bytes)
        usage.peak_count = max(usage.peak_count, usage.current_count)
    return 0


cdef int Lease_withdraw(Lease self) except -1:
    cdef Usage* usage = &self.adaptor._usage
    with cython.critical_section(self.adaptor):
        usage.reserved -= self.size
        if self.is_committed:
            usage.current_bytes -= self.size
            usage.current_count -= 1
    return 0


cdef void end_lease(Allocation value) noexcept nogil:
    call_with_interpreter(&Lease_end, value)


# Exceptions raised by methods of the subclass go to sys.unraisablehook, because this function is noexcept.
cdef void Lease_end(Allocation& value) noexcept:
    cdef Lease self = <Lease>value.resource
    free_after(self.h_memory, value)
    self.h_memory.reset()
    self.adaptor._freed(value.pointer, value.size, <size_t>value.h_stream.get())
