# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays.importing._protocols cimport Importer


# Returns the array class of Numba, JAX or Warp that `cls` is or is derived from, and its importer; None for others.
cdef object library_class(object cls, Importer* importer)

# Whether an importer uses the protocol; both are false for importers that read arrays without one.
cdef bint reads_dlpack(Importer importer) noexcept
cdef bint reads_interface(Importer importer) noexcept
