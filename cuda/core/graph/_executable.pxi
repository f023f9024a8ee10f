# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Executable graphs and their nodes."""

cimport cython
from libc.stdint cimport intptr_t, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport (
    CaptureModeScope,
    DriverObject,
    GraphExecField,
    GraphExecHandle,
    Anchor,
    AnchorList,
    GraphExecPin,
    StreamPin,
    address,
    bindings_object,
    refuse_closed,
    refuse_pickle,
    relax_capture_mode,
    stream_captures,
)
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, check_or_create_options

from cuda.core._code._loading import explain
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.late import LateModule
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.variables import is_switched_on
from cuda.core.graph._options import GraphCompleteOptions


_launch_observers = LateModule("cuda.core._launch_observers")

cdef bint waits_for_launches = is_switched_on("CUDA_CORE_DEBUG")


cdef class Graph(DriverObject):
    """An executable graph (``CUgraphExec``).

    Executables come from :meth:`GraphDefinition.instantiate` and :meth:`GraphBuilder.complete`. Launches of one
    executable never overlap: the driver runs each after the previous one, even on other streams.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> builder = device.create_graph_builder().begin_building()
    >>> calls = []
    >>> builder.callback(lambda: calls.append("run"))
    >>> with builder.end_building().complete() as graph:
    ...     graph.launch(stream)
    ...     graph.launch(stream)
    ...     stream.sync()
    >>> calls
    ['run', 'run']
    """

    cdef:
        GraphExecField _h_exec
        ExecutableOperands _operands    # None when closed

    _made_by = "GraphDefinition.instantiate() or GraphBuilder.complete()"

    def __getitem__(self, node: GraphNode) -> ExecutableGraphNode:
        """Return a view of a node in this executable, to change its parameters for later launches.

        Parameters
        ----------
        node : :class:`GraphNode`
            A node of the instantiated graph.

        Raises
        ------
        TypeError
            If ``node`` is not a :class:`GraphNode`, or has a type whose parameters cannot be changed in an executable:
            empty, allocation, free and conditional nodes.
        RuntimeError
            If the node is destroyed, or this executable is closed.
        """
        cdef GraphExecPin executable
        cdef ExecutableOperands operands = operands_of(self)
        Graph_pin(self, &executable)
        return ExecutableGraphNode_create(executable.handle(), operands, node)

    def launch(self, stream: Stream) -> None:
        """Enqueue a launch of the graph (``cuGraphLaunch``).

        Parameters
        ----------
        stream : :class:`~cuda.core.Stream`
            The stream to launch on.

        Raises
        ------
        TypeError
            If ``stream`` is not a :class:`~cuda.core.Stream`.
        RuntimeError
            If the graph or the stream is closed, or the stream is capturing (the capture stays valid); to add a graph
            to a capture, use :meth:`GraphBuilder.embed`.
        CUDAError
            If the driver rejects the launch, for example because memory that an earlier launch allocated was not freed.
        """
        cdef GraphExecPin executable
        cdef StreamPin stream_pin
        cdef ExecutableOperands operands = operands_of(self)
        cdef cydriver.CUresult err
        pin_both(self, stream, &executable, &stream_pin)
        if operands is not None and operands.is_used:
            ExecutableOperands_launch(operands, stream_pin)
        with nogil:
            err = cydriver.cuGraphLaunch(executable.get(), stream_pin.get())
        if err != cydriver.CUresult.CUDA_SUCCESS:
            raise_of_launch(err)
        if waits_for_launches:
            _launch_observers.wait_for_graph(self, stream)

    def upload(self, stream: Stream) -> None:
        """Upload the graph to the device before its first launch (``cuGraphUpload``).

        Parameters
        ----------
        stream : :class:`~cuda.core.Stream`
            The stream to upload on.

        Raises
        ------
        TypeError
            If ``stream`` is not a :class:`~cuda.core.Stream`.
        RuntimeError
            If the graph or the stream is closed, or the stream is capturing.
        """
        cdef GraphExecPin executable
        cdef StreamPin stream_pin
        pin_both(self, stream, &executable, &stream_pin)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphUpload(executable.get(), stream_pin.get()), b"cuGraphUpload")

    def update(self, source: GraphBuilder | GraphDefinition) -> None:
        """Update the parameters of all nodes from a graph of the same topology (``cuGraphExecUpdate``).

        Parameters
        ----------
        source : :class:`GraphBuilder` | :class:`GraphDefinition`
            The graph with the new parameters; a builder must have ended its capture.

        Raises
        ------
        TypeError
            If ``source`` is neither a builder nor a definition.
        ValueError
            If ``source`` is a builder that has not ended its capture.
        RuntimeError
            If this executable or ``source`` is closed.
        CUDAError
            If the graphs differ in more than parameters; the message names the difference. The executable is then
            unchanged.
        """
        cdef GraphExecPin executable
        cdef ExecutableOperands operands
        Graph_pin(self, &executable)
        if not hasattr(type(source), "_graph_source"):
            raise TypeError(f"source must be a GraphBuilder or a GraphDefinition, not {type(source).__name__}")
        operands = operands_of(self)
        tree, graph = source._graph_source()
        Graph_update(executable.get(), <GraphTree?>tree, <GraphRecord?>graph)
        if operands is not None:
            operands.source_changes = (<GraphTree>tree).change_count if is_source(operands, graph) else -1
            ExecutableOperands_clear(operands)

    @property
    def handle(self):
        """The ``driver.CUgraphExec``, null when closed."""
        return bindings_object("CUgraphExec", self._address())

    @property
    def id(self) -> int:
        """The number of the executable graph in this process (``cuGraphExecGetId``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        RuntimeError
            If the graph is closed.

        Examples
        --------
        >>> from cuda.core.graph import GraphDefinition
        >>> definition = GraphDefinition()
        >>> definition.instantiate().id != definition.instantiate().id
        True
        """
        cdef GraphExecPin executable
        cdef unsigned int c_id = 0
        Graph_pin(self, &executable)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphExecGetId(executable.get(), &c_id), b"cuGraphExecGetId")
        return c_id

    cdef intptr_t _address(self) noexcept:
        return address(self._h_exec)

    cdef void _release(self) noexcept:
        self._operands = None
        self._h_exec.reset()


# Holds a reference to the executable for a call; RuntimeError if the object is closed.
cdef inline int Graph_pin(Graph self, GraphExecPin* pin) except -1:
    return 0 if pin.hold(self._h_exec) else refuse_closed(self)


cdef bint is_source(ExecutableOperands operands, GraphRecord graph) noexcept:
    return <uintptr_t>graph.c_graph == operands.source


cdef inline ExecutableOperands operands_of(Graph self):
    with cython.critical_section(self):
        return self._operands


cdef inline int pin_both(Graph self, object stream, GraphExecPin* executable, StreamPin* stream_pin) except -1:
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    Graph_pin(self, executable)
    Stream_pin(<Stream>stream, stream_pin)
    # Checked before the call, because a launch that the driver rejects would invalidate the capture.
    if stream_captures(stream_pin.get()):
        raise RuntimeError(NO_CAPTURE)
    return 0


cdef int raise_of_launch(cydriver.CUresult err) except -1:
    try:
        HANDLE_RETURN(err, b"cuGraphLaunch")
    except CUDAError as error:
        if err == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
            explain(error, STILL_ALLOCATED)
        raise
    return 0


STILL_ALLOCATED = (
    "a graph that allocates memory and does not free it can be launched again only after that memory is freed, or if "
    "it was instantiated with auto_free_on_launch"
)
NO_CAPTURE = (
    "stream must not be capturing: an executable graph cannot be captured; embed the graph that it was instantiated "
    "from with GraphBuilder.embed() or GraphDefinition.embed()"
)


# Instantiates one graph of a tree; `options` is the argument of GraphDefinition.instantiate().
cdef Graph Graph_instantiate(GraphTree tree, GraphRecord graph, object options):
    cdef Graph self = Graph.__new__(Graph)
    cdef cydriver.CUgraphExec c_exec = NULL
    cdef cydriver.CUDA_GRAPH_INSTANTIATE_PARAMS params
    cdef cydriver.CUgraph c_graph
    cdef cydriver.CUresult err
    cdef StreamPin upload
    cdef GraphLock lock
    options = check_or_create_options(GraphCompleteOptions, options, "options")
    memset(&params, 0, sizeof(params))
    if options.auto_free_on_launch:
        params.flags |= cydriver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    if options.device_launch:
        params.flags |= cydriver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
    if options.use_node_priority:
        params.flags |= cydriver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
    if options.upload_stream is not None:
        params.flags |= cydriver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
        Stream_pin(Stream_accept(options.upload_stream), &upload)
        params.hUploadStream = upload.get()
    lock_graphs(lock)
    check_alive(graph)
    c_graph = graph.c_graph
    with nogil:
        err = cydriver.cuGraphInstantiateWithParams(&c_exec, c_graph, &params)
    if err != cydriver.CUresult.CUDA_SUCCESS or params.result_out != 0:
        raise_rejection(err, params, tree, graph)
    # Anchored by the handle, so they are released after the executable is destroyed.
    operands = ExecutableOperands()
    operands.source = <uintptr_t>c_graph
    operands.source_changes = tree.change_count
    self._operands = operands
    self._h_exec.set(GraphExecHandle.own(c_exec, &destroy_exec, Anchor.of_object(<PyObject*>operands)))
    return self


cdef void destroy_exec(cydriver.CUgraphExec c_exec) noexcept nogil:
    # The driver also uses the graph that the executable was instantiated from.
    cdef GraphLock lock
    cdef CaptureModeScope mode
    if lock.take_to_destroy():
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuGraphExecDestroy(c_exec), b"cuGraphExecDestroy", c_exec)


# Why the driver does not instantiate a graph, and what to do.
cdef dict REASONS = {
    cydriver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
        "its structure is invalid, such as a cycle of edges",
    cydriver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        "a node's operation is not supported in a graph for device launch",
    cydriver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
        "its nodes belong to several contexts, and a graph for device launch must have one",
    cydriver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
        "no conditional node uses one of its conditions; use the condition or do not create it",
}


cdef int raise_rejection(
    cydriver.CUresult err, const cydriver.CUDA_GRAPH_INSTANTIATE_PARAMS& params, GraphTree tree, GraphRecord graph
) except -1:
    reason = REASONS.get(<int>params.result_out)
    where = "" if params.hErrNode_out == NULL else f" ({node_text(tree, graph, params.hErrNode_out)})"
    if params.result_out == cydriver.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        # The device also launches bodies. The driver might name the conditional node instead of the node in its body.
        found = find_rejected_in_body(tree, graph, False)
        if found is not None:
            reason, where = f"{found!r} is in the body of a conditional node, which {IN_BODIES}", ""
    if reason is not None:
        raise RuntimeError(f"the graph cannot be instantiated: {reason}{where}")
    try:
        HANDLE_RETURN(
            err if err != cydriver.CUresult.CUDA_SUCCESS else cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
            b"cuGraphInstantiateWithParams",
        )
    except CUDAError as error:
        if err == cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED and (
            params.flags & cydriver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
        ):
            explain(error, "device_launch: kernels cannot launch graphs on this device")
        elif where:
            explain(error, f"the driver rejects a node{where}")
        elif graph is not tree.root:
            explain(error, "a child graph or the body of a conditional node cannot be instantiated by itself")
        elif is_instantiated_once(tree, graph):
            explain(error, ONE_AT_A_TIME)
        raise
    return 0


ONE_AT_A_TIME = (
    "a graph with allocation, free or conditional nodes can have one executable at a time; close the existing one first"
)


cdef bint is_instantiated_once(GraphTree tree, GraphRecord graph) except -1:
    cdef GraphNode node
    for node in nodes_of(tree, graph):
        if node._record.c_type in (
            cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE,
            cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ):
            return True
    return False


IN_BODIES = "can have only kernel, memcpy, memset, child graph, empty and conditional nodes"
cdef frozenset FOR_BODIES = frozenset((
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL,
))


# The first node in a body, or in a child graph of one, whose type the driver does not support there.
cdef GraphNode find_rejected_in_body(GraphTree tree, GraphRecord graph, bint is_body):
    cdef GraphNode node
    cdef GraphRecord child
    for node in nodes_of(tree, graph):
        if is_body and <int>node._record.c_type not in FOR_BODIES:
            return node
        is_inside = is_body or node._record.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        for child in node._record.children or ():
            found = find_rejected_in_body(tree, child, is_inside)
            if found is not None:
                return found
    return None


cdef list nodes_of(GraphTree tree, GraphRecord graph):
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef size_t i
    read_nodes(graph, c_nodes)
    return [GraphNode_wrap(tree, graph, GraphRecord_node(graph, c_nodes[i])) for i in range(c_nodes.size())]


# The repr of a node of the graph, or of a graph below it, for a message.
cdef str node_text(GraphTree tree, GraphRecord graph, cydriver.CUgraphNode c_node):
    cdef GraphNode node
    cdef GraphRecord child
    for node in nodes_of(tree, graph):
        if node._record.c_node == c_node:
            return repr(node)
        for child in node._record.children or ():
            text = node_text(tree, child, c_node)
            if text.startswith("<"):
                return text
    return f"node {<uintptr_t>c_node:#x}"


# The caller keeps the executable; the reference to `tree` keeps `graph` alive during the call.
cdef int Graph_update(cydriver.CUgraphExec c_exec, GraphTree tree, GraphRecord graph) except -1:
    cdef cydriver.CUgraphExecUpdateResultInfo info
    cdef cydriver.CUresult err
    cdef cydriver.CUgraph c_graph
    cdef GraphLock lock
    lock_graphs(lock)
    check_alive(graph)
    c_graph = graph.c_graph
    memset(&info, 0, sizeof(info))
    with nogil:
        err = cydriver.cuGraphExecUpdate(c_exec, c_graph, &info)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    try:
        HANDLE_RETURN(err, b"cuGraphExecUpdate")
    except CUDAError as error:
        reason = UPDATE_REASONS.get(<int>info.result)
        if reason is not None:
            where = f" (node {<uintptr_t>info.errorNode:#x} of the source)" if info.errorNode != NULL else ""
            explain(error, f"the graphs do not match: {reason}{where}")
        raise
    return 0


cdef dict UPDATE_REASONS = {
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED: "the topology differs",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED: "a node has another type",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
        "a node has another kernel, which this driver cannot update",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
        "a parameter differs that cannot be updated",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
        "something about a node cannot be updated",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
        "a node has another kernel, which cannot replace the previous one",
    cydriver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
        "an attribute of a node differs that cannot be updated",
}


# --- Nodes of executables -------------------------------------------------------------------------

cdef class ExecutableGraphNode:
    """A node of one executable :class:`Graph`, returned by ``graph[node]``.

    Changes apply to later launches of that executable only. The executable keeps the new operands of the node alive.
    This object keeps the executable alive, even after the :class:`Graph` is closed.
    """

    cdef:
        object __weakref__
        GraphExecHandle _h_exec         # set once
        ExecutableOperands _operands
        GraphNode _node

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use graph[node]."""
        raise RuntimeError(f"{type(self).__name__} cannot be constructed directly; use graph[node]")

    def __repr__(self):
        return (
            f"<{type(self).__name__} graph={<uintptr_t>self._h_exec.get():#x} node={node_address(self._node):#x}>"
        )

    def __reduce__(self):
        refuse_pickle(self)


cdef class SwitchableNode(ExecutableGraphNode):
    """A node of an executable that can be disabled."""

    def enable(self) -> None:
        """Enable the node for later launches (``cuGraphNodeSetEnabled``)."""
        set_enabled(self, True)

    def disable(self) -> None:
        """Disable the node for later launches, so that it acts as an empty node (``cuGraphNodeSetEnabled``)."""
        set_enabled(self, False)

    @property
    def is_enabled(self) -> bool:
        """Whether the node is enabled (``cuGraphNodeGetEnabled``)."""
        cdef unsigned int c_enabled = 0
        cdef GraphLock lock
        lock_graphs(lock)
        GraphNode_check(self._node)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetEnabled(self._h_exec.get(), self._node._record.c_node, &c_enabled),
                b"cuGraphNodeGetEnabled",
            )
        return c_enabled != 0


cdef class ExecutableKernelNode(SwitchableNode):
    """A kernel node of an executable.

    Examples
    --------
    >>> from cuda.core import Device, LaunchConfig, Program
    >>> from cuda.core.graph import GraphDefinition
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> source = 'extern "C" __global__ void set(int* x, int value) { *x = value; }'
    >>> kernel, config = Program(source, "c++").compile("cubin").get_kernel("set"), LaunchConfig(grid=1, block=1)
    >>> x = device.allocate(4, stream=stream)
    >>> definition = GraphDefinition()
    >>> node = definition.launch(config, kernel, x, 1)
    >>> graph = definition.instantiate()
    >>> graph[node].update(config=config, kernel=kernel, args=(x, 2))
    >>> graph.launch(stream)
    >>> stream.sync()
    """

    cdef:
        Kernel _kernel              # the kernel of the last update, if its arguments need no references
        uint64_t _change_count      # of the operands after that update
        LaunchConfig _config        # a copy of the configuration of that update

    def update(self, *, config: LaunchConfig | None = None, kernel: Kernel | None = None, args) -> None:
        """Change the kernel launch of the node (``cuGraphExecNodeSetParams``).

        Parameters
        ----------
        config : :class:`~cuda.core.LaunchConfig`, optional
            The grid, the blocks and the dynamic shared memory. If None, they stay.
        kernel : :class:`~cuda.core.Kernel`, optional
            The kernel. If None, it stays.
        args : iterable
            All kernel arguments, as :meth:`GraphNode.launch` takes them; ``()`` for none.

        Raises
        ------
        ValueError
            If ``config`` or ``kernel`` is None, but unknown: the driver does not report it, and a node of the graph has
            changed since the executable was instantiated or updated from it, or another graph has updated it.
        TypeError, NotImplementedError
            As in :meth:`GraphNode.launch`.
        RuntimeError
            If the node is destroyed.
        CUDAError
            If the driver rejects the change, for example because the executable was instantiated from another graph.
        """
        cdef tuple arguments = tuple(args)
        if config is None or kernel is None:
            last_config, last_kernel = last_launch(self)
            config = last_config if config is None else config
            kernel = last_kernel if kernel is None else kernel
        if isinstance(config, LaunchConfig) and (<LaunchConfig>config)._native.numAttrs:
            raise NotImplementedError("config must not have launch attributes: an executable keeps those of its nodes")
        GraphNode_check(self._node)
        # The common case: the executable already keeps everything that the node needs.
        if kernel is self._kernel and self._operands.change_count == self._change_count and is_plain(arguments):
            change_kernel(self, config, arguments)
            if not is_same_shape(self._config._native, (<LaunchConfig>config)._native):
                keep_launch(self, config, kernel)
            return
        change(self, KernelValues_create(config, kernel, arguments))
        keep_launch(self, config, kernel)
        self._kernel = kernel if is_plain(arguments) else None
        self._change_count = self._operands.change_count


# The configuration and the kernel that the node has in the executable.
cdef tuple last_launch(ExecutableKernelNode self):
    known = self._operands.launches.get(node_address(self._node))
    if known is not None:
        return known
    GraphNode_check(self._node)
    if self._operands.source_changes != self._node._tree.change_count:
        raise ValueError("the node's launch in the executable is unknown after other changes; pass config and kernel")
    return self._node.config, self._node.kernel


# The configuration is copied, because programs may change it.
cdef int keep_launch(ExecutableKernelNode self, LaunchConfig config, Kernel kernel) except -1:
    cdef LaunchConfig last
    address = node_address(self._node)
    known = self._operands.launches.get(address)
    if known is not None and known[1] is kernel:
        last = known[0]
        if is_same_shape(last._native, config._native):
            self._config = last
            return 0
    self._config = LaunchConfig(grid=config.grid, block=config.block, shmem_size=config.shmem_size)
    self._operands.launches[address] = (self._config, kernel)
    return 0


cdef bint is_same_shape(const cydriver.CUlaunchConfig& a, const cydriver.CUlaunchConfig& b) noexcept:
    return (
        a.gridDimX == b.gridDimX and a.gridDimY == b.gridDimY and a.gridDimZ == b.gridDimZ
        and a.blockDimX == b.blockDimX and a.blockDimY == b.blockDimY and a.blockDimZ == b.blockDimZ
        and a.sharedMemBytes == b.sharedMemBytes
    )


cdef class ExecutableMemsetNode(SwitchableNode):
    """A memset node of an executable."""

    def update(self, *, dst: Buffer | int, value, width: int, height: int = 1, pitch: int = 0) -> None:
        """Change the memset (``cuGraphExecNodeSetParams``), with arguments as in :meth:`GraphNode.memset`."""
        GraphNode_check(self._node)
        change(self, MemsetValues_create(Operand_create("dst", dst, None), value, width, height, pitch))


cdef class ExecutableMemcpyNode(SwitchableNode):
    """A memcpy node of an executable."""

    def update(self, *, dst: Buffer | int, src: Buffer | int, size: int) -> None:
        """Change the copy (``cuGraphExecNodeSetParams``), with arguments as in :meth:`GraphNode.memcpy`."""
        GraphNode_check(self._node)
        change(
            self, MemcpyValues_create(Operand_create("dst", dst, None), Operand_create("src", src, None), size)
        )


cdef class ExecutableChildGraphNode(ExecutableGraphNode):
    """A child graph node of an executable."""

    def update(self, child: GraphDefinition) -> None:
        """Update the parameters of all nodes of the child graph (``cuGraphExecNodeSetParams``).

        Parameters
        ----------
        child : :class:`GraphDefinition`
            A graph of the same topology with the new parameters.

        Raises
        ------
        TypeError
            If ``child`` is not a :class:`GraphDefinition`.
        RuntimeError
            If ``child`` or the node is destroyed.
        CUDAError
            If the graphs differ in more than parameters.
        """
        GraphNode_check(self._node)
        values = ChildValues_create(child, None)
        (<NodeValues>values).check_place(self._node._graph)
        change(self, values)
        self._operands.source_changes = -1  # the nodes of the child have other parameters now
        self._operands.launches = {}


cdef class ExecutableEventNode(ExecutableGraphNode):
    """Base class of event record nodes and event wait nodes of executables."""

    def update(self, event: Event) -> None:
        """Change the event (``cuGraphExecNodeSetParams``)."""
        GraphNode_check(self._node)
        is_record = self._node._record.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD
        change(self, EventValues_create(event, is_record))


cdef class ExecutableEventRecordNode(ExecutableEventNode):
    """An event record node of an executable."""


cdef class ExecutableEventWaitNode(ExecutableEventNode):
    """An event wait node of an executable."""


cdef class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host node of an executable."""

    def update(self, fn, *, user_data=None) -> None:
        """Change the function (``cuGraphExecNodeSetParams``), with arguments as in :meth:`GraphNode.callback`."""
        GraphNode_check(self._node)
        where = f"the executable graph {<uintptr_t>self._h_exec.get():#x}"
        change(self, HostValues_create(fn, user_data, where))


cdef dict _executable_classes = {
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL: ExecutableKernelNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET: ExecutableMemsetNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY: ExecutableMemcpyNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH: ExecutableChildGraphNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD: ExecutableEventRecordNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT: ExecutableEventWaitNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST: ExecutableHostCallbackNode,
}


# The view of a node in an executable; TypeError if its parameters cannot be changed there.
cdef ExecutableGraphNode ExecutableGraphNode_create(
    const GraphExecHandle& h_exec, ExecutableOperands operands, object node
):
    cdef ExecutableGraphNode self
    cdef GraphNode c_node
    cdef GraphExecHandle h_kept = h_exec
    if not isinstance(node, GraphNode):
        raise TypeError(f"a Graph must be indexed by a GraphNode, not {type(node).__name__}")
    c_node = node
    GraphNode_check(c_node)
    kind = None if c_node._record is None else _executable_classes.get(<int>c_node._record.c_type)
    if kind is None:
        raise TypeError(f"{node!r} has a type whose parameters cannot be changed in an executable graph")
    self = kind.__new__(kind)
    self._h_exec = h_kept
    self._operands = operands
    self._node = c_node
    return self


cdef int change_kernel(ExecutableKernelNode self, object config, tuple arguments) except -1:
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self._node)
    change_kernel_in(self._h_exec.get(), self._node._record.c_node, config, self._kernel, arguments)
    return 0


cdef int change(ExecutableGraphNode self, NodeValues values) except -1:
    cdef AnchorList* anchors
    cdef GraphLock lock
    values.prepare()
    lock_graphs(lock)
    GraphNode_check(self._node)
    try:
        values.change_in(self._h_exec.get(), self._node._record.c_node)
    except CUDAError as error:
        if error.code == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
            explain(
                error,
                f"{self._node!r} must belong to the graph that the executable was instantiated from, and a memcpy or "
                "memset node must keep its kind of memory",
            )
        raise
    anchors = values.anchors
    values.anchors = NULL
    return ExecutableOperands_exchange(self._operands, node_address(self._node), anchors)


cdef int set_enabled(ExecutableGraphNode self, unsigned int is_enabled) except -1:
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self._node)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphNodeSetEnabled(self._h_exec.get(), self._node._record.c_node, is_enabled),
            b"cuGraphNodeSetEnabled",
        )
    return 0
