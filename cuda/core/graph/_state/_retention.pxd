# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""User objects, which keep the operands of nodes alive; docs/design/graphs.md has the reasons."""

from cuda.core._handles._handles cimport KeepList
from cuda.core._utils cimport cydriver


# A new list with one reference.
cdef KeepList* new_keeps() except NULL

cdef int keep_object(KeepList* keeps, object thing) except -1

# Lets a graph, and its clones and executables, retain a list; takes over the caller's reference. Returns the user
# object, for `release`. On an exception the reference is dropped.
cdef cydriver.CUuserObject retain(cydriver.CUgraph c_graph, KeepList* keeps) except NULL

# Lets another graph retain the same user object.
cdef int share(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) except -1

# Releases the graph's reference; clones and executables created before still retain the user object.
cdef void release(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) noexcept nogil
