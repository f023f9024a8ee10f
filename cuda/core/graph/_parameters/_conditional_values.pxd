# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver
from cuda.core.graph._graph_condition cimport GraphCondition
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, NodeRecord

# Of a fork or a switch: a number that is wrong would have streams and graphs made without end.
cdef enum:
    MOST_BRANCHES = 65536


cdef class ConditionalValues(NodeValues):
    cdef:
        GraphCondition condition
        int c_type                  # -1 where the driver cannot tell
        unsigned int count
        list c_bodies


cdef ConditionalValues ConditionalValues_create(
    object condition, cydriver.CUgraphConditionalNodeType c_type, object count
)

# What the driver tells of a node that was captured: all from CUDA 13.2 on, nothing before.
cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node)
