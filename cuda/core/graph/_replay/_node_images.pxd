# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

from cuda.core.graph._state._graph_state cimport GraphRecord


# The recorded parameters of a kernel, memcpy or memset node: numbers of up to 8 bytes ("words") that may come from a
# data argument, and the rest.
cdef class NodeImage:
    cdef:
        cydriver.CUgraphNode c_node
        cydriver.CUgraphNodeType c_type
        tuple rest                          # the other parameters; equal if two nodes differ in words only
        vector[uint64_t] words              # little-endian, of `sizes` bytes
        vector[size_t] sizes
        cydriver.CUDA_KERNEL_NODE_PARAMS kernel
        cydriver.CUDA_MEMCPY3D copy
        cydriver.CUDA_MEMSET_NODE_PARAMS fill
        vector[char] block                  # the kernel arguments
        vector[void*] cells                 # their addresses, for kernelParams
        vector[size_t] offsets              # the offsets of the words in the block
        uint64_t last_patch                 # the number of the last patch that changed the image

    # Changes a word in the image; write_change() passes it on to an executable.
    cdef void set_word(self, size_t word, uint64_t value) noexcept


# The new parameters of a node of an executable.
cdef struct NodeChange:
    cydriver.CUgraphNode c_node
    cydriver.CUgraphNodeType c_type
    const void* params                      # points into a NodeImage

cdef NodeChange change_of(NodeImage self) noexcept

cdef cydriver.CUresult write_change(
    cydriver.CUgraphExec c_exec, const NodeChange& change, cydriver.CUcontext c_context
) noexcept nogil

# The images of all nodes, in the order of their creation, and the set of edges as pairs of indices. None if the graph
# has a node of another type.
cdef tuple read_images(GraphRecord graph)
