# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: one class per node type, which adds nodes and gets and sets their parameters."""

from __future__ import annotations

from cuda.core._handles._handles cimport Keep, KeepList
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._state._graph_state cimport (
    GraphRecord,
    GraphRecord_node,
    NodeRecord,
    NodeRecord_retain,
    NodeRecord_set_values,
    check_alive,
)
from cuda.core.graph._state._retention cimport keep_object, new_keeps, release, retain

import operator

from cuda.core._code._loading import explain
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, shown

__all__ = []


cdef class NodeValues:
    def __dealloc__(self):
        if self.keeps != NULL:
            self.keeps.drop_reference()

    def _without_owners(self):
        # The parameters for reading once the node is destroyed, which keep nothing alive.
        return self

    def _description(self):
        # A description for the message if the driver refuses the parameters; empty if it would add nothing.
        return ""

    cdef int prepare(self) except -1:
        return 0

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        raise NotImplementedError

    cdef int check_place(self, GraphRecord graph) except -1:
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        raise NotImplementedError

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        raise NotImplementedError

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        return 0


cdef class EmptyValues(NodeValues):
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphAddEmptyNode(c_node, c_graph, c_from, count), b"cuGraphAddEmptyNode")
        return 0


cdef int add_keep(NodeValues self, Keep keep) except -1:
    if self.keeps == NULL:
        self.keeps = new_keeps()
    self.keeps.add(keep)
    return 0


cdef int add_object(NodeValues self, object thing) except -1:
    if self.keeps == NULL:
        self.keeps = new_keeps()
    return keep_object(self.keeps, thing)


cdef NodeRecord add_node(GraphRecord graph, const cydriver.CUgraphNode* c_from, size_t count, NodeValues values):
    cdef NodeRecord record
    cdef cydriver.CUgraphNode c_node = NULL
    cdef cydriver.CUuserObject c_object = NULL
    check_alive(graph)
    values.check_place(graph)
    c_object = retain_for(graph, values)
    try:
        values.add(graph.c_graph, c_from, count, &c_node)
    except BaseException as error:
        explain_refusal(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    record = GraphRecord_node(graph, c_node)
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    values.update_record(graph, record)
    return record


cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1:
    cdef cydriver.CUuserObject c_object = retain_for(graph, values)
    try:
        values.change(record.c_node)
    except BaseException as error:
        explain_refusal(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    values.update_record(graph, record)
    return 0


cdef int explain_refusal(object error, NodeValues values) except -1:
    if isinstance(error, CUDAError) and error.code == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
        text = values._description()
        if text:
            explain(error, f"the driver refuses {text}")
    return 0


# Moves the reference to the operands from the values to the graph. Callables have another one (HostValues.called).
cdef cydriver.CUuserObject retain_for(GraphRecord graph, NodeValues values) except? NULL:
    cdef KeepList* keeps = values.keeps
    if keeps == NULL:
        return NULL
    values.keeps = NULL
    return retain(graph.c_holder, keeps)


cdef unsigned long long address_of(str name, object value) except? 0:
    number = address_argument(name, value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be an address, from 0 to 2**64 - 1, not {shown(number)}")
    return number


cdef size_t size_of(str name, object value) except? <size_t>-1:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be from 0 to 2**64 - 1, not {shown(number)}")
    return number
