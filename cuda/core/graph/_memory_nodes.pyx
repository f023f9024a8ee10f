# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that allocate, free, fill and copy memory (AllocNode, FreeNode, MemsetNode, MemcpyNode)."""

from __future__ import annotations

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
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
    """A node that allocates memory at an address of its own."""

    @property
    def dptr(self) -> int:
        """The address."""
        return (<AllocValues>GraphNode_values(self)).params.dptr

    @property
    def bytesize(self) -> int:
        """Number of bytes."""
        return (<AllocValues>GraphNode_values(self)).params.bytesize

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return (<AllocValues>GraphNode_values(self)).params.poolProps.location.id

    @property
    def memory_type(self) -> str:
        """A value of :class:`~cuda.core.typing.GraphMemoryType`."""
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
    """A node that frees memory."""

    @property
    def dptr(self) -> int:
        """The address."""
        return (<FreeValues>GraphNode_values(self)).address

    def _details(self):
        return f" dptr={self.dptr:#x}"

    cdef NodeValues _read(self):
        return FreeValues_read(self._record.c_node)


cdef class MemsetNode(GraphNode):
    """A node that fills memory."""

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
        """Change the fill (``cuGraphMemsetNodeSetParams``); arguments are those of :meth:`GraphNode.memset`.

        Arguments that are None stay unchanged. Existing executables do not change.

        Raises
        ------
        ValueError
            If ``dst_owner`` is given without an address.
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
        """The address."""
        return (<MemsetValues>GraphNode_values(self)).params.dst

    @property
    def value(self) -> int:
        """An element, as a number without sign."""
        return (<MemsetValues>GraphNode_values(self)).params.value

    @property
    def element_size(self) -> int:
        """Bytes of an element: 1, 2 or 4."""
        return (<MemsetValues>GraphNode_values(self)).params.elementSize

    @property
    def width(self) -> int:
        """Elements in a row."""
        return (<MemsetValues>GraphNode_values(self)).params.width

    @property
    def height(self) -> int:
        """Rows."""
        return (<MemsetValues>GraphNode_values(self)).params.height

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return (<MemsetValues>GraphNode_values(self)).params.pitch

    def _details(self):
        return f" dptr={self.dptr:#x} value={self.value}"

    cdef NodeValues _read(self):
        return MemsetValues_read(self._record.c_node)


cdef class MemcpyNode(GraphNode):
    """A node that copies memory."""

    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner=None,
        src_owner=None,
    ) -> None:
        """Change the copy (``cuGraphMemcpyNodeSetParams``); arguments are those of :meth:`GraphNode.memcpy`.

        Arguments that are None stay unchanged. Existing executables do not change.

        Raises
        ------
        ValueError
            If an owner is given without its address, or the copy is of several rows or of an array.
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
        """The address of the target."""
        return (<MemcpyValues>GraphNode_values(self)).dst.address

    @property
    def src(self) -> int:
        """The address of the source."""
        return (<MemcpyValues>GraphNode_values(self)).src.address

    @property
    def size(self) -> int:
        """Number of bytes."""
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
        raise ValueError(f"{name}_owner needs {name}, the address that it owns")
    return None


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC, lambda record: AllocNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE, lambda record: FreeNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, lambda record: MemsetNode)
register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, lambda record: MemcpyNode)
answer_hasattr(AllocNode)
answer_hasattr(FreeNode)
answer_hasattr(MemsetNode)
answer_hasattr(MemcpyNode)
