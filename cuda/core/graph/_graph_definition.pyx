# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph definitions: graphs built node by node, and views of captured ones (GraphDefinition)."""

from __future__ import annotations

from libc.stdint cimport intptr_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core._handles._driver_object cimport bindings_object, refuse_pickle
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils._weak_handles cimport WeakHandle
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver
from cuda.core.graph._executable cimport Graph_instantiate
from cuda.core.graph._graph_condition cimport GraphCondition_create
from cuda.core.graph._graph_node cimport GraphNode, GraphNode_entry, GraphNode_wrap
from cuda.core.graph._state._edges cimport read_edges
from cuda.core.graph._state._graph_state cimport (
    GraphLock,
    GraphRecord,
    GraphRecord_node,
    GraphTree,
    GraphTree_own,
    GraphView,
    check_alive,
    lock_graphs,
    read_nodes,
)

import os
from pathlib import Path

from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown
from cuda.core.graph._drawing import save, svg_of
from cuda.core.graph._options import dot_flags

__all__ = ["GraphDefinition"]


cdef class GraphDefinition(GraphView):
    """A graph that is built node by node, or a view of a captured one.

    Equal definitions are views of the same graph. A definition, and each of its nodes, keeps the whole graph.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Create an empty graph; there are no arguments."""
        cdef cydriver.CUgraph c_graph = NULL
        # Of a constructor without parameters, Cython's refusal would read a keyword that is no str as one.
        if args or kwargs:
            raise TypeError(f"{type(self).__name__}() takes no arguments")
        if self._tree is not None:
            raise RuntimeError("this GraphDefinition is initialised already; create a new one")
        init_driver()
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphCreate(&c_graph, 0), b"cuGraphCreate")
        self._tree = GraphTree_own(c_graph)
        self._graph = self._tree.root

    def __eq__(self, other):
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self._graph is (<GraphDefinition>other)._graph

    def __hash__(self):
        return hash((GraphDefinition, id(self._graph)))

    def __repr__(self):
        handle = <uintptr_t>self._graph.c_graph if self._graph is not None else 0
        return f"<GraphDefinition handle={handle:#x}>"

    def __reduce__(self):
        refuse_pickle(self)

    def instantiate(self, options: GraphCompleteOptions | None = None) -> Graph:
        """Return an executable of the graph as it is now (``cuGraphInstantiateWithParams``).

        Parameters
        ----------
        options : :class:`GraphCompleteOptions`, optional
            How it is made.

        Raises
        ------
        TypeError
            If ``options`` is of another type.
        RuntimeError
            If the graph is destroyed, or cannot be instantiated; the message has the reason and the node.
        CUDAError
            If the driver refuses for another reason.
        """
        return Graph_instantiate(self._tree, self._graph, options)

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Return a new condition, for conditional nodes of this graph (``cuGraphConditionalHandleCreate``).

        Parameters
        ----------
        default_value : int, optional
            The value that each launch assigns, of 32 bits. If None, the value is kept from launch to launch.

        Raises
        ------
        TypeError
            If ``default_value`` is no int.
        OverflowError
            If it does not fit.
        CUDAError
            If the device has no conditional nodes, or no context is current.
        """
        return GraphCondition_create(self._tree, self._graph, default_value)

    def debug_dot_print(self, path: str, options: GraphDebugPrintOptions | None = None) -> None:
        """Write the graph as GraphViz text (``cuGraphDebugDotPrint``).

        Parameters
        ----------
        path : str | os.PathLike
            The file.
        options : :class:`GraphDebugPrintOptions`, optional
            The details to write about nodes.

        Raises
        ------
        TypeError
            If an argument is of another type.
        ValueError
            If ``path`` has a null character.
        CUDAError
            If the file cannot be written.
        """
        cdef unsigned int c_flags = dot_flags(options)
        cdef GraphLock lock
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
        cdef bytes name = os.fsencode(path)
        cdef const char* c_path = name
        if b"\0" in name:
            raise ValueError(f"path must have no null character: {shown(path)}")
        lock_graphs(lock)
        check_alive(self._graph)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphDebugDotPrint(self._graph.c_graph, c_path, c_flags), b"cuGraphDebugDotPrint")

    def save(self, path: str | os.PathLike, options: GraphDebugPrintOptions | None = None) -> Path:
        """Write a picture of the graph, or its GraphViz text.

        Parameters
        ----------
        path : str | os.PathLike
            The file. ``.dot`` and ``.gv`` are text; ``.svg``, ``.png``, ``.pdf`` and others are drawn by the
            ``graphviz`` package. If that, or GraphViz, is not installed, text is written instead, with a warning.
        options : :class:`GraphDebugPrintOptions`, optional
            The details to write about nodes.

        Returns
        -------
        pathlib.Path
            The file that was written.

        Raises
        ------
        TypeError
            If an argument is of another type.
        ValueError
            If ``path`` has no suffix.
        RuntimeError
            If the graph is destroyed.
        """
        return save(self, path, options)

    def _repr_svg_(self) -> str | None:
        """Return a picture for notebooks, drawn by the ``graphviz`` package; None without it."""
        return svg_of(self) if self.is_valid else None

    def nodes(self) -> set[GraphNode]:
        """Return all nodes (``cuGraphGetNodes``)."""
        cdef vector[cydriver.CUgraphNode] c_nodes
        cdef size_t index
        cdef GraphLock lock
        lock_graphs(lock)
        read_nodes(self._graph, c_nodes)
        return {node_of(self, c_nodes[index]) for index in range(c_nodes.size())}

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """Return all edges, as pairs of a node and one that depends on it (``cuGraphGetEdges``)."""
        cdef vector[cydriver.CUgraphNode] c_from
        cdef vector[cydriver.CUgraphNode] c_to
        cdef size_t index
        cdef GraphLock lock
        lock_graphs(lock)
        check_alive(self._graph)
        read_edges(self._graph.c_graph, c_from, c_to)
        return {(node_of(self, c_from[index]), node_of(self, c_to[index])) for index in range(c_from.size())}

    def empty(self) -> EmptyNode:
        """Add a node that does nothing and depends on nothing."""
        return self._entry.join()

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Add a node that depends on the given ones alone; see :meth:`GraphNode.join`."""
        return self._entry.join(*nodes)

    def launch(self, config: LaunchConfig, kernel: Kernel, *args) -> KernelNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.launch`."""
        return self._entry.launch(config, kernel, *args)

    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType = "device",
        peer_access: list[Device | int] | None = None,
    ) -> AllocNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.allocate`."""
        return self._entry.allocate(size, device=device, memory_type=memory_type, peer_access=peer_access)

    def deallocate(self, dptr: int) -> FreeNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.deallocate`."""
        return self._entry.deallocate(dptr)

    def memset(
        self, dst: Buffer | int, value, width: int, height: int = 1, pitch: int = 0, *, dst_owner=None
    ) -> MemsetNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.memset`."""
        return self._entry.memset(dst, value, width, height, pitch, dst_owner=dst_owner)

    def memcpy(self, dst: Buffer | int, src: Buffer | int, size: int, *, dst_owner=None, src_owner=None) -> MemcpyNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.memcpy`."""
        return self._entry.memcpy(dst, src, size, dst_owner=dst_owner, src_owner=src_owner)

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.embed`."""
        return self._entry.embed(child)

    def record(self, event: Event) -> EventRecordNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.record`."""
        return self._entry.record(event)

    def wait(self, event: Event) -> EventWaitNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.wait`."""
        return self._entry.wait(event)

    def callback(self, fn, *, user_data=None) -> HostCallbackNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.callback`."""
        return self._entry.callback(fn, user_data=user_data)

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.if_then`."""
        return self._entry.if_then(condition)

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.if_else`."""
        return self._entry.if_else(condition)

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.while_loop`."""
        return self._entry.while_loop(condition)

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Add a node that depends on nothing; see :meth:`GraphNode.switch`."""
        return self._entry.switch(condition, count)

    @property
    def _entry(self):
        # What nodes without dependencies come after.
        return GraphNode_entry(self._tree, self._graph)

    @property
    def handle(self):
        """The ``driver.CUgraph``; null once the graph is destroyed."""
        return bindings_object("CUgraph", <intptr_t>self._graph.c_graph)

    @property
    def is_valid(self) -> bool:
        """Whether the graph exists: a child graph, or a body, is destroyed with its node."""
        return self._graph.c_graph != NULL

    def _weak_handle(self):
        # What weak_handle() returns.
        cdef WeakHandle result = WeakHandle.__new__(WeakHandle)
        result.cell.observe(self._tree.h_graph)
        return result

    def _graph_source(self):
        # What Graph.update() takes: a GraphBuilder has this, too.
        return self._tree, self._graph


cdef GraphNode node_of(GraphDefinition self, cydriver.CUgraphNode c_node):
    return GraphNode_wrap(self._tree, self._graph, GraphRecord_node(self._graph, c_node))


cdef GraphDefinition GraphDefinition_wrap(GraphTree tree, GraphRecord graph):
    cdef GraphDefinition self = GraphDefinition.__new__(GraphDefinition)
    self._tree = tree
    self._graph = graph
    return self


def view_of(tree, graph):
    """Return the definition of a tree and a record of it."""
    if graph is None:
        raise RuntimeError("this GraphNode is in no graph")
    return GraphDefinition_wrap(<GraphTree?>tree, <GraphRecord?>graph)


answer_hasattr(GraphDefinition)
