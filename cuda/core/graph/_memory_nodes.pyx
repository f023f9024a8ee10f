# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocation, free, memset and memcpy nodes (AllocNode, FreeNode, MemsetNode, MemcpyNode)."""

from __future__ import annotations

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core.graph._graph_node cimport (
    GraphNode,
    GraphNode_change,
    GraphNode_check,
    GraphNode_values,
    register_node_class,
)
from cuda.core.graph._parameters._memory_values cimport (
    AllocValues,
    AllocValues_read,
    FreeValues,
    FreeValues_read,
    MemcpyValues,
    MemcpyValues_change,
    MemcpyValues_read,
    MemsetValues,
    MemsetValues_change,
    MemsetValues_read,
    Operand,
    Operand_create,
)
from cuda.core.graph._parameters._node_values cimport NodeValues

__all__ = ["AllocNode", "FreeNode", "MemcpyNode", "MemsetNode"]


cdef class AllocNode(GraphNode):
    """An allocation node. Each launch allocates the memory at the same address."""

    @property
    def dptr(self) -> int:
        """The address of the allocation."""
        return (<AllocValues>GraphNode_values(self)).params.dptr

    @property
    def bytesize(self) -> int:
        """The size of the allocation in bytes."""
        return (<AllocValues>GraphNode_values(self)).params.bytesize

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return (<AllocValues>GraphNode_values(self)).params.poolProps.location.id

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
        return (<FreeValues>GraphNode_values(self)).address

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
        """Change the memset (``cuGraphMemsetNodeSetParams``); the arguments are those of :meth:`GraphNode.memset`.

        Parameters that are None stay as they are. Existing executables do not change.

        Raises
        ------
        ValueError
            If ``dst_owner`` is given without ``dst``. Other errors are those of :meth:`GraphNode.memset`.
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
        return (<MemsetValues>GraphNode_values(self)).params.dst

    @property
    def value(self) -> int:
        """The element to write, as an unsigned integer."""
        return (<MemsetValues>GraphNode_values(self)).params.value

    @property
    def element_size(self) -> int:
        """The size of an element in bytes: 1, 2 or 4."""
        return (<MemsetValues>GraphNode_values(self)).params.elementSize

    @property
    def width(self) -> int:
        """The number of elements in a row."""
        return (<MemsetValues>GraphNode_values(self)).params.width

    @property
    def height(self) -> int:
        """The number of rows."""
        return (<MemsetValues>GraphNode_values(self)).params.height

    @property
    def pitch(self) -> int:
        """The distance between the starts of two rows, in bytes."""
        return (<MemsetValues>GraphNode_values(self)).params.pitch

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
        """Change the copy (``cuGraphMemcpyNodeSetParams``); the arguments are those of :meth:`GraphNode.memcpy`.

        Parameters that are None stay as they are. Existing executables do not change.

        Raises
        ------
        ValueError
            If an owner is given without its address, or the copy has several rows or involves a CUDA array. Other
            errors are those of :meth:`GraphNode.memcpy`.
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
        cdef MemcpyValues values = GraphNode_values(self)
        sides = [
            "H" if side == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST else "D"
            for side in (values.params.dstMemoryType, values.params.srcMemoryType)
        ]
        return f" dst={self.dst:#x}({sides[0]}) src={self.src:#x}({sides[1]}) size={self.size}"

    cdef NodeValues _read(self):
        return MemcpyValues_read(self._record.c_node)


cdef Operand new_operand(str name, object value, object owner):
    if value is not None:
        return Operand_create(name, value, owner)
    if owner is not None:
        raise ValueError(f"{name}_owner needs {name}, the address to which it belongs")
    return None


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC, lambda record: AllocNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE, lambda record: FreeNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, lambda record: MemsetNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, lambda record: MemcpyNode)
make_hasattr_safe(AllocNode)
make_hasattr_safe(FreeNode)
make_hasattr_safe(MemsetNode)
make_hasattr_safe(MemcpyNode)
