# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of conditional nodes: condition, type and bodies."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libc.string cimport memset

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version
from cuda.core.graph._graph_condition cimport GraphCondition, GraphCondition_wrap
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphRecord_of_child, NodeRecord

import operator

from cuda.core._utils.validators import shown

__all__ = []


cdef class ConditionalValues(NodeValues):
    def _description(self):
        if self.count == 0:
            return "a switch node without bodies: count must be at least 1"
        return f"a conditional node for {self.condition!r}, which must be a condition of this graph"

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        cdef cydriver.CUgraphNodeParams params
        memset(&params, 0, sizeof(params))
        params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = self.condition._c_handle
        params.conditional.type = <cydriver.CUgraphConditionalNodeType>self.c_type
        params.conditional.size = self.count
        with nogil:
            HANDLE_RETURN(cydriver.cuCtxGetCurrent(&params.conditional.ctx), b"cuCtxGetCurrent")
            HANDLE_RETURN(cydriver.cuGraphAddNode(c_node, c_graph, c_from, NULL, count, &params), b"cuGraphAddNode")
        self.c_bodies = [<uintptr_t>params.conditional.phGraph_out[index] for index in range(self.count)]
        return 0

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        if record.children is None:
            record.children = [
                GraphRecord_of_child(graph, <cydriver.CUgraph><uintptr_t>c_body, True) for c_body in self.c_bodies
            ]
        return 0


cdef ConditionalValues ConditionalValues_create(
    object condition, cydriver.CUgraphConditionalNodeType c_type, object count
):
    cdef ConditionalValues self = ConditionalValues.__new__(ConditionalValues)
    if not isinstance(condition, GraphCondition):
        raise TypeError(f"condition must be a GraphCondition, not {type(condition).__name__}")
    try:
        number = operator.index(count)
    except TypeError:
        raise TypeError(f"count must be an int, not {type(count).__name__}") from None
    if not 0 <= number <= MAX_BRANCHES:
        raise OverflowError(f"count must be from 1 to {MAX_BRANCHES}, not {shown(number)}")
    self.condition = condition
    self.c_type = <int>c_type
    self.count = number
    return self


cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node):
    cdef ConditionalValues self = ConditionalValues.__new__(ConditionalValues)
    cdef cydriver.CUgraphNodeParams params
    cdef unsigned int index
    self.c_type = -1
    self.c_bodies = []
    if c_driver_version() < 13020:
        return self
    memset(&params, 0, sizeof(params))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphNodeGetParams(c_node, &params), b"cuGraphNodeGetParams")
    self.condition = GraphCondition_wrap(params.conditional.handle)
    self.c_type = <int>params.conditional.type
    self.count = params.conditional.size
    if params.conditional.phGraph_out != NULL:
        self.c_bodies = [<uintptr_t>params.conditional.phGraph_out[index] for index in range(self.count)]
    return self
