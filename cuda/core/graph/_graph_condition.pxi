# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions of conditional nodes."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from cpython.object cimport PyObject

from cuda.core._kernel_arg_handler cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._native._cuda_core cimport refuse_pickle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import operator

from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown


cdef class GraphCondition:
    """The condition of a conditional node: a 32-bit value that kernels set and the node reads.

    Conditions come from ``create_condition`` of :class:`GraphDefinition` and :class:`GraphBuilder`. A kernel accepts
    the object as an argument of type ``cudaGraphConditionalHandle``, and sets it with ``cudaGraphSetConditional``.
    """

    cdef:
        object __weakref__
        cydriver.CUgraphConditionalHandle _c_handle

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


# Creates a condition of a graph in the current context. `default_value` is the argument of create_condition(); the tree
# keeps the graph alive while its __index__ runs arbitrary code.
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
