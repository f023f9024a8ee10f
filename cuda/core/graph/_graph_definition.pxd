# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph definitions, and drawings of them."""

from cuda.core.graph._state cimport GraphRecord, GraphTree, GraphView


cdef class GraphDefinition(GraphView):
    pass


# A view of one graph of a tree: `tree.root`, or a record below it.
cdef GraphDefinition GraphDefinition_wrap(GraphTree tree, GraphRecord graph)
