# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver
from cuda.core.graph._state cimport GraphRecord, GraphTree


cdef class GraphCondition:
    cdef:
        object __weakref__
        cydriver.CUgraphConditionalHandle _c_handle


# Creates a condition of a graph in the current context. `default_value` is the argument of create_condition().
cdef GraphCondition GraphCondition_create(GraphTree tree, GraphRecord graph, object default_value)
cdef GraphCondition GraphCondition_wrap(cydriver.CUgraphConditionalHandle c_handle)
