# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core.graph._executable cimport Graph
from cuda.core.graph._replay._data_arguments cimport DataWord
from cuda.core.graph._replay._node_images cimport NodeChange
from cuda.core.graph._state._graph_state cimport GraphTree


# An executable of a captured function, and what its nodes were given last.
cdef class CapturedWork:
    cdef:
        Graph graph
        GraphTree tree          # of the graph that it was made from, whose nodes name those of the executable
        object kernels          # what launches need
        list images             # None where single nodes cannot be changed
        object edges
        list data               # of the call that captured it
        vector[DataWord] words  # the data of the last call
        object family           # of that call; None where it cannot be compared with others
        uintptr_t context
        vector[uint64_t] fresh  # while it is patched: words of nodes
        vector[NodeChange] changes
        uint64_t patch_count


# Where a data argument goes.
cdef struct Place:
    size_t node
    size_t word
    size_t size
    int64_t offset


# Where the data arguments of calls of one kind went: learned from pairs of captures.
cdef class ReplayPlan:
    cdef:
        bint is_dead            # the work does not follow from the arguments in a way that is understood
        list kinds              # of the data arguments
        list images             # of the capture that others are compared with
        object edges
        list data
        dict places             # (node, word) -> (argument, offset)
        set known               # arguments whose places are known
        vector[vector[Place]] by_argument
        vector[char] is_known
        vector[char] is_address
        vector[uint64_t] base   # the data as bits

    # Compares one more capture with those before.
    cdef int learn(self, CapturedWork work) except -1

    # Notes in work.changes what its nodes must be given for other data; false where that cannot be known. Afterwards
    # the executable is of no use without these changes.
    cdef bint patch(self, CapturedWork work, const DataWord* words) except -1


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, list data)
# Looks at the nodes of its graph.
cdef int CapturedWork_read(CapturedWork self) except -1
# Takes over what `other` was captured with, after a whole-graph update.
cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1

cdef ReplayPlan ReplayPlan_create(list kinds)
