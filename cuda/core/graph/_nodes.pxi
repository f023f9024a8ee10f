# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The kinds of graph nodes."""

cimport cython
from libc.limits cimport INT_MAX, INT_MIN
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._module cimport Kernel_create
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import operator

from cuda.core._utils import slots
from cuda.core._utils.enums import ACCESS_PROPERTY
from cuda.core._utils.validators import list_argument, shown
from cuda.core.graph._options import AccessPolicyWindow
from cuda.core.typing import GraphConditionalType


cdef class ConditionalNode(GraphNode):
    """A conditional node. Nodes of this class itself have a type that the driver does not report."""

    cdef tuple _branches

    @property
    def condition(self) -> GraphCondition | None:
        """The condition, or None if the driver does not report it."""
        return (<ConditionalValues>GraphNode_values(self)).condition

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """The type, or None if the driver does not report it."""
        return kind_of(GraphNode_values(self))

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """The bodies, where you add nodes. Every access returns the same objects."""
        if self._branches is None:
            GraphNode_values(self)
            branches = tuple([slots.get("graph definition")(self._tree, c) for c in self._record.children or ()])
            with cython.critical_section(self):
                if self._branches is None:
                    self._branches = branches
        return self._branches

    def _details(self):
        if type(self) is ConditionalNode:
            return ""
        return f" condition={self.condition.handle:#x}"

    cdef NodeValues _read(self):
        return read_values(self)


cdef class IfNode(ConditionalNode):
    """A conditional node whose body runs if the condition is not zero."""

    @property
    def then(self) -> GraphDefinition:
        """The body, where you add nodes."""
        return self.branches[0]


cdef class IfElseNode(ConditionalNode):
    """A conditional node with a body for a condition that is not zero, and one for zero."""

    @property
    def then(self) -> GraphDefinition:
        """The body that runs if the condition is not zero."""
        return self.branches[0]

    @property
    def else_(self) -> GraphDefinition:
        """The body that runs if the condition is zero."""
        return self.branches[1]


cdef class WhileNode(ConditionalNode):
    """A conditional node whose body runs repeatedly while the condition is not zero."""

    @property
    def body(self) -> GraphDefinition:
        """The body, where you add nodes."""
        return self.branches[0]


cdef class SwitchNode(ConditionalNode):
    """A conditional node with several bodies, whose condition is the index of the body that runs."""


cdef dict KINDS = {
    <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF: GraphConditionalType("if"),
    <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE: GraphConditionalType("while"),
    <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH: GraphConditionalType("switch"),
}


# None if the driver does not report it.
cdef object kind_of(ConditionalValues values):
    return None if values.condition is None else KINDS.get(<int>values.params.conditional.type)


cdef ConditionalValues read_values(ConditionalNode self):
    cdef ConditionalValues values = ConditionalValues_read(self._record.c_node)
    values.update_record(self._graph, self._record)
    return values


def class_of(NodeRecord record):
    """Return the class of a conditional node, by its type and its number of bodies."""
    cdef ConditionalValues values = record.values
    if values is None:
        values = ConditionalValues_read(record.c_node)
    kind = kind_of(values)
    if kind == GraphConditionalType("if"):
        return IfElseNode if values.params.conditional.size == 2 else IfNode
    if kind == GraphConditionalType("while"):
        return WhileNode
    return ConditionalNode if kind is None else SwitchNode


cdef class KernelNode(GraphNode):
    """A kernel node.

    Examples
    --------
    >>> from cuda.core import Device, LaunchConfig, Program
    >>> from cuda.core.graph import GraphDefinition
    >>> device = Device()
    >>> device.set_current()
    >>> kernel = Program('extern "C" __global__ void f() {}', "c++").compile("cubin").get_kernel("f")
    >>> node = GraphDefinition().launch(LaunchConfig(grid=2, block=32), kernel)
    >>> node.config.grid
    (2, 1, 1)
    """

    def update(self, *, config: LaunchConfig | None = None, kernel: Kernel | None = None, args=None) -> None:
        """Change the kernel launch of the node (``cuGraphNodeSetParams``). Existing executables do not change.

        Parameters
        ----------
        config : :class:`~cuda.core.LaunchConfig`, optional
            The new configuration. If None, it stays. Launch attributes that it does not have stay as well.
        kernel : :class:`~cuda.core.Kernel`, optional
            The new kernel, which needs ``args``. If None, it stays.
        args : iterable, optional
            All kernel arguments, ``()`` for none. If None, they stay.

        Raises
        ------
        ValueError
            If ``kernel`` is given without ``args``.
        TypeError, NotImplementedError
            As in :meth:`GraphNode.launch`.
        RuntimeError
            If the node is destroyed.
        """
        GraphNode_check(self)
        if kernel is not None and args is None:
            raise ValueError("a new kernel needs args; use () for none")
        if config is None and args is None:
            return
        cdef KernelValues values = GraphNode_values(self)
        if args is not None:
            args = tuple(list_argument("args", args, "an iterable of arguments, () for none"))
            GraphNode_change(
                self,
                KernelValues_create(
                    self.config if config is None else config, self.kernel if kernel is None else kernel, args
                ),
            )
        else:
            KernelValues_reconfigure(self, values, config)
        if config is not None:
            set_launch_attributes(self, config)

    @property
    def grid(self) -> tuple[int, int, int]:
        """The number of blocks in each dimension of the grid."""
        cdef KernelValues values = GraphNode_values(self)
        return (values.params.kernel.gridDimX, values.params.kernel.gridDimY, values.params.kernel.gridDimZ)

    @property
    def block(self) -> tuple[int, int, int]:
        """The number of threads in each dimension of a block."""
        cdef KernelValues values = GraphNode_values(self)
        return (values.params.kernel.blockDimX, values.params.kernel.blockDimY, values.params.kernel.blockDimZ)

    @property
    def shmem_size(self) -> int:
        """The dynamic shared memory per block, in bytes."""
        return (<KernelValues>GraphNode_values(self)).params.kernel.sharedMemBytes

    @property
    def kernel(self) -> Kernel:
        """The kernel: a new but equal object on every access."""
        cdef KernelValues values = GraphNode_values(self)
        if values.kernel is None:
            return Kernel_create(values.h_kernel, "")
        return Kernel_create(values.h_kernel, values.kernel._name, values.kernel._declarations)

    @property
    def config(self) -> LaunchConfig:
        """The grid, the blocks and the dynamic shared memory."""
        return LaunchConfig(grid=self.grid, block=self.block, shmem_size=self.shmem_size)

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """The number of blocks in each dimension of a cluster, or None if the launch has no clusters."""
        cdef cydriver.CUlaunchAttributeValue value = read_node_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        )
        if value.clusterDim.x == 0:
            return None
        return (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)

    @property
    def is_cooperative(self) -> bool:
        """Whether the launch is cooperative: all blocks are resident at the same time, so the grid can synchronize."""
        cdef cydriver.CUlaunchAttributeValue value = read_node_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        )
        return value.cooperative != 0

    @property
    def priority(self) -> int:
        """The priority, a number as for streams. It has an effect in graphs instantiated with ``use_node_priority``.

        Captured nodes have the priority of their stream. Assigning changes the node
        (``cuGraphKernelNodeSetAttribute``) and executables instantiated later; the driver clamps the value to the range
        of the device.

        Raises
        ------
        TypeError
            If the assigned value is not an int.
        OverflowError
            If it does not fit 32 bits.
        """
        cdef cydriver.CUlaunchAttributeValue value = read_node_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
        )
        return value.priority

    @priority.setter
    def priority(self, value: int):
        cdef cydriver.CUlaunchAttributeValue c_value
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"priority must be an int, not {type(value).__name__}") from None
        if not INT_MIN <= number <= INT_MAX:
            raise OverflowError(f"priority must fit 32 bits, not be {shown(number)}")
        memset(&c_value, 0, sizeof(c_value))
        c_value.priority = number
        write_attribute(self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY, &c_value)

    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """The L2 access policy window of the launch, or None if it has none.

        Assigning changes the node (``cuGraphKernelNodeSetAttribute``) and executables instantiated later.

        Raises
        ------
        TypeError
            If the assigned value is neither an :class:`AccessPolicyWindow` nor None.
        CUDAError
            If the driver rejects the window, for example because it exceeds the device's
            ``max_access_policy_window_size``.
        """
        cdef cydriver.CUlaunchAttributeValue value = read_node_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        )
        if value.accessPolicyWindow.num_bytes == 0:
            return None
        return AccessPolicyWindow(
            <uintptr_t>value.accessPolicyWindow.base_ptr,
            value.accessPolicyWindow.num_bytes,
            value.accessPolicyWindow.hitRatio,
            ACCESS_PROPERTY.from_driver(<int>value.accessPolicyWindow.hitProp),
            ACCESS_PROPERTY.from_driver(<int>value.accessPolicyWindow.missProp),
        )

    @access_policy_window.setter
    def access_policy_window(self, window: AccessPolicyWindow | None):
        cdef cydriver.CUlaunchAttributeValue c_value
        if window is not None and not isinstance(window, AccessPolicyWindow):
            raise TypeError(f"access_policy_window must be an AccessPolicyWindow or None, not {type(window).__name__}")
        if window is not None:
            AccessPolicyWindow._check(window)
        memset(&c_value, 0, sizeof(c_value))
        if window is not None:
            c_value.accessPolicyWindow.base_ptr = <void*><uintptr_t>window.base_ptr
            c_value.accessPolicyWindow.num_bytes = window.num_bytes
            c_value.accessPolicyWindow.hitRatio = window.hit_ratio
            c_value.accessPolicyWindow.hitProp = <cydriver.CUaccessProperty><int>ACCESS_PROPERTY.to_driver(window.hit)
            c_value.accessPolicyWindow.missProp = <cydriver.CUaccessProperty><int>ACCESS_PROPERTY.to_driver(window.miss)
        write_attribute(self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &c_value)

    def _details(self):
        return f" kernel={int(self.kernel.handle):#x}"

    cdef NodeValues _read(self):
        return KernelValues_read(self._record.c_node)


cdef cydriver.CUlaunchAttributeValue read_node_attribute(KernelNode self, cydriver.CUlaunchAttributeID c_id) except *:
    cdef cydriver.CUlaunchAttributeValue value
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    memset(&value, 0, sizeof(value))
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphKernelNodeGetAttribute(self._record.c_node, c_id, &value), b"cuGraphKernelNodeGetAttribute"
        )
    return value


cdef int write_attribute(
    KernelNode self, cydriver.CUlaunchAttributeID c_id, const cydriver.CUlaunchAttributeValue* c_value
) except -1:
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphKernelNodeSetAttribute(self._record.c_node, c_id, c_value),
            b"cuGraphKernelNodeSetAttribute",
        )
    return 0


# Changes the launch configuration only; the node keeps its arguments, and the references that they need.
cdef int KernelValues_reconfigure(KernelNode self, KernelValues old, object config) except -1:
    cdef KernelValues values
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    values = KernelValues_with_config(self._record.c_node, old, config)
    self._tree.change_count += 1
    values.change(self._record.c_node)
    NodeRecord_set_values(self._record, values)
    return 0


cdef class AllocNode(GraphNode):
    """An allocation node. Each launch allocates the memory at the same address."""

    @property
    def dptr(self) -> int:
        """The address of the allocation."""
        return (<AllocValues>GraphNode_values(self)).params.alloc.dptr

    @property
    def bytesize(self) -> int:
        """The size of the allocation in bytes."""
        return (<AllocValues>GraphNode_values(self)).params.alloc.bytesize

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return (<AllocValues>GraphNode_values(self)).params.alloc.poolProps.location.id

    @property
    def memory_type(self) -> str:
        """The kind of memory, a value of :class:`~cuda.core.typing.GraphMemoryType`."""
        return (<AllocValues>GraphNode_values(self)).memory_type

    @property
    def peer_access(self) -> tuple[int, ...]:
        """The ordinals of other devices that may access the memory."""
        return (<AllocValues>GraphNode_values(self)).peers

    def _details(self):
        return f" dptr={self.dptr:#x} size={self.bytesize}"

    cdef NodeValues _read(self):
        return AllocValues_read(self._record.c_node)


cdef class FreeNode(GraphNode):
    """A free node."""

    @property
    def dptr(self) -> int:
        """The address of the allocation to free."""
        return (<FreeValues>GraphNode_values(self)).params.free.dptr

    def _details(self):
        return f" dptr={self.dptr:#x}"

    cdef NodeValues _read(self):
        return FreeValues_read(self._record.c_node)


cdef class MemsetNode(GraphNode):
    """A memset node."""

    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        value=None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner=None,
    ) -> None:
        """Change the memset (``cuGraphMemsetNodeSetParams``).

        The arguments are as in :meth:`GraphNode.memset`. Parameters that are None stay as they are. Existing
        executables do not change.

        Raises
        ------
        ValueError
            If ``dst_owner`` is given without ``dst``. Other errors are as in :meth:`GraphNode.memset`.
        RuntimeError
            If the node is destroyed.
        """
        GraphNode_check(self)
        target = new_operand("dst", dst, dst_owner)
        if target is None and value is None and width is None and height is None and pitch is None:
            return
        GraphNode_change(self, MemsetValues_change(GraphNode_values(self), target, value, width, height, pitch))

    @property
    def dptr(self) -> int:
        """The address of the memory to fill."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.dst

    @property
    def value(self) -> int:
        """The element to write, as an unsigned integer."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.value

    @property
    def element_size(self) -> int:
        """The size of an element in bytes: 1, 2 or 4."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.elementSize

    @property
    def width(self) -> int:
        """The number of elements in a row."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.width

    @property
    def height(self) -> int:
        """The number of rows."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.height

    @property
    def pitch(self) -> int:
        """The distance between the starts of two rows, in bytes."""
        return (<MemsetValues>GraphNode_values(self)).params.memset.pitch

    def _details(self):
        return f" dptr={self.dptr:#x} value={self.value}"

    cdef NodeValues _read(self):
        return MemsetValues_read(self._record.c_node)


cdef class MemcpyNode(GraphNode):
    """A memcpy node."""

    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner=None,
        src_owner=None,
    ) -> None:
        """Change the copy (``cuGraphMemcpyNodeSetParams``).

        The arguments are as in :meth:`GraphNode.memcpy`. Parameters that are None stay as they are. Existing
        executables do not change.

        Raises
        ------
        ValueError
            If an owner is given without its address, or the copy has several rows or involves a CUDA array. Other
            errors are as in :meth:`GraphNode.memcpy`.
        RuntimeError
            If the node is destroyed.
        """
        GraphNode_check(self)
        target, source = new_operand("dst", dst, dst_owner), new_operand("src", src, src_owner)
        if target is None and source is None and size is None:
            return
        GraphNode_change(self, MemcpyValues_change(GraphNode_values(self), target, source, size))

    @property
    def dst(self) -> int:
        """The address of the destination."""
        return (<MemcpyValues>GraphNode_values(self)).dst.address

    @property
    def src(self) -> int:
        """The address of the source."""
        return (<MemcpyValues>GraphNode_values(self)).src.address

    @property
    def size(self) -> int:
        """The number of bytes."""
        return (<MemcpyValues>GraphNode_values(self)).size

    def _details(self):
        cdef cydriver.CUDA_MEMCPY3D copy = (<MemcpyValues>GraphNode_values(self)).params.memcpy.copyParams
        sides = [
            "H" if side == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST else "D"
            for side in (copy.dstMemoryType, copy.srcMemoryType)
        ]
        return f" dst={self.dst:#x}({sides[0]}) src={self.src:#x}({sides[1]}) size={self.size}"

    cdef NodeValues _read(self):
        return MemcpyValues_read(self._record.c_node)


cdef Operand new_operand(str name, object value, object owner):
    if value is not None:
        return Operand_create(name, value, owner)
    if owner is not None:
        raise ValueError(f"{name}_owner needs {name}, the address that it owns")
    return None


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
            If the driver rejects ``child``, for the same reasons as in :meth:`GraphNode.embed`.
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
        return slots.get("graph definition")(self._tree, self._record.children[0])

    def _details(self):
        return f" child={int(self.child_graph.handle):#x}"


cdef class EventNode(GraphNode):
    """Base class of event record nodes and event wait nodes."""

    def update(self, event: Event) -> None:
        """Change the event (``cuGraphNodeSetParams``).

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
        """The event: a new object on every access, open even if the original is closed."""
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

    In this class, ``callback`` is that function, not the method of :class:`GraphNode`. To add a callback after this
    node, write ``node.join().callback(fn)``.
    """

    def update(self, fn, *, user_data=None) -> None:
        """Change the function (``cuGraphNodeSetParams``).

        The arguments are as in :meth:`GraphNode.callback`. Existing executables do not change.
        """
        GraphNode_check(self)
        GraphNode_change(self, HostValues_create(fn, user_data, f"the graph {<uintptr_t>self._graph.c_graph:#x}"))

    @property
    def callback(self):
        """The Python callable, or None if the node calls a C function."""
        return HostValues_callable(GraphNode_values(self))

    def _details(self):
        cdef HostValues values = GraphNode_values(self)
        if values.called == NULL:
            return f" cfunc={<uintptr_t>values.params.host.fn:#x}"
        return f" callback={callable_name(self.callback)}"

    cdef NodeValues _read(self):
        return HostValues_read(self._record.c_node)


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL, class_of)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL, lambda record: KernelNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC, lambda record: AllocNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE, lambda record: FreeNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, lambda record: MemsetNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, lambda record: MemcpyNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY, lambda record: EmptyNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH, lambda record: ChildGraphNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD, lambda record: EventRecordNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT, lambda record: EventWaitNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, lambda record: HostCallbackNode)
