# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory.ranges._memory_range cimport MemoryRange


cdef class ExportedRange(MemoryRange):
    cdef int _export_count      # memoryviews of the memory and of slices of it


# BufferError while a memoryview of the memory exists, which would read freed memory later.
cdef int refuse_while_exported(ExportedRange self) except -1
