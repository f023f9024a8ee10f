# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of event record nodes and event wait nodes."""

from __future__ import annotations

from cuda.core._event cimport Event, Event_keep, Event_wrap
from cuda.core._handles._handles cimport EventHandle, Keep, KeptEvent
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._parameters._node_values cimport NodeValues, add_keep

__all__ = []


cdef class EventValues(NodeValues):
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        cdef cydriver.CUevent c_event = self.h_event.get()
        with nogil:
            if self.is_record:
                HANDLE_RETURN(
                    cydriver.cuGraphAddEventRecordNode(c_node, c_graph, c_from, count, c_event),
                    b"cuGraphAddEventRecordNode",
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuGraphAddEventWaitNode(c_node, c_graph, c_from, count, c_event),
                    b"cuGraphAddEventWaitNode",
                )
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUevent c_event = self.h_event.get()
        with nogil:
            if self.is_record:
                HANDLE_RETURN(
                    cydriver.cuGraphEventRecordNodeSetEvent(c_node, c_event), b"cuGraphEventRecordNodeSetEvent"
                )
            else:
                HANDLE_RETURN(cydriver.cuGraphEventWaitNodeSetEvent(c_node, c_event), b"cuGraphEventWaitNodeSetEvent")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUevent c_event = self.h_event.get()
        with nogil:
            if self.is_record:
                HANDLE_RETURN(
                    cydriver.cuGraphExecEventRecordNodeSetEvent(c_exec, c_node, c_event),
                    b"cuGraphExecEventRecordNodeSetEvent",
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuGraphExecEventWaitNodeSetEvent(c_exec, c_node, c_event),
                    b"cuGraphExecEventWaitNodeSetEvent",
                )
        return 0


cdef EventValues EventValues_create(object event, bint is_record):
    cdef EventValues self = EventValues.__new__(EventValues)
    cdef Event c_event
    cdef KeptEvent kept
    if not isinstance(event, Event):
        raise TypeError(f"event must be an Event, not {type(event).__name__}")
    c_event = event
    self.is_record = is_record
    Event_keep(c_event, &kept)
    self.h_event = kept.handle()
    self.h_context = c_event._h_context.copy()
    self.device_id = c_event._device_id
    self.c_flags = c_event._flags
    add_keep(self, self.h_event.keep())
    return self


cdef EventValues EventValues_read(cydriver.CUgraphNode c_node, bint is_record):
    cdef EventValues self = EventValues.__new__(EventValues)
    cdef cydriver.CUevent c_event = NULL
    self.is_record = is_record
    with nogil:
        if is_record:
            HANDLE_RETURN(cydriver.cuGraphEventRecordNodeGetEvent(c_node, &c_event), b"cuGraphEventRecordNodeGetEvent")
        else:
            HANDLE_RETURN(cydriver.cuGraphEventWaitNodeGetEvent(c_node, &c_event), b"cuGraphEventWaitNodeGetEvent")
    self.h_event = EventHandle.borrow(c_event, Keep())
    self.device_id = -1
    self.c_flags = cydriver.CU_EVENT_DISABLE_TIMING
    return self


cdef Event EventValues_event(EventValues self):
    return Event_wrap(self.h_event, self.h_context, self.device_id, self.c_flags)
