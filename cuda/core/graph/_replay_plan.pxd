# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint64_t, uintptr_t

from cuda.core.graph._data_arguments cimport CallKey
from cuda.core.graph._executable cimport Graph
from cuda.core.graph._graph_state cimport GraphTree


# An executable of a captured function, and what its nodes were given last.
cdef class CapturedWork:
    cdef:
        Graph graph
        GraphTree tree          # of the graph that it was made from, whose nodes name those of the executable
        object kernels          # what launches need
        list images             # None where single nodes cannot be changed
        object edges
        tuple data              # of the last call
        ReplayPlan plan         # of its kind of calls; None without data
        CallKey key             # of the last call
        uint64_t last_use


# Where the data arguments of calls of one kind went: learned from pairs of captures.
cdef class ReplayPlan:
    cdef:
        bint is_dead            # the work does not follow from the arguments in a way that is understood
        list kinds              # of the data arguments
        list images             # of the capture that others are compared with
        object edges
        tuple data
        set known               # arguments whose places are known
        dict places             # (node, word) -> (argument, offset)
        dict by_argument        # argument -> its places

    # Compares one more capture with those before.
    cdef int learn(self, CapturedWork work) except -1

    # Gives the nodes of an executable other data; false where that cannot be known. After an exception the executable
    # is of no use.
    cdef bint patch(self, CapturedWork work, tuple data, uintptr_t context) except -1


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, tuple data)
# Looks at the nodes of its graph.
cdef int CapturedWork_read(CapturedWork self) except -1
# Takes over what `other` was captured with, after a whole-graph update.
cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1

cdef ReplayPlan ReplayPlan_create(list kinds)
