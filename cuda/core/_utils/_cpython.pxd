# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Everything that relies on CPython internals, or that differs between Python versions."""

from libc.stdint cimport int64_t
from libcpp cimport bool as cpp_bool

from cpython.object cimport PyObject, PyTypeObject


cdef extern from "Python.h":
    ctypedef PyObject* (*newfunc)(PyTypeObject*, PyObject*, PyObject*)
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)

    ctypedef struct PyCodeObject:
        pass
    ctypedef struct PyFrameObject:
        pass
    PyFrameObject* PyEval_GetFrame() noexcept  # a borrowed reference
    int PyCode_Addr2Line(PyCodeObject*, int instruction) noexcept


cdef extern from "cpython.hpp" namespace "cuda_core":
    cpp_bool is_interpreter_exiting() noexcept nogil
    void set_error_on_any_thread(PyObject* type, const char* text) noexcept nogil
    void call_with_interpreter[T](void (*function)(T&) noexcept, T& value) noexcept nogil

    PyObject** tuple_items(PyObject* items) noexcept nogil
    cpp_bool read_short_int(PyObject* number, int64_t* value) noexcept nogil

    cpp_bool is_running(PyObject* code, int offset) noexcept

    PyObject* type_namespace(PyTypeObject* cls) noexcept
    void set_constructor(PyTypeObject* cls, newfunc make, vectorcallfunc call) noexcept
    void set_call_offset(PyTypeObject* cls, Py_ssize_t offset) noexcept

    # Each module with extension types ends with `check_self_in_methods(globals())`.
    int check_self_in_methods(object module_namespace) except -1
