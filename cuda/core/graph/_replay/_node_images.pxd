# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

from cuda.core.graph._state._graph_state cimport GraphRecord


# The parameters of a kernel, copy or fill: numbers that may change ("words"), and all the rest.
cdef class NodeImage:
    cdef:
        cydriver.CUgraphNode c_node
        cydriver.CUgraphNodeType c_type
        tuple rest                          # equal where two nodes differ in words only
        vector[uint64_t] words              # little-endian, of `sizes` bytes
        vector[size_t] sizes
        cydriver.CUDA_KERNEL_NODE_PARAMS kernel
        cydriver.CUDA_MEMCPY3D copy
        cydriver.CUDA_MEMSET_NODE_PARAMS fill
        vector[char] block                  # the parameters of the kernel
        vector[void*] cells
        vector[size_t] offsets              # of the words, in the block
        uint64_t last_patch                 # the number of the patch that changed it last

    # Changes a word, without telling an executable.
    cdef void set_word(self, size_t word, uint64_t value) noexcept


# A node of an executable, and what it does from now on.
cdef struct NodeChange:
    cydriver.CUgraphNode c_node
    cydriver.CUgraphNodeType c_type
    const void* params                      # of an image

cdef NodeChange change_of(NodeImage self) noexcept

cdef cydriver.CUresult write_change(
    cydriver.CUgraphExec c_exec, const NodeChange& change, cydriver.CUcontext c_context
) noexcept nogil

# The images of all nodes, in the order in which they were made, and the edges between them by number. None where the
# graph has a node of another kind.
cdef tuple read_images(GraphRecord graph)
