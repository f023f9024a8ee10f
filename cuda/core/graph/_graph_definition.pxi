# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph definitions, and drawings of them."""

from libc.stdint cimport intptr_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport WeakHandle, bindings_object, refuse_pickle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

import importlib
import os
import tempfile
import warnings
from pathlib import Path

from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import check_path, shown
from cuda.core.graph._options import dot_flags


cdef class GraphDefinition(GraphView):
    """A graph (``CUgraph``) that is built node by node, or a view of a captured one.

    Definitions are equal if they are views of the same graph. A definition, and each of its nodes, keeps the whole
    graph alive.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.graph import GraphDefinition
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> x = device.allocate(64, stream=stream)
    >>> definition = GraphDefinition()
    >>> zeroed = definition.memset(x, 0, 64)
    >>> calls = []
    >>> called = zeroed.callback(lambda: calls.append("zeroed"))
    >>> graph = definition.instantiate()
    >>> graph.launch(stream)
    >>> stream.sync()
    >>> calls
    ['zeroed']
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Create an empty graph (``cuGraphCreate``). There are no arguments."""
        cdef cydriver.CUgraph c_graph = NULL
        # Checked here: Cython's check of a constructor without parameters would treat any keyword as a str.
        if args or kwargs:
            raise TypeError(f"{type(self).__name__}() takes no arguments")
        if self._tree is not None:
            raise RuntimeError("this GraphDefinition is already initialized; create a new one")
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

    def instantiate(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """Instantiate the graph (``cuGraphInstantiateWithParams``). Later changes do not affect the executable.

        Parameters
        ----------
        options : :class:`GraphCompleteOptions`, optional
            How the graph is instantiated.

        Returns
        -------
        :class:`Graph`
            A new executable graph.

        Raises
        ------
        TypeError
            If ``options`` has another type.
        RuntimeError
            If the graph is destroyed or cannot be instantiated; the message has the reason and the node.
        CUDAError
            If the driver rejects the graph for another reason.
        """
        return Graph_instantiate(self._tree, self._graph, options)

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Create a condition for a conditional node of this graph (``cuGraphConditionalHandleCreate``).

        Parameters
        ----------
        default_value : int, optional
            The 32-bit value that each launch of the graph assigns at its start. If None, launches assign nothing, and
            the value of the previous launch remains.

        Raises
        ------
        TypeError
            If ``default_value`` is not an int.
        OverflowError
            If ``default_value`` does not fit 32 bits.
        CUDAError
            If the driver does not support conditional nodes, or no context is current.
        """
        return GraphCondition_create(self._tree, self._graph, default_value)

    def debug_dot_print(self, path: str, options: GraphDebugPrintOptions | dict[str, Any] | None = None) -> None:
        """Write the graph as DOT text, which GraphViz renders (``cuGraphDebugDotPrint``).

        Parameters
        ----------
        path : str | os.PathLike
            The file to write.
        options : :class:`GraphDebugPrintOptions`, optional
            The details to write about nodes. If None, the least.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If ``path`` has a null character, or one that cannot be encoded in a file name.
        RuntimeError
            If the graph is destroyed.
        CUDAError
            If the file cannot be written.
        """
        cdef unsigned int c_flags = dot_flags(options)
        cdef GraphLock lock
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
        check_path("path", path)
        cdef bytes name = os.fsencode(path)
        cdef const char* c_path = name
        lock_graphs(lock)
        check_alive(self._graph)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphDebugDotPrint(self._graph.c_graph, c_path, c_flags), b"cuGraphDebugDotPrint")

    def save(self, path: str | os.PathLike, options: GraphDebugPrintOptions | dict[str, Any] | None = None) -> Path:
        """Write a picture of the graph, or its DOT text.

        Parameters
        ----------
        path : str | os.PathLike
            The file to write. The suffix names the format: ``.dot`` and ``.gv`` are DOT text; ``.svg``, ``.png``,
            ``.pdf`` and others are rendered by the ``graphviz`` package.
        options : :class:`GraphDebugPrintOptions`, optional
            The details to write about nodes.

        Returns
        -------
        pathlib.Path
            The file written: ``path``, or one with the suffix ``.dot`` if nothing can render the picture.

        Raises
        ------
        TypeError
            If an argument has another type.
        ValueError
            If ``path`` has no suffix.
        RuntimeError
            If the graph is destroyed.

        Warns
        -----
        UserWarning
            If the ``graphviz`` package or GraphViz itself is not installed, so that DOT text is written instead.
        """
        return save(self, path, options)

    def _repr_svg_(self) -> str | None:
        """Return a picture for notebooks, rendered by the ``graphviz`` package, or None without it."""
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
        """Return all edges, as pairs of a node and a node that depends on it (``cuGraphGetEdges``)."""
        cdef vector[cydriver.CUgraphNode] c_from
        cdef vector[cydriver.CUgraphNode] c_to
        cdef size_t index
        cdef GraphLock lock
        lock_graphs(lock)
        check_alive(self._graph)
        read_edges(self._graph.c_graph, c_from, c_to)
        return {(node_of(self, c_from[index]), node_of(self, c_to[index])) for index in range(c_from.size())}

    def empty(self) -> EmptyNode:
        """Add an empty node without dependencies (``cuGraphAddNode``)."""
        return self._entry.join()

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Add an empty node that depends on the given nodes, as :meth:`GraphNode.join` does."""
        return self._entry.join(*nodes)

    def launch(self, config: LaunchConfig, kernel: Kernel, *args) -> KernelNode:
        """Add a kernel node without dependencies, as :meth:`GraphNode.launch` adds one."""
        return self._entry.launch(config, kernel, *args)

    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType = "device",
        peer_access: list[Device | int] | None = None,
    ) -> AllocNode:
        """Add an allocation node without dependencies, as :meth:`GraphNode.allocate` adds one."""
        return self._entry.allocate(size, device=device, memory_type=memory_type, peer_access=peer_access)

    def memory_operations(self, *operations: MemoryOperation) -> GraphNode:
        """Add a node of memory operations without dependencies, as :meth:`GraphNode.memory_operations` adds one."""
        return self._entry.memory_operations(*operations)

    def deallocate(self, dptr: int) -> FreeNode:
        """Add a free node without dependencies, as :meth:`GraphNode.deallocate` adds one."""
        return self._entry.deallocate(dptr)

    def memset(
        self, dst: Buffer | int, value, width: int, height: int = 1, pitch: int = 0, *, dst_owner=None
    ) -> MemsetNode:
        """Add a memset node without dependencies, as :meth:`GraphNode.memset` adds one."""
        return self._entry.memset(dst, value, width, height, pitch, dst_owner=dst_owner)

    def memcpy(self, dst: Buffer | int, src: Buffer | int, size: int, *, dst_owner=None, src_owner=None) -> MemcpyNode:
        """Add a memcpy node without dependencies, as :meth:`GraphNode.memcpy` adds one."""
        return self._entry.memcpy(dst, src, size, dst_owner=dst_owner, src_owner=src_owner)

    def memcpy_batch(
        self, dsts: Sequence[Buffer], srcs: Sequence[Buffer], *, options: CopyOptions | dict[str, Any] | None = None
    ) -> GraphNode:
        """Add a node of copies without dependencies, as :meth:`GraphNode.memcpy_batch` adds one."""
        return self._entry.memcpy_batch(dsts, srcs, options=options)

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Add a child graph node without dependencies, as :meth:`GraphNode.embed` adds one."""
        return self._entry.embed(child)

    def record(self, event: Event) -> EventRecordNode:
        """Add an event record node without dependencies, as :meth:`GraphNode.record` adds one."""
        return self._entry.record(event)

    def wait(self, event: Event | ExternalSemaphore, value: int = 0) -> GraphNode:
        """Add a waiting node without dependencies, as :meth:`GraphNode.wait` adds one."""
        return self._entry.wait(event, value)

    def signal(self, semaphore: ExternalSemaphore, value: int = 0) -> GraphNode:
        """Add a signaling node without dependencies, as :meth:`GraphNode.signal` adds one."""
        return self._entry.signal(semaphore, value)

    def callback(self, fn, *, user_data=None) -> HostCallbackNode:
        """Add a host node without dependencies, as :meth:`GraphNode.callback` adds one."""
        return self._entry.callback(fn, user_data=user_data)

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Add a conditional node without dependencies, as :meth:`GraphNode.if_then` adds one."""
        return self._entry.if_then(condition)

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Add a conditional node without dependencies, as :meth:`GraphNode.if_else` adds one."""
        return self._entry.if_else(condition)

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Add a conditional node without dependencies, as :meth:`GraphNode.while_loop` adds one."""
        return self._entry.while_loop(condition)

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Add a conditional node without dependencies, as :meth:`GraphNode.switch` adds one."""
        return self._entry.switch(condition, count)

    @property
    def _entry(self):
        # Nodes added after the entry node have no dependencies.
        return GraphNode_entry(self._tree, self._graph)

    @property
    def handle(self):
        """The ``driver.CUgraph``, null once the graph is destroyed."""
        return bindings_object("CUgraph", <intptr_t>self._graph.c_graph)

    @property
    def id(self) -> int:
        """The number of the graph in this process, as :meth:`debug_dot_print` writes it (``cuGraphGetId``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        RuntimeError
            If the graph is destroyed, together with the node that contained it.

        Examples
        --------
        >>> from cuda.core.graph import GraphDefinition
        >>> definition = GraphDefinition()
        >>> definition.id == definition.empty().graph.id
        True
        """
        cdef unsigned int c_id = 0
        cdef GraphLock lock
        lock_graphs(lock)
        check_alive(self._graph)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphGetId(self._graph.c_graph, &c_id), b"cuGraphGetId")
        return c_id

    @property
    def is_valid(self) -> bool:
        """Whether the graph exists. A child graph or a conditional body is destroyed with its node."""
        return self._graph.c_graph != NULL

    def _weak_handle(self):
        # For weak_handle().
        cdef WeakHandle result = WeakHandle.__new__(WeakHandle)
        result.cell.observe(self._tree.h_graph)
        return result

    def _graph_source(self):
        # For Graph.update(). A GraphBuilder also has this method.
        return self._tree, self._graph


cdef GraphNode node_of(GraphDefinition self, cydriver.CUgraphNode c_node):
    return GraphNode_wrap(self._tree, self._graph, GraphRecord_node(self._graph, c_node))


# A view of one graph of a tree: `tree.root`, or a record below it.
cdef GraphDefinition GraphDefinition_wrap(GraphTree tree, GraphRecord graph):
    cdef GraphDefinition self = GraphDefinition.__new__(GraphDefinition)
    self._tree = tree
    self._graph = graph
    return self


def view_of(tree, graph):
    """Return the definition of one graph of a tree."""
    if graph is None:
        raise UnavailableError("this GraphNode belongs to no graph")
    return GraphDefinition_wrap(<GraphTree?>tree, <GraphRecord?>graph)


slots.register("graph definition", view_of)


# --- Drawings -------------------------------------------------------------------------------------

TEXT_SUFFIXES = (".dot", ".gv")


def save(definition, path, options) -> Path:
    """Write a picture or DOT text (:meth:`GraphDefinition.save`)."""
    if not isinstance(path, str) and not hasattr(type(path), "__fspath__"):
        raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
    path = Path(path)
    if not path.suffix:
        raise ValueError(f"path must have a suffix that names the format, such as .svg or .dot, not {shown(str(path))}")
    text = text_of(definition, options)
    if path.suffix.lower() not in TEXT_SUFFIXES:
        picture = render(text, path.suffix[1:].lower())
        if isinstance(picture, bytes):
            path.write_bytes(picture)
            return path
        path = path.with_suffix(".dot")
        warnings.warn(f"{picture}; the graph is written as DOT text to {path}", UserWarning, stacklevel=1)
    path.write_text(text)
    return path


def svg_of(definition) -> str | None:
    """Return the SVG picture that notebooks display, or None if it cannot be rendered."""
    picture = render(text_of(definition, None), "svg")
    return picture.decode() if isinstance(picture, bytes) else None


def render(text: str, kind: str) -> bytes | str:
    """Return a picture of DOT text as bytes, or as a str the reason why it cannot be rendered."""
    try:
        graphviz = importlib.import_module("graphviz")
    except ImportError:
        return "the graphviz package is not installed"
    try:
        return graphviz.Source(text).pipe(format=kind)
    except graphviz.ExecutableNotFound:
        return "the GraphViz executables are not installed"


def text_of(definition, options) -> str:
    """Return the DOT text of a graph."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.dot"
        definition.debug_dot_print(str(path), options)
        return path.read_text(errors="replace")
