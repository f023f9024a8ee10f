# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._memory_resource cimport MemoryResource


# Whether a default was ever chosen; until then nobody needs to ask.
cdef bint is_chosen

# What was chosen for a device: by a `with` block, else (unless the thread has a choice of its own) for
# the process; None if nothing was.
cdef MemoryResource chosen_resource(int device_id, bint has_own)

# What allocates on a device where nobody chose.
cdef MemoryResource new_resource(int device_id, bint has_pools)
