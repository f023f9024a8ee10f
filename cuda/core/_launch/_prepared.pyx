# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Prepared launches: callables that know the types of a kernel's arguments, and take the grid and block first.

A call compares types, finds the configuration of the last call by identity, and launches: a few nanoseconds more than
``launch``. Arguments of other types than expected go through a converter.
"""

from __future__ import annotations

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libcpp.vector cimport vector

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._launcher cimport VectorCall, launch_kernel
from cuda.core._memory._buffer cimport Buffer
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream
from cuda.core._utils._cpython cimport set_call_offset, tuple_items

from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["PreparedLaunch"]

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept nogil
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    bint PyType_IsSubtype(PyTypeObject* one, PyTypeObject* other) noexcept nogil


# The types that an argument may have without conversion; the classes are kept by the tuple of parameters.
cdef struct Accepted:
    PyTypeObject* first
    PyTypeObject* second
    bint takes_subclasses   # of the second, a class of buffers
    bint is_float32     # a float of Python is narrowed


# What most kernels have at most: beyond, converted arguments need the heap.
cdef enum:
    USUAL_COUNT = 32


cdef class PreparedLaunch:
    """A callable ``(grid, block, *arguments, shared_size=0)`` that launches a kernel.

    Parameters
    ----------
    kernel : :class:`Kernel`
        The kernel.
    parameters : sequence
        For each parameter two types that are taken as they are (subclasses, too, where the second is a
        :class:`Buffer`), and a function that converts others; then, optionally, whether it is a ``float`` of C++, for
        which a float of Python is narrowed.
    find_config : callable
        Returns the :class:`LaunchConfig` for a grid, a block and a number of bytes of shared memory.
    find_stream : callable or None
        Returns the :class:`Stream` for the third argument of a call; None for calls on ``stream``.
    stream : :class:`Stream`
        The stream of calls without one.
    translate : callable
        Returns the exception to raise for one that the launch raised.
    """

    cdef:
        object __weakref__
        VectorCall _call            # where CPython finds what a call of this object runs
        Kernel _kernel
        Stream _stream
        vector[Accepted] _accepted
        tuple _parameters
        tuple _known                # grid, block, bytes of shared memory and configuration of the latest call
        tuple _known_stream         # the argument and the stream of the latest call
        object _find_config
        object _find_stream
        object _translate

    def __cinit__(self):
        self._call = &refuse_call

    def __init__(self, kernel: Kernel, parameters, find_config, find_stream, stream: Stream, translate):
        cdef Accepted accepted
        if self._parameters is not None:
            raise RuntimeError("this PreparedLaunch is initialised already; create a new one")
        checked = tuple(tuple(parameter) for parameter in parameters)
        for first, second, convert, *is_float32 in checked:
            if not (isinstance(first, type) and isinstance(second, type) and callable(convert)):
                raise TypeError("each of the parameters must have two types and a function")
            accepted.first = <PyTypeObject*>first
            accepted.second = <PyTypeObject*>second
            accepted.takes_subclasses = issubclass(second, Buffer)
            accepted.is_float32 = bool(is_float32 and is_float32[0])
            self._accepted.push_back(accepted)
        self._kernel = <Kernel?>kernel
        self._stream = <Stream?>stream
        self._known = (None, None, None, None)
        self._known_stream = (None, None)
        self._find_config = find_config
        self._find_stream = find_stream
        self._translate = translate
        self._parameters = checked
        self._call = &PreparedLaunch_call

    def __call__(self, *arguments, shared_size=0):
        """Launch the kernel with a grid, a block and its arguments."""
        # Only for callers that look this method up by name: a call of the object goes to PreparedLaunch_call.
        names = ("shared_size",)
        values = (*arguments, shared_size)
        return self._call(<PyObject*>self, tuple_items(<PyObject*>values), len(arguments), <PyObject*>names)

    def __repr__(self):
        return f"<PreparedLaunch of {self._kernel!r} with {self._accepted.size()} parameters>"


cdef object refuse_call(PyObject* callee, PyObject* const* arguments, size_t count, PyObject* keywords):
    raise RuntimeError("this PreparedLaunch has no kernel")


cdef object PreparedLaunch_call(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* keywords):
    cdef PreparedLaunch self = <PreparedLaunch>callee
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t first = 2 if self._find_stream is None else 3
    cdef LaunchConfig config
    cdef Stream stream = self._stream
    cdef tuple known = self._known
    cdef object shared = 0
    if keywords != NULL and len(<tuple>keywords):
        shared = shared_size_of(<tuple>keywords, arguments + count)
    if count < first or <size_t>(count - first) != self._accepted.size():
        refuse_count(self, count, first)
    if known[0] is <object>arguments[0] and known[1] is <object>arguments[1] and known[2] is shared:
        config = <LaunchConfig>known[3]
    else:
        config = <LaunchConfig?>self._find_config(<object>arguments[0], <object>arguments[1], shared)
        # Only what cannot change: a list may be another grid at the next call.
        if type(<object>arguments[0]) is tuple and type(<object>arguments[1]) is tuple:
            self._known = (<object>arguments[0], <object>arguments[1], shared, config)
    if first == 3:
        known = self._known_stream
        if known[1] is not None and known[0] is <object>arguments[2]:
            stream = <Stream>known[1]
        else:
            stream = <Stream?>self._find_stream(<object>arguments[2])
            self._known_stream = (<object>arguments[2], stream)
    try:
        PreparedLaunch_launch(self, stream, config, arguments + first)
    except (CUDAError, RuntimeError) as error:
        raise self._translate(error) from None
    return None


cdef inline bint is_accepted(const Accepted* accepted, PyTypeObject* c_class) noexcept nogil:
    if c_class == accepted.first or c_class == accepted.second:
        return True
    return accepted.takes_subclasses and PyType_IsSubtype(c_class, accepted.second)


cdef int PreparedLaunch_launch(
    PreparedLaunch self, Stream stream, LaunchConfig config, PyObject* const* arguments
) except -1:
    cdef size_t count = self._accepted.size()
    cdef const Accepted* accepted = self._accepted.data()
    cdef PyTypeObject* c_class
    cdef size_t index
    for index in range(count):
        c_class = Py_TYPE(arguments[index])
        if not is_accepted(accepted + index, c_class):
            return PreparedLaunch_convert(self, stream, config, arguments)
    return launch_kernel(stream, config, self._kernel, arguments, count)


cdef int PreparedLaunch_convert(
    PreparedLaunch self, Stream stream, LaunchConfig config, PyObject* const* arguments
) except -1:
    cdef PyObject* usual[USUAL_COUNT]
    cdef vector[PyObject*] many
    cdef PyObject** converted = usual
    cdef size_t count = self._accepted.size()
    cdef size_t index = 0
    cdef size_t made = 0
    if count > USUAL_COUNT:
        many.resize(count)
        converted = many.data()
    try:
        for made in range(count):
            value = converted_argument(self, made, arguments[made])
            Py_INCREF(value)
            converted[made] = <PyObject*>value
        made = count
        return launch_kernel(stream, config, self._kernel, converted, count)
    finally:
        for index in range(made):
            Py_DECREF(<object>converted[index])


cdef object converted_argument(PreparedLaunch self, size_t index, PyObject* argument):
    cdef PyTypeObject* c_class = Py_TYPE(argument)
    cdef float narrow
    if is_accepted(self._accepted.data() + index, c_class):
        return <object>argument
    if self._accepted[index].is_float32 and c_class == <PyTypeObject*>float:
        narrow = <float>PyFloat_AS_DOUBLE(<object>argument)
        return PyBytes_FromStringAndSize(<char*>&narrow, sizeof(narrow))
    return (<tuple>self._parameters[index])[2](<object>argument)


cdef object shared_size_of(tuple names, PyObject* const* values):
    cdef Py_ssize_t index
    for index in range(len(names)):
        if names[index] != "shared_size":
            raise TypeError(f"a prepared call takes no keyword argument {names[index]!r}, only shared_size")
    return <object>values[0]


cdef int refuse_count(PreparedLaunch self, Py_ssize_t count, Py_ssize_t first) except -1:
    before = "grid, block and stream" if first == 3 else "grid and block"
    if count < first:
        raise TypeError(f"a prepared call takes {before} first, and {count} arguments were given")
    raise TypeError(
        f"the kernel was prepared for {self._accepted.size()} arguments, {count - first} given after {before}"
    )


cdef int make_callable() except -1:
    cdef PreparedLaunch probe = PreparedLaunch.__new__(PreparedLaunch)
    set_call_offset(<PyTypeObject*>PreparedLaunch, <char*>&probe._call - <char*><PyObject*>probe)
    return 0


make_callable()
