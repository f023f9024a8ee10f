# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes of executables (ExecutableGraphNode): parameter changes for later launches of one executable."""

from __future__ import annotations

from libc.stdint cimport uint64_t, uintptr_t

from cuda.core._handles._driver_object cimport refuse_pickle
from cuda.core._handles._handles cimport GraphExecHandle, KeepList
from cuda.core._module cimport Kernel
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._graph_node cimport GraphNode, GraphNode_check, node_address
from cuda.core.graph._parameters._child_values cimport ChildValues_create
from cuda.core.graph._parameters._event_values cimport EventValues_create
from cuda.core.graph._parameters._host_callback cimport HostValues_create
from cuda.core.graph._parameters._kernel_values cimport KernelValues_create, change_kernel_in, is_plain
from cuda.core.graph._parameters._memory_values cimport MemcpyValues_create, MemsetValues_create, Operand_create
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._executable_operands cimport ExecutableOperands, ExecutableOperands_exchange
from cuda.core.graph._state._graph_state cimport GraphLock, lock_graphs

from cuda.core._code._loading import explain
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.signatures import ConstructorSignature

__all__ = [
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
]


cdef class ExecutableGraphNode:
    """A node of one executable :class:`Graph`, returned by ``graph[node]``.

    Changes apply to later launches of that executable only. The executable keeps the new operands of the node alive.
    This object keeps the executable alive, even when the :class:`Graph` is closed.
    """

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
        """Disable the node for later launches, in which it acts as an empty node (``cuGraphNodeSetEnabled``)."""
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
    """A kernel node of an executable."""

    cdef:
        Kernel _kernel              # the kernel of the last update, if its arguments need no references
        uint64_t _change_count      # of the operands after that update

    def update(self, *, config: LaunchConfig, kernel: Kernel, args) -> None:
        """Change the kernel launch of the node (``cuGraphExecKernelNodeSetParams``).

        Parameters
        ----------
        config : :class:`~cuda.core.LaunchConfig`
            The grid, the blocks and the dynamic shared memory.
        kernel : :class:`~cuda.core.Kernel`
            The kernel.
        args : iterable
            All kernel arguments, as :meth:`GraphNode.launch` takes them; ``()`` for none.

        Raises
        ------
        TypeError, NotImplementedError
            As in :meth:`GraphNode.launch`.
        RuntimeError
            If the node is destroyed.
        CUDAError
            If the driver refuses, for example because the executable was instantiated from another graph.
        """
        cdef tuple arguments = tuple(args)
        GraphNode_check(self._node)
        # The common case: the executable already keeps everything that the node needs.
        if kernel is self._kernel and self._operands.change_count == self._change_count and is_plain(arguments):
            change_kernel(self, config, arguments)
            return
        change(self, KernelValues_create(config, kernel, arguments))
        self._kernel = kernel if is_plain(arguments) else None
        self._change_count = self._operands.change_count


cdef class ExecutableMemsetNode(SwitchableNode):
    """A memset node of an executable."""

    def update(self, *, dst: Buffer | int, value, width: int, height: int = 1, pitch: int = 0) -> None:
        """Change the memset (``cuGraphExecMemsetNodeSetParams``); the arguments are those of :meth:`GraphNode.memset`.
        """
        GraphNode_check(self._node)
        change(self, MemsetValues_create(Operand_create("dst", dst, None), value, width, height, pitch))


cdef class ExecutableMemcpyNode(SwitchableNode):
    """A memcpy node of an executable."""

    def update(self, *, dst: Buffer | int, src: Buffer | int, size: int) -> None:
        """Change the copy (``cuGraphExecMemcpyNodeSetParams``); the arguments are those of :meth:`GraphNode.memcpy`."""
        GraphNode_check(self._node)
        change(
            self, MemcpyValues_create(Operand_create("dst", dst, None), Operand_create("src", src, None), size)
        )


cdef class ExecutableChildGraphNode(ExecutableGraphNode):
    """A child graph node of an executable."""

    def update(self, child: GraphDefinition) -> None:
        """Update the parameters of all nodes of the child graph (``cuGraphExecChildGraphNodeSetParams``).

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


cdef class ExecutableEventNode(ExecutableGraphNode):
    """Base class of event record nodes and event wait nodes of executables."""

    def update(self, event: Event) -> None:
        """Change the event (``cuGraphExecEventRecordNodeSetEvent``, ``cuGraphExecEventWaitNodeSetEvent``)."""
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
        """Change the function (``cuGraphExecHostNodeSetParams``).

        The arguments are those of :meth:`GraphNode.callback`.
        """
        GraphNode_check(self._node)
        where = f"the executable graph {<uintptr_t>self._h_exec.get():#x}"
        change(self, HostValues_create(fn, user_data, where))


cdef dict _classes = {
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL: ExecutableKernelNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET: ExecutableMemsetNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY: ExecutableMemcpyNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH: ExecutableChildGraphNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD: ExecutableEventRecordNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT: ExecutableEventWaitNode,
    <int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST: ExecutableHostCallbackNode,
}


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
    kind = None if c_node._record is None else _classes.get(<int>c_node._record.c_type)
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
    cdef KeepList* keeps
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
    keeps = values.keeps
    values.keeps = NULL
    return ExecutableOperands_exchange(self._operands, node_address(self._node), keeps)


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


make_hasattr_safe(SwitchableNode)
