# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs that are built node by node, and views of captured ones (GraphDefinition)."""

from __future__ import annotations

from libc.stdint cimport intptr_t, uintptr_t

from cuda.bindings cimport cydriver

from cuda.core._handles._driver_object cimport bindings_object, refuse_pickle
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver
from cuda.core.graph._executable cimport Graph_instantiate
from cuda.core.graph._graph_condition cimport GraphCondition_create
from cuda.core.graph._graph_state cimport GraphRecord, GraphTree, GraphTree_own, check_alive

import os

from cuda.core._utils.signatures import ConstructorSignature
from cuda.core.graph._options import dot_flags

__all__ = ["GraphDefinition"]


cdef class GraphDefinition:
    """A graph that is built node by node, or a view of a captured one.

    Equal definitions are views of the same graph. A definition, and each of its nodes, keeps the whole graph.
    """

    __signature__ = ConstructorSignature()

    def __init__(self):
        """Create an empty graph."""
        cdef cydriver.CUgraph c_graph = NULL
        if self._tree is not None:
            raise RuntimeError("this GraphDefinition is made already")
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
        return f"<GraphDefinition handle={<uintptr_t>self._graph.c_graph:#x}>"

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
            If the graph is gone, or cannot be instantiated; the message tells the reason and the node.
        CUDAError
            If the driver refuses for another reason.
        """
        return Graph_instantiate(self._tree, self._graph, options)

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Return a new condition, for conditional nodes of this graph (``cuGraphConditionalHandleCreate``).

        Parameters
        ----------
        default_value : int, optional
            What each launch sets it to, in 32 bits. If None, it keeps its value from launch to launch.

        Raises
        ------
        TypeError
            If ``default_value`` is no int.
        OverflowError
            If it does not fit.
        CUDAError
            If the device has no conditional nodes, or no context is current.
        """
        check_alive(self._graph)
        return GraphCondition_create(self._graph.c_graph, default_value)

    def debug_dot_print(self, path: str, options: GraphDebugPrintOptions | None = None) -> None:
        """Write the graph as GraphViz text (``cuGraphDebugDotPrint``).

        Parameters
        ----------
        path : str | os.PathLike
            The file.
        options : :class:`GraphDebugPrintOptions`, optional
            What is told of the nodes.

        Raises
        ------
        TypeError
            If an argument is of another type.
        CUDAError
            If the file cannot be written.
        """
        cdef unsigned int c_flags = dot_flags(options)
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
        cdef bytes name = os.fsencode(path)
        cdef const char* c_path = name
        check_alive(self._graph)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphDebugDotPrint(self._graph.c_graph, c_path, c_flags), b"cuGraphDebugDotPrint")

    @property
    def handle(self):
        """The ``driver.CUgraph``; null once the graph is gone."""
        return bindings_object("CUgraph", <intptr_t>self._graph.c_graph)

    @property
    def is_valid(self) -> bool:
        """Whether the graph exists: a child graph, or a body, goes with its node."""
        return self._graph.c_graph != NULL

    def _graph_source(self):
        # What Graph.update() takes: a GraphBuilder has this, too.
        return self._tree, self._graph


cdef GraphDefinition GraphDefinition_wrap(GraphTree tree, GraphRecord graph):
    cdef GraphDefinition self = GraphDefinition.__new__(GraphDefinition)
    self._tree = tree
    self._graph = graph
    return self
