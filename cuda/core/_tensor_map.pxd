# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor map descriptors, their options and encoding."""

from libc.stdint cimport uint32_t, uint64_t

from cuda.core._arrays._views cimport ViewState
from cuda.core._native._cuda_core cimport ContextHandle
from cuda.core._utils cimport cydriver


# The TensorMapDataType of `data_type`, or of the view if that is None; ValueError if tensor maps have no such type.
cdef object find_data_type(ViewState view, object data_type)

# The same for common types; None if find_data_type() has to decide.
cdef object find_data_type_fast(ViewState view, object data_type)

# Returns a member of an enum, for None the member of value 0; TypeError for anything else.
cdef object check_choice(str name, object value, object cls)

# Returns an int; TypeError for a value that is no integer.
cdef object int_argument(str name, object value)

# Returns `options`, or options made from the other arguments; TypeError if both are given.
cdef object tile_options(object box_dim, object options, dict choices)


# The value of a member of an enum, 0 for None; -1 for anything else.
cdef inline int enum_value(object value, object cls) except -2:
    return 0 if value is None else <int>value if type(value) is cls else -1


# The arguments that all functions cuTensorMapEncode... share. The driver orders axes from the last of the view to the
# first.
cdef struct EncodeArguments:
    void* pointer
    uint32_t rank
    cydriver.CUtensorMapDataType data_type
    uint64_t extents[5]
    uint64_t pitches[5]     # the strides in bytes of all axes but the first
    uint32_t steps[5]       # the traversal strides, in elements
    cydriver.CUtensorMapInterleave interleave
    cydriver.CUtensorMapSwizzle swizzle
    cydriver.CUtensorMapL2promotion promotion
    cydriver.CUtensorMapFloatOOBfill fill

# The driver's values of the enum options.
cdef struct EnumValues:
    int interleave
    int swizzle
    int promotion
    int fill

# The fast path for common tiles: `box_dim` is a tuple of ints, elements are contiguous, no interleaving, no fill. False
# for others and for invalid arguments: the functions below encode them, or raise.
cdef bint read_tiled_fast(
    ViewState view, int data_type, tuple box_dim, const EnumValues* enums, EncodeArguments* arguments,
    uint32_t* c_tile,
) except -1
cdef int encode_tile(cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, const uint32_t* c_tile) except -1

# Each checks its arguments, and raises ValueError for those that the driver would refuse. `options` are valid already.
cdef int read_arguments(ViewState view, object data_type, object options, EncodeArguments* arguments) except -1
cdef int encode_tiled(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options
) except -1
cdef int encode_im2col(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    tuple lower, tuple upper, object channels, object pixels,
) except -1
cdef int encode_im2col_wide(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    object lower, object upper, object channels, object pixels, object mode,
) except -1


cdef class TensorMapDescriptor:
    cdef:
        char _storage[256]              # contains the CUtensorMap, at a multiple of 128 bytes
        ContextHandle _h_context        # set once: the context that was current at creation
        int _device_id
        int _alignment                  # of the tensor's address, in bytes
        object _view                    # keeps the memory alive
        str _kind
        int _rank
        object _data_type
        object _swizzle

    cdef cydriver.CUtensorMap* c_map(self) noexcept
