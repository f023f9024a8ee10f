# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Access to a buffer's memory for NumPy and other libraries: the buffer protocol and DLPack."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cpython.buffer cimport PyBuffer_FillInfo

from cuda.core._dlpack cimport DLPack_export_bytes, DLPack_negotiate
from cuda.core._handles._handles cimport AllocationHandle, KeptAllocation
from cuda.core._memory.ranges._memory_range cimport MemoryRange, MemoryRange_keep

import importlib

from cuda.core._dlpack import classify_dl_device

__all__ = []


cdef class ExportedRange(MemoryRange):
    """The base of buffers that other libraries read and write without a copy."""

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef KeptAllocation memory
        MemoryRange_keep(self, &memory)
        if not self.is_host_accessible:
            raise BufferError(
                "the host cannot read this Buffer: its memory is on a device; copy it to a buffer of "
                "LegacyPinnedMemoryResource first"
            )
        PyBuffer_FillInfo(
            view, self, <void*><uintptr_t>memory.value().pointer, memory.value().size, self._is_readonly, flags
        )
        # The code of a resource may have closed the buffer: the view itself keeps the memory.
        view.internal = new AllocationHandle(memory.handle())
        count_exports(self, 1)

    def __releasebuffer__(self, Py_buffer* view):
        cdef AllocationHandle* h_memory = <AllocationHandle*>view.internal
        count_exports(self, -1)
        del h_memory

    def __array__(self, dtype=None, copy=None):
        """Return the bytes as a NumPy array, where the host can read them; BufferError elsewhere."""
        numpy = importlib.import_module("numpy")
        array = numpy.asarray(memoryview(self), dtype=dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the memory with DLPack, as a vector of int8.

        The memory stays allocated as long as the consumer uses it, also when this buffer is closed.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. Nothing is ordered against it.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer understands.
        dl_device : tuple[int, int], optional
            None, or the device where the memory is.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the memory would have to be copied or moved, or ``max_version`` is no pair.
        TypeError
            If ``max_version`` is no tuple.
        RuntimeError
            If the buffer is closed.
        """
        cdef KeptAllocation memory
        MemoryRange_keep(self, &memory)
        device = self.__dlpack_device__()
        versioned = DLPack_negotiate(max_version, dl_device, copy, device)
        return DLPack_export_bytes(
            memory.value().pointer, memory.value().size, device, self, memory.keep(), versioned, self._is_readonly
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return where the memory is, as ``(device_type, device_id)`` of DLPack."""
        self._check_open()
        return classify_dl_device(self)


cdef int refuse_while_exported(ExportedRange self) except -1:
    if self._export_count != 0:
        raise BufferError(f"this Buffer cannot be closed: {self._export_count} memoryviews or arrays look at it")
    return 0


# A view of a sub-buffer also blocks closing its parent.
cdef void count_exports(ExportedRange self, int step) noexcept:
    self._export_count += step
    if self._is_slice and self._owner is not None:
        (<ExportedRange>self._owner)._export_count += step
