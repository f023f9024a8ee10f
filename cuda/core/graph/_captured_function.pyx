# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that are captured once and replayed with new data (capture)."""

from __future__ import annotations

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uintptr_t

from cuda.core._native._cuda_core cimport stream_captures
from cuda.core._native._cuda_core cimport refuse_pickle
from cuda.core._native._cuda_core cimport ContextHandle, KeptContext, KeptStream
from cuda.core._launcher cimport VectorCall
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream, Stream_accept, Stream_context, Stream_keep
from cuda.core._utils._cpython cimport set_call_offset, tuple_items
from cuda.core.graph._capture cimport is_capturing
from cuda.core.graph._graph_builder cimport GraphBuilder, GraphBuilder_beside
from cuda.core.graph._replay cimport MEMORY, NAMED, CallPattern
from cuda.core.graph._replay cimport Replays, Replays_create

import functools
import sys
import types
import weakref
from dataclasses import dataclass

from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import repr_of, shown
from cuda.core.graph._replay import data_names

__all__ = ["CaptureStatistics", "CapturedFunction", "capture"]

_MAX_DEPTH = 32


def capture(
    function=None,
    *,
    data: str | Iterable[str] | None = None,
    mode: str = "relaxed",
    options: GraphCompleteOptions | None = None,
    maxsize: int = 8,
):
    """Return a function that captures ``function`` into a graph and launches the graph; also a decorator.

    The returned :class:`CapturedFunction` is called like ``function``: with a stream, then the other arguments.

    Parameters
    ----------
    function : Callable
        Enqueues work on its first argument, a stream or a builder, and returns None. It runs only when it is captured,
        so its control flow must depend on its arguments only, and what its work uses must outlive the launch.
    data : str | Iterable[str], optional
        Names of parameters that the function only passes on to the work it enqueues: buffers, arrays and addresses,
        whole or sliced, and numbers that are passed unchanged to kernels. Nothing else may depend on their values,
        only on the sizes and shapes of memory. If only data changed since the last call, the function does not run:
        after two captures have shown which nodes use the data, these nodes are updated in the executable. If None, all
        buffers and device arrays are data; ``()`` means no parameter.
    mode : str, optional
        The capture mode; see :meth:`GraphBuilder.begin_building`. Default is ``"relaxed"``.
    options : :class:`GraphCompleteOptions`, optional
        How graphs are instantiated. Work that allocates memory and does not free it needs ``auto_free_on_launch``.
    maxsize : int, optional
        The maximum number of executables to keep; the least recently used one is dropped. Default is 8.

    Returns
    -------
    :class:`CapturedFunction`
        The function; without ``function``, a decorator that returns it.

    Raises
    ------
    TypeError
        If ``function`` is not callable, ``maxsize`` is not an int, or ``data`` is not a str or an iterable of str.
    ValueError
        If ``maxsize`` is not from 1 to ``sys.maxsize``, or ``data`` names something that is not a parameter.
    """
    check_maxsize(maxsize)
    if function is None:
        return functools.partial(capture, data=data, mode=mode, options=options, maxsize=maxsize)
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    return CapturedFunction(function, data, mode, options, maxsize)


@dataclass(frozen=True)
class CaptureStatistics:
    """Counts of how the calls of a :class:`CapturedFunction` were executed.

    Attributes
    ----------
    captures : int
        Calls that captured the function and instantiated an executable.
    updates : int
        Calls that captured it and updated the parameters of an existing executable.
    replays : int
        Calls that launched an unchanged executable, without running the function.
    patches : int
        Calls that updated single nodes of an executable, without running the function.
    """

    captures: int = 0
    updates: int = 0
    replays: int = 0
    patches: int = 0


cdef class CapturedFunction:
    """A function that is captured once and replayed; created by :func:`capture`.

    A call with the same arguments as an earlier one launches the same executable. If only data changed (by default
    all memory is data), the nodes that use it are updated first. With other arguments the function is captured again,
    and an existing executable is updated with the new pointers, scalars and grids. Another executable is instantiated
    if the work has another structure (other kernels, or more of them), or if arguments come back that an update had
    replaced (two buffers used alternately).

    Arguments are compared by value: numbers, text and bytes; buffers, device arrays and views by address and shape;
    kernels by identity; launch configurations, tuples, lists and dicts by their contents. A call with an argument of
    any other type captures the function each time.

    On a capturing stream or a builder the function simply runs, and its work becomes part of that graph.
    Several threads may call it at the same time. As a method of a class, a captured function has its own executables
    for each instance.
    """

    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall slot: the C function that a call of this object runs
        dict __dict__
        Replays _replays
        object _function
        object _mode
        dict _instances             # id -> (weak reference, Replays) of the objects that it is a method of

    __signature__ = ConstructorSignature()

    def __cinit__(self):
        self._call = &refuse_call

    def __init__(self, function, data=None, mode="relaxed", options=None, maxsize=8):
        """Create the result of :func:`capture`."""
        if self._function is not None:
            raise RuntimeError("this CapturedFunction is initialized already; create a new one")
        check_maxsize(maxsize)
        positions, names = data_names(function, () if data is None else data)
        functools.update_wrapper(self, function)
        self._replays = Replays_create(MEMORY if data is None else NAMED, positions, names, options, maxsize)
        self._mode = mode
        self._instances = {}
        self._function = function
        self._call = &CapturedFunction_call

    def __repr__(self):
        name = getattr(self._function, "__qualname__", None)
        return f"<CapturedFunction {name if isinstance(name, str) else repr_of(self._function)}>"

    def __reduce__(self):
        refuse_pickle(self)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return bound_to(self, instance)

    def __call__(self, stream: Stream | GraphBuilder, /, *args, **kwargs) -> None:
        """Launch the work of the function on ``stream``, capturing or updating it if necessary.

        Parameters
        ----------
        stream : :class:`~cuda.core.Stream` | :class:`GraphBuilder`
            The stream to launch on.
        *args, **kwargs
            The other arguments of the function.

        Raises
        ------
        TypeError
            If ``stream`` is neither a stream nor a builder, or the function does not return None.
        RuntimeError
            If the stream is closed.
        CUDAError
            If the driver refuses to capture or launch.
        """
        # For callers that look this method up by name. A call of the object goes to CapturedFunction_call directly.
        cdef tuple names = tuple(kwargs)
        cdef tuple values = (stream, *args, *kwargs.values())
        self._call(<PyObject*>self, tuple_items(<PyObject*>values), 1 + len(args), <PyObject*>names)

    @property
    def statistics(self) -> CaptureStatistics:
        """How many calls have captured, updated, replayed and patched so far."""
        cdef Replays replays = replays_of(self)
        return CaptureStatistics(
            replays.capture_count, replays.update_count, replays.replay_count, replays.patch_count
        )

    def clear(self) -> None:
        """Drop all executables, so that the next call captures again. The statistics are kept."""
        replays_of(self).clear()


cdef object refuse_call(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* names):
    replays_of(<CapturedFunction>callee)


cdef Replays replays_of(CapturedFunction self):
    if self._replays is None:
        raise UnavailableError("this CapturedFunction was not initialized: its __init__ did not run, or failed")
    return self._replays


# The bound method of an instance, which shares the executables that were captured for the same instance.
cdef CapturedFunction bound_to(CapturedFunction self, object instance):
    cdef CapturedFunction result = CapturedFunction.__new__(CapturedFunction)
    cdef Replays own = replays_of(self)
    cdef dict instances = self._instances
    key = id(instance)
    known = instances.get(key)
    if known is None or known[0]() is not instance:
        replays = Replays_create(own.choice, own.positions, own.data_names, own.options, own.maxsize)
        known = weakref.ref(instance, lambda gone: instances.pop(key, None)), replays
        instances[key] = known
    result._replays = <Replays>known[1]
    result._function = types.MethodType(self._function, instance)
    result._mode = self._mode
    result._call = &CapturedFunction_call
    return result


cdef object CapturedFunction_call(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* names):
    cdef CapturedFunction self = <CapturedFunction>callee
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    cdef ContextHandle h_context
    cdef KeptContext context
    cdef KeptStream kept
    cdef Stream target
    cdef int device_id = -1
    cdef uintptr_t c_context
    if count == 0:
        raise TypeError("a captured function needs a stream or a builder as its first argument, by position")
    if Py_TYPE(arguments[0]) == <PyTypeObject*>Stream:
        target = <Stream>arguments[0]
    else:
        target = Stream_accept(<object>arguments[0])
    Stream_keep(target, &kept)
    if stream_captures(kept.get()):
        return run_in_capture(self, kept, <object>arguments[0], arguments + 1, count - 1, names)
    if context.hold(target._h_context):
        c_context = <uintptr_t>context.get()
    else:
        Stream_context(target, &h_context, &device_id)
        c_context = <uintptr_t>h_context.get()
    if not self._replays.launch(c_context, arguments + 1, count - 1, names, kept):
        capture_call(self, target, kept, c_context, arguments + 1, count - 1, names)
    return None


cdef object run_in_capture(
    CapturedFunction self,
    const KeptStream& kept,
    object stream,
    PyObject* const* arguments,
    Py_ssize_t count,
    PyObject* names,
):
    is_capturing(kept.handle())
    args, kwargs = args_and_kwargs(arguments, count, names)
    run(self._function, stream, args, kwargs)
    return None


cdef int capture_call(
    CapturedFunction self,
    Stream target,
    const KeptStream& kept,
    uintptr_t context,
    PyObject* const* arguments,
    Py_ssize_t count,
    PyObject* names,
) except -1:
    cdef Replays replays = self._replays
    cdef CallPattern pattern
    cdef list data = []
    args, kwargs = args_and_kwargs(arguments, count, names)
    pattern = replays.describe(context, args, kwargs, data)
    if pattern is not None and replays.launch_described(pattern, data, kept):
        return 0
    with GraphBuilder_beside(target) as builder:
        builder.begin_building(self._mode)
        run(self._function, builder, args, kwargs)
        builder.end_building()
        kernels = tuple(_kernels((args, kwargs)))
        replays.launch_captured(context, pattern, data if pattern is not None else [], kernels, builder, kept)
    return 0


cdef tuple args_and_kwargs(PyObject* const* arguments, Py_ssize_t count, PyObject* names):
    cdef Py_ssize_t index
    cdef tuple keywords = <tuple>names if names != NULL else ()
    args = tuple([<object>arguments[index] for index in range(count)])
    return args, {keywords[index]: <object>arguments[count + index] for index in range(len(keywords))}


cdef int check_maxsize(object maxsize) except -1:
    if not isinstance(maxsize, int):
        raise TypeError(f"maxsize must be an int, not {type(maxsize).__name__}")
    if not 1 <= maxsize <= sys.maxsize:
        raise ValueError(f"maxsize must be from 1 to {sys.maxsize}, not {shown(maxsize)}")
    return 0


cdef int run(object function, object stream, tuple args, dict kwargs) except -1:
    result = function(stream, *args, **kwargs)
    if result is not None:
        raise TypeError(f"a captured function must return None, not {type(result).__name__}")
    return 0


def _kernels(argument, depth=0):
    if isinstance(argument, Kernel):
        yield argument
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(argument, dict):
        yield from _kernels(tuple(argument.values()), depth + 1)
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _kernels(item, depth + 1)


cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept nogil
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil


cdef int make_callable() except -1:
    cdef CapturedFunction probe = CapturedFunction.__new__(CapturedFunction)
    set_call_offset(<PyTypeObject*>CapturedFunction, <char*>&probe._call - <char*><PyObject*>probe)
    return 0


make_callable()
