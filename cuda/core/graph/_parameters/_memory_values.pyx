# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of memset, memcpy, allocation and free nodes."""

from __future__ import annotations

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer

from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._pointer_info cimport pointer_info
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._parameters._node_values cimport NodeValues, add_keep, add_object, address_of, size_of
from cuda.core.graph._state._retention cimport keep_object, new_keeps

import operator

from cuda.core._device import Device
from cuda.core._utils.validators import format_or_list, list_argument, shown
from cuda.core.typing import GraphMemoryType

__all__ = []


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
        self.owner = new_keeps()
        keep_object(self.owner, owner)
    return self


class ClosedBufferError(RuntimeError, ValueError):
    """Raised for a closed Buffer; programs written for other releases catch one or the other base class."""


cdef object closed_buffer(str name):
    return ClosedBufferError(f"{name}: this Buffer is closed")


cdef int keep_operand(NodeValues values, Operand operand) except -1:
    if operand.h_allocation:
        add_keep(values, operand.h_allocation.keep())
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
    keep_operand(self, dst)
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
    keep_operand(self, self.dst)
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
    keep_operand(self, dst)
    keep_operand(self, src)
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
