# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captured functions, whose work is captured into a graph and replayed.

A call builds a `CallKey` from its arguments: everything that the function can observe of them. If an executable was
captured for an equal key, the call launches it. Otherwise the function runs and is captured again, and an existing
executable is updated if the graphs have the same topology. Nothing is inferred about how the captured work depends on
the arguments. An argument whose state a key cannot hold, such as an object with attributes, makes every call capture.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject, PyTypeObject
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
    PyThread_type_lock,
)

from cuda.core._launcher cimport VectorCall
from cuda.core._memory._buffer cimport Buffer
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    ContextPin,
    GraphExecPin,
    StreamPin,
    refuse_pickle,
    stream_captures,
)
from cuda.core._stream cimport Stream, Stream_accept, Stream_context, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport set_call_offset, tuple_items
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import functools
import inspect
import sys
import types
import weakref
from dataclasses import dataclass

from cuda.core._utils.cuda_utils import CUDAError, UnavailableError
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import list_argument, repr_of, shown


def capture(
    function=None,
    *,
    data: str | Iterable[str] | None = None,
    mode: str = "relaxed",
    options: GraphCompleteOptions | None = None,
    maxsize: int = 8,
):
    """Return a function that captures ``function`` into a graph and launches the graph.

    It is also a decorator.

    The returned :class:`CapturedFunction` is called like ``function``: with a stream, then the other arguments.

    Parameters
    ----------
    function : Callable
        Enqueues work on its first argument, a stream or a builder, and returns None. It runs only when it is captured,
        so what its work uses must outlive the launch.
    data : str | Iterable[str], optional
        Names of parameters that the function only passes on to the work it enqueues. The names are checked, but do not
        change what a call does: all arguments are compared, and new data captures the function again.
    mode : str, optional
        The capture mode; see :meth:`GraphBuilder.begin_building`. Defaults to ``"relaxed"``.
    options : :class:`GraphCompleteOptions`, optional
        How graphs are instantiated. Work that allocates memory and does not free it needs ``auto_free_on_launch``.
    maxsize : int, optional
        The maximum number of executables to keep. Defaults to 8.

    Returns
    -------
    :class:`CapturedFunction`
        The function, or a decorator that returns it if ``function`` is None.

    Raises
    ------
    TypeError
        If ``function`` is not callable, ``maxsize`` is not an int, or ``data`` is not a str or an iterable of str.
    ValueError
        If ``maxsize`` is not from 1 to ``sys.maxsize``, or ``data`` names something that is not a parameter.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.graph import capture
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> x = device.allocate(64, stream=stream)
    >>> @capture
    ... def step(stream, x):
    ...     x.fill(0, stream=stream)
    ...     x.fill(1, stream=stream)
    >>> step(stream, x)  # captures, and launches
    >>> step(stream, x)  # launches
    >>> step.statistics.captures
    1
    """
    check_maxsize(maxsize)
    if function is None:
        return functools.partial(capture, data=data, mode=mode, options=options, maxsize=maxsize)
    if not callable(function) and not isinstance(function, classmethod):
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
        Always 0: no call changes an executable without running the function.
    """

    captures: int = 0
    updates: int = 0
    replays: int = 0
    patches: int = 0


cdef class CapturedFunction:
    """A function that is captured and replayed, created by :func:`capture`.

    A call with the same arguments as an earlier one launches the same executable. With other arguments the function is
    captured again, and an existing executable is updated with the new pointers, scalars and grids. Another executable
    is instantiated if the work has another structure (other kernels, or more of them), or if arguments come back that
    an update had replaced (two buffers used alternately).

    Arguments are compared by value: numbers, strings and bytes; buffers by address, size and memory resource; device
    arrays and views of known libraries by address, layout and dtype; kernels by identity; launch configurations, NumPy
    scalars and dtypes, tuples, lists, dicts and sets by their contents. What the function observes beside its
    arguments (defaults, closures, globals, attributes) is compared in the same way. A call with an argument of any
    other type, or a function that observes something else, captures the function each time; :attr:`statistics` then
    counts no replays.

    On a capturing stream or a builder the function simply runs, and its work becomes part of that graph.
    Several threads may call it at the same time. As a method of a class, a captured function has its own executables
    for each instance. An instance that does not support weak references cannot be tracked, so each call on it captures
    the function.
    """

    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall slot: the C function that a call of this object runs
        dict __dict__
        ReplayCache _cache
        object _function
        object _mode
        dict _instances             # id -> (weak reference, ReplayCache) of the objects that it is a method of
        bint _is_method             # assigned in the body of a class
        bint _always_captures

    __signature__ = ConstructorSignature()

    def __cinit__(self):
        self._call = &reject_call

    def __init__(self, function, data=None, mode="relaxed", options=None, maxsize=8):
        """Create the result of :func:`capture`."""
        if self._function is not None:
            raise RuntimeError("this CapturedFunction is already initialized; create a new one")
        check_maxsize(maxsize)
        check_data(function, () if data is None else data)
        functools.update_wrapper(self, function)
        self._cache = ReplayCache_create(options, maxsize)
        self._mode = mode
        self._instances = {}
        self._function = function
        self._call = &CapturedFunction_call

    def __repr__(self):
        name = getattr(self._function, "__qualname__", None)
        return f"<CapturedFunction {name if isinstance(name, str) else repr_of(self._function)}>"

    def __reduce__(self):
        refuse_pickle(self)

    def __set_name__(self, owner, name):
        self._is_method = True

    def __get__(self, instance, owner):
        cache_of(self)
        # Bind as the function itself binds: a static method and a callable object do not.
        get = getattr(type(self._function), "__get__", None)
        bound = self._function if get is None else get(self._function, instance, owner)
        if not isinstance(bound, types.MethodType) or bound is self._function:
            return self
        return bound_to(self, bound)

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
            If the driver rejects the capture or the launch.
        """
        # For callers that look this method up by name. A call of the object goes to CapturedFunction_call directly.
        cdef tuple names = tuple(kwargs)
        cdef tuple values = (stream, *args, *kwargs.values())
        self._call(<PyObject*>self, tuple_items(<PyObject*>values), 1 + len(args), <PyObject*>names)

    @property
    def statistics(self) -> CaptureStatistics:
        """How many calls have captured, updated and replayed so far."""
        captures, updates, replays = 0, 0, 0
        for cache in caches_of(self):
            captures += (<ReplayCache>cache).capture_count
            updates += (<ReplayCache>cache).update_count
            replays += (<ReplayCache>cache).replay_count
        return CaptureStatistics(captures, updates, replays)

    def clear(self) -> None:
        """Drop all executables, so that the next call captures again. The statistics are kept."""
        for cache in caches_of(self):
            ReplayCache_clear(<ReplayCache>cache)


cdef object reject_call(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* names):
    cache_of(<CapturedFunction>callee)


cdef ReplayCache cache_of(CapturedFunction self):
    if self._cache is None:
        raise UnavailableError("this CapturedFunction was not initialized: its __init__ did not run, or failed")
    return self._cache


# The executables of a function, and those of classes that it is bound to: since Python 3.13, an attribute of a bound
# class method is that of the function.
cdef list caches_of(CapturedFunction self):
    caches = [cache_of(self)]
    for reference, cache in list((self._instances or {}).values()):
        if isinstance(reference(), type):
            caches.append(cache)
    return caches


# Binds to an instance or a class. Bound methods of one object share its executables.
cdef CapturedFunction bound_to(CapturedFunction self, object method):
    cdef CapturedFunction result = CapturedFunction.__new__(CapturedFunction)
    cdef dict instances = self._instances
    instance = method.__self__
    key = id(instance)
    known = instances.get(key)
    if known is None or known[0]() is not instance:
        try:
            reference = weakref.ref(instance, lambda gone: instances.pop(key, None))
            known = reference, ReplayCache_create(self._cache.options, self._cache.maxsize)
            instances[key] = known
        except TypeError:  # a class with __slots__ and no __weakref__; an id alone may be reused
            known = None, self._cache
            result._always_captures = True
    result._cache = <ReplayCache>known[1]
    result._function = method
    result._mode = self._mode
    result._call = &CapturedFunction_call
    return result


cdef object CapturedFunction_call(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* names):
    cdef CapturedFunction self = <CapturedFunction>callee
    cdef CapturedFunction bound
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    cdef StreamPin pin
    cdef Stream target
    cdef CallKey key
    cdef vector[Anchor] memory
    if count == 0:
        raise TypeError("a captured function needs a stream or a builder as its first argument, by position")
    if Py_TYPE(arguments[0]) == <PyTypeObject*>Stream:
        target = <Stream>arguments[0]
    else:
        if count > 1 and is_receiver(self, <object>arguments[0]):
            bound = self.__get__(<object>arguments[0], type(<object>arguments[0]))
            if bound is not self:
                return CapturedFunction_call(<PyObject*>bound, arguments + 1, count - 1, names)
        target = Stream_accept(<object>arguments[0])
    Stream_pin(target, &pin)
    if stream_captures(pin.get()):
        is_capturing(pin.handle())
        run(self._function, <object>arguments[0], arguments + 1, count - 1, names)
        return None
    key = None if self._always_captures else CallKey_create(context_of(target), arguments + 1, count - 1, names)
    if key is not None:
        key.state = ReplayCache_state(self._cache, self._function)
        if key.state is None:
            key = None
    if key is None or not ReplayCache_launch(self._cache, key, pin):
        keep_memory(memory, arguments + 1, count - 1 + (len(<tuple>names) if names != NULL else 0))
        with GraphBuilder_beside(target) as builder:
            builder.begin_building(self._mode)
            run(self._function, builder, arguments + 1, count - 1, names)
            builder.end_building()
            if key is not None:
                release_resources(key)
            ReplayCache_launch_captured(self._cache, key, context_of(target), builder, pin)
    return None


# Keeps the memory of buffers that are closed during the call: the driver crashes if memory of a captured node was freed
# before the graph is instantiated.
cdef int keep_memory(vector[Anchor]& kept, PyObject* const* arguments, Py_ssize_t count) except -1:
    cdef Py_ssize_t index
    for index in range(count):
        if isinstance(<object>arguments[index], Buffer):
            kept.push_back((<Buffer><object>arguments[index])._h_allocation.copy().anchor())
    return 0


# Returns true if the argument in the place of the stream is the object to bind to: Model.step(model, stream), or the
# class to which a classmethod of Python 3.13 or later binds.
cdef bint is_receiver(CapturedFunction self, object argument) except -1:
    return (self._is_method or isinstance(argument, type)) and not hasattr(type(argument), "__cuda_stream__")


cdef uintptr_t context_of(Stream stream) except? 0:
    cdef ContextHandle h_context
    cdef ContextPin context
    cdef int device_id = -1
    if context.hold(stream._h_context):
        return <uintptr_t>context.get()
    Stream_context(stream, &h_context, &device_id)
    return <uintptr_t>h_context.get()


cdef int run(
    object function, object stream, PyObject* const* arguments, Py_ssize_t count, PyObject* names
) except -1:
    cdef Py_ssize_t index
    cdef tuple keywords = <tuple>names if names != NULL else ()
    args = tuple([<object>arguments[index] for index in range(count)])
    kwargs = {keywords[index]: <object>arguments[count + index] for index in range(len(keywords))}
    result = function(stream, *args, **kwargs)
    if result is not None:
        raise TypeError(f"a captured function must return None, not {type(result).__name__}")
    return 0


cdef int check_maxsize(object maxsize) except -1:
    if not isinstance(maxsize, int):
        raise TypeError(f"maxsize must be an int, not {type(maxsize).__name__}")
    if not 1 <= maxsize <= sys.maxsize:
        raise ValueError(f"maxsize must be from 1 to {sys.maxsize}, not {shown(maxsize)}")
    return 0


cdef int check_data(object function, object data) except -1:
    names = [data] if isinstance(data, str) else list_argument("data", data, "names of parameters")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"data must be names of parameters, not {type(name).__name__}")
    if not names:
        return 0
    if isinstance(function, (classmethod, staticmethod)):
        function = function.__func__
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    known = {parameter.name for parameter in parameters if parameter.kind not in variable}
    for name in names:
        if name not in known:
            raise ValueError(f"data must name parameters after the stream; the function has no parameter {name!r}")
    return 0


# --- Executables of one function ------------------------------------------------------------------

cdef enum:
    MAX_SEEN = 512                  # marks of earlier calls
    SIGNAL_CHECK_INTERVAL = 100_000  # microseconds


@cython.final
cdef class CapturedWork:
    cdef:
        Graph graph
        CallKey key         # of the call that it was captured for; None for none
        uintptr_t context


@cython.final
cdef class ReplayCache:
    cdef:
        object options
        Py_ssize_t maxsize
        list works          # CapturedWork, the most recently used first
        dict marks          # hashes of captured keys, oldest first
        PyThread_type_lock lock
        long owner          # the thread that holds the lock
        uint32_t generation     # of the process that created the lock
        uint64_t capture_count
        uint64_t update_count
        uint64_t replay_count

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)


cdef ReplayCache ReplayCache_create(object options, Py_ssize_t maxsize):
    cdef ReplayCache self = ReplayCache.__new__(ReplayCache)
    self.options = options
    self.maxsize = maxsize
    self.works = []
    self.marks = {}
    self.lock = new_lock()
    self.generation = fork_generation()
    return self


# The key of what the function observes now, or None if it has none.
cdef CallKey ReplayCache_state(ReplayCache self, object function):
    cdef CapturedWork work
    cdef CallKey state = None
    ReplayCache_acquire(self)
    try:
        for work in self.works:
            if work.key is not None and work.key.state is not state:
                state = work.key.state
                if is_current(state, function):
                    return state
    finally:
        ReplayCache_release(self)
    return CallKey_of_state(function)


# Launches the executable of an equal call; returns false if there is none.
cdef bint ReplayCache_launch(ReplayCache self, CallKey key, const StreamPin& stream) except -1:
    cdef CapturedWork work
    cdef Py_ssize_t index
    ReplayCache_acquire(self)
    try:
        for index, work in enumerate(self.works):
            if work.key is not None and is_equal(work.key, key):
                work.key.state = key.state
                if index != 0:
                    self.works.insert(0, self.works.pop(index))
                launch_work(work, stream)
                self.replay_count += 1
                return True
    finally:
        ReplayCache_release(self)
    return False


# Launches work that was just captured: updates an existing executable, or instantiates another one.
cdef int ReplayCache_launch_captured(
    ReplayCache self, CallKey key, uintptr_t context, GraphBuilder builder, const StreamPin& stream
) except -1:
    cdef CapturedWork work = None
    cdef bint comes_back
    ReplayCache_acquire(self)
    try:
        # Arguments that come back get their own executable, instead of an update on every call.
        comes_back = key is not None and not add_mark(self, hash_of(key))
        if not comes_back or len(self.works) >= self.maxsize:
            work = update_existing(self, key, context, builder, comes_back)
        if work is not None:
            self.works.remove(work)
            self.update_count += 1
        else:
            work = CapturedWork.__new__(CapturedWork)
            work.graph = builder.complete(self.options)
            work.context = context
            self.capture_count += 1
        work.key = key
        self.works.insert(0, work)
        _evicted = self.works[self.maxsize:]  # destroyed after the lock is released
        del self.works[self.maxsize:]
        launch_work(work, stream)
    finally:
        ReplayCache_release(self)
    return 0


cdef CapturedWork update_existing(
    ReplayCache self, CallKey key, uintptr_t context, GraphBuilder builder, bint oldest_first
):
    cdef CapturedWork work
    cdef CallKey old_key
    works = self.works[::-1] if oldest_first else list(self.works)
    if key is None:  # calls that cannot be compared leave the executables of the others alone, if possible
        works.sort(key=lambda CapturedWork work: work.key is not None)
    for work in works:
        if work.context != context:
            continue
        old_key, work.key = work.key, None  # an exception may leave it half updated
        try:
            work.graph.update(builder)
            return work
        except CUDAError:  # the topology differs; the executable is unchanged
            work.key = old_key
    return None


# Returns false if the mark was there.
cdef bint add_mark(ReplayCache self, uint64_t mark) except -1:
    if mark in self.marks:
        return False
    self.marks[mark] = None
    if len(self.marks) > MAX_SEEN:
        del self.marks[next(iter(self.marks))]
    return True


cdef int launch_work(CapturedWork work, const StreamPin& stream) except -1:
    cdef GraphExecPin executable
    Graph_pin(work.graph, &executable)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphLaunch(executable.get(), stream.get()), b"cuGraphLaunch")
    return 0


cdef int ReplayCache_clear(ReplayCache self) except -1:
    ReplayCache_acquire(self)
    try:
        works, self.works = self.works, []
        self.marks.clear()
    finally:
        ReplayCache_release(self)
    del works  # after the lock is released
    return 0


# Waiting for the lock checks for signals. A forked child replaces the lock, which a thread of its parent might hold.
cdef int ReplayCache_acquire(ReplayCache self) except -1:
    cdef PyThread_type_lock lock
    cdef int is_taken
    if self.generation != fork_generation():
        with cython.critical_section(self):
            if self.generation != fork_generation():
                self.lock = new_lock()
                self.owner = 0
                self.generation = fork_generation()
    lock = self.lock
    is_taken = PyThread_acquire_lock(lock, NOWAIT_LOCK)
    while not is_taken:
        if self.owner == PyThread_get_thread_ident():
            raise RuntimeError("a captured function cannot be called during its own call, for example by a finalizer")
        with nogil:
            is_taken = PyThread_acquire_lock_timed(lock, SIGNAL_CHECK_INTERVAL, 0)
        if not is_taken:
            PyErr_CheckSignals()
    self.owner = PyThread_get_thread_ident()
    return 0


cdef PyThread_type_lock new_lock() except NULL:
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError()
    return lock


cdef inline void ReplayCache_release(ReplayCache self) noexcept:
    self.owner = 0
    PyThread_release_lock(self.lock)


cdef extern from "native.hpp" namespace "cuda_core" nogil:
    uint32_t fork_generation() noexcept


cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept nogil
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    # The second argument is a timeout in microseconds, the third whether a signal interrupts the wait.
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long, int) nogil


cdef int make_callable() except -1:
    cdef CapturedFunction probe = CapturedFunction.__new__(CapturedFunction)
    set_call_offset(<PyTypeObject*>CapturedFunction, <char*>&probe._call - <char*><PyObject*>probe)
    return 0


make_callable()
