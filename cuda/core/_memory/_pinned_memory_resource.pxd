# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._ipc cimport _IPCMemPool


cdef class PinnedMemoryResource(_IPCMemPool):
    cdef int _numa_id       # -1 where the operating system decides
