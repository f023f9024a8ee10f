# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays.importing._protocols cimport Importer


# The class of Numba, JAX or Warp that a class is, or inherits from, and the importer of its arrays; None for others.
cdef object library_class(object cls, Importer* importer)

# The protocol that an importer reads; neither for those that read an array without one.
cdef bint reads_dlpack(Importer importer) noexcept
cdef bint reads_interface(Importer importer) noexcept
