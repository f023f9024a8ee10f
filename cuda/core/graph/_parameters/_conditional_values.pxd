# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver
from cuda.core.graph._graph_condition cimport GraphCondition
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, NodeRecord

# The maximum number of forks or bodies. A number that is wrong by mistake would create streams until memory runs out.
cdef enum:
    MAX_BRANCHES = 65536


cdef class ConditionalValues(NodeValues):
    cdef:
        GraphCondition condition
        int c_type                  # -1 if the driver does not report it
        unsigned int count
        list c_bodies


cdef ConditionalValues ConditionalValues_create(
    object condition, cydriver.CUgraphConditionalNodeType c_type, object count
)

# The parameters of a captured node; drivers before CUDA 13.2 report none.
cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node)
