# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# distutils: language = c++
# cython: language_level=3, freethreading_compatible=True
"""Calls each function that relies on internals of CPython."""

from libc.stdint cimport int64_t

from cpython.exc cimport PyErr_Clear, PyErr_Occurred, PyErr_SetString
from cpython.object cimport PyObject, PyTypeObject
from posix.unistd cimport usleep

from cuda.core._utils._cpython cimport (
    call_with_interpreter,
    check_self_in_methods,
    is_interpreter_exiting,
    is_running,
    newfunc,
    read_short_int,
    set_call_offset,
    set_constructor,
    set_error_on_any_thread,
    tuple_items,
    type_namespace,
    vectorcallfunc,
)

cdef extern from "Python.h":
    PyObject* PyExc_BufferError
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) noexcept


cdef extern from "cpython.hpp" namespace "cuda_core":
    bint has_gil() noexcept nogil


def gil_is_held():
    return has_gil()


def gil_is_held_after_release():
    cdef bint is_held
    with nogil:
        is_held = has_gil()
    return is_held


def is_exiting():
    return is_interpreter_exiting()


def items_of(tuple items):
    cdef PyObject** c_items = tuple_items(<PyObject*>items)
    return [<object>c_items[i] for i in range(len(items))]


def short_int(number):
    cdef int64_t value = 0
    return value if read_short_int(<PyObject*>number, &value) else None


def runs(code, int offset):
    return bool(is_running(<PyObject*>code, offset))


cdef list _called = []


cdef void note(int& value) noexcept:
    try:
        raise KeyError("of the callback")
    except KeyError:
        _called.append((value, PyErr_Occurred() != NULL))


def call_while_an_error_is_pending(int value):
    """Return the calls of the callback, and whether the error is still pending after it."""
    _called.clear()
    PyErr_SetString(ValueError, b"on its way")
    with_error(value)
    is_kept = PyErr_Occurred() == <PyObject*>ValueError
    PyErr_Clear()
    return list(_called), is_kept


cdef void with_error(int value) noexcept:
    call_with_interpreter(&note, value)


def call_without_lock(int value):
    _called.clear()
    with nogil:
        call_with_interpreter(&note, value)
    return list(_called)


def raise_without_lock():
    with nogil:
        set_error_on_any_thread(PyExc_BufferError, b"of a thread without the lock")
    check_error()


cdef int check_error() except? 0:
    return 0


cdef class Singleton:
    """Calling the class always returns one object; `made` has the used function and its arguments."""
    cdef public object made


cdef Singleton _only = Singleton()


cdef object find(PyObject* cls, PyObject* const* args, size_t nargsf, PyObject* names):
    _only.made = "call", [<object>args[i] for i in range(PyVectorcall_NARGS(nargsf))]
    return _only


cdef object make(PyObject* cls, PyObject* args, PyObject* kwargs):
    _only.made = "new", list(<tuple>args)
    return _only


set_constructor(<PyTypeObject*>Singleton, <newfunc>make, <vectorcallfunc>find)


cdef class Adder:
    """An object called without a tuple of arguments."""
    cdef vectorcallfunc _call

    def __cinit__(self):
        self._call = <vectorcallfunc>add

    def __call__(self, *args):
        return "the slow way"


cdef object add(PyObject* callee, PyObject* const* args, size_t nargsf, PyObject* names):
    return sum([<object>args[i] for i in range(PyVectorcall_NARGS(nargsf))])


cdef int make_callable() except -1:
    cdef Adder probe = Adder()
    set_call_offset(<PyTypeObject*>Adder, <char*>&probe._call - <char*><PyObject*>probe)
    return 0


make_callable()


cdef class Word:
    """A class whose methods read a field of ``self``."""
    cdef str text

    def __init__(self, text):
        self.text = text

    def read(self):
        return self.text

    def join(self, *others, **named):
        return self.text, others, named

    def wait(self, unsigned int microseconds):
        with nogil:
            usleep(microseconds)

    def wait_each(self, *microseconds):
        for number in microseconds:
            self.wait(number)

    @staticmethod
    def plain(value):
        return value

    @classmethod
    def make(cls, text):
        return cls(text)


class Sentence(Word):
    """A Python class, whose own methods accept any ``self``."""

    def shout(self):
        return f"{self}!"


check_self_in_methods(globals())


def namespace_of(cls):
    return <object>type_namespace(<PyTypeObject*>cls)
