# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport GraphExecHandle
from cuda.core.graph._graph_node cimport GraphNode
from cuda.core.graph._state._executable_operands cimport ExecutableOperands


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
