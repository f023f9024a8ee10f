# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes of graph definitions, and the sets of their neighbors."""

cimport cython
from libc.stdint cimport intptr_t, uintptr_t
from libcpp.vector cimport vector

from cpython.weakref cimport PyWeakref_NewRef

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer_pin, buffers_argument, check_writable
from cuda.core._memory._copies cimport check_disjoint, hints_of
from cuda.core._native._cuda_core cimport AllocationPin, bindings_object, refuse_pickle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from collections.abc import MutableSet

from cuda.core._code._loading import explain
from cuda.core._launch_attributes import ATTRIBUTES as LAUNCH_ATTRIBUTES, newer_than_driver
from cuda.core._memory._copy_options import CopyOptions
from cuda.core._memory_operations import packed_operations
from cuda.core._utils import cuda_utils, slots
from cuda.core._utils.advice import MEMORY_OPERATIONS
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import iterator_of


class AdjacencySetProxy(MutableSet):
    """The predecessors or successors of a node: a live view of the graph's edges.

    Adding and removing nodes adds and removes edges. ``update``, ``clear``, ``|=`` and ``-=`` add or remove all edges
    with one driver call. Binary operators return ordinary sets.
    """

    __slots__ = ("_is_pred", "_node")
    __hash__ = None

    def __init__(self, node, is_pred):
        if not hasattr(type(node), "_neighbors"):
            raise TypeError(f"node must be a GraphNode, not {type(node).__name__}")
        if not isinstance(is_pred, bool):
            raise TypeError(f"is_pred must be a bool, not {type(is_pred).__name__}")
        self._node = node
        self._is_pred = is_pred

    @classmethod
    def _from_iterable(cls, nodes):
        return set(nodes)

    def __contains__(self, value):
        return value in self._neighbors()

    def __iter__(self):
        return iter(self._neighbors())

    def __len__(self):
        return len(self._neighbors())

    def __repr__(self):
        return "{" + ", ".join(map(repr, self._neighbors())) + "}"

    def __ior__(self, other):
        self.update(other)
        return self

    def __isub__(self, other):
        if other is self:
            self.clear()
        else:
            removed = list(other)
            self._node._disconnect([node for node in self._neighbors() if node in removed], self._is_pred)
        return self

    def add(self, value) -> None:
        """Add an edge (``cuGraphAddDependencies``).

        Raises TypeError if ``value`` is not a :class:`GraphNode`.
        """
        self._node._connect([value], self._is_pred)

    def discard(self, value) -> None:
        """Remove the edge to a node, if there is one (``cuGraphRemoveDependencies``)."""
        self._node._disconnect([node for node in self._neighbors() if node == value], self._is_pred)

    def update(self, *others) -> None:
        """Add edges to nodes, or to iterables of nodes."""
        self._node._connect(unique_nodes(others), self._is_pred)

    def clear(self) -> None:
        """Remove all edges."""
        self._node._disconnect(self._neighbors(), self._is_pred)

    def _neighbors(self):
        return self._node._neighbors(self._is_pred)


def unique_nodes(others) -> list:
    """Return the nodes among nodes and iterables of nodes, each once."""
    nodes = []
    for other in others:
        try:
            items = iterator_of(other)
        except TypeError:
            items = (other,)
        nodes += [item for item in items if item not in nodes]
    return nodes


cdef class GraphNode:
    """A node of a graph, whose methods add nodes that depend on it.

    There is one object for each node while a reference to it exists. Nodes are created by these methods and by the
    methods of :class:`GraphDefinition`, and returned when a graph is read.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.graph import GraphDefinition
    >>> device = Device()
    >>> device.set_current()
    >>> definition = GraphDefinition()
    >>> first = definition.empty()
    >>> second = first.callback(lambda: None)
    >>> first in second.pred
    True
    """

    cdef:
        object __weakref__
        GraphTree _tree         # None if the node was constructed directly and belongs to no graph
        GraphRecord _graph
        NodeRecord _record      # None for an entry node

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Create a node that belongs to no graph. There are no arguments."""
        # Checked here: Cython's check of a constructor without parameters would treat any keyword as a str.
        if args or kwargs:
            raise TypeError(f"{type(self).__name__}() takes no arguments")

    def __eq__(self, other):
        if not isinstance(other, GraphNode):
            return NotImplemented
        if self._record is None:
            return (<GraphNode>other)._record is None and self._graph is (<GraphNode>other)._graph
        return self._record is (<GraphNode>other)._record

    def __hash__(self):
        return hash((GraphNode, id(self._record) if self._record is not None else id(self._graph)))

    def __repr__(self):
        if self._record is None:
            return "<GraphNode entry>" if self._graph is not None else "<GraphNode destroyed>"
        return f"<{type(self).__name__} handle={node_address(self):#x}{self._details()}>"

    def __reduce__(self):
        refuse_pickle(self)

    def launch(self, config: LaunchConfig, kernel: Kernel, *args) -> KernelNode:
        """Add a node that runs a kernel (``cuGraphAddNode``).

        Parameters
        ----------
        config : :class:`~cuda.core.LaunchConfig`
            The grid, the blocks, the dynamic shared memory and the launch attributes
            (``cuGraphKernelNodeSetAttribute``).
        kernel : :class:`~cuda.core.Kernel`
            The kernel; the node keeps its code loaded.
        *args
            The kernel arguments, as :func:`~cuda.core.launch` takes them; the node keeps the objects alive.

        Raises
        ------
        TypeError
            If an argument has a wrong type or size, or their number is wrong.
        NotImplementedError
            If ``config`` has an attribute that only launches can have, such as an event, or ``grid="resident"``.
        RuntimeError
            If this node is destroyed, or an argument is closed.
        CUDAError
            If the driver rejects the launch parameters or an attribute.
        """
        node = GraphNode_add(self, KernelValues_create(config, kernel, args))
        try:
            set_launch_attributes(node, config)
        except BaseException:
            node.destroy()
            raise
        return node

    def memory_operations(self, *operations: MemoryOperation) -> GraphNode:
        """Add a node that runs memory operations in their order, in the current context (``cuGraphAddNode``).

        Parameters
        ----------
        *operations : :class:`~cuda.core.MemoryOperation`
            The operations. The node keeps their buffers and views alive.

        Raises
        ------
        TypeError
            If an argument is not a :class:`~cuda.core.MemoryOperation`.
        ValueError
            If there are none.
        RuntimeError
            If this node is destroyed.
        NotSupportedError
            If the driver has no such nodes for the device.
        CUDAError
            If the driver rejects the memory or the number of operations.
        """
        try:
            return GraphNode_add(self, OperationValues(operations))
        except CUDAError as error:
            if error.name == "CUDA_ERROR_INVALID_VALUE":
                explain(error, MEMORY_OPERATIONS)
            raise

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Add an empty node that depends on this node and the given ones (``cuGraphAddNode``).

        Parameters
        ----------
        *nodes : :class:`GraphNode`
            Nodes of the same graph.

        Raises
        ------
        TypeError, RuntimeError, CUDAError
            If an argument is not a node, is destroyed, or belongs to another graph.
        """
        return GraphNode_add_after(self, [self, *nodes], EmptyValues())

    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType = "device",
        peer_access: list[Device | int] | None = None,
    ) -> AllocNode:
        """Add a node that allocates memory (``cuGraphAddNode``).

        The address does not change: :attr:`AllocNode.dptr` can be passed to nodes that depend on the new one.

        Parameters
        ----------
        size : int
            The number of bytes.
        device : :class:`~cuda.core.Device` | int, optional
            The device. If None, the current one.
        memory_type : :class:`~cuda.core.typing.GraphMemoryType`, optional
            The kind of memory. Default is ``"device"``.
        peer_access : list of :class:`~cuda.core.Device` | int, optional
            Other devices that may access the memory. If None, no other device may.

        Raises
        ------
        TypeError, OverflowError
            If an argument has a wrong type, or ``size`` does not fit 64 bits without sign.
        ValueError
            If ``memory_type`` is not a :class:`~cuda.core.typing.GraphMemoryType`.
        RuntimeError
            If this node is destroyed.
        CUDAError
            If the driver rejects the allocation, for example because its size is 0.
        """
        return GraphNode_add(self, AllocValues_create(size, device, memory_type, peer_access))

    def deallocate(self, dptr: int) -> FreeNode:
        """Add a node that frees memory that an :class:`AllocNode` allocates (``cuGraphAddNode``).

        Parameters
        ----------
        dptr : int
            The address, :attr:`AllocNode.dptr`.

        Raises
        ------
        TypeError, RuntimeError, CUDAError
            If ``dptr`` is not an address; if this node is destroyed; if no allocation node has this address.
        """
        return GraphNode_add(self, FreeValues_create(dptr))

    def memset(
        self, dst: Buffer | int, value, width: int, height: int = 1, pitch: int = 0, *, dst_owner=None
    ) -> MemsetNode:
        """Add a node that fills memory (``cuGraphAddNode``).

        Parameters
        ----------
        dst : :class:`~cuda.core.Buffer` | int
            The memory to fill. The node keeps the memory of a Buffer alive.
        value : int | buffer
            The element to write: an int from 0 to 255 for one byte, or an object of 1, 2 or 4 bytes.
        width : int
            The number of elements in a row.
        height : int, optional
            The number of rows. Default is 1.
        pitch : int, optional
            The distance between the starts of two rows, in bytes. Default is 0, for a single row.
        dst_owner : object, optional
            An object that the node keeps alive, for a raw address.

        Raises
        ------
        TypeError, OverflowError, ValueError
            If an argument has a wrong type or is out of range, or both a Buffer and an owner are given.
        RuntimeError
            If the Buffer is closed, or this node is destroyed.
        CUDAError
            If the driver rejects the parameters.
        """
        return GraphNode_add(
            self, MemsetValues_create(Operand_create("dst", dst, dst_owner), value, width, height, pitch)
        )

    def memcpy(
        self, dst: Buffer | int, src: Buffer | int, size: int, *, dst_owner=None, src_owner=None
    ) -> MemcpyNode:
        """Add a node that copies memory (``cuGraphAddNode``).

        Parameters
        ----------
        dst, src : :class:`~cuda.core.Buffer` | int
            Destination and source, on a device or the host. The node keeps the memory of Buffers alive.
        size : int
            The number of bytes.
        dst_owner, src_owner : object, optional
            Objects that the node keeps alive, for raw addresses.

        Raises
        ------
        TypeError, OverflowError, ValueError
            If an argument has a wrong type or is out of range, or both a Buffer and its owner are given.
        RuntimeError
            If a Buffer is closed, or this node is destroyed.
        CUDAError
            If the driver rejects the parameters.
        """
        return GraphNode_add(
            self,
            MemcpyValues_create(Operand_create("dst", dst, dst_owner), Operand_create("src", src, src_owner), size),
        )

    def memcpy_batch(
        self, dsts: Sequence[Buffer], srcs: Sequence[Buffer], *, options: CopyOptions | dict[str, Any] | None = None
    ) -> GraphNode:
        """Add a node that copies many buffers (``cuGraphAddNode``). The copies are not ordered among themselves.

        Parameters
        ----------
        dsts, srcs : Sequence[:class:`Buffer`]
            The destinations and the sources: ``srcs[i]`` is copied to ``dsts[i]``, which has the same size. The node
            keeps their memory alive.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for all copies. If None, no hints.

        Raises
        ------
        TypeError
            If an argument has the wrong type, or a destination is read-only.
        ValueError
            If there are no buffers, the numbers or sizes differ, or a source overlaps its destination.
        RuntimeError
            If a buffer is closed, or this node is destroyed.
        NotSupportedError
            If the driver is older than CUDA 13.5.
        CUDAError
            If the driver rejects the copies.

        Examples
        --------
        >>> from cuda.core import Device
        >>> from cuda.core.graph import GraphDefinition
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> sources = [device.allocate(64, stream=stream) for _ in range(8)]
        >>> targets = [device.allocate(64, stream=stream) for _ in range(8)]
        >>> node = GraphDefinition().memcpy_batch(targets, sources)
        """
        return GraphNode_add(self, CopyBatchValues(dsts, srcs, options))

    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Add a child graph node, which runs a copy of another graph (``cuGraphAddNode``).

        Parameters
        ----------
        child : :class:`GraphDefinition`
            The graph to copy. It must not have allocation, free or conditional nodes.

        Raises
        ------
        TypeError
            If ``child`` is not a :class:`GraphDefinition`.
        RuntimeError
            If ``child`` or this node is destroyed.
        CUDAError
            If the driver rejects ``child``, for example because it contains this node.
        """
        return GraphNode_add(self, ChildValues_create(child, None))

    def record(self, event: Event) -> EventRecordNode:
        """Add a node that records an event (``cuGraphAddNode``). The node keeps the event alive.

        Raises TypeError if ``event`` is not an event, and RuntimeError if it is closed or this node is destroyed.
        """
        return GraphNode_add(self, EventValues_create(event, True))

    def wait(self, event: Event | ExternalSemaphore, value: int = 0) -> GraphNode:
        """Add a node that waits for an event or an external semaphore (``cuGraphAddNode``), which the node keeps alive.

        Parameters
        ----------
        event : :class:`~cuda.core.Event` | :class:`~cuda.core.ExternalSemaphore`
            The event, for an :class:`EventWaitNode`, or the semaphore.
        value : int, optional
            The value that a timeline semaphore must reach; ignored for others. Defaults to 0.

        Raises
        ------
        TypeError, ValueError
            If an argument has the wrong type, or ``value`` is not from 0 to 2**64 - 1.
        RuntimeError
            If ``event`` is closed or this node is destroyed.
        """
        if isinstance(event, slots.get("external semaphore")):
            return GraphNode_add(self, SemaphoreValues(event, value, False))
        return GraphNode_add(self, EventValues_create(event, False))

    def signal(self, semaphore: ExternalSemaphore, value: int = 0) -> GraphNode:
        """Add a node that signals an external semaphore (``cuGraphAddNode``), which the node keeps alive.

        Parameters
        ----------
        semaphore : :class:`~cuda.core.ExternalSemaphore`
            The semaphore.
        value : int, optional
            The value that a timeline semaphore gets; ignored for binary ones. Defaults to 0.

        Raises
        ------
        TypeError, ValueError
            If an argument has the wrong type, or ``value`` is not from 0 to 2**64 - 1.
        RuntimeError
            If ``semaphore`` is closed or this node is destroyed.
        """
        if not isinstance(semaphore, slots.get("external semaphore")):
            raise TypeError(f"semaphore must be an ExternalSemaphore, not {type(semaphore).__name__}")
        return GraphNode_add(self, SemaphoreValues(semaphore, value, True))

    def callback(self, fn, *, user_data=None) -> HostCallbackNode:
        """Add a host node, which calls a function on the host (``cuGraphAddNode``). It must not call CUDA.

        Parameters
        ----------
        fn : callable
            A Python callable, called without arguments, or a C function that takes one pointer: one of ``ctypes``
            (``CFUNCTYPE(None, c_void_p)``), ``cffi`` or Numba. An exception goes to ``sys.unraisablehook``.
        user_data : int | buffer, optional
            The argument of a C function: an address, or bytes. The node copies the bytes and passes the address of its
            copy.

        Raises
        ------
        TypeError
            If ``fn`` is not callable, or is a C function with another signature.
        ValueError
            If ``user_data`` is given with a Python callable.
        RuntimeError
            If this node is destroyed.
        """
        where = f"the graph {<uintptr_t>self._graph.c_graph:#x}" if self._graph is not None else "no graph"
        return GraphNode_add(self, HostValues_create(fn, user_data, where))

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Add a conditional node whose body runs if the condition is not zero (``cuGraphAddNode``).

        Parameters
        ----------
        condition : :class:`GraphCondition`
            A condition of this graph; each serves one node. Nodes are added to the body, the attribute ``then``.

        Raises
        ------
        TypeError, RuntimeError, CUDAError
            If ``condition`` is not a :class:`GraphCondition`; if this node is destroyed; if the driver has no
            conditional nodes, or the condition belongs to another graph or node.
        """
        return GraphNode_add(
            self,
            ConditionalValues_create(condition, cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF, 1),
        )

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Add a conditional node with a body for a condition that is not zero, and one for zero (``cuGraphAddNode``).

        Arguments and errors are as in :meth:`if_then`. The bodies are the attributes ``then`` and ``else_``.
        """
        return GraphNode_add(
            self,
            ConditionalValues_create(condition, cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF, 2),
        )

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Add a conditional node whose body runs repeatedly while the condition is not zero (``cuGraphAddNode``).

        Arguments and errors are as in :meth:`if_then`. The body is the attribute ``body``; a kernel in it must set the
        condition.
        """
        return GraphNode_add(
            self,
            ConditionalValues_create(condition, cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE, 1),
        )

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Add a conditional node with several bodies, one of which the condition selects (``cuGraphAddNode``).

        Parameters
        ----------
        condition : :class:`GraphCondition`
            A condition of this graph. Its value is the index of the body that runs; a larger value runs none.
        count : int
            The number of bodies, which are the attribute ``branches``. A negative number, or one of more than
            65,536, raises OverflowError, and 0 raises CUDAError. Other errors are as in :meth:`if_then`.
        """
        return GraphNode_add(
            self,
            ConditionalValues_create(condition, cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH, count),
        )

    def destroy(self) -> None:
        """Remove the node and its edges from the graph (``cuGraphDestroyNode``). Further calls do nothing.

        Raises
        ------
        CUDAError
            If the graph has allocation or free nodes: the driver cannot remove nodes from such a graph.
        """
        cdef cydriver.CUgraphNode c_node
        cdef GraphLock lock
        lock_graphs(lock)
        if self._record is None or self._record.c_node == NULL:
            return
        GraphNode_values(self)      # cached, so that the attributes stay readable
        c_node = self._record.c_node
        try:
            with nogil:
                HANDLE_RETURN(cydriver.cuGraphDestroyNode(c_node), b"cuGraphDestroyNode")
        except cuda_utils.CUDAError as error:
            explain_removal(error)
            raise
        NodeRecord_mark_destroyed(self._graph, self._record)

    @property
    def type(self):
        """The ``driver.CUgraphNodeType``, or None for an entry node or a destroyed node."""
        return cuda_utils.driver.CUgraphNodeType(<int>self._record.c_type) if node_address(self) else None

    @property
    def graph(self) -> GraphDefinition:
        """The graph of the node."""
        return slots.get("graph definition")(self._tree, self._graph)

    @property
    def handle(self):
        """The ``driver.CUgraphNode``, or None for an entry node or a destroyed node."""
        cdef uintptr_t address = node_address(self)
        return bindings_object("CUgraphNode", <intptr_t>address) if address else None

    @property
    def local_id(self) -> int:
        """The number of the node in its graph, as :meth:`GraphDefinition.debug_dot_print` writes it
        (``cuGraphNodeGetLocalId``).

        Together with :attr:`GraphDefinition.id`, it identifies the node in this process.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        RuntimeError
            If the node is destroyed, or an entry node.

        Examples
        --------
        >>> from cuda.core.graph import GraphDefinition
        >>> definition = GraphDefinition()
        >>> first, second = definition.empty(), definition.empty()
        >>> first.local_id != second.local_id
        True
        """
        cdef unsigned int c_id = 0
        cdef GraphLock lock
        lock_graphs(lock)
        GraphNode_check_record(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphNodeGetLocalId(self._record.c_node, &c_id), b"cuGraphNodeGetLocalId")
        return c_id

    @property
    def tools_id(self) -> int:
        """The number by which profilers and debuggers identify the node (``cuGraphNodeGetToolsId``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        RuntimeError
            If the node is destroyed, or an entry node.

        Examples
        --------
        >>> from cuda.core.graph import GraphDefinition
        >>> definition = GraphDefinition()
        >>> definition.empty().tools_id != definition.empty().tools_id
        True
        """
        cdef unsigned long long c_id = 0
        cdef GraphLock lock
        lock_graphs(lock)
        GraphNode_check_record(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphNodeGetToolsId(self._record.c_node, &c_id), b"cuGraphNodeGetToolsId")
        return c_id

    @property
    def is_valid(self) -> bool:
        """Whether the node exists in its graph: False once it is destroyed."""
        return self._graph is not None and (self._record is None or self._record.c_node != NULL)

    @property
    def pred(self) -> AdjacencySetProxy:
        """The nodes that this one depends on, as a live set. Assigning replaces the edges."""
        return AdjacencySetProxy(self, True)

    @pred.setter
    def pred(self, nodes):
        replace_edges(self, nodes, True)

    @property
    def succ(self) -> AdjacencySetProxy:
        """The nodes that depend on this one, as a live set. Assigning replaces the edges."""
        return AdjacencySetProxy(self, False)

    @succ.setter
    def succ(self, nodes):
        replace_edges(self, nodes, False)

    def _details(self):
        # The text of __repr__ after the handle.
        return ""

    def _neighbors(self, is_pred):
        cdef vector[cydriver.CUgraphNode] c_nodes
        cdef size_t index
        cdef GraphLock lock
        lock_graphs(lock)
        check_usable(self._graph)
        if node_address(self) == 0:
            return []
        read_neighbors(self._record.c_node, is_pred, c_nodes)
        return [
            GraphNode_wrap(self._tree, self._graph, GraphRecord_node(self._graph, c_nodes[index]))
            for index in range(c_nodes.size())
        ]

    def _connect(self, nodes, is_pred):
        check_nodes(self, nodes)
        present = self._neighbors(is_pred)
        change_edges(self, [node for node in nodes if node not in present], is_pred, True)

    def _disconnect(self, nodes, is_pred):
        if nodes:
            change_edges(self, nodes, is_pred, False)

    # Reads the parameters of a captured or cloned node from the driver.
    cdef NodeValues _read(self):
        return None


cdef class CopyBatchValues(NodeValues):
    """The parameters of a node that copies many buffers."""

    cdef:
        vector[cydriver.CUdeviceptr] _targets
        vector[cydriver.CUdeviceptr] _sources
        vector[size_t] _sizes
        cydriver.CUmemcpyAttributes _hints
        size_t _first

    def __init__(self, dsts, srcs, options):
        dsts, srcs = buffers_argument(dsts, "dsts"), buffers_argument(srcs, "srcs")
        if len(dsts) != len(srcs):
            raise ValueError(f"dsts and srcs must have the same number of buffers, not {len(dsts)} and {len(srcs)}")
        options = cuda_utils.check_or_create_options(CopyOptions, options, "options of a copy")
        self._hints = hints_of(options)
        for dst, src in zip(dsts, srcs):
            add_copy(self, <Buffer>dst, <Buffer>src)
        cuda_utils.require_driver(13050, "a node of many copies")
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY_BATCH
        HANDLE_RETURN(cydriver.cuCtxGetCurrent(&self.params.memcpyBatch.ctx), b"cuCtxGetCurrent")
        self.params.memcpyBatch.count = self._sizes.size()
        self.params.memcpyBatch.dsts = self._targets.data()
        self.params.memcpyBatch.srcs = self._sources.data()
        self.params.memcpyBatch.sizes = self._sizes.data()
        self.params.memcpyBatch.attrs = &self._hints
        self.params.memcpyBatch.attrsIdxs = &self._first
        self.params.memcpyBatch.numAttrs = 1


cdef int add_copy(CopyBatchValues self, Buffer dst, Buffer src) except -1:
    cdef AllocationPin target
    cdef AllocationPin source
    cdef size_t size
    Buffer_pin(dst, &target)
    Buffer_pin(src, &source)
    check_writable(dst, "dsts")
    size = target.value().size
    if source.value().size != size:
        raise ValueError(
            f"copy {self._sizes.size()} has {source.value().size} bytes in srcs and {size} bytes in dsts"
        )
    check_disjoint(target.value().pointer, source.value().pointer, size)
    self._targets.push_back(target.value().pointer)
    self._sources.push_back(source.value().pointer)
    self._sizes.push_back(size)
    add_anchor(self, target.anchor())
    add_anchor(self, source.anchor())
    return 0


cdef class OperationValues(NodeValues):
    """The parameters of a node of memory operations."""

    cdef bytes _content

    def __init__(self, operations):
        self._content = packed_operations(operations)
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
        HANDLE_RETURN(cydriver.cuCtxGetCurrent(&self.params.memOp.ctx), b"cuCtxGetCurrent")
        self.params.memOp.count = <unsigned int>len(operations)
        self.params.memOp.paramArray = <cydriver.CUstreamBatchMemOpParams*><char*>self._content
        for operation in operations:
            if operation._target is not None and not isinstance(operation._target, int):
                add_object(self, operation._target)


cdef class SemaphoreValues(NodeValues):
    """The parameters of a node that signals an external semaphore or waits for one."""

    cdef:
        cydriver.CUexternalSemaphore _semaphore
        cydriver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS _signal
        cydriver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS _wait

    def __init__(self, semaphore, value, bint is_signal):
        address, value, pinned = semaphore._for_node(value)
        add_object(self, pinned)
        self._semaphore = <cydriver.CUexternalSemaphore><intptr_t>address
        self._signal.params.fence.value = self._wait.params.fence.value = value
        if is_signal:
            self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
            self.params.extSemSignal.extSemArray = &self._semaphore
            self.params.extSemSignal.paramsArray = &self._signal
            self.params.extSemSignal.numExtSems = 1
        else:
            self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
            self.params.extSemWait.extSemArray = &self._semaphore
            self.params.extSemWait.paramsArray = &self._wait
            self.params.extSemWait.numExtSems = 1


# The attributes of a configuration that a node can have. Programmatic serialization is a permission, which the edges of
# a graph express instead.
cdef list node_attributes(LaunchConfig config):
    for name in LAUNCH_ATTRIBUTES:
        if not LAUNCH_ATTRIBUTES[name].is_for_nodes and getattr(config, name) is not None:
            raise NotImplementedError(f"config must not have {name}: the driver has no such attribute for nodes")
    return [
        index
        for index in range(config._native.numAttrs)
        if config._attributes[index].id != cydriver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    ]


def set_launch_attributes(GraphNode node not None, LaunchConfig config not None) -> None:
    """Set the launch attributes of a configuration in a kernel node (``cuGraphKernelNodeSetAttribute``)."""
    cdef GraphLock lock
    cdef cydriver.CUlaunchAttributeValue value
    cdef cydriver.CUlaunchAttributeID number
    cdef cydriver.CUresult err
    cdef unsigned int index
    if config._native.numAttrs == 0:
        return
    lock_graphs(lock)
    GraphNode_check(node)
    for index in node_attributes(config):
        number, value = config._attributes[index].id, config._attributes[index].value
        with nogil:
            err = cydriver.cuGraphKernelNodeSetAttribute(node._record.c_node, number, &value)
        try:
            HANDLE_RETURN(err, b"cuGraphKernelNodeSetAttribute")
        except CUDAError as error:
            explain(error, newer_than_driver(config) or f"the configuration is {config!r}")
            raise


cdef dict _node_classes = {}


# Registers the class of nodes of a type: `choose(record)` returns it.
cdef int register_node_class(int c_type, object choose) except -1:
    _node_classes[c_type] = choose
    return 0


# The Python object of a node; there is at most one at a time.
cdef GraphNode GraphNode_wrap(GraphTree tree, GraphRecord graph, NodeRecord record):
    cdef GraphNode self
    with cython.critical_section(record):
        known = record.node
    self = None if known is None else known()
    if self is not None:
        return self
    choose = _node_classes.get(<int>record.c_type)
    kind = GraphNode if choose is None else choose(record)
    self = kind.__new__(kind)
    self._tree = tree
    self._graph = graph
    self._record = record
    with cython.critical_section(record):
        record.node = PyWeakref_NewRef(self, None)
    return self


# The entry node of a graph: nodes added after it have no dependencies.
cdef GraphNode GraphNode_entry(GraphTree tree, GraphRecord graph):
    cdef GraphNode self = GraphNode.__new__(GraphNode)
    self._tree = tree
    self._graph = graph
    return self


# The parameters of a node, read from the driver on first use. They stay readable after it is destroyed.
cdef NodeValues GraphNode_values(GraphNode self):
    cdef GraphLock lock
    if self._record is None:
        raise UnavailableError(f"this {type(self).__name__} belongs to no graph")
    cdef NodeRecord record = self._record
    cdef NodeValues values = NodeRecord_values(record)
    if values is not None:
        return values
    lock_graphs(lock)
    # The nodes of a destroyed graph cannot be read.
    GraphNode_check(self)
    values = self._read()
    with cython.critical_section(record):
        if record.values is None:
            record.values = values
    return NodeRecord_values(record)


cdef inline uintptr_t node_address(GraphNode self) noexcept:
    return <uintptr_t>self._record.c_node if self is not None and self._record is not None else 0


cdef int GraphNode_check(GraphNode self) except -1:
    check_usable(self._graph)
    if self._graph is None or (self._record is not None and self._record.c_node == NULL):
        raise UnavailableError(f"this {type(self).__name__} is destroyed")
    return check_alive(self._graph)


# For calls that need a node of the driver.
cdef int GraphNode_check_record(GraphNode self) except -1:
    GraphNode_check(self)
    if self._record is None:
        raise UnavailableError("the entry of a graph is not a node of the driver")
    return 0


cdef int GraphNode_change(GraphNode self, NodeValues values) except -1:
    cdef GraphLock lock
    values.prepare()
    lock_graphs(lock)
    GraphNode_check(self)
    self._tree.change_count += 1
    return change_node(self._graph, self._record, values)


cdef GraphNode GraphNode_add(GraphNode self, NodeValues values):
    cdef cydriver.CUgraphNode c_node
    cdef GraphLock lock
    values.prepare()
    lock_graphs(lock)
    GraphNode_check(self)
    if self._record is None:
        return GraphNode_wrap(self._tree, self._graph, add_node(self._graph, NULL, 0, values))
    c_node = self._record.c_node
    return GraphNode_wrap(self._tree, self._graph, add_node(self._graph, &c_node, 1, values))


cdef GraphNode GraphNode_add_after(GraphNode self, list nodes, NodeValues values):
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef GraphNode node
    cdef GraphNode foreign = None
    cdef NodeRecord record
    cdef GraphLock lock
    GraphNode_check(self)
    for item in nodes:
        if not isinstance(item, GraphNode):
            raise TypeError(f"nodes must be GraphNodes, not {type(item).__name__}")
    lock_graphs(lock)
    GraphNode_check(self)
    for node in dict.fromkeys(nodes):
        GraphNode_check(node)
        if node._graph is not self._graph:
            foreign = node
        if node._record is not None:
            c_nodes.push_back(node._record.c_node)
    try:
        record = add_node(self._graph, c_nodes.data(), c_nodes.size(), values)
    except cuda_utils.CUDAError as error:
        if foreign is not None:
            explain(error, f"{foreign!r} and {self!r} belong to different graphs")
        raise
    return GraphNode_wrap(self._tree, self._graph, record)


# --- Edges ----------------------------------------------------------------------------------------

cdef int check_nodes(GraphNode self, nodes) except -1:
    cdef GraphNode node
    for item in nodes:
        if not isinstance(item, GraphNode):
            raise TypeError(f"pred and succ must be GraphNodes, not {type(item).__name__}")
    GraphNode_check(self)
    if self._record is None:
        raise ValueError("an entry node has no edges")
    for item in nodes:
        node = item
        GraphNode_check(node)
        if node._record is None:
            raise ValueError("an entry node has no edges")
        if node._graph is not self._graph:
            raise ValueError(f"{node!r} and {self!r} belong to different graphs")
    return 0


cdef int change_edges(GraphNode self, list nodes, bint is_pred, bint is_added) except -1:
    cdef vector[cydriver.CUgraphNode] c_from
    cdef vector[cydriver.CUgraphNode] c_to
    cdef GraphNode node
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    if not nodes:
        return 0
    for node in nodes:
        GraphNode_check(node)
        c_from.push_back(node._record.c_node if is_pred else self._record.c_node)
        c_to.push_back(self._record.c_node if is_pred else node._record.c_node)
    try:
        write_edges(self._graph.c_graph, c_from, c_to, is_added)
    except cuda_utils.CUDAError as error:
        if not is_added:
            explain_removal(error)
        elif error.code == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
            explain(error, f"an edge of {self!r} cannot be added; edges must not form a cycle")
        raise
    return 0


cdef int explain_removal(object error) except -1:
    explain(error, "nodes and edges of a graph that allocates or frees memory cannot be removed")
    return 0


# New edges are added before old ones are removed, so that a failure leaves the old ones.
cdef int replace_edges(GraphNode self, object nodes, bint is_pred) except -1:
    wanted = unique_nodes([nodes])
    check_nodes(self, wanted)
    present = self._neighbors(is_pred)
    change_edges(self, [node for node in wanted if node not in present], is_pred, True)
    change_edges(self, [node for node in present if node not in wanted], is_pred, False)
    return 0
