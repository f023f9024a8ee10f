# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of all resources, and references to them: pinned for a call of the bindings, or weak."""

cimport cython
from libc.stdint cimport intptr_t
from libc.stdlib cimport calloc

from cpython.object cimport PyTypeObject

from cuda.core._utils._cpython cimport type_namespace

import importlib

from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.other_names import descriptors
from cuda.core._utils.signatures import ConstructorSignature


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


# --- The base of all resources --------------------------------------------------------------------

cdef class DriverObject:
    """Base class of all resources: they close, compare by handle, and cannot be constructed directly."""

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

    def close(self) -> None:
        """Release this object's reference to the resource.

        The resource is destroyed when its last reference is dropped. Closing an object again does nothing.
        """
        # A method that reads a field in a critical section of its object can use the value until the section ends.
        with cython.critical_section(self):
            self._release()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._address() == 0

    def _pin(self) -> PinnedHandle:
        """Return the handle as the bindings take it, with a reference to the resource."""
        raise TypeError(f"a {type(self).__name__} cannot be passed to this driver call")

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
    raise UnavailableError(f"this {type(thing).__name__} is closed")


cdef int refuse_pickle(object thing) except -1:
    raise TypeError(f"{type(thing).__name__} objects cannot be pickled or copied: they belong to this process")


cdef object _driver = None


cdef object bindings_object(str name, intptr_t value):
    global _driver
    if _driver is None:
        _driver = importlib.import_module("cuda.bindings.driver")
    return getattr(_driver, name)(init_value=value)


cdef class PinnedHandle:
    """The handle of a resource as the bindings take it, and a reference that keeps the resource open during a call."""


cdef PinnedHandle pin_as(str name, intptr_t value, Anchor anchor):
    cdef PinnedHandle self = PinnedHandle.__new__(PinnedHandle)
    self._anchor = anchor
    self.handle = bindings_object(name, value)
    return self


def explain_other_names(type cls) -> None:
    """Let the names that other libraries have for members of an extension type raise AttributeError with a hint."""
    (<dict>type_namespace(<PyTypeObject*>cls)).update(descriptors(cls.__name__))
    PyType_Modified(<PyTypeObject*>cls)


cdef list _member_texts = []  # referenced by the definitions of members


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


# --- Weak handles ---------------------------------------------------------------------------------

cdef class WeakHandle:
    """A weak reference to a resource, from :func:`weak_handle`, which is true while the resource is alive."""

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use weak_handle()."""
        raise RuntimeError("WeakHandle cannot be constructed directly; use weak_handle()")

    def __bool__(self):
        return self.cell.use_count() != 0

    def expired(self) -> bool:
        """Return whether nothing owns the resource any longer."""
        return self.cell.use_count() == 0

    def use_count(self) -> int:
        """Return the number of references: from objects, slices, graph nodes, executables and launches in progress."""
        return self.cell.use_count()


def weak_handle(obj) -> WeakHandle:
    """Return a :class:`WeakHandle` of a buffer's allocation or a definition's graph.

    Parameters
    ----------
    obj : :class:`~cuda.core.Buffer` | :class:`~cuda.core.graph.GraphDefinition`
        The object whose resource is observed. A slice of a buffer has its own handle, which keeps the buffer's alive.

    Raises
    ------
    TypeError
        If ``obj`` is something else.
    ValueError
        If it is a closed buffer.
    """
    # The classes are in higher layers, so each has a method that returns its weak handle.
    observe = getattr(type(obj), "_weak_handle", None)
    if observe is None:
        raise TypeError(f"obj must be a Buffer or a GraphDefinition, not {type(obj).__name__}")
    return observe(obj)
