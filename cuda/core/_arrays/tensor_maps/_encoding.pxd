# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint32_t, uint64_t

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._utils cimport cydriver


# The arguments of all kinds of tensor maps, in the driver's order of axes: the last of the view first.
cdef struct TensorNumbers:
    void* pointer
    uint32_t rank
    cydriver.CUtensorMapDataType data_type
    uint64_t extents[5]
    uint64_t pitches[5]     # in bytes, of all axes but the first
    uint32_t steps[5]
    cydriver.CUtensorMapInterleave interleave
    cydriver.CUtensorMapSwizzle swizzle
    cydriver.CUtensorMapL2promotion promotion
    cydriver.CUtensorMapFloatOOBfill fill

# What users choose beside the tile, as the driver numbers it.
cdef struct TensorChoices:
    int interleave
    int swizzle
    int promotion
    int fill

# The numbers of tiles as most are: a tuple of ints, elements side by side, no interleaving, no fill. False for all
# others, and for what the rules refuse: the functions below see to both.
cdef bint read_plain_tiles(
    ViewState view, int data_type, tuple box_dim, const TensorChoices* choices, TensorNumbers* numbers,
    uint32_t* c_tile,
) except -1
cdef int encode_tile(cydriver.CUtensorMap* c_map, const TensorNumbers* numbers, const uint32_t* c_tile) except -1

# Each checks what it takes, and raises ValueError before the driver would refuse it. `options` are checked already.
cdef int read_numbers(ViewState view, object data_type, object options, TensorNumbers* numbers) except -1
cdef int encode_tiled(
    cydriver.CUtensorMap* c_map, const TensorNumbers* numbers, object data_type, object options
) except -1
cdef int encode_im2col(
    cydriver.CUtensorMap* c_map, const TensorNumbers* numbers, object data_type, object options,
    tuple lower, tuple upper, object channels, object pixels,
) except -1
cdef int encode_im2col_wide(
    cydriver.CUtensorMap* c_map, const TensorNumbers* numbers, object data_type, object options,
    object lower, object upper, object channels, object pixels, object mode,
) except -1
