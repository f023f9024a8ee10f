# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject, refuse_closed
from cuda.core._handles._handles cimport GraphExecMember, KeptGraphExec
from cuda.core.graph._state._executable_operands cimport ExecutableOperands
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphTree


cdef class Graph(DriverObject):
    cdef:
        GraphExecMember _h_exec
        ExecutableOperands _operands    # None when closed


# Holds a reference to the executable for a call; RuntimeError if the object is closed.
cdef inline int Graph_keep(Graph self, KeptGraphExec* kept) except -1:
    return 0 if kept.hold(self._h_exec) else refuse_closed(self)


# Instantiates one graph of a tree; `options` is as GraphDefinition.instantiate() takes it.
cdef Graph Graph_instantiate(GraphTree tree, GraphRecord graph, object options)
