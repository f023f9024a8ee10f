# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Encoding of tensor maps: arguments for the driver, and its calls."""

from __future__ import annotations

from cpython.long cimport PyLong_AsLongAndOverflow
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from cuda.core._arrays._view_state cimport ViewState, layout_of
from cuda.core._layout cimport _StridedLayout
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._arrays.tensor_maps import _rules as rules

__all__ = []


cdef uint64_t MAX_EXTENT = rules.MAX_EXTENT
cdef uint64_t MAX_PITCH = rules.MAX_PITCH
cdef uint32_t MAX_TILE = rules.MAX_TILE
cdef uint64_t MAX_BYTES = rules.MAX_BYTES
cdef int[13] ITEM_SIZES
cdef uint32_t[4] SPANS
for _at, _size in enumerate(rules.ITEM_SIZES):
    ITEM_SIZES[_at] = _size
for _at, _size in enumerate(rules.SPANS):
    SPANS[_at] = _size or 0


cdef bint read_tiled_fast(
    ViewState view, int data_type, tuple box_dim, const EnumValues* enums, EncodeArguments* arguments,
    uint32_t* c_tile,
) except -1:
    cdef uint32_t itemsize = ITEM_SIZES[data_type]
    memset(arguments, 0, sizeof(EncodeArguments))
    if enums.interleave or enums.fill or not read_extents_fast(arguments, layout_of(view), itemsize):
        return False
    if not read_tile_fast(c_tile, box_dim, arguments.rank, itemsize, SPANS[enums.swizzle]):
        return False
    arguments.pointer = <void*>view._ptr
    arguments.data_type = <cydriver.CUtensorMapDataType>data_type
    arguments.swizzle = <cydriver.CUtensorMapSwizzle>enums.swizzle
    arguments.promotion = <cydriver.CUtensorMapL2promotion>enums.promotion
    return True


# Sets extents, pitches and steps in the driver's order of axes; false if the complete checks have to decide.
cdef bint read_extents_fast(EncodeArguments* arguments, _StridedLayout layout, int itemsize) except -1:
    cdef tuple strides = layout._strides
    cdef Py_ssize_t rank = len(layout._shape)
    cdef Py_ssize_t i
    cdef int64_t extent
    cdef int64_t stride
    cdef int64_t dense = 1
    if not 1 <= rank <= 5:
        return False
    arguments.rank = rank
    for i in range(rank):
        extent = layout._shape[rank - 1 - i]
        stride = dense if strides is None else <int64_t>strides[rank - 1 - i]
        if extent < 2 or <uint64_t>extent > MAX_EXTENT or stride < 0 or <uint64_t>stride >= MAX_PITCH:
            return False
        if i == 0:
            if stride != 1:
                return False
        else:
            arguments.pitches[i - 1] = <uint64_t>stride * itemsize
            if arguments.pitches[i - 1] % 16 or arguments.pitches[i - 1] >= MAX_PITCH:
                return False
        arguments.extents[i] = extent
        arguments.steps[i] = 1
        dense *= extent
    return True


cdef bint read_tile_fast(
    uint32_t* c_tile, tuple box_dim, uint32_t rank, uint32_t itemsize, uint32_t span
) except -1:
    cdef Py_ssize_t i
    cdef int overflow = 0
    cdef long extent
    cdef uint64_t size = itemsize
    if <uint32_t>len(box_dim) != rank:
        return False
    for i in range(rank):
        entry = box_dim[rank - 1 - i]
        if type(entry) is not int:
            return False
        extent = PyLong_AsLongAndOverflow(entry, &overflow)
        if overflow or not 1 <= extent <= <long>MAX_TILE:
            return False
        c_tile[i] = extent
        size *= extent
    return (
        c_tile[0] * itemsize % 16 == 0 and (span == 0 or c_tile[0] * itemsize <= span) and size <= MAX_BYTES
    )


cdef int read_arguments(ViewState view, object data_type, object options, EncodeArguments* arguments) except -1:
    cdef _StridedLayout layout = layout_of(view)
    cdef int i
    rules.check_interleave(options.interleave, options.swizzle, view._ptr)
    rules.check_fill(options.oob_fill, data_type)
    extents = rules.extents_of(layout._shape)
    pitches = rules.pitches_of(layout._shape, layout.explicit_strides(), data_type, options.interleave)
    steps = rules.check_steps(options.element_strides, len(extents))
    memset(arguments, 0, sizeof(EncodeArguments))
    arguments.pointer = <void*>view._ptr
    arguments.rank = len(extents)
    arguments.data_type = <cydriver.CUtensorMapDataType><int>data_type
    for i in range(len(extents)):
        arguments.extents[i] = extents[i]
        arguments.steps[i] = steps[i]
    for i in range(len(pitches)):
        arguments.pitches[i] = pitches[i]
    arguments.interleave = <cydriver.CUtensorMapInterleave><int>options.interleave
    arguments.swizzle = <cydriver.CUtensorMapSwizzle><int>options.swizzle
    arguments.promotion = <cydriver.CUtensorMapL2promotion><int>options.l2_promotion
    arguments.fill = <cydriver.CUtensorMapFloatOOBfill><int>options.oob_fill
    return 0


cdef int encode_tiled(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options
) except -1:
    cdef uint32_t[5] c_tile
    cdef int i
    tile = rules.tile_of(options.box_dim, arguments.rank, data_type, options.interleave, options.swizzle)
    count = 1
    for i in range(len(tile)):
        c_tile[i] = tile[i]
        count *= tile[i] // arguments.steps[i]
    rules.check_bytes("box_dim", count, data_type)
    return encode_tile(c_map, arguments, c_tile)


cdef int encode_tile(cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, const uint32_t* c_tile) except -1:
    with nogil:
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeTiled(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_tile, arguments.steps, arguments.interleave, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeTiled",
        )
    return 0


cdef int encode_im2col(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    tuple lower, tuple upper, object channels, object pixels,
) except -1:
    cdef int[3] c_lower
    cdef int[3] c_upper
    cdef uint32_t c_channels
    cdef uint32_t c_pixels
    cdef int i
    rules.check_channels(channels, pixels, data_type, options.interleave, options.swizzle)
    lower, upper = rules.check_corners(shape_of(arguments), lower, upper, options.interleave)
    c_channels, c_pixels = channels, pixels
    for i in range(len(lower)):
        c_lower[i], c_upper[i] = lower[i], upper[i]
    with nogil:
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeIm2col(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_lower, c_upper, c_channels, c_pixels, arguments.steps,
                arguments.interleave, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeIm2col",
        )
    return 0


cdef int encode_im2col_wide(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    object lower, object upper, object channels, object pixels, object mode,
) except -1:
    cdef cydriver.CUtensorMapIm2ColWideMode c_mode = <cydriver.CUtensorMapIm2ColWideMode><int>mode
    cdef uint32_t c_channels
    cdef uint32_t c_pixels
    cdef int c_lower
    cdef int c_upper
    rules.check_channels(channels, pixels, data_type, options.interleave, options.swizzle)
    rules.check_wide(shape_of(arguments), lower, upper, options.swizzle)
    c_channels, c_pixels, c_lower, c_upper = channels, pixels, lower, upper
    with nogil:
        # New in CUDA 12.8; for an older driver, the call raises RuntimeError.
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeIm2colWide(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_lower, c_upper, c_channels, c_pixels, arguments.steps,
                arguments.interleave, c_mode, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeIm2colWide",
        )
    return 0


# The extents in the view's order of axes.
cdef tuple shape_of(const EncodeArguments* arguments):
    return tuple([arguments.extents[arguments.rank - 1 - i] for i in range(arguments.rank)])
