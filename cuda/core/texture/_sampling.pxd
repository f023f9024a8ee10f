# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver


# What a texture reads from, as far as its sampling depends on it.
cdef struct Elements:
    int axes            # along which there are coordinates; a layer or a face is named by its number
    bint are_floats
    bint are_cubes

# What the driver needs to read `elements` as options say, whose fields are checked here.
cdef int describe_sampling(object options, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1
