# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that are captured once and replayed with new data (capture)."""

from __future__ import annotations

from libc.stdint cimport uint64_t

from cuda.core._handles._handles cimport AllocationHandle, ContextHandle, address
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream, Stream_accept, Stream_context
from cuda.core.graph._graph_builder cimport GraphBuilder_beside
from cuda.core.graph._stream_capture cimport is_capturing

import functools
import struct
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.initialised import needs_init

__all__ = ["CaptureStatistics", "CapturedFunction", "capture"]

# How many arguments of the past are remembered, to tell those that come back.
_MOST_SEEN = 256
_PLAIN = (type(None), bool, int, str, bytes)


def capture(function=None, *, mode: str = "relaxed", options: GraphCompleteOptions | None = None, maxsize: int = 8):
    """Return a function that captures ``function`` into a graph and launches that; also as a decorator.

    The returned :class:`CapturedFunction` is called as ``function`` is: first the stream, then what else it takes.

    Parameters
    ----------
    function : Callable
        Schedules work on its first argument, a stream or builder, and returns None. It runs only when it is captured,
        so all that it decides must follow from its arguments, and what its work uses must outlive the launch.
    mode : str, optional
        As :meth:`GraphBuilder.begin_building` takes it.
    options : :class:`GraphCompleteOptions`, optional
        How executables are made. Work that allocates memory and does not free it needs ``auto_free_on_launch``.
    maxsize : int, optional
        How many executables are kept, those used last. Default is 8.

    Raises
    ------
    TypeError
        If ``function`` is not callable, or ``maxsize`` is no int.
    ValueError
        If ``maxsize`` is less than 1.
    """
    if not isinstance(maxsize, int):
        raise TypeError(f"maxsize must be an int, not {type(maxsize).__name__}")
    if maxsize < 1:
        raise ValueError(f"maxsize must be at least 1, not {maxsize}")
    if function is None:
        return functools.partial(capture, mode=mode, options=options, maxsize=maxsize)
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    return CapturedFunction(function, mode, options, maxsize)


@dataclass(frozen=True)
class CaptureStatistics:
    """What the calls of a :class:`CapturedFunction` did.

    Attributes
    ----------
    captures : int
        Calls that captured the function and made an executable.
    updates : int
        Calls that captured it and changed the parameters of an executable in place.
    replays : int
        Calls that launched an executable as it was, without running the function.
    """

    captures: int = 0
    updates: int = 0
    replays: int = 0


@needs_init("_function")
class CapturedFunction:
    """A function that is captured once and replayed; :func:`capture` makes it.

    A call with the arguments of an executable launches it. With other arguments the function is captured again, and
    pointers, scalars and grids that changed are changed in place. Where the shape of the work changed (other kernels,
    or more of them), or arguments come back that were replaced before (two buffers that take turns), an executable of
    their own is made. Arguments are compared by value: numbers, text and bytes; buffers, arrays on the device and
    views by address and shape; kernels by identity; launch configurations, tuples, lists and dicts by what is in them.
    A call with anything else captures the function each time.

    On a stream that captures already, or a builder, the function simply runs, and becomes part of that graph.
    Calls may come from several threads.
    """

    def __init__(self, function, mode, options, maxsize):
        functools.update_wrapper(self, function)
        self._function = function
        self._mode = mode
        self._options = options
        self._maxsize = maxsize
        self._lock = threading.Lock()
        self._executables = OrderedDict()  # what was captured -> executable and what it needs, least recent first
        self._seen = OrderedDict()
        self._counts = dict.fromkeys(("captures", "updates", "replays"), 0)

    def __repr__(self):
        return f"<CapturedFunction {getattr(self._function, '__qualname__', self._function)!s}>"

    def __call__(self, stream: Stream | GraphBuilder, /, *args, **kwargs) -> None:
        """Launch what the function schedules, on ``stream``.

        Raises
        ------
        TypeError
            If ``stream`` is something else, or the function returns something.
        RuntimeError
            If the stream is closed.
        CUDAError
            If the driver refuses to capture or launch.
        """
        cdef Stream target = Stream_accept(stream)
        cdef ContextHandle h_context
        cdef int device_id = -1
        Stream_context(target, &h_context, &device_id)
        context = address(h_context)
        if is_capturing(target._h_stream.copy()):
            return self._run(stream, args, kwargs)
        try:
            key = (context, _value(args), _value(kwargs) if kwargs else ())
        except _NotComparable:
            key = None
        with self._lock:
            row = self._executables.get(key)
            if row is not None:
                row[0].launch(target)
                self._executables.move_to_end(key)
                self._counts["replays"] += 1
                return None
        with GraphBuilder_beside(target) as builder:
            builder.begin_building(self._mode)
            self._run(builder, args, kwargs)
            builder.end_building()
            with self._lock:
                graph = self._settle(key, context, builder, (args, kwargs))
                graph.launch(target)
        return None

    @property
    def statistics(self) -> CaptureStatistics:
        """How many calls captured, updated and replayed so far."""
        return CaptureStatistics(**self._counts)

    def clear(self) -> None:
        """Forget all executables, so that the next call captures; the statistics stay."""
        with self._lock:
            executables, self._executables = self._executables, OrderedDict()
            self._seen.clear()
        del executables  # what ends with them ends outside the lock

    def _run(self, stream, args, kwargs):
        result = self._function(stream, *args, **kwargs)
        if result is not None:
            raise TypeError(f"a captured function must return None, not {type(result).__name__}")

    def _settle(self, key, context, builder, arguments):
        # An executable for what was just captured, in place of the one used last where that will do.
        kernels = tuple(_kernels(arguments))
        graph = None
        if key is None or key not in self._seen:
            graph = self._update(context, builder)
        if graph is None:
            graph = builder.complete(self._options)
            self._counts["captures"] += 1
        else:
            self._counts["updates"] += 1
        # What cannot be compared is only there to be updated.
        self._executables[(context, _Unequal()) if key is None else key] = (graph, kernels)
        if key is not None:
            self._seen[key] = None
        while len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        while len(self._executables) > self._maxsize:
            self._executables.popitem(last=False)
        return graph

    def _update(self, context, builder):
        for key in reversed(self._executables):
            if key[0] != context:
                continue
            graph = self._executables[key][0]
            try:
                graph.update(builder)
            except CUDAError:  # the shape differs; the executable is unchanged
                continue
            del self._executables[key]
            return graph
        return None


class _NotComparable(Exception):
    """An argument may change without showing it."""


class _Unequal:
    """Part of a key that no call asks for."""


cdef object _value(object argument):
    cdef AllocationHandle h_allocation
    # Something hashable that is equal where the captured work must be, too.
    cls = type(argument)
    if cls in _PLAIN:
        return cls, argument
    if cls is tuple or cls is list:
        return cls, tuple([_value(item) for item in argument])
    if isinstance(argument, Buffer):
        h_allocation = (<Buffer>argument)._h_allocation.copy()
        if not h_allocation:
            raise _NotComparable
        return cls, <uint64_t>h_allocation.value().pointer, h_allocation.value().size
    if cls is float:
        return cls, struct.pack("d", argument)  # 0.0 is -0.0, and nan is not nan
    if cls is complex:
        return cls, struct.pack("dd", argument.real, argument.imag)
    if cls is dict:
        return cls, tuple([(_value(name), _value(item)) for name, item in argument.items()])
    if cls is Kernel:
        return cls, id(argument)  # the executable keeps it
    if cls is LaunchConfig:
        return cls, repr(argument)
    return _value_of_array(argument)


cdef object _value_of_array(object argument):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(argument, numpy.generic):
        return type(argument), str(argument.dtype), argument.tobytes()
    try:
        interface = argument.__cuda_array_interface__
        place = interface["data"][0], interface["shape"], interface.get("strides"), str(interface["typestr"])
        return type(argument), *place
    except Exception:  # whatever a foreign property raises
        raise _NotComparable from None


def _kernels(argument):
    if isinstance(argument, Kernel):
        yield argument
    elif isinstance(argument, dict):
        yield from _kernels(tuple(argument.values()))
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _kernels(item)
