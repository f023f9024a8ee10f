# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphTree, NodeRecord


cdef class ChildValues(NodeValues):
    cdef:
        GraphTree tree          # keeps the source alive until it is embedded
        GraphRecord source


# `child` is a GraphDefinition that must not belong to the tree `outside`, which may be None.
cdef ChildValues ChildValues_create(object child, GraphTree outside)

# Reads the child graph of a node from the driver, if the record does not have it.
cdef int find_child(GraphRecord graph, NodeRecord record) except -1
