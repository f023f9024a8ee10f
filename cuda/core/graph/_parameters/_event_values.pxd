# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._event cimport Event
from cuda.core._handles._handles cimport ContextHandle, EventHandle
from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters._node_values cimport NodeValues


cdef class EventValues(NodeValues):
    cdef:
        bint is_record
        EventHandle h_event         # set once
        ContextHandle h_context     # set once
        int device_id
        unsigned int c_flags


cdef EventValues EventValues_create(object event, bint is_record)
cdef EventValues EventValues_read(cydriver.CUgraphNode c_node, bint is_record)
cdef Event EventValues_event(EventValues self)
