# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._memory_resource cimport MemoryResource


# Whether a default was ever set; until then the tables need not be read.
cdef bint is_chosen

# The resource set for a device: by a `with` block, else (unless the thread has set one itself) for
# the process; None if there is none.
cdef MemoryResource chosen_resource(int device_id, bint has_own)

# The resource of a device for which none was set.
cdef MemoryResource new_resource(int device_id, bint has_pools)
