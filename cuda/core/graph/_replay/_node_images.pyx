# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Recorded parameters of the nodes of a captured graph, to compare captures and update nodes of an executable."""

from __future__ import annotations

from libc.stdint cimport uint64_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

from cuda.core._code._parameter_layout cimport ParamSlot, read_function_layout, read_kernel_layout
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._state._edges cimport read_edges
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphRecord_node, NodeRecord, read_nodes

__all__ = []

cdef enum:
    WORD = 8


cdef class NodeImage:
    cdef void set_word(self, size_t word, uint64_t value) noexcept:
        self.words[word] = value
        if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
            memcpy(self.block.data() + self.offsets[word], &value, self.sizes[word])
        elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
            self.fill.dst = self.words[0]
            self.fill.value = <unsigned int>self.words[1]
        elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY:
            set_addresses(&self.copy, self.words[0], self.words[1])


cdef NodeChange change_of(NodeImage self) noexcept:
    cdef NodeChange change
    change.c_node = self.c_node
    change.c_type = self.c_type
    if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        change.params = &self.kernel
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        change.params = &self.fill
    else:
        change.params = &self.copy
    return change


cdef cydriver.CUresult write_change(
    cydriver.CUgraphExec c_exec, const NodeChange& change, cydriver.CUcontext c_context
) noexcept nogil:
    if change.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        return cydriver.cuGraphExecKernelNodeSetParams(
            c_exec, change.c_node, <const cydriver.CUDA_KERNEL_NODE_PARAMS*>change.params
        )
    if change.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        return cydriver.cuGraphExecMemsetNodeSetParams(
            c_exec, change.c_node, <const cydriver.CUDA_MEMSET_NODE_PARAMS*>change.params, c_context
        )
    return cydriver.cuGraphExecMemcpyNodeSetParams(
        c_exec, change.c_node, <const cydriver.CUDA_MEMCPY3D*>change.params, c_context
    )


cdef tuple read_images(GraphRecord graph):
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef vector[cydriver.CUgraphNode] c_from
    cdef vector[cydriver.CUgraphNode] c_to
    cdef NodeRecord record
    cdef NodeImage image
    cdef dict numbers = {}
    cdef dict layouts = {}
    cdef list images = []
    cdef size_t i
    read_nodes(graph, c_nodes)
    for i in range(c_nodes.size()):
        record = GraphRecord_node(graph, c_nodes[i])
        image = read_image(record, layouts)
        if image is None:
            return None
        numbers[<uintptr_t>c_nodes[i]] = i
        images.append(image)
    read_edges(graph.c_graph, c_from, c_to)
    edges = frozenset([
        (numbers[<uintptr_t>c_from[i]], numbers[<uintptr_t>c_to[i]]) for i in range(c_from.size())
    ])
    return images, edges


cdef NodeImage read_image(NodeRecord record, dict layouts):
    cdef NodeImage self = NodeImage.__new__(NodeImage)
    self.c_node = record.c_node
    self.c_type = record.c_type
    if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY:
        self.rest = ()
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        return read_kernel(self, layouts)
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        read_fill(self)
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY:
        return read_copy(self)
    else:
        return None
    return self


cdef NodeImage read_kernel(NodeImage self, dict layouts):
    cdef vector[size_t] places
    cdef char* c_bytes
    cdef uint64_t word
    cdef size_t start
    cdef size_t size
    cdef size_t i
    cdef list rest = []
    memset(&self.kernel, 0, sizeof(self.kernel))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphKernelNodeGetParams(self.c_node, &self.kernel), b"cuGraphKernelNodeGetParams")
    key = <uintptr_t>self.kernel.kern if self.kernel.kern != NULL else <uintptr_t>self.kernel.func
    layout = layouts.get(key)
    if layout is None:
        layout = layouts[key] = read_layout(self.kernel)
    if self.kernel.extra != NULL or (layout and self.kernel.kernelParams == NULL):
        return None
    for start, size in layout:
        self.block.resize(max(self.block.size(), start + size))
    for i, (start, size) in enumerate(layout):
        c_bytes = <char*>self.kernel.kernelParams[i]
        memcpy(self.block.data() + start, c_bytes, size)
        places.push_back(start)
        if size > WORD:
            rest.append(c_bytes[:size])
            continue
        word = 0
        memcpy(&word, c_bytes, size)
        self.words.push_back(word)
        self.sizes.push_back(size)
        self.offsets.push_back(start)
    for i in range(places.size()):
        self.cells.push_back(self.block.data() + places[i])
    self.kernel.kernelParams = self.cells.data()
    self.rest = (
        key, self.kernel.gridDimX, self.kernel.gridDimY, self.kernel.gridDimZ, self.kernel.blockDimX,
        self.kernel.blockDimY, self.kernel.blockDimZ, self.kernel.sharedMemBytes, <uintptr_t>self.kernel.ctx, *rest
    )
    return self


# The offset and the size of each kernel parameter.
cdef list read_layout(const cydriver.CUDA_KERNEL_NODE_PARAMS& params):
    cdef vector[ParamSlot] slots
    if params.kern != NULL:
        read_kernel_layout(params.kern, slots)
    else:
        read_function_layout(params.func, slots)
    return [(slot.offset, slot.size) for slot in slots]


cdef int read_fill(NodeImage self) except -1:
    memset(&self.fill, 0, sizeof(self.fill))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemsetNodeGetParams(self.c_node, &self.fill), b"cuGraphMemsetNodeGetParams")
    add_word(self, self.fill.dst, WORD)
    add_word(self, self.fill.value, self.fill.elementSize)
    self.rest = (self.fill.pitch, self.fill.elementSize, self.fill.width, self.fill.height)
    return 0


cdef NodeImage read_copy(NodeImage self):
    memset(&self.copy, 0, sizeof(self.copy))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemcpyNodeGetParams(self.c_node, &self.copy), b"cuGraphMemcpyNodeGetParams")
    if (
        self.copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
        or self.copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
    ):
        return None
    is_host = self.copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    add_word(self, <uint64_t><uintptr_t>self.copy.srcHost if is_host else self.copy.srcDevice, WORD)
    is_host = self.copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    add_word(self, <uint64_t><uintptr_t>self.copy.dstHost if is_host else self.copy.dstDevice, WORD)
    self.rest = (
        self.copy.srcMemoryType, self.copy.srcXInBytes, self.copy.srcY, self.copy.srcZ, self.copy.srcLOD,
        self.copy.srcPitch, self.copy.srcHeight, self.copy.dstMemoryType, self.copy.dstXInBytes, self.copy.dstY,
        self.copy.dstZ, self.copy.dstLOD, self.copy.dstPitch, self.copy.dstHeight, self.copy.WidthInBytes,
        self.copy.Height, self.copy.Depth,
    )
    return self


cdef void set_addresses(cydriver.CUDA_MEMCPY3D* copy, uint64_t source, uint64_t target) noexcept:
    if copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.srcHost = <void*><uintptr_t>source
    else:
        copy.srcDevice = source
    if copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.dstHost = <void*><uintptr_t>target
    else:
        copy.dstDevice = target


cdef void add_word(NodeImage self, uint64_t word, size_t size) noexcept:
    self.words.push_back(word)
    self.sizes.push_back(size)
