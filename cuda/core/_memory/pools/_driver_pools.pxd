# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport MemoryPoolHandle
from cuda.core._utils cimport cydriver


# Creates a pool of at most `max_size` bytes (0: no limit), which keeps `release_threshold` bytes when a stream or event
# is synchronized (None: all).
cdef MemoryPoolHandle MemPool_create(
    cydriver.CUmemAllocationType kind, cydriver.CUmemLocation location, bint is_shared, size_t max_size,
    object release_threshold
) except *

# Imports the pool behind a file descriptor of another process; `owner` keeps the descriptor open during the call.
cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *

# Borrows a pool of another owner.
cdef MemoryPoolHandle MemPool_wrap(cydriver.CUmemoryPool c_pool) except *

# Borrows a pool of the driver. If its release threshold is 0, the default, it is set to keep all freed memory.
cdef MemoryPoolHandle MemPool_adopt(cydriver.CUmemoryPool c_pool) except *

cdef int MemPool_get(cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value) except -1
cdef int MemPool_set(cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value) except -1
