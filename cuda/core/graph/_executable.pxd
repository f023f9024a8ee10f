# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Executable graphs and their nodes."""

from cuda.core._native._cuda_core cimport DriverObject, GraphExecField, GraphExecHandle, GraphExecPin, refuse_closed
from cuda.core.graph._graph_node cimport GraphNode
from cuda.core.graph._state cimport ExecutableOperands, GraphRecord, GraphTree


cdef class Graph(DriverObject):
    cdef:
        GraphExecField _h_exec
        ExecutableOperands _operands    # None when closed


# Holds a reference to the executable for a call; RuntimeError if the object is closed.
cdef inline int Graph_pin(Graph self, GraphExecPin* pin) except -1:
    return 0 if pin.hold(self._h_exec) else refuse_closed(self)


# Instantiates one graph of a tree; `options` is the argument of GraphDefinition.instantiate().
cdef Graph Graph_instantiate(GraphTree tree, GraphRecord graph, object options)


cdef class ExecutableGraphNode:
    cdef:
        object __weakref__
        GraphExecHandle _h_exec         # set once
        ExecutableOperands _operands
        GraphNode _node


# The view of a node in an executable; TypeError if its parameters cannot be changed there.
cdef ExecutableGraphNode ExecutableGraphNode_create(
    const GraphExecHandle& h_exec, ExecutableOperands operands, object node
)
