# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""User objects: operands of nodes live as long as a graph, clone, executable or launch in flight uses them.

The driver counts the references to a *user object*, here a list of operands, and calls its destructor on a thread of
its own when the last is released. That thread must call neither CUDA nor the interpreter, so the destructor queues the
list, and the main thread releases it.
"""

from __future__ import annotations

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport Keep, KeepList, deferred_queue
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

__all__ = []


cdef KeepList* new_keeps() except NULL:
    return KeepList.make(deferred_queue())


cdef int keep_object(KeepList* keeps, object thing) except -1:
    keeps.add(Keep.of_object(<PyObject*>thing))
    return 0


cdef cydriver.CUuserObject retain(cydriver.CUgraph c_graph, KeepList* keeps) except NULL:
    cdef cydriver.CUuserObject c_object = NULL
    cdef cydriver.CUresult err
    with nogil:
        err = cydriver.cuUserObjectCreate(
            &c_object,
            keeps,
            &drop_keeps,
            1,
            cydriver.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
        )
    if err != cydriver.CUresult.CUDA_SUCCESS:
        keeps.drop_reference()
        HANDLE_RETURN(err, b"cuUserObjectCreate")
    with nogil:
        err = cydriver.cuGraphRetainUserObject(
            c_graph, c_object, 1, cydriver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE
        )
        if err != cydriver.CUresult.CUDA_SUCCESS:
            WARN_RETURN(cydriver.cuUserObjectRelease(c_object, 1), b"cuUserObjectRelease")
    HANDLE_RETURN(err, b"cuGraphRetainUserObject")
    return c_object


cdef int share(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) except -1:
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphRetainUserObject(c_graph, c_object, 1, 0), b"cuGraphRetainUserObject")
    return 0


cdef void release(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) noexcept nogil:
    WARN_RETURN(cydriver.cuGraphReleaseUserObject(c_graph, c_object, 1), b"cuGraphReleaseUserObject")


# The destructor of a user object, called on a thread of the driver.
cdef void drop_keeps(void* keeps) noexcept nogil:
    (<KeepList*>keeps).drop_reference()
