# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport KeepList
from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters._node_values cimport NodeValues


cdef class HostValues(NodeValues):
    cdef:
        cydriver.CUDA_HOST_NODE_PARAMS params
        KeepList* called            # a reference to the Python callable and its name; NULL for a C function


# `fn` and `user_data` are as callback() takes them; `where` describes the graph, for reports of exceptions.
cdef HostValues HostValues_create(object fn, object user_data, object where)
cdef HostValues HostValues_read(cydriver.CUgraphNode c_node)

# The Python callable, or None for a C function.
cdef object HostValues_callable(HostValues self)
