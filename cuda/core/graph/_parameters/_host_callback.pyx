# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of host nodes: C functions, which the driver calls directly, and Python callables.

A Python callable is the user data of the node, so that clones of the graph call, and report, the same object. It runs
on a thread of the driver, which acquires the interpreter lock. That cannot deadlock, because no function of this
library holds the interpreter lock while it waits for the driver.
"""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cuda.core._handles._handles cimport KeepList
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, show_unraisable
from cuda.core.graph._parameters._node_values cimport NodeValues, add_object, address_of

import sys

from cuda.core._code._c_functions import function_address

__all__ = []


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
    self.called = self.keeps
    self.called.add_reference()
    self.params.fn = &run_callback
    self.params.userData = self.called
    return self


cdef HostValues HostValues_read(cydriver.CUgraphNode c_node):
    cdef HostValues self = HostValues.__new__(HostValues)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphHostNodeGetParams(c_node, &self.params), b"cuGraphHostNodeGetParams")
    if self.params.fn == &run_callback:
        self.called = <KeepList*>self.params.userData
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
    call_with_interpreter(&call_python, (<KeepList*>called)[0])


cdef void call_python(KeepList& called) noexcept:
    try:
        (<object>called.object(0))()
    except BaseException as error:  # no caller could catch it, and the stream must continue
        show_unraisable(error, <object>called.object(1))
