# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t

from cuda.core._handles._handles cimport AllocationHandle, KeepList
from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters._node_values cimport NodeValues


# The source or the destination of a copy, or the destination of a memset.
cdef class Operand:
    cdef:
        cydriver.CUdeviceptr address
        AllocationHandle h_allocation       # set once: of the Buffer that is the operand, or its owner
        KeepList* owner                     # with the owner, if that is another object; else NULL


cdef class MemsetValues(NodeValues):
    cdef:
        Operand dst
        cydriver.CUDA_MEMSET_NODE_PARAMS params
        cydriver.CUcontext c_context


cdef class MemcpyValues(NodeValues):
    cdef:
        Operand dst
        Operand src
        bint is_plain               # one row of linear memory; other copies can be read, but not changed
        size_t size
        cydriver.CUDA_MEMCPY3D params
        cydriver.CUcontext c_context


cdef class AllocValues(NodeValues):
    cdef:
        cydriver.CUDA_MEM_ALLOC_NODE_PARAMS params
        str memory_type
        tuple peers


cdef class FreeValues(NodeValues):
    cdef cydriver.CUdeviceptr address


cdef Operand Operand_create(str name, object value, object owner)
cdef MemsetValues MemsetValues_create(Operand dst, object value, object width, object height, object pitch)
# Arguments that are None keep the value of `old`.
cdef MemsetValues MemsetValues_change(
    MemsetValues old, Operand dst, object value, object width, object height, object pitch
)
cdef MemsetValues MemsetValues_read(cydriver.CUgraphNode c_node)
cdef MemcpyValues MemcpyValues_create(Operand dst, Operand src, object size)
cdef MemcpyValues MemcpyValues_change(MemcpyValues old, Operand dst, Operand src, object size)
cdef MemcpyValues MemcpyValues_read(cydriver.CUgraphNode c_node)
cdef AllocValues AllocValues_create(object size, object device, object memory_type, object peer_access)
cdef AllocValues AllocValues_read(cydriver.CUgraphNode c_node)
cdef FreeValues FreeValues_create(object dptr)
cdef FreeValues FreeValues_read(cydriver.CUgraphNode c_node)
