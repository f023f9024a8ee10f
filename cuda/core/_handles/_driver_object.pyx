# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Base class of every public resource."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t
from libc.stdlib cimport calloc

from cpython.object cimport PyTypeObject

from cuda.core._handles._handles cimport deferred_queue
from cuda.core._utils._cpython cimport make_hasattr_safe, type_namespace

import importlib

from cuda.core._utils.signatures import ConstructorSignature

__all__ = ["DriverObject"]


cdef extern from "Python.h":
    ctypedef struct PyMemberDef:
        const char* name
        int type
        Py_ssize_t offset
        int flags
        const char* doc

    object PyDescr_NewMember(PyTypeObject* cls, PyMemberDef* member)
    void PyType_Modified(PyTypeObject* cls)
    const char* PyUnicode_AsUTF8(object text) except NULL


cdef extern from *:
    """
    #include <structmember.h>
    #ifndef Py_T_OBJECT_EX
    #define Py_T_OBJECT_EX T_OBJECT_EX
    #define Py_READONLY READONLY
    #endif
    """
    int Py_T_OBJECT_EX
    int Py_READONLY


cdef class DriverObject:
    """Base class of all resources: closing, comparison by handle, and the refusal of direct construction."""

    _made_by = "a factory method"
    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError, which names the factory methods."""
        raise RuntimeError(f"{type(self).__name__} cannot be constructed directly; use {self._made_by}")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, DriverObject) or not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return NotImplemented
        return self._identity() == (<DriverObject>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        return f"<{type(self).__name__} handle={self._address():#x}>"

    def __reduce__(self):
        refuse_pickle(self)

    def close(self):
        """Release this object's reference to the resource.

        The resource is destroyed when its last reference is dropped. Closing an object again does nothing.
        """
        # A method that reads a field in a critical section of its object can use it until the section ends.
        with cython.critical_section(self):
            self._release()
        if deferred_queue().is_stuck():
            deferred_queue().resume()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._address() == 0

    cdef intptr_t _address(self) noexcept:
        return 0

    cdef void _release(self) noexcept:
        pass

    cdef object _identity(self):
        return self._address()

    cdef int _check_open(self) except -1:
        if self._address() == 0:
            refuse_closed(self)
        return 0


cdef int refuse_closed(object thing) except -1:
    raise RuntimeError(f"this {type(thing).__name__} is closed")


cdef int refuse_pickle(object thing) except -1:
    raise TypeError(f"{type(thing).__name__} objects cannot be pickled or copied: they belong to this process")


cdef object _driver = None


cdef object bindings_object(str name, intptr_t value):
    global _driver
    if _driver is None:
        _driver = importlib.import_module("cuda.bindings.driver")
    return getattr(_driver, name)(init_value=value)


cdef int add_member(type cls, str name, Py_ssize_t offset) except -1:
    # The interpreter reads a member without a call. The definition must outlive the class, so it is never freed.
    cdef PyMemberDef* member = <PyMemberDef*>calloc(1, sizeof(PyMemberDef))
    cdef dict namespace = <dict>type_namespace(<PyTypeObject*>cls)
    cdef str text = getattr(namespace[name], "__doc__", None) or ""
    _member_texts.append((name, text))
    member.name = PyUnicode_AsUTF8(name)
    member.doc = PyUnicode_AsUTF8(text)
    member.type = Py_T_OBJECT_EX
    member.flags = Py_READONLY
    member.offset = offset
    namespace[name] = PyDescr_NewMember(<PyTypeObject*>cls, member)
    PyType_Modified(<PyTypeObject*>cls)
    return 0


cdef list _member_texts = []


make_hasattr_safe(DriverObject)
