# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conditional nodes (ConditionalNode, IfNode, IfElseNode, WhileNode, SwitchNode)."""

from __future__ import annotations

cimport cython

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core.graph._graph_node cimport GraphNode, GraphNode_values, register_node_class
from cuda.core.graph._parameters._conditional_values cimport ConditionalValues, ConditionalValues_read
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport NodeRecord

from cuda.core._handles import _late
from cuda.core.typing import GraphConditionalType

__all__ = ["ConditionalNode", "IfElseNode", "IfNode", "SwitchNode", "WhileNode"]


cdef class ConditionalNode(GraphNode):
    """A conditional node. Nodes of this class itself have a type that the driver does not report."""

    cdef tuple _branches

    @property
    def condition(self) -> GraphCondition | None:
        """The condition; None if the driver does not report it."""
        return (<ConditionalValues>GraphNode_values(self)).condition

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """The type; None if the driver does not report it."""
        return kinds().get((<ConditionalValues>GraphNode_values(self)).c_type)

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """The bodies, to which nodes are added. The same objects each time."""
        if self._branches is None:
            GraphNode_values(self)
            branches = tuple([_late.graph_definition_of(self._tree, c) for c in self._record.children or ()])
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
        """The body, to which nodes are added."""
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
        """The body, to which nodes are added."""
        return self.branches[0]


cdef class SwitchNode(ConditionalNode):
    """A conditional node with several bodies, of which the condition selects one by its index."""


def kinds() -> dict:
    """Return the public type for each ``CUgraphConditionalNodeType``."""
    return {
        <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF: GraphConditionalType("if"),
        <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE: GraphConditionalType("while"),
        <int>cydriver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH: GraphConditionalType("switch"),
    }


cdef ConditionalValues read_values(ConditionalNode self):
    cdef ConditionalValues values = ConditionalValues_read(self._record.c_node)
    values.update_record(self._graph, self._record)
    return values


def class_of(NodeRecord record):
    """Return the class of a conditional node, by its type and its number of bodies."""
    cdef ConditionalValues values = record.values
    if values is None:
        values = ConditionalValues_read(record.c_node)
    kind = kinds().get(values.c_type)
    if kind == GraphConditionalType("if"):
        return IfElseNode if values.count == 2 else IfNode
    if kind == GraphConditionalType("while"):
        return WhileNode
    return ConditionalNode if kind is None else SwitchNode


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL, class_of)
make_hasattr_safe(ConditionalNode)
make_hasattr_safe(IfNode)
make_hasattr_safe(IfElseNode)
make_hasattr_safe(WhileNode)
