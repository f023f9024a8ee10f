# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Empty, child graph, event and host callback nodes (EmptyNode, ChildGraphNode, EventRecordNode, EventWaitNode,
HostCallbackNode)."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core.graph._graph_node cimport (
    GraphNode,
    GraphNode_change,
    GraphNode_check,
    GraphNode_values,
    register_node_class,
)
from cuda.core.graph._parameters._child_values cimport ChildValues_create, find_child
from cuda.core.graph._parameters._event_values cimport EventValues, EventValues_create, EventValues_event, EventValues_read
from cuda.core.graph._parameters._host_callback cimport (
    HostValues,
    HostValues_callable,
    HostValues_create,
    HostValues_read,
)
from cuda.core.graph._parameters._node_values cimport NodeValues

from cuda.core._handles import _late
from cuda.core.graph._parameters._host_callback import name_of

__all__ = ["ChildGraphNode", "EmptyNode", "EventRecordNode", "EventWaitNode", "HostCallbackNode"]


cdef class EmptyNode(GraphNode):
    """A node that does nothing but depend on others."""


cdef class ChildGraphNode(GraphNode):
    """A node that runs a copy of another graph."""

    def update(self, child: GraphDefinition) -> None:
        """Replace it by a copy of another graph (``cuGraphNodeSetParams``).

        Parameters
        ----------
        child : :class:`GraphDefinition`
            A graph of another hierarchy.

        Raises
        ------
        TypeError
            If it is no graph.
        RuntimeError
            If the node is destroyed.
        CUDAError
            If the driver refuses.
        """
        GraphNode_check(self)
        find_child(self._graph, self._record)
        GraphNode_change(self, ChildValues_create(child, self._tree))

    @property
    def child_graph(self) -> GraphDefinition:
        """The copy that the node runs."""
        if self._record is None or not self._record.children:
            GraphNode_values(self)      # which fails where there is none to find
            find_child(self._graph, self._record)
        return _late.graph_definition_of(self._tree, self._record.children[0])

    def _details(self):
        return f" child={int(self.child_graph.handle):#x}"


cdef class EventNode(GraphNode):
    """Base of event record nodes and event wait nodes."""

    def update(self, event: Event) -> None:
        """Change the event, which the node keeps.

        The call is ``cuGraphEventRecordNodeSetEvent`` or ``cuGraphEventWaitNodeSetEvent``.
        """
        GraphNode_check(self)
        GraphNode_change(self, EventValues_create(event, records(self)))

    @property
    def event(self) -> Event:
        """The event; a new object each time, open even if the original is closed."""
        return EventValues_event(GraphNode_values(self))

    def _details(self):
        return f" event={<uintptr_t>(<EventValues>GraphNode_values(self)).h_event.get():#x}"

    cdef NodeValues _read(self):
        return EventValues_read(self._record.c_node, records(self))


cdef inline bint records(EventNode self):
    return self._record.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD


cdef class EventRecordNode(EventNode):
    """A node that records an event."""


cdef class EventWaitNode(EventNode):
    """A node that waits for an event."""


cdef class HostCallbackNode(GraphNode):
    """A node that calls a function on the host.

    Its :attr:`callback` is what it calls, and no method: a second callback after this one is
    ``node.join().callback(fn)``.
    """

    def update(self, fn, *, user_data=None) -> None:
        """Change the function (``cuGraphHostNodeSetParams``); arguments are those of :meth:`GraphNode.callback`."""
        GraphNode_check(self)
        GraphNode_change(self, HostValues_create(fn, user_data, f"the graph {<uintptr_t>self._graph.c_graph:#x}"))

    @property
    def callback(self):
        """The Python callable; None where a C function is called."""
        return HostValues_callable(GraphNode_values(self))

    def _details(self):
        cdef HostValues values = GraphNode_values(self)
        if values.called == NULL:
            return f" cfunc={<uintptr_t>values.params.fn:#x}"
        return f" callback={name_of(self.callback)}"

    cdef NodeValues _read(self):
        return HostValues_read(self._record.c_node)


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY, lambda record: EmptyNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH, lambda record: ChildGraphNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD, lambda record: EventRecordNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT, lambda record: EventWaitNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, lambda record: HostCallbackNode)
answer_hasattr(ChildGraphNode)
answer_hasattr(EventNode)
answer_hasattr(HostCallbackNode)
