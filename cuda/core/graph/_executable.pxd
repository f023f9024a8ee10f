# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport GraphExecHandle
from cuda.core.graph._graph_state cimport GraphRecord, GraphTree


cdef class Graph(DriverObject):
    cdef:
        GraphExecHandle _h_exec


# An executable of one graph of a tree; `options` is as GraphDefinition.instantiate() takes it.
cdef Graph Graph_instantiate(GraphTree tree, GraphRecord graph, object options)
