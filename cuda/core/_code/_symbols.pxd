# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stddef cimport size_t

from cuda.core._handles._handles cimport LibraryHandle
from cuda.core._utils cimport cydriver


# The symbol that a name stands for: the one of a name expression, or the name itself.
cdef bytes mapped_symbol(dict mapping, object name)

cdef cydriver.CUkernel find_kernel(const LibraryHandle& h_library, bytes symbol) except NULL
cdef int find_variable(
    const LibraryHandle& h_library, bytes symbol, cydriver.CUdeviceptr* c_pointer, size_t* c_size
) except -1

# The names of all kernels of a library; None where the driver cannot tell.
cdef list kernel_names(const LibraryHandle& h_library)
