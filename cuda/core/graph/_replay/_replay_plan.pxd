# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core.graph._executable cimport Graph
from cuda.core.graph._replay._data_arguments cimport DataWord
from cuda.core.graph._replay._node_images cimport NodeChange
from cuda.core.graph._state._graph_state cimport GraphTree


# An executable of a captured function, and the current parameters of its nodes.
cdef class CapturedWork:
    cdef:
        Graph graph
        GraphTree tree          # the graph it was instantiated from, whose nodes identify those of the executable
        object kernels          # keeps kernels loaded for the launches
        list images             # of its nodes; None if they cannot be patched one by one
        object edges
        list data               # of the call that captured it
        vector[DataWord] words  # the data of the last call
        object family           # of that call; None if the call cannot be compared with others
        uintptr_t context
        vector[uint64_t] new_words  # scratch space of patch(): the new words of nodes
        vector[NodeChange] changes
        uint64_t patch_count


# A word of a node that holds a data argument, plus an offset.
cdef struct Place:
    size_t node
    size_t word
    size_t size
    int64_t offset


# The places of the data arguments of calls with one pattern, learned by comparing captures.
cdef class ReplayPlan:
    cdef:
        bint is_invalid         # captures differ in ways that the data arguments do not explain
        list kinds              # of the data arguments
        list images             # of the first capture, with which others are compared
        object edges
        list data               # of the first capture
        dict places             # (node, word) -> (argument, offset)
        set known               # the arguments whose places are known
        vector[vector[Place]] by_argument
        vector[char] is_known
        vector[char] is_address
        vector[uint64_t] base   # the data of the first capture as bits

    # Compares one more capture with the first one.
    cdef int learn(self, CapturedWork work) except -1

    # Sets the images of nodes to other data, and lists the changes in work.changes, which the caller must apply to the
    # executable. False, and nothing is changed, if the places of the data are not known.
    cdef bint patch(self, CapturedWork work, const DataWord* words) except -1


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, list data)
# Reads the images of the nodes of its graph.
cdef int CapturedWork_read(CapturedWork self) except -1
# Takes over the parameters of `other` after cuGraphExecUpdate.
cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1

cdef ReplayPlan ReplayPlan_create(list kinds)
