# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Empty, child graph, event and host nodes (EmptyNode, ChildGraphNode, EventRecordNode, EventWaitNode,
HostCallbackNode)."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core.graph._graph_node cimport (
    GraphNode,
    GraphNode_change,
    GraphNode_check,
    GraphNode_values,
    register_node_class,
)
from cuda.core.graph._parameters._child_values cimport ChildValues_create, find_child
from cuda.core.graph._parameters._event_values cimport (
    EventValues,
    EventValues_create,
    EventValues_event,
    EventValues_read,
)
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
    """An empty node, which does nothing but carry dependencies."""


cdef class ChildGraphNode(GraphNode):
    """A child graph node, which runs a copy of another graph."""

    def update(self, child: GraphDefinition) -> None:
        """Replace the child graph by a copy of another graph (``cuGraphNodeSetParams``).

        Parameters
        ----------
        child : :class:`GraphDefinition`
            The graph to copy. It must not be part of the graph that the node belongs to, nor contain it.

        Raises
        ------
        TypeError
            If ``child`` is not a :class:`GraphDefinition`.
        RuntimeError
            If ``child`` or the node is destroyed.
        CUDAError
            If the driver refuses ``child``, as :meth:`GraphNode.embed` does.
        """
        GraphNode_check(self)
        find_child(self._graph, self._record)
        GraphNode_change(self, ChildValues_create(child, self._tree))

    @property
    def child_graph(self) -> GraphDefinition:
        """The child graph: the node's own copy."""
        if self._record is None or not self._record.children:
            GraphNode_values(self)      # raises if the node is destroyed
            find_child(self._graph, self._record)
        return _late.graph_definition_of(self._tree, self._record.children[0])

    def _details(self):
        return f" child={int(self.child_graph.handle):#x}"


cdef class EventNode(GraphNode):
    """Base class of event record nodes and event wait nodes."""

    def update(self, event: Event) -> None:
        """Change the event (``cuGraphEventRecordNodeSetEvent``, ``cuGraphEventWaitNodeSetEvent``).

        The node keeps the event alive. Existing executables do not change.

        Raises
        ------
        TypeError
            If ``event`` is not an :class:`~cuda.core.Event`.
        RuntimeError
            If the event is closed, or the node is destroyed.
        """
        GraphNode_check(self)
        GraphNode_change(self, EventValues_create(event, records(self)))

    @property
    def event(self) -> Event:
        """The event: a new object with each access, open even if the original is closed."""
        return EventValues_event(GraphNode_values(self))

    def _details(self):
        return f" event={<uintptr_t>(<EventValues>GraphNode_values(self)).h_event.get():#x}"

    cdef NodeValues _read(self):
        return EventValues_read(self._record.c_node, records(self))


cdef inline bint records(EventNode self):
    return self._record.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD


cdef class EventRecordNode(EventNode):
    """An event record node."""


cdef class EventWaitNode(EventNode):
    """An event wait node."""


cdef class HostCallbackNode(GraphNode):
    """A host node, which calls a function on the host.

    On this class ``callback`` is the attribute with that function, not the method of :class:`GraphNode`. To add a
    callback after this node, write ``node.join().callback(fn)``.
    """

    def update(self, fn, *, user_data=None) -> None:
        """Change the function (``cuGraphHostNodeSetParams``); the arguments are those of :meth:`GraphNode.callback`.

        Existing executables do not change.
        """
        GraphNode_check(self)
        GraphNode_change(self, HostValues_create(fn, user_data, f"the graph {<uintptr_t>self._graph.c_graph:#x}"))

    @property
    def callback(self):
        """The Python callable; None if the node calls a C function."""
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
make_hasattr_safe(ChildGraphNode)
make_hasattr_safe(EventNode)
make_hasattr_safe(HostCallbackNode)
