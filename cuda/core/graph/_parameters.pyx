# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: reading, writing and updating them, by kind of node."""

from __future__ import annotations

from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject

from cuda.core._event cimport Event, Event_pin, Event_wrap
from cuda.core._kernel_arg_handler cimport ArgumentBlock_fill, FITS, WRONG_SIZE, register_argument_type
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._launcher cimport prepare_for_graph
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport pointer_info
from cuda.core._module cimport Kernel, Kernel_pin
from cuda.core._native._cuda_core cimport (
    ArgumentBlock,
    EventHandle,
    Anchor,
    AnchorList,
    EventPin,
    KernelPin,
    KernelHandle,
    kernel_registry,
    refuse_pickle,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, tuple_items
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, c_driver_version, call_on_driver_thread
from cuda.core.graph._state cimport (
    GraphLock,
    GraphRecord,
    GraphRecord_node,
    GraphRecord_of_child,
    GraphTree,
    GraphTree_own,
    GraphView,
    NodeRecord,
    NodeRecord_mark_children_destroyed,
    NodeRecord_retain,
    NodeRecord_set_values,
    NodeRecord_values,
    check_alive,
    anchor_object,
    lock_graphs,
    new_anchors,
    read_nodes,
    release,
    retain,
    share,
)

import operator
import sys

from cuda.core._code._c_functions import function_address
from cuda.core._code._loading import explain
from cuda.core._device import Device
from cuda.core._launcher import exceeded_limit
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import address_argument, format_or_list, list_argument, shown
from cuda.core.typing import GraphMemoryType

__all__ = ["GraphCondition"]


cdef class GraphCondition:
    """The condition of a conditional node: a value of 32 bits that kernels set and the node reads.

    Conditions come from ``create_condition`` of :class:`GraphDefinition` and :class:`GraphBuilder`. A kernel takes the
    object as an argument of type ``cudaGraphConditionalHandle``, and sets it with ``cudaGraphSetConditional``.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use create_condition()."""
        raise RuntimeError(
            "GraphCondition cannot be constructed directly; use create_condition() of a GraphDefinition or GraphBuilder"
        )

    def __eq__(self, other):
        if not isinstance(other, GraphCondition):
            return NotImplemented
        return self._c_handle == (<GraphCondition>other)._c_handle

    def __hash__(self):
        return hash((GraphCondition, self._c_handle))

    def __repr__(self):
        return f"<GraphCondition handle={self._c_handle:#x}>"

    def __reduce__(self):
        refuse_pickle(self)

    @property
    def handle(self) -> int:
        """The ``CUgraphConditionalHandle`` as an int."""
        return self._c_handle


# Takes the tree, too, which keeps the graph alive while __index__ of the value may run any code.
cdef GraphCondition GraphCondition_create(GraphTree tree, GraphRecord graph, object default_value):
    cdef cydriver.CUgraph c_graph
    cdef cydriver.CUgraphConditionalHandle c_handle = 0
    cdef cydriver.CUcontext c_context = NULL
    cdef unsigned int c_default = 0
    cdef unsigned int c_flags = 0
    cdef GraphLock lock
    if default_value is not None:
        try:
            number = operator.index(default_value)
        except TypeError:
            raise TypeError(f"default_value must be an int or None, not {type(default_value).__name__}") from None
        if not 0 <= number <= 0xffff_ffff:
            raise OverflowError(f"default_value must be from 0 to 2**32 - 1, not {shown(number)}")
        c_default = number
        c_flags = cydriver.CU_GRAPH_COND_ASSIGN_DEFAULT
    lock_graphs(lock)
    check_alive(graph)
    c_graph = graph.c_graph
    with nogil:
        HANDLE_RETURN(cydriver.cuCtxGetCurrent(&c_context), b"cuCtxGetCurrent")
        HANDLE_RETURN(
            cydriver.cuGraphConditionalHandleCreate(&c_handle, c_graph, c_context, c_default, c_flags),
            b"cuGraphConditionalHandleCreate",
        )
    return GraphCondition_wrap(c_handle)


cdef GraphCondition GraphCondition_wrap(cydriver.CUgraphConditionalHandle c_handle):
    cdef GraphCondition self = GraphCondition.__new__(GraphCondition)
    self._c_handle = c_handle
    return self


cdef int write_condition(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef uint64_t value = (<GraphCondition>argument)._c_handle
    if size != sizeof(value):
        return WRONG_SIZE
    memcpy(target, &value, sizeof(value))
    return FITS


register_argument_type(GraphCondition, &write_condition, sizeof(uint64_t))


cdef class NodeValues:
    def __dealloc__(self):
        if self.anchors != NULL:
            self.anchors.drop_reference()

    def _without_owners(self):
        # The parameters for reading once the node is destroyed, which keep nothing alive.
        return self

    def _description(self):
        # A description for the message if the driver refuses the parameters; empty if it would add nothing.
        return ""

    cdef int prepare(self) except -1:
        return 0

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        raise NotImplementedError

    cdef int check_place(self, GraphRecord graph) except -1:
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        raise NotImplementedError

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        raise NotImplementedError

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        return 0


cdef class EmptyValues(NodeValues):
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphAddEmptyNode(c_node, c_graph, c_from, count), b"cuGraphAddEmptyNode")
        return 0


cdef int add_anchor(NodeValues self, Anchor anchor) except -1:
    if self.anchors == NULL:
        self.anchors = new_anchors()
    self.anchors.add(anchor)
    return 0


cdef int add_object(NodeValues self, object thing) except -1:
    if self.anchors == NULL:
        self.anchors = new_anchors()
    return anchor_object(self.anchors, thing)


cdef NodeRecord add_node(GraphRecord graph, const cydriver.CUgraphNode* c_from, size_t count, NodeValues values):
    cdef NodeRecord record
    cdef cydriver.CUgraphNode c_node = NULL
    cdef cydriver.CUuserObject c_object = NULL
    check_alive(graph)
    values.check_place(graph)
    c_object = retain_for(graph, values)
    try:
        values.add(graph.c_graph, c_from, count, &c_node)
    except BaseException as error:
        explain_refusal(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    record = GraphRecord_node(graph, c_node)
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    values.update_record(graph, record)
    return record


cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1:
    cdef cydriver.CUuserObject c_object = retain_for(graph, values)
    try:
        values.change(record.c_node)
    except BaseException as error:
        explain_refusal(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    values.update_record(graph, record)
    return 0


cdef int explain_refusal(object error, NodeValues values) except -1:
    if isinstance(error, CUDAError) and error.code == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
        text = values._description()
        if text:
            explain(error, f"the driver refuses {text}")
    return 0


# Moves the reference to the operands from the values to the graph. Callables have another one (HostValues.called).
cdef cydriver.CUuserObject retain_for(GraphRecord graph, NodeValues values) except? NULL:
    cdef AnchorList* anchors = values.anchors
    if anchors == NULL:
        return NULL
    values.anchors = NULL
    return retain(graph.c_holder, anchors)


cdef unsigned long long address_of(str name, object value) except? 0:
    number = address_argument(name, value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be an address, from 0 to 2**64 - 1, not {shown(number)}")
    return number


cdef size_t size_of(str name, object value) except? <size_t>-1:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be from 0 to 2**64 - 1, not {shown(number)}")
    return number


IN_CHILDREN = "a graph cannot be embedded in itself, and a child graph cannot have memory or conditional nodes"


cdef class ChildValues(NodeValues):
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        check_alive(self.source)
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddChildGraphNode(c_node, c_graph, c_from, count, self.source.c_graph),
                    b"cuGraphAddChildGraphNode",
                )
        except CUDAError as error:
            explain(error, IN_CHILDREN)
            raise
        return 0

    cdef int check_place(self, GraphRecord graph) except -1:
        # The driver for CUDA 13.0 terminates the process.
        if is_within(graph, self.source):
            refuse_itself()
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUgraphNodeParams params = child_params(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphNodeSetParams(c_node, &params), b"cuGraphNodeSetParams")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUgraph c_clone = NULL
        check_alive(self.source)
        # The executable needs the operands of these nodes as they are now; a clone keeps them, even if nodes change.
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphClone(&c_clone, self.source.c_graph), b"cuGraphClone")
        add_anchor(self, GraphTree_own(c_clone).h_graph.anchor())
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecChildGraphNodeSetParams(c_exec, c_node, self.source.c_graph),
                b"cuGraphExecChildGraphNodeSetParams",
            )
        return 0

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        cdef GraphRecord source = self.source
        NodeRecord_mark_children_destroyed(graph, record)
        record.children = None
        find_child(graph, record)
        copy_records(source, <GraphRecord>record.children[0])
        self.source = None
        self.tree = None
        return 0


cdef ChildValues ChildValues_create(object child, GraphTree outside):
    cdef ChildValues self = ChildValues.__new__(ChildValues)
    if not isinstance(child, GraphView):
        raise TypeError(f"child must be a GraphDefinition, not {type(child).__name__}")
    self.tree = (<GraphView>child)._tree
    self.source = (<GraphView>child)._graph
    check_alive(self.source)
    if outside is not None and self.tree is outside:
        refuse_itself()
    return self


# Whether a graph is `other` or one of its descendants.
cdef bint is_within(GraphRecord graph, GraphRecord other) except -1:
    cdef NodeRecord node
    if graph is other:
        return True
    for node in list(other.nodes.values()):
        for child in node.children or ():
            if is_within(graph, child):
                return True
    return False


# Raises what drivers return that detect it.
cdef int refuse_itself() except -1:
    try:
        return HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_INVALID_VALUE, b"cuGraphAddChildGraphNode")
    except CUDAError as error:
        explain(error, IN_CHILDREN)
        raise


cdef cydriver.CUgraphNodeParams child_params(ChildValues self) except *:
    cdef cydriver.CUgraphNodeParams params
    memset(&params, 0, sizeof(params))
    check_alive(self.source)
    params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
    params.graph.graph = self.source.c_graph
    return params


cdef int find_child(GraphRecord graph, NodeRecord record) except -1:
    cdef cydriver.CUgraph c_child = NULL
    if record.children:
        return 0
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphChildGraphNodeGetGraph(record.c_node, &c_child), b"cuGraphChildGraphNodeGetGraph")
    record.children = [GraphRecord_of_child(graph, c_child, False)]
    return 0


# The clone has the same nodes in the same order, and references to the same user objects.
cdef int copy_records(GraphRecord source, GraphRecord clone) except -1:
    cdef vector[cydriver.CUgraphNode] c_old
    cdef vector[cydriver.CUgraphNode] c_new
    cdef NodeRecord old
    cdef NodeRecord new
    cdef size_t index
    if not source.nodes:
        return 0
    read_nodes(source, c_old)
    read_nodes(clone, c_new)
    if c_old.size() != c_new.size():
        return 0
    for index in range(c_old.size()):
        old = source.nodes.get(<uintptr_t>c_old[index])
        if old is None:
            continue
        new = GraphRecord_node(clone, c_new[index])
        if new.c_type != old.c_type:
            continue
        NodeRecord_set_values(new, NodeRecord_values(old))
        # The user objects of a body are retained by the graph that contains it: here the clone.
        new._user_object = old._user_object
        if new._user_object != NULL and source.c_holder != source.c_graph:
            # Retained by the graph that contains the source, so cuGraphClone did not copy the reference.
            share(clone.c_graph, new._user_object)
        if old.children:
            copy_child_records(clone, old, new)
    return 0


cdef int copy_child_records(GraphRecord clone, NodeRecord old, NodeRecord new) except -1:
    if old.c_type != cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH:
        return 0    # graphs with conditional nodes cannot be embedded
    find_child(clone, new)
    copy_records(<GraphRecord>old.children[0], <GraphRecord>new.children[0])
    return 0


cdef class ConditionalValues(NodeValues):
    def _description(self):
        if self.count == 0:
            return "a switch node without bodies: count must be at least 1"
        return f"a conditional node for {self.condition!r}, which must be a condition of this graph"

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        cdef cydriver.CUgraphNodeParams params
        memset(&params, 0, sizeof(params))
        params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = self.condition._c_handle
        params.conditional.type = <cydriver.CUgraphConditionalNodeType>self.c_type
        params.conditional.size = self.count
        with nogil:
            HANDLE_RETURN(cydriver.cuCtxGetCurrent(&params.conditional.ctx), b"cuCtxGetCurrent")
            HANDLE_RETURN(cydriver.cuGraphAddNode(c_node, c_graph, c_from, NULL, count, &params), b"cuGraphAddNode")
        self.c_bodies = [<uintptr_t>params.conditional.phGraph_out[index] for index in range(self.count)]
        return 0

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        if record.children is None:
            record.children = [
                GraphRecord_of_child(graph, <cydriver.CUgraph><uintptr_t>c_body, True) for c_body in self.c_bodies
            ]
        return 0


cdef ConditionalValues ConditionalValues_create(
    object condition, cydriver.CUgraphConditionalNodeType c_type, object count
):
    cdef ConditionalValues self = ConditionalValues.__new__(ConditionalValues)
    if not isinstance(condition, GraphCondition):
        raise TypeError(f"condition must be a GraphCondition, not {type(condition).__name__}")
    try:
        number = operator.index(count)
    except TypeError:
        raise TypeError(f"count must be an int, not {type(count).__name__}") from None
    if not 0 <= number <= MAX_BRANCHES:
        raise OverflowError(f"count must be from 1 to {MAX_BRANCHES}, not {shown(number)}")
    self.condition = condition
    self.c_type = <int>c_type
    self.count = number
    return self


cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node):
    cdef ConditionalValues self = ConditionalValues.__new__(ConditionalValues)
    cdef cydriver.CUgraphNodeParams params
    cdef unsigned int index
    self.c_type = -1
    self.c_bodies = []
    if c_driver_version() < 13020:
        return self
    memset(&params, 0, sizeof(params))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphNodeGetParams(c_node, &params), b"cuGraphNodeGetParams")
    self.condition = GraphCondition_wrap(params.conditional.handle)
    self.c_type = <int>params.conditional.type
    self.count = params.conditional.size
    if params.conditional.phGraph_out != NULL:
        self.c_bodies = [<uintptr_t>params.conditional.phGraph_out[index] for index in range(self.count)]
    return self


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
    cdef EventPin pin
    if not isinstance(event, Event):
        raise TypeError(f"event must be an Event, not {type(event).__name__}")
    c_event = event
    self.is_record = is_record
    Event_pin(c_event, &pin)
    self.h_event = pin.handle()
    self.h_context = c_event._h_context.copy()
    self.device_id = c_event._device_id
    self.c_flags = c_event._flags
    add_anchor(self, self.h_event.anchor())
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
    self.h_event = EventHandle.borrow(c_event, Anchor())
    self.device_id = -1
    self.c_flags = cydriver.CU_EVENT_DISABLE_TIMING
    return self


cdef Event EventValues_event(EventValues self):
    return Event_wrap(self.h_event, self.h_context, self.device_id, self.c_flags)


cdef class HostValues(NodeValues):
    def __dealloc__(self):
        if self.called != NULL:
            self.called.drop_reference()

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphAddHostNode(c_node, c_graph, c_from, count, &self.params), b"cuGraphAddHostNode"
            )
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphHostNodeSetParams(c_node, &self.params), b"cuGraphHostNodeSetParams")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecHostNodeSetParams(c_exec, c_node, &self.params), b"cuGraphExecHostNodeSetParams"
            )
        return 0


cdef HostValues HostValues_create(object fn, object user_data, object where):
    cdef HostValues self = HostValues.__new__(HostValues)
    address = function_address("fn", fn)
    if address is not None:
        check_prototype(fn)
        set_user_data(self, user_data)
        add_object(self, fn)
        self.params.fn = <cydriver.CUhostFn><uintptr_t>address
        return self
    if not callable(fn):
        raise TypeError(f"fn must be callable or a C function, not {type(fn).__name__}")
    if user_data is not None:
        raise ValueError("user_data must be None for a Python callable; bind its arguments with functools.partial")
    add_object(self, fn)
    add_object(self, f"host callback {name_of(fn)} of {where}")
    self.called = self.anchors
    self.called.add_reference()
    self.params.fn = &run_callback
    self.params.userData = self.called
    return self


cdef HostValues HostValues_read(cydriver.CUgraphNode c_node):
    cdef HostValues self = HostValues.__new__(HostValues)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphHostNodeGetParams(c_node, &self.params), b"cuGraphHostNodeGetParams")
    if self.params.fn == &run_callback:
        self.called = <AnchorList*>self.params.userData
        self.called.add_reference()
    return self


cdef object HostValues_callable(HostValues self):
    return <object>self.called.object(0) if self.called != NULL else None


def name_of(fn) -> str:
    """Return the name of a callable for messages; ``?`` if it has none."""
    name = getattr(fn, "__name__", "?")
    return name if isinstance(name, str) else "?"


# A function with other parameters would read registers that the driver does not set.
cdef int check_prototype(object fn) except -1:
    ctypes = sys.modules.get("ctypes")
    if ctypes is None or not isinstance(fn, ctypes._CFuncPtr):
        return 0
    arguments = fn.argtypes
    if fn.restype is not None or arguments is None or tuple(arguments) != (ctypes.c_void_p,):
        raise TypeError(
            "fn must be a CFUNCTYPE(None, c_void_p), or a library function whose restype and argtypes are set to these"
        )
    return 0


cdef int set_user_data(HostValues self, object user_data) except -1:
    if user_data is None:
        return 0
    if isinstance(user_data, int):
        self.params.userData = <void*><uintptr_t>address_of("user_data", user_data)
        return 0
    try:
        copied = bytes(memoryview(user_data))
    except TypeError:
        raise TypeError(
            f"user_data must be an int, an object with the buffer protocol or None, not {type(user_data).__name__}"
        ) from None
    # A mutable copy: the function may write to it.
    copied = bytearray(copied)
    add_object(self, copied)
    self.params.userData = <void*><char*>copied
    return 0


cdef void run_callback(void* called) noexcept nogil:
    call_with_interpreter(&call_python, (<AnchorList*>called)[0])


cdef void call_python(AnchorList& called) noexcept:
    call_on_driver_thread(<object>called.object(0), <object>called.object(1))


# Types of arguments that are copied by value, so that the node needs no references to them.
cdef frozenset PLAIN = frozenset((int, float, bool, complex, type(None)))


cdef class KernelValues(NodeValues):
    def _description(self):
        cdef cydriver.CUdevice c_device = 0
        if self.kernel is None or cydriver.cuCtxGetDevice(&c_device) != cydriver.CUresult.CUDA_SUCCESS:
            return ""
        p = self.params
        config = LaunchConfig(
            grid=(p.gridDimX, p.gridDimY, p.gridDimZ),
            block=(p.blockDimX, p.blockDimY, p.blockDimZ),
            shmem_size=p.sharedMemBytes,
        )
        return exceeded_limit(self.kernel, config, c_device) or f"{self.kernel!r} with {config!r}"

    def __dealloc__(self):
        del self._block

    cdef int prepare(self) except -1:
        cdef KernelPin pin
        if self._is_native:
            return 0
        Kernel_pin(self.kernel, &pin)
        self._block = new ArgumentBlock()
        ArgumentBlock_fill(
            self._block[0], self.kernel, pin, tuple_items(<PyObject*>self._arguments), len(self._arguments)
        )
        self.params.kernelParams = self._block.kernel_params
        return 0

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddKernelNode(c_node, c_graph, c_from, count, &self.params),
                    b"cuGraphAddKernelNode",
                )
        finally:
            forget_arguments(self)
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphKernelNodeSetParams(c_node, &self.params), b"cuGraphKernelNodeSetParams"
                )
        finally:
            forget_arguments(self)
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphExecKernelNodeSetParams(c_exec, c_node, &self.params),
                    b"cuGraphExecKernelNodeSetParams",
                )
        finally:
            forget_arguments(self)
        return 0


cdef KernelValues KernelValues_create(object config, object kernel, tuple arguments):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    cdef KernelPin pin
    memset(&self.params, 0, sizeof(self.params))
    set_config(&self.params, config)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, not {type(kernel).__name__}")
    self.kernel = kernel
    Kernel_pin(self.kernel, &pin)
    self.h_kernel = pin.handle()
    self.params.kern = pin.get()
    if self.params.sharedMemBytes > self.kernel._default_shared_limit:
        prepare_for_graph(pin, self.params.sharedMemBytes)
    self._arguments = arguments
    add_anchor(self, self.h_kernel.anchor())
    for argument in arguments:
        if type(argument) not in PLAIN:
            add_object(self, argument)
    return self


cdef KernelValues KernelValues_read(cydriver.CUgraphNode c_node):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    memset(&self.params, 0, sizeof(self.params))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphKernelNodeGetParams(c_node, &self.params), b"cuGraphKernelNodeGetParams")
    self._is_native = True
    if self.params.kern != NULL:
        self.h_kernel = kernel_registry().find(self.params.kern)
        if not self.h_kernel:
            self.h_kernel = KernelHandle.borrow(self.params.kern, Anchor())
    return self


cdef KernelValues KernelValues_with_config(cydriver.CUgraphNode c_node, KernelValues values, object config):
    # The arguments are the driver's own copy; the node keeps the references that they need.
    cdef KernelValues self = KernelValues_read(c_node)
    cdef KernelPin pin
    set_config(&self.params, config)
    if values is not None:
        self.kernel = values.kernel
        self.h_kernel = values.h_kernel
        if self.kernel is not None and self.params.sharedMemBytes > self.kernel._default_shared_limit:
            Kernel_pin(self.kernel, &pin)
            prepare_for_graph(pin, self.params.sharedMemBytes)
    return self


cdef int set_config(cydriver.CUDA_KERNEL_NODE_PARAMS* params, object config) except -1:
    cdef LaunchConfig c_config
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"config must be a LaunchConfig, not {type(config).__name__}")
    c_config = config
    if c_config._cluster[0] or c_config._is_cooperative:
        what = "a cluster" if c_config._cluster[0] else "a cooperative grid"
        raise NotImplementedError(f"config must not have {what}: the driver can only capture such a launch as a node")
    params.gridDimX, params.gridDimY, params.gridDimZ = (
        c_config._native.gridDimX, c_config._native.gridDimY, c_config._native.gridDimZ
    )
    params.blockDimX, params.blockDimY, params.blockDimZ = (
        c_config._native.blockDimX, c_config._native.blockDimY, c_config._native.blockDimZ
    )
    params.sharedMemBytes = c_config._native.sharedMemBytes
    return 0


cdef bint is_plain(tuple arguments) except -1:
    for argument in arguments:
        cls = type(argument)
        if cls is not int and cls is not float and cls not in PLAIN:
            return False
    return True


cdef int change_kernel_in(
    cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node, object config, Kernel kernel, tuple arguments
) except -1:
    cdef cydriver.CUDA_KERNEL_NODE_PARAMS params
    cdef ArgumentBlock block
    cdef KernelPin pin
    memset(&params, 0, sizeof(params))
    set_config(&params, config)
    Kernel_pin(kernel, &pin)
    params.kern = pin.get()
    if params.sharedMemBytes > kernel._default_shared_limit:
        prepare_for_graph(pin, params.sharedMemBytes)
    try:
        ArgumentBlock_fill(block, kernel, pin, tuple_items(<PyObject*>arguments), len(arguments))
        params.kernelParams = block.kernel_params
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecKernelNodeSetParams(c_exec, c_node, &params), b"cuGraphExecKernelNodeSetParams"
            )
    finally:
        block.end()
    return 0


# Destroys the block before the arguments, to which it refers: this may drop their last references.
cdef void forget_arguments(KernelValues self) noexcept:
    del self._block
    self._block = NULL
    self.params.kernelParams = NULL
    self.params.extra = NULL
    self._arguments = None


cdef class Operand:
    def __dealloc__(self):
        if self.owner != NULL:
            self.owner.drop_reference()


cdef Operand Operand_create(str name, object value, object owner):
    cdef Operand self = Operand.__new__(Operand)
    if isinstance(value, Buffer):
        if owner is not None:
            raise ValueError(f"{name}_owner must be None if {name} is a Buffer, which the node keeps alive itself")
        self.h_allocation = (<Buffer>value)._h_allocation.copy()
        if not self.h_allocation:
            raise closed_buffer(name)
        self.address = self.h_allocation.value().pointer
        return self
    self.address = address_of(name, value)
    if isinstance(owner, Buffer):
        self.h_allocation = (<Buffer>owner)._h_allocation.copy()
        if not self.h_allocation:
            raise closed_buffer(f"{name}_owner")
    elif owner is not None:
        self.owner = new_anchors()
        anchor_object(self.owner, owner)
    return self


class ClosedBufferError(RuntimeError, ValueError):
    """Raised for a closed Buffer; programs written for other releases catch one or the other base class."""


cdef object closed_buffer(str name):
    return ClosedBufferError(f"{name}: this Buffer is closed")


cdef int anchor_operand(NodeValues values, Operand operand) except -1:
    if operand.h_allocation:
        add_anchor(values, operand.h_allocation.anchor())
    if operand.owner != NULL:
        add_object(values, <object>operand.owner.object(0))
    return 0


# For a destroyed node, whose parameters stay readable but keep nothing alive.
cdef Operand without_owner(Operand operand):
    cdef Operand self = Operand.__new__(Operand)
    self.address = operand.address
    return self


# ---------------------------------------------------------------------------------------------
# Memset

cdef class MemsetValues(NodeValues):
    def _without_owners(self):
        cdef MemsetValues twin = MemsetValues.__new__(MemsetValues)
        twin.params = self.params
        twin.dst = without_owner(self.dst)
        return twin

    def _description(self):
        p = self.params
        return (
            f"a memset of {p.height} rows of {p.width} elements of {p.elementSize} bytes at {p.dst:#x}, pitch {p.pitch}"
        )

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphAddMemsetNode(c_node, c_graph, c_from, count, &self.params, self.c_context),
                b"cuGraphAddMemsetNode",
            )
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphMemsetNodeSetParams(c_node, &self.params), b"cuGraphMemsetNodeSetParams")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecMemsetNodeSetParams(c_exec, c_node, &self.params, self.c_context),
                b"cuGraphExecMemsetNodeSetParams",
            )
        return 0


cdef MemsetValues MemsetValues_create(Operand dst, object value, object width, object height, object pitch):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    self.dst = dst
    self.params.dst = dst.address
    read_element(value, &self.params)
    self.params.width = size_of("width", width)
    self.params.height = size_of("height", height)
    self.params.pitch = size_of("pitch", pitch)
    current_context(&self.c_context)
    anchor_operand(self, dst)
    return self


cdef MemsetValues MemsetValues_change(
    MemsetValues old, Operand dst, object value, object width, object height, object pitch
):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    self.params = old.params
    self.c_context = old.c_context
    self.dst = old.dst if dst is None else dst
    self.params.dst = self.dst.address
    if value is not None:
        read_element(value, &self.params)
    if width is not None:
        self.params.width = size_of("width", width)
    if height is not None:
        self.params.height = size_of("height", height)
    if pitch is not None:
        self.params.pitch = size_of("pitch", pitch)
    anchor_operand(self, self.dst)
    return self


cdef MemsetValues MemsetValues_read(cydriver.CUgraphNode c_node):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemsetNodeGetParams(c_node, &self.params), b"cuGraphMemsetNodeGetParams")
    self.dst = Operand.__new__(Operand)
    self.dst.address = self.params.dst
    current_context(&self.c_context)
    return self


cdef int read_element(object value, cydriver.CUDA_MEMSET_NODE_PARAMS* params) except -1:
    cdef Py_buffer view
    cdef uint8_t one = 0
    cdef uint16_t two = 0
    cdef uint32_t four = 0
    if isinstance(value, int):
        if not 0 <= value <= 255:
            raise OverflowError(f"value must be an int from 0 to 255, or the bytes of an element, not {shown(value)}")
        params.value = int(value)
        params.elementSize = 1
        return 0
    if not PyObject_CheckBuffer(value):
        raise TypeError(f"value must be an int or an object with the buffer protocol, not {type(value).__name__}")
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        if view.len == 1:
            memcpy(&one, view.buf, 1)
        elif view.len == 2:
            memcpy(&two, view.buf, 2)
        elif view.len == 4:
            memcpy(&four, view.buf, 4)
        else:
            raise ValueError(f"value must have 1, 2 or 4 bytes, not {view.len}")
        params.value = one | two | four
        params.elementSize = <unsigned int>view.len
    finally:
        PyBuffer_Release(&view)
    return 0


cdef int current_context(cydriver.CUcontext* c_context) except -1:
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(c_context), b"cuCtxGetCurrent")
    return 0


# ---------------------------------------------------------------------------------------------
# Copies

cdef class MemcpyValues(NodeValues):
    def _description(self):
        if self.dst is None or self.src is None:
            return ""
        return f"a copy of {self.size} bytes from {self.src.address:#x} to {self.dst.address:#x}"

    def _without_owners(self):
        cdef MemcpyValues twin = MemcpyValues.__new__(MemcpyValues)
        twin.params = self.params
        twin.size = self.size
        twin.dst = without_owner(self.dst)
        twin.src = without_owner(self.src)
        return twin

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphAddMemcpyNode(c_node, c_graph, c_from, count, &self.params, self.c_context),
                b"cuGraphAddMemcpyNode",
            )
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphMemcpyNodeSetParams(c_node, &self.params), b"cuGraphMemcpyNodeSetParams")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecMemcpyNodeSetParams(c_exec, c_node, &self.params, self.c_context),
                b"cuGraphExecMemcpyNodeSetParams",
            )
        return 0


cdef MemcpyValues MemcpyValues_create(Operand dst, Operand src, object size):
    cdef MemcpyValues self = MemcpyValues.__new__(MemcpyValues)
    self.is_plain = True
    self.dst = dst
    self.src = src
    self.size = size_of("size", size)
    memset(&self.params, 0, sizeof(self.params))
    if is_on_device(dst.address):
        self.params.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        self.params.dstDevice = dst.address
    else:
        self.params.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        self.params.dstHost = <void*><uintptr_t>dst.address
    if is_on_device(src.address):
        self.params.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        self.params.srcDevice = src.address
    else:
        self.params.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        self.params.srcHost = <void*><uintptr_t>src.address
    self.params.WidthInBytes = self.size
    self.params.Height = 1
    self.params.Depth = 1
    current_context(&self.c_context)
    anchor_operand(self, dst)
    anchor_operand(self, src)
    return self


cdef MemcpyValues MemcpyValues_change(MemcpyValues old, Operand dst, Operand src, object size):
    cdef MemcpyValues self
    if not old.is_plain:
        raise ValueError("this node copies several rows or a CUDA array; only a copy of one linear range can change")
    self = MemcpyValues_create(
        old.dst if dst is None else dst, old.src if src is None else src, old.size if size is None else size
    )
    self.c_context = old.c_context
    return self


cdef MemcpyValues MemcpyValues_read(cydriver.CUgraphNode c_node):
    cdef MemcpyValues self = MemcpyValues.__new__(MemcpyValues)
    cdef cydriver.CUDA_MEMCPY3D* p = &self.params
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemcpyNodeGetParams(c_node, p), b"cuGraphMemcpyNodeGetParams")
    self.dst = Operand.__new__(Operand)
    self.src = Operand.__new__(Operand)
    is_host = p.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    self.dst.address = (<uintptr_t>p.dstHost if is_host else p.dstDevice) + p.dstXInBytes
    is_host = p.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    self.src.address = (<uintptr_t>p.srcHost if is_host else p.srcDevice) + p.srcXInBytes
    self.size = p.WidthInBytes * max(p.Height, 1) * max(p.Depth, 1)
    self.is_plain = (
        p.Height <= 1
        and p.Depth <= 1
        and p.dstMemoryType != cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
        and p.srcMemoryType != cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
    )
    current_context(&self.c_context)
    return self


cdef bint is_on_device(cydriver.CUdeviceptr address) except -1:
    return pointer_info(address).is_device_accessible and (
        not pointer_info(address).is_host_accessible or pointer_info(address).is_managed
    )


# ---------------------------------------------------------------------------------------------
# Allocations

cdef class AllocValues(NodeValues):
    def _description(self):
        return f"an allocation of {self.params.bytesize} bytes of {self.memory_type} memory"

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        cdef vector[cydriver.CUmemAccessDesc] access
        cdef cydriver.CUmemAccessDesc one
        memset(&one, 0, sizeof(one))
        for peer in self.peers:
            one.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            one.location.id = peer
            one.flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            access.push_back(one)
        self.params.accessDescs = access.data()
        self.params.accessDescCount = access.size()
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddMemAllocNode(c_node, c_graph, c_from, count, &self.params),
                    b"cuGraphAddMemAllocNode",
                )
        finally:
            self.params.accessDescs = NULL
        return 0


cdef AllocValues AllocValues_create(object size, object device, object memory_type, object peer_access):
    cdef AllocValues self = AllocValues.__new__(AllocValues)
    memset(&self.params, 0, sizeof(self.params))
    kinds = [str(member) for member in GraphMemoryType]
    if memory_type is None:
        memory_type = GraphMemoryType.DEVICE
    if not isinstance(memory_type, str) or memory_type not in kinds:
        raise ValueError(f"memory_type must be {format_or_list(kinds)}, not {shown(memory_type)}")
    self.memory_type = str(memory_type)
    self.params.bytesize = size_of("size", size)
    self.params.poolProps.allocType = cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    self.params.poolProps.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    if self.memory_type == "host":
        self.params.poolProps.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    else:
        self.params.poolProps.location.id = ordinal_of("device", Device() if device is None else device)
    if self.memory_type == "managed":
        self.params.poolProps.allocType = cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
    peers = () if peer_access is None else list_argument("peer_access", peer_access, "Devices or ints, or None")
    self.peers = tuple([ordinal_of("peer_access", peer) for peer in peers])
    return self


cdef int ordinal_of(str name, object device) except -1:
    if isinstance(device, Device):
        return device.device_id
    try:
        ordinal = operator.index(device)
    except TypeError:
        raise TypeError(f"{name} must be a Device or an int, not {type(device).__name__}") from None
    return Device(ordinal).device_id


cdef AllocValues AllocValues_read(cydriver.CUgraphNode c_node):
    cdef AllocValues self = AllocValues.__new__(AllocValues)
    cdef size_t index
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemAllocNodeGetParams(c_node, &self.params), b"cuGraphMemAllocNodeGetParams")
    self.memory_type = "device"
    if self.params.poolProps.allocType == cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        self.memory_type = "managed"
    elif self.params.poolProps.location.type != cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        self.memory_type = "host"
    self.peers = tuple([
        self.params.accessDescs[index].location.id
        for index in range(self.params.accessDescCount if self.params.accessDescs != NULL else 0)
    ])
    self.params.accessDescs = NULL
    return self


cdef class FreeValues(NodeValues):
    def _description(self):
        return f"a free of {self.address:#x}, which must be the address of an AllocNode that no other node frees"

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphAddMemFreeNode(c_node, c_graph, c_from, count, self.address), b"cuGraphAddMemFreeNode"
            )
        return 0


cdef FreeValues FreeValues_create(object dptr):
    cdef FreeValues self = FreeValues.__new__(FreeValues)
    self.address = address_of("dptr", dptr)
    return self


cdef FreeValues FreeValues_read(cydriver.CUgraphNode c_node):
    cdef FreeValues self = FreeValues.__new__(FreeValues)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemFreeNodeGetParams(c_node, &self.address), b"cuGraphMemFreeNodeGetParams")
    return self
