# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handle types of textures and surfaces."""

from cuda.core._handles._mechanism cimport Handle, Keep, Kept, Member
from cuda.core._utils cimport cydriver


cdef extern from "image.hpp" namespace "cuda_core" nogil:
    cppclass Image[T]:
        T raw
        Handle[cydriver.CUcontext] h_context
        Keep needs
        bint is_small
        T for_work() noexcept
        bint may_be_in_use() noexcept


ctypedef Handle[Image[cydriver.CUtexObject]] TextureHandle
ctypedef Handle[Image[cydriver.CUsurfObject]] SurfaceHandle

ctypedef Member[Image[cydriver.CUtexObject]] TextureMember
ctypedef Member[Image[cydriver.CUsurfObject]] SurfaceMember

ctypedef Kept[Image[cydriver.CUtexObject]] KeptTexture
ctypedef Kept[Image[cydriver.CUsurfObject]] KeptSurface
