# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: creating, reading, setting and updating them, for each kind of node."""

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda.core._event cimport Event
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport (
    AllocationHandle,
    ArgumentBlock,
    ContextHandle,
    EventHandle,
    Anchor,
    AnchorList,
    KernelHandle,
)
from cuda.core._utils cimport cydriver
from cuda.core.graph._graph_condition cimport GraphCondition
from cuda.core.graph._state cimport GraphRecord, GraphTree, NodeRecord


cdef class NodeValues:
    cdef:
        cydriver.CUgraphNodeParams params
        AnchorList* anchors     # the operands that a node keeps alive; NULL for none, and once a graph retains them

    # Does everything that may run Python code, which could destroy nodes. Called before raw handles are read.
    cdef int prepare(self) except -1
    # Drops what the driver has copied. Called after each driver call, even if it failed.
    cdef void finish(self) noexcept
    # Adds a node with these parameters, sets them for a node, or for a node of an executable.
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1
    # Raises if adding the node to this graph would crash the driver.
    cdef int check_place(self, GraphRecord graph) except -1
    cdef int change(self, cydriver.CUgraphNode c_node) except -1
    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1
    # Updates the record of a new or changed node, such as the list of its child graphs.
    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1


cdef class EmptyValues(NodeValues):
    pass


cdef int add_anchor(NodeValues self, Anchor anchor) except -1
cdef int add_object(NodeValues self, object thing) except -1

# Adds a node after others, and lets the graph retain its operands.
cdef NodeRecord add_node(GraphRecord graph, const cydriver.CUgraphNode* c_from, size_t count, NodeValues values)

# For the `except` clause of a step after add_node(): removes the node again. If that fails, the error has a note.
cdef int take_back_node(GraphRecord graph, NodeRecord record, object error) except -1

# Sets the parameters of a node. On an exception the node is unchanged.
cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1

# Convert an address or a size. TypeError and OverflowError name the argument.
cdef unsigned long long address_of(str name, object value) except? 0
cdef size_t size_of(str name, object value) except? <size_t>-1


cdef class ChildValues(NodeValues):
    cdef:
        GraphTree tree          # keeps the source alive until it is embedded
        GraphRecord source


# `child` is a GraphDefinition that must not belong to the tree `outside`, which may be None.
cdef ChildValues ChildValues_create(object child, GraphTree outside)


# The maximum number of forks or bodies. A number that is wrong by mistake would create streams until memory runs out.
cdef enum:
    MAX_BRANCHES = 65536


cdef class ConditionalValues(NodeValues):
    cdef:
        GraphCondition condition    # None if the driver does not report the parameters


cdef ConditionalValues ConditionalValues_create(
    object condition, cydriver.CUgraphConditionalNodeType c_type, object count
)

# The parameters of a captured node; drivers older than CUDA 13.2 report none.
cdef ConditionalValues ConditionalValues_read(cydriver.CUgraphNode c_node)


cdef class EventValues(NodeValues):
    cdef:
        EventHandle h_event         # set once
        ContextHandle h_context     # set once
        int device_id
        unsigned int c_flags


cdef EventValues EventValues_create(object event, bint is_record)
cdef EventValues EventValues_read(cydriver.CUgraphNode c_node, bint is_record)
cdef Event EventValues_event(EventValues self)


cdef class HostValues(NodeValues):
    cdef AnchorList* called         # a reference to the Python callable and its name; NULL for a C function


# `fn` and `user_data` are the arguments of callback(); `where` describes the graph, for reports of exceptions.
cdef HostValues HostValues_create(object fn, object user_data, object where)
cdef HostValues HostValues_read(cydriver.CUgraphNode c_node)

# The Python callable, or None for a C function.
cdef object HostValues_callable(HostValues self)


cdef class KernelValues(NodeValues):
    cdef:
        KernelHandle h_kernel   # set once
        Kernel kernel           # for the layout of its parameters
        tuple _arguments        # until the driver has copied them
        ArgumentBlock* _block   # NULL except from prepare() until the driver has copied the arguments
        bint _is_native         # read from a node: `params` points to the driver's copy of the arguments


# `config` is a LaunchConfig, `arguments` a tuple of kernel arguments.
cdef KernelValues KernelValues_create(object config, object kernel, tuple arguments)
cdef KernelValues KernelValues_read(cydriver.CUgraphNode c_node)

# The parameters of a node with another configuration and the same kernel and arguments.
cdef KernelValues KernelValues_with_config(cydriver.CUgraphNode c_node, KernelValues values, object config)

# Returns true if the driver copies all arguments by value, so the node needs no references to them.
cdef bint is_plain(tuple arguments) except -1

# Changes a kernel node of an executable. The caller keeps the kernel alive.
cdef int change_kernel_in(
    cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node, object config, Kernel kernel, tuple arguments
) except -1


# The source or the destination of a copy, or the destination of a memset.
cdef class Operand:
    cdef:
        cydriver.CUdeviceptr address
        AllocationHandle h_allocation       # set once: of the Buffer that is the operand, or its owner
        AnchorList* owner                     # with the owner, if that is another object; else NULL


cdef class MemsetValues(NodeValues):
    cdef Operand dst


cdef class MemcpyValues(NodeValues):
    cdef:
        Operand dst
        Operand src
        bint is_plain               # one row of linear memory; other copies can be read, but not changed
        size_t size


cdef class AllocValues(NodeValues):
    cdef:
        str memory_type
        tuple peers
        vector[cydriver.CUmemAccessDesc] _access    # of the peers


cdef class FreeValues(NodeValues):
    pass


cdef Operand Operand_create(str name, object value, object owner)
cdef MemsetValues MemsetValues_create(Operand dst, object value, object width, object height, object pitch)
# Arguments that are None keep the value of `old`.
cdef MemsetValues MemsetValues_change(
    MemsetValues old, Operand dst, object value, object width, object height, object pitch
)
cdef MemsetValues MemsetValues_read(cydriver.CUgraphNode c_node)
cdef MemcpyValues MemcpyValues_create(Operand dst, Operand src, object size)
cdef MemcpyValues MemcpyValues_change(MemcpyValues old, Operand dst, Operand src, object size)
cdef MemcpyValues MemcpyValues_read(cydriver.CUgraphNode c_node)
cdef AllocValues AllocValues_create(object size, object device, object memory_type, object peer_access)
cdef AllocValues AllocValues_read(cydriver.CUgraphNode c_node)
cdef FreeValues FreeValues_create(object dptr)
cdef FreeValues FreeValues_read(cydriver.CUgraphNode c_node)
