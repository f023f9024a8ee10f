# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: creating, reading, setting and updating them, for each kind of node."""

from libc.stdint cimport uint16_t, uint32_t, uint8_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject

from cuda.core._event cimport Event, Event_pin, Event_wrap
from cuda.core._kernel_arg_handler cimport ArgumentBlock_fill
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._launcher cimport prepare_for_graph
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport pointer_info
from cuda.core._module cimport Kernel, Kernel_pin
from cuda.core._native._cuda_core cimport (
    AllocationHandle,
    Anchor,
    AnchorList,
    ArgumentBlock,
    ContextHandle,
    EventHandle,
    EventPin,
    KernelHandle,
    KernelPin,
    kernel_registry,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, tuple_items
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, c_driver_version, call_on_driver_thread

import operator
import sys

from cuda.core._code._c_functions import function_address
from cuda.core._code._loading import explain
from cuda.core._device import Device
from cuda.core._launcher import exceeded_limit
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, format_or_list, list_argument, shown
from cuda.core.typing import GraphMemoryType


# The parameters of a node. A subclass fills the part of `params` for its kind of node; these methods pass it to the
# driver. They call finish() even if the driver rejects the parameters.
cdef class NodeValues:
    cdef:
        cydriver.CUgraphNodeParams params
        AnchorList* anchors     # the operands that a node keeps alive; NULL for none, and once a graph retains them

    def __dealloc__(self):
        if self.anchors != NULL:
            self.anchors.drop_reference()

    def _without_owners(self):
        # The parameters for reading once the node is destroyed, which keep nothing alive.
        return self

    def _description(self):
        # A description for the message if the driver rejects the parameters; empty if it would add nothing.
        return ""

    # Does everything that may run Python code, which could destroy nodes. Called before raw handles are read.
    cdef int prepare(self) except -1:
        return 0

    # Drops what the driver has copied. Called after each driver call, even if it failed.
    cdef void finish(self) noexcept:
        pass

    # Raises if adding the node to this graph would crash the driver.
    cdef int check_place(self, GraphRecord graph) except -1:
        return 0

    # Adds a node with these parameters, sets them for a node, or for a node of an executable.
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddNode(c_node, c_graph, c_from, NULL, count, &self.params), b"cuGraphAddNode"
                )
        finally:
            self.finish()
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(cydriver.cuGraphNodeSetParams(c_node, &self.params), b"cuGraphNodeSetParams")
        finally:
            self.finish()
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphExecNodeSetParams(c_exec, c_node, &self.params), b"cuGraphExecNodeSetParams"
                )
        finally:
            self.finish()
        return 0

    # Updates the record of a new or changed node, such as the list of its child graphs.
    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        return 0


cdef class EmptyValues(NodeValues):
    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY


cdef int add_anchor(NodeValues self, Anchor anchor) except -1:
    if self.anchors == NULL:
        self.anchors = new_anchors()
    self.anchors.add(anchor)
    return 0


cdef int add_object(NodeValues self, object thing) except -1:
    if self.anchors == NULL:
        self.anchors = new_anchors()
    return anchor_object(self.anchors, thing)


# Adds a node after others, and lets the graph retain its operands.
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
        explain_rejection(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    record = GraphRecord_add(graph, c_node, values.params.type)
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    try:
        values.update_record(graph, record)
    except BaseException as error:
        take_back_node(graph, record, error)
        raise
    return record


# For the `except` clause of a step after add_node(): removes the node again. If that fails, the error has a note.
cdef int take_back_node(GraphRecord graph, NodeRecord record, object error) except -1:
    cdef cydriver.CUgraphNode c_node = record.c_node
    try:
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphDestroyNode(c_node), b"cuGraphDestroyNode")
        NodeRecord_mark_destroyed(graph, record)
    except CUDAError as failure:
        error.add_note(f"The node could not be removed again and remains in the graph: {failure}")
    return 0


# Sets the parameters of a node. On an exception the node is unchanged.
cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1:
    cdef cydriver.CUuserObject c_object = retain_for(graph, values)
    try:
        values.change(record.c_node)
    except BaseException as error:
        explain_rejection(error, values)
        if c_object != NULL:
            release(graph.c_holder, c_object)
        raise
    NodeRecord_set_values(record, values)
    NodeRecord_retain(graph, record, c_object)
    values.update_record(graph, record)
    return 0


cdef int explain_rejection(object error, NodeValues values) except -1:
    if isinstance(error, CUDAError) and error.code == cydriver.CUresult.CUDA_ERROR_INVALID_VALUE:
        text = values._description()
        if text:
            explain(error, f"the driver rejects {text}")
    return 0


# Moves the reference to the operands from the values to the graph. Callables have another one (HostValues.called).
cdef cydriver.CUuserObject retain_for(GraphRecord graph, NodeValues values) except? NULL:
    cdef AnchorList* anchors = values.anchors
    if anchors == NULL:
        return NULL
    values.anchors = NULL
    return retain(graph.c_holder, anchors)


# Convert an address or a size. TypeError and OverflowError name the argument.
cdef unsigned long long address_of(str name, object value) except? 0:
    number = address_argument(name, value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be an address, from 0 to 2**64 - 1, not {shown(number)}")
    return number


cdef size_t operand_size(str name, object value) except? <size_t>-1:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{name} must be from 0 to 2**64 - 1, not {shown(number)}")
    return number


# --- Child graphs ---------------------------------------------------------------------------------

IN_CHILDREN = "a graph cannot be embedded in itself, and a child graph cannot have memory or conditional nodes"


cdef class ChildValues(NodeValues):
    cdef:
        GraphTree tree          # keeps the source alive until it is embedded
        GraphRecord source

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        set_child(self)
        try:
            return NodeValues.add(self, c_graph, c_from, count, c_node)
        except CUDAError as error:
            explain(error, IN_CHILDREN)
            raise

    cdef int check_place(self, GraphRecord graph) except -1:
        # A CUDA 13.0 driver would terminate the process.
        if is_within(graph, self.source):
            reject_itself()
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        set_child(self)
        return NodeValues.change(self, c_node)

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUgraph c_clone = NULL
        set_child(self)
        # The executable needs the operands of these nodes as they are now; a clone keeps them, even if nodes change.
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphClone(&c_clone, self.source.c_graph), b"cuGraphClone")
        add_anchor(self, GraphTree_own(c_clone).h_graph.anchor())
        return NodeValues.change_in(self, c_exec, c_node)

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        cdef GraphRecord source = self.source
        NodeRecord_mark_children_destroyed(graph, record)
        record.children = None
        find_child(graph, record)
        copy_records(source, <GraphRecord>record.children[0])
        self.source = None
        self.tree = None
        return 0


# `child` is a GraphDefinition that must not belong to the tree `outside`, which may be None.
cdef ChildValues ChildValues_create(object child, GraphTree outside):
    cdef ChildValues self = ChildValues.__new__(ChildValues)
    if not isinstance(child, GraphView):
        raise TypeError(f"child must be a GraphDefinition, not {type(child).__name__}")
    self.tree = (<GraphView>child)._tree
    self.source = (<GraphView>child)._graph
    check_alive(self.source)
    if outside is not None and self.tree is outside:
        reject_itself()
    return self


# Raises what drivers return that detect it.
cdef int reject_itself() except -1:
    try:
        return HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_INVALID_VALUE, b"cuGraphAddNode")
    except CUDAError as error:
        explain(error, IN_CHILDREN)
        raise


# Called with the lock of graphs, because another thread could destroy the source before.
cdef int set_child(ChildValues self) except -1:
    check_alive(self.source)
    self.params.graph.graph = self.source.c_graph
    return 0


# --- Conditional nodes ----------------------------------------------------------------------------

# The maximum number of forks or bodies. A number that is wrong by mistake would create streams until memory runs out.
cdef enum:
    MAX_BRANCHES = 65536


cdef class ConditionalValues(NodeValues):
    cdef:
        GraphCondition condition    # None if the driver does not report the parameters

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL

    def _description(self):
        if self.params.conditional.size == 0:
            return "a switch node without bodies: count must be at least 1"
        return f"a conditional node for {self.condition!r}, which must be a condition of this graph"

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        cdef cydriver.CUgraph* c_bodies = self.params.conditional.phGraph_out
        cdef unsigned int index
        # Valid only as long as the node.
        self.params.conditional.phGraph_out = NULL
        if record.children is None:
            record.children = [
                GraphRecord_of_child(graph, c_bodies[index], True)
                for index in range(self.params.conditional.size if c_bodies != NULL else 0)
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
    self.params.conditional.handle = self.condition._c_handle
    self.params.conditional.type = c_type
    self.params.conditional.size = number
    read_current_context(&self.params.conditional.ctx)
    return self


# The parameters of a captured node; drivers older than CUDA 13.2 report none.
cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node):
    cdef ConditionalValues self = ConditionalValues.__new__(ConditionalValues)
    if c_driver_version() < 13020:
        return self
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphNodeGetParams(c_node, &self.params), b"cuGraphNodeGetParams")
    self.condition = GraphCondition_wrap(self.params.conditional.handle)
    return self


# --- Events ---------------------------------------------------------------------------------------

cdef class EventValues(NodeValues):
    cdef:
        EventHandle h_event         # set once
        ContextHandle h_context     # set once
        int device_id
        unsigned int c_flags


cdef EventValues EventValues_create(object event, bint is_record):
    cdef EventValues self = EventValues.__new__(EventValues)
    cdef Event c_event
    cdef EventPin pin
    if not isinstance(event, Event):
        raise TypeError(f"event must be an Event, not {type(event).__name__}")
    c_event = event
    Event_pin(c_event, &pin)
    self.h_event = pin.handle()
    if is_record:
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD
        self.params.eventRecord.event = pin.get()
    else:
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT
        self.params.eventWait.event = pin.get()
    self.h_context = c_event._h_context.copy()
    self.device_id = c_event._device_id
    self.c_flags = c_event._flags
    add_anchor(self, self.h_event.anchor())
    return self


cdef EventValues EventValues_read(cydriver.CUgraphNode c_node, bint is_record):
    cdef EventValues self = EventValues.__new__(EventValues)
    cdef cydriver.CUevent c_event = NULL
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


# --- Host callbacks -------------------------------------------------------------------------------

cdef class HostValues(NodeValues):
    cdef AnchorList* called         # a reference to the Python callable and its name; NULL for a C function

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST

    def __dealloc__(self):
        if self.called != NULL:
            self.called.drop_reference()


# `fn` and `user_data` are the arguments of callback(); `where` describes the graph, for reports of exceptions.
cdef HostValues HostValues_create(object fn, object user_data, object where):
    cdef HostValues self = HostValues.__new__(HostValues)
    address = function_address("fn", fn)
    if address is not None:
        check_prototype(fn)
        set_user_data(self, user_data)
        add_object(self, fn)
        self.params.host.fn = <cydriver.CUhostFn><uintptr_t>address
        return self
    if not callable(fn):
        raise TypeError(f"fn must be callable or a C function, not {type(fn).__name__}")
    if user_data is not None:
        raise ValueError("user_data must be None for a Python callable; bind its arguments with functools.partial")
    add_object(self, fn)
    add_object(self, f"host callback {callable_name(fn)} of {where}")
    self.called = self.anchors
    self.called.add_reference()
    self.params.host.fn = &run_callback
    self.params.host.userData = self.called
    return self


cdef HostValues HostValues_read(cydriver.CUgraphNode c_node):
    cdef HostValues self = HostValues.__new__(HostValues)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphHostNodeGetParams(c_node, <cydriver.CUDA_HOST_NODE_PARAMS*>&self.params.host),
            b"cuGraphHostNodeGetParams",
        )
    if self.params.host.fn == &run_callback:
        self.called = <AnchorList*>self.params.host.userData
        self.called.add_reference()
    return self


# The Python callable, or None for a C function.
cdef object HostValues_callable(HostValues self):
    return <object>self.called.object(0) if self.called != NULL else None


def callable_name(fn) -> str:
    """Return the name of a callable for messages, or ``?`` if it has none."""
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
        self.params.host.userData = <void*><uintptr_t>address_of("user_data", user_data)
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
    self.params.host.userData = <void*><char*>copied
    return 0


cdef void run_callback(void* called) noexcept nogil:
    call_with_interpreter(&call_python, (<AnchorList*>called)[0])


cdef void call_python(AnchorList& called) noexcept:
    call_on_driver_thread(<object>called.object(0), <object>called.object(1))


# --- Kernels --------------------------------------------------------------------------------------

# Types of arguments that the driver copies by value, so the node needs no references to them.
cdef frozenset PLAIN = frozenset((int, float, bool, complex, type(None)))


cdef class KernelValues(NodeValues):
    cdef:
        KernelHandle h_kernel   # set once
        Kernel kernel           # for the layout of its parameters
        tuple _arguments        # until the driver has copied them
        ArgumentBlock* _block   # NULL except from prepare() until the driver has copied the arguments
        bint _is_native         # read from a node: `params` points to the driver's copy of the arguments

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL

    def __dealloc__(self):
        del self._block

    def _description(self):
        cdef cydriver.CUdevice c_device = 0
        if self.kernel is None or cydriver.cuCtxGetDevice(&c_device) != cydriver.CUresult.CUDA_SUCCESS:
            return ""
        p = self.params.kernel
        config = LaunchConfig(
            grid=(p.gridDimX, p.gridDimY, p.gridDimZ),
            block=(p.blockDimX, p.blockDimY, p.blockDimZ),
            shmem_size=p.sharedMemBytes,
        )
        return exceeded_limit(self.kernel, config, c_device) or f"{self.kernel!r} with {config!r}"

    cdef int prepare(self) except -1:
        cdef KernelPin pin
        if self._is_native:
            return 0
        Kernel_pin(self.kernel, &pin)
        self._block = new ArgumentBlock()
        ArgumentBlock_fill(
            self._block[0], self.kernel, pin, tuple_items(<PyObject*>self._arguments), len(self._arguments)
        )
        self.params.kernel.kernelParams = self._block.kernel_params
        return 0

    cdef void finish(self) noexcept:
        # The block refers to the arguments, so it is destroyed before their last references are dropped.
        del self._block
        self._block = NULL
        self.params.kernel.kernelParams = NULL
        self.params.kernel.extra = NULL
        self._arguments = None


# `config` is a LaunchConfig, `arguments` a tuple of kernel arguments.
cdef KernelValues KernelValues_create(object config, object kernel, tuple arguments):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    cdef KernelPin pin
    set_config(&self.params.kernel, config)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, not {type(kernel).__name__}")
    self.kernel = kernel
    Kernel_pin(self.kernel, &pin)
    self.h_kernel = pin.handle()
    self.params.kernel.kern = pin.get()
    if self.params.kernel.sharedMemBytes > self.kernel._default_shared_limit:
        prepare_for_graph(pin, self.params.kernel.sharedMemBytes)
    self._arguments = arguments
    add_anchor(self, self.h_kernel.anchor())
    for argument in arguments:
        if type(argument) not in PLAIN:
            add_object(self, argument)
    return self


cdef KernelValues KernelValues_read(cydriver.CUgraphNode c_node):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphKernelNodeGetParams(c_node, <cydriver.CUDA_KERNEL_NODE_PARAMS*>&self.params.kernel),
            b"cuGraphKernelNodeGetParams",
        )
    self._is_native = True
    if self.params.kernel.kern != NULL:
        self.h_kernel = kernel_registry().find(self.params.kernel.kern)
        if not self.h_kernel:
            self.h_kernel = KernelHandle.borrow(self.params.kernel.kern, Anchor())
    return self


# The parameters of a node with another configuration and the same kernel and arguments.
cdef KernelValues KernelValues_with_config(cydriver.CUgraphNode c_node, KernelValues values, object config):
    # The arguments are the driver's own copy, and the node keeps the references that they need.
    cdef KernelValues self = KernelValues_read(c_node)
    cdef KernelPin pin
    set_config(&self.params.kernel, config)
    if values is not None:
        self.kernel = values.kernel
        self.h_kernel = values.h_kernel
        if self.kernel is not None and self.params.kernel.sharedMemBytes > self.kernel._default_shared_limit:
            Kernel_pin(self.kernel, &pin)
            prepare_for_graph(pin, self.params.kernel.sharedMemBytes)
    return self


cdef int set_config(cydriver.CUDA_KERNEL_NODE_PARAMS_v3* params, object config) except -1:
    cdef LaunchConfig c_config
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"config must be a LaunchConfig, not {type(config).__name__}")
    c_config = config
    if c_config._is_grid_resident:
        raise NotImplementedError(
            "config must have a grid of numbers for a node; only launches compute grid='resident'"
        )
    params.gridDimX, params.gridDimY, params.gridDimZ = (
        c_config._native.gridDimX, c_config._native.gridDimY, c_config._native.gridDimZ
    )
    params.blockDimX, params.blockDimY, params.blockDimZ = (
        c_config._native.blockDimX, c_config._native.blockDimY, c_config._native.blockDimZ
    )
    params.sharedMemBytes = c_config._native.sharedMemBytes
    return 0


# Returns true if the driver copies all arguments by value, so the node needs no references to them.
cdef bint is_plain(tuple arguments) except -1:
    for argument in arguments:
        cls = type(argument)
        if cls is not int and cls is not float and cls not in PLAIN:
            return False
    return True


# Changes a kernel node of an executable. The caller keeps the kernel alive.
cdef int change_kernel_in(
    cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node, object config, Kernel kernel, tuple arguments
) except -1:
    cdef cydriver.CUgraphNodeParams params
    cdef ArgumentBlock block
    cdef KernelPin pin
    memset(&params, 0, sizeof(params))
    params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    set_config(&params.kernel, config)
    Kernel_pin(kernel, &pin)
    params.kernel.kern = pin.get()
    if params.kernel.sharedMemBytes > kernel._default_shared_limit:
        prepare_for_graph(pin, params.kernel.sharedMemBytes)
    try:
        ArgumentBlock_fill(block, kernel, pin, tuple_items(<PyObject*>arguments), len(arguments))
        params.kernel.kernelParams = block.kernel_params
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphExecNodeSetParams(c_exec, c_node, &params), b"cuGraphExecNodeSetParams")
    finally:
        block.end()
    return 0


# --- Memory ---------------------------------------------------------------------------------------

# The source or the destination of a copy, or the destination of a memset.
cdef class Operand:
    cdef:
        cydriver.CUdeviceptr address
        AllocationHandle h_allocation       # set once: of the Buffer that is the operand, or its owner
        AnchorList* owner                     # with the owner, if that is another object; else NULL

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
    """Raised for a closed Buffer. Programs written for other releases catch one or the other base class."""


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


cdef class MemsetValues(NodeValues):
    cdef Operand dst

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET

    def _without_owners(self):
        cdef MemsetValues twin = MemsetValues.__new__(MemsetValues)
        twin.params = self.params
        twin.dst = without_owner(self.dst)
        return twin

    def _description(self):
        p = self.params.memset
        return (
            f"a memset of {p.height} rows of {p.width} elements of {p.elementSize} bytes at {p.dst:#x}, pitch {p.pitch}"
        )

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        # cuGraphNodeSetParams() would need the context of the node, which drivers older than CUDA 13.2 do not report.
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphMemsetNodeSetParams(c_node, <cydriver.CUDA_MEMSET_NODE_PARAMS*>&self.params.memset),
                b"cuGraphMemsetNodeSetParams",
            )
        return 0


cdef MemsetValues MemsetValues_create(Operand dst, object value, object width, object height, object pitch):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    self.dst = dst
    self.params.memset.dst = dst.address
    read_element(value, &self.params.memset)
    self.params.memset.width = operand_size("width", width)
    self.params.memset.height = operand_size("height", height)
    self.params.memset.pitch = operand_size("pitch", pitch)
    read_current_context(&self.params.memset.ctx)
    anchor_operand(self, dst)
    return self


# Arguments that are None keep the value of `old`.
cdef MemsetValues MemsetValues_change(
    MemsetValues old, Operand dst, object value, object width, object height, object pitch
):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    self.params = old.params
    self.dst = old.dst if dst is None else dst
    self.params.memset.dst = self.dst.address
    if value is not None:
        read_element(value, &self.params.memset)
    if width is not None:
        self.params.memset.width = operand_size("width", width)
    if height is not None:
        self.params.memset.height = operand_size("height", height)
    if pitch is not None:
        self.params.memset.pitch = operand_size("pitch", pitch)
    anchor_operand(self, self.dst)
    return self


cdef MemsetValues MemsetValues_read(cydriver.CUgraphNode c_node):
    cdef MemsetValues self = MemsetValues.__new__(MemsetValues)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphMemsetNodeGetParams(c_node, <cydriver.CUDA_MEMSET_NODE_PARAMS*>&self.params.memset),
            b"cuGraphMemsetNodeGetParams",
        )
    self.dst = Operand.__new__(Operand)
    self.dst.address = self.params.memset.dst
    return self


cdef int read_element(object value, cydriver.CUDA_MEMSET_NODE_PARAMS_v2* params) except -1:
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


cdef int read_current_context(cydriver.CUcontext* c_context) except -1:
    HANDLE_RETURN(cydriver.cuCtxGetCurrent(c_context), b"cuCtxGetCurrent")
    return 0


cdef class MemcpyValues(NodeValues):
    cdef:
        Operand dst
        Operand src
        bint is_plain               # one row of linear memory; other copies can be read, but not changed
        size_t size

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY

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

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        # As for memsets, keeps the context of the node.
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphMemcpyNodeSetParams(c_node, &self.params.memcpy.copyParams),
                b"cuGraphMemcpyNodeSetParams",
            )
        return 0


cdef MemcpyValues MemcpyValues_create(Operand dst, Operand src, object size):
    cdef MemcpyValues self = MemcpyValues.__new__(MemcpyValues)
    cdef cydriver.CUDA_MEMCPY3D* p = &self.params.memcpy.copyParams
    self.is_plain = True
    self.dst = dst
    self.src = src
    self.size = operand_size("size", size)
    if is_on_device(dst.address):
        p.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        p.dstDevice = dst.address
    else:
        p.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        p.dstHost = <void*><uintptr_t>dst.address
    if is_on_device(src.address):
        p.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        p.srcDevice = src.address
    else:
        p.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
        p.srcHost = <void*><uintptr_t>src.address
    p.WidthInBytes = self.size
    p.Height = 1
    p.Depth = 1
    read_current_context(&self.params.memcpy.copyCtx)
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
    return self


cdef MemcpyValues MemcpyValues_read(cydriver.CUgraphNode c_node):
    cdef MemcpyValues self = MemcpyValues.__new__(MemcpyValues)
    cdef cydriver.CUDA_MEMCPY3D* p = &self.params.memcpy.copyParams
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
    return self


cdef bint is_on_device(cydriver.CUdeviceptr address) except -1:
    return pointer_info(address).is_device_accessible and (
        not pointer_info(address).is_host_accessible or pointer_info(address).is_managed
    )


cdef class AllocValues(NodeValues):
    cdef:
        str memory_type
        tuple peers
        vector[cydriver.CUmemAccessDesc] _access    # of the peers

    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC

    def _description(self):
        return f"an allocation of {self.params.alloc.bytesize} bytes of {self.memory_type} memory"


cdef AllocValues AllocValues_create(object size, object device, object memory_type, object peer_access):
    cdef AllocValues self = AllocValues.__new__(AllocValues)
    kinds = [str(member) for member in GraphMemoryType]
    if memory_type is None:
        memory_type = GraphMemoryType.DEVICE
    if not isinstance(memory_type, str) or memory_type not in kinds:
        raise ValueError(f"memory_type must be {format_or_list(kinds)}, not {shown(memory_type)}")
    self.memory_type = str(memory_type)
    self.params.alloc.bytesize = operand_size("size", size)
    self.params.alloc.poolProps.allocType = cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    self.params.alloc.poolProps.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    if self.memory_type == "host":
        self.params.alloc.poolProps.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    else:
        self.params.alloc.poolProps.location.id = ordinal_of("device", Device() if device is None else device)
    if self.memory_type == "managed":
        self.params.alloc.poolProps.allocType = cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
    peers = () if peer_access is None else list_argument("peer_access", peer_access, "Devices or ints, or None")
    self.peers = tuple([ordinal_of("peer_access", peer) for peer in peers])
    fill_access(self)
    return self


# The driver copies the array when it adds the node.
cdef int fill_access(AllocValues self) except -1:
    cdef cydriver.CUmemAccessDesc one
    memset(&one, 0, sizeof(one))
    one.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    one.flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for peer in self.peers:
        one.location.id = peer
        self._access.push_back(one)
    self.params.alloc.accessDescs = self._access.data()
    self.params.alloc.accessDescCount = self._access.size()
    return 0


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
        HANDLE_RETURN(
            cydriver.cuGraphMemAllocNodeGetParams(c_node, <cydriver.CUDA_MEM_ALLOC_NODE_PARAMS*>&self.params.alloc),
            b"cuGraphMemAllocNodeGetParams",
        )
    self.memory_type = "device"
    if self.params.alloc.poolProps.allocType == cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        self.memory_type = "managed"
    elif self.params.alloc.poolProps.location.type != cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        self.memory_type = "host"
    self.peers = tuple([
        self.params.alloc.accessDescs[index].location.id
        for index in range(self.params.alloc.accessDescCount if self.params.alloc.accessDescs != NULL else 0)
    ])
    self.params.alloc.accessDescs = NULL
    return self


cdef class FreeValues(NodeValues):
    def __cinit__(self):
        self.params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE

    def _description(self):
        address = self.params.free.dptr
        return f"a free of {address:#x}, which must be the address of an AllocNode that no other node frees"


cdef FreeValues FreeValues_create(object dptr):
    cdef FreeValues self = FreeValues.__new__(FreeValues)
    self.params.free.dptr = address_of("dptr", dptr)
    return self


cdef FreeValues FreeValues_read(cydriver.CUgraphNode c_node):
    cdef FreeValues self = FreeValues.__new__(FreeValues)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphMemFreeNodeGetParams(c_node, &self.params.free.dptr), b"cuGraphMemFreeNodeGetParams"
        )
    return self
