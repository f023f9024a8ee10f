# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What keeps the operands of nodes alive; docs/design/graphs.md has the reasons."""

from cuda.core._handles._handles cimport KeepList
from cuda.core._utils cimport cydriver


# A new list with one reference.
cdef KeepList* new_keeps() except NULL

cdef int keep_object(KeepList* keeps, object thing) except -1

# Gives a list, with the caller's reference to it, to a graph: to its clones and executables, too. The answer is what
# `release` takes. On an exception the reference is dropped.
cdef cydriver.CUuserObject retain(cydriver.CUgraph c_graph, KeepList* keeps) except NULL

# Lets a further graph retain what another does.
cdef int share(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) except -1

# Takes it back from the graph; clones and executables made before still keep it.
cdef void release(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) noexcept nogil
