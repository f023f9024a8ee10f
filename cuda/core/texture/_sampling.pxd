# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver


# What the validity of texture options depends on.
cdef struct Elements:
    int axes            # the number of coordinates of a fetch, without the index of a layer or face
    bint are_floats
    bint are_cubes

# Fills the driver's texture descriptor from a TextureObjectOptions, and checks its fields.
cdef int describe_sampling(object options, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1
