# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that are captured once and replayed with new data (capture)."""

from __future__ import annotations

cimport cython
from libc.stdint cimport uint64_t, uintptr_t

from cuda.core._handles._handles cimport ContextHandle, address
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream, Stream_accept, Stream_context
from cuda.core.graph._data_arguments cimport CallKey, CallKey_create, CallKey_unequal, kinds_of
from cuda.core.graph._graph_builder cimport GraphBuilder, GraphBuilder_beside
from cuda.core.graph._replay_plan cimport (
    CapturedWork,
    CapturedWork_create,
    CapturedWork_read,
    CapturedWork_update,
    ReplayPlan,
    ReplayPlan_create,
)
from cuda.core.graph._stream_capture cimport is_capturing

import functools
import threading
from dataclasses import dataclass

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.initialised import needs_init
from cuda.core.graph._data_arguments import NotComparable, data_names

__all__ = ["CaptureStatistics", "CapturedFunction", "capture"]

# How many arguments of the past are remembered, to tell those that come back.
cdef Py_ssize_t MOST_SEEN = 256
_MOST_DEPTH = 32


def capture(
    function=None,
    *,
    data: str | Iterable[str] = (),
    mode: str = "relaxed",
    options: GraphCompleteOptions | None = None,
    maxsize: int = 8,
):
    """Return a function that captures ``function`` into a graph and launches that; also as a decorator.

    The returned :class:`CapturedFunction` is called as ``function`` is: first the stream, then what else it takes.

    Parameters
    ----------
    function : Callable
        Schedules work on its first argument, a stream or builder, and returns None. It runs only when it is captured,
        so all that it decides must follow from its arguments, and what its work uses must outlive the launch.
    data : str | Iterable[str], optional
        Names of parameters that the function only hands on to what it schedules: buffers, arrays and addresses,
        whole or as slices, and numbers that kernels take as they are. It must decide nothing by them. When only
        these changed, the function does not run: once two captures have shown where they go, the nodes that have
        them are changed in the executable.
    mode : str, optional
        As :meth:`GraphBuilder.begin_building` takes it.
    options : :class:`GraphCompleteOptions`, optional
        How executables are made. Work that allocates memory and does not free it needs ``auto_free_on_launch``.
    maxsize : int, optional
        How many executables are kept, those used last. Default is 8.

    Raises
    ------
    TypeError
        If ``function`` is not callable, ``maxsize`` is no int, or ``data`` is not of str.
    ValueError
        If ``maxsize`` is less than 1, or ``data`` has what is no parameter of the function.
    """
    if not isinstance(maxsize, int):
        raise TypeError(f"maxsize must be an int, not {type(maxsize).__name__}")
    if maxsize < 1:
        raise ValueError(f"maxsize must be at least 1, not {maxsize}")
    if function is None:
        return functools.partial(capture, data=data, mode=mode, options=options, maxsize=maxsize)
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    return CapturedFunction(function, data, mode, options, maxsize)


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
    patches : int
        Calls that changed single nodes of an executable in place, without running the function either.
    """

    captures: int = 0
    updates: int = 0
    replays: int = 0
    patches: int = 0


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

    def __init__(self, function, data, mode, options, maxsize):
        positions, names = data_names(function, data)
        functools.update_wrapper(self, function)
        self._replays = Replays(positions, names, options, maxsize)
        self._function = function
        self._mode = mode

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
        cdef Replays replays = self._replays
        cdef ContextHandle h_context
        cdef CallKey key = None
        cdef int device_id = -1
        Stream_context(target, &h_context, &device_id)
        if is_capturing(target._h_stream.copy()):
            return run(self._function, stream, args, kwargs)
        try:
            key = CallKey_create(address(h_context), args, kwargs, replays.positions, replays.names)
        except NotComparable:
            pass
        if key is not None and Replays_launch(replays, key, target):
            return None
        with GraphBuilder_beside(target) as builder:
            builder.begin_building(self._mode)
            run(self._function, builder, args, kwargs)
            builder.end_building()
            Replays_settle(replays, key, address(h_context), builder, (args, kwargs), target)
        return None

    @property
    def statistics(self) -> CaptureStatistics:
        """How many calls captured, updated, replayed and patched so far."""
        cdef Replays replays = self._replays
        return CaptureStatistics(replays.captures, replays.updates, replays.replays, replays.patches)

    def clear(self) -> None:
        """Forget all executables, so that the next call captures; the statistics stay."""
        cdef Replays replays = self._replays
        with replays.lock:
            works, replays.works = replays.works, {}
            replays.seen, replays.past, replays.next_past = set(), [], 0
            replays.plans.clear()
        del works  # what ends with them ends outside the lock


cdef int run(object function, object stream, tuple args, dict kwargs) except -1:
    result = function(stream, *args, **kwargs)
    if result is not None:
        raise TypeError(f"a captured function must return None, not {type(result).__name__}")
    return 0


# The executables of one captured function.
@cython.final
cdef class Replays:
    cdef:
        frozenset positions         # of the data arguments
        frozenset names
        object options
        Py_ssize_t maxsize
        object lock
        dict works                  # CallKey -> CapturedWork
        set seen                    # CallKey of calls of the past
        list past                   # the same in their order, as a ring that `next_past` goes round
        Py_ssize_t next_past
        dict plans                  # kind of a call -> ReplayPlan, oldest first
        uint64_t time               # counts launches
        uint64_t captures
        uint64_t updates
        uint64_t replays
        uint64_t patches

    def __init__(self, positions, names, options, maxsize):
        self.positions = positions
        self.names = names
        self.options = options
        self.maxsize = maxsize
        self.lock = threading.Lock()
        self.works = {}
        self.seen = set()
        self.past = []
        self.plans = {}


# Whether an executable served, as it was or with other data.
cdef bint Replays_launch(Replays self, CallKey key, Stream target) except -1:
    cdef CapturedWork work
    self.lock.acquire()
    try:
        work = self.works.get(key)
        if work is not None:
            launch_work(self, work, target)
            self.replays += 1
            return True
        # Arguments that come back get an executable of their own, as long as there is room for it.
        if not key.data or (len(self.works) < self.maxsize and key in self.seen):
            return False
        work = patched(self, key)
        if work is None:
            return False
        launch_work(self, work, target)
        self.patches += 1
        return True
    finally:
        self.lock.release()


cdef int launch_work(Replays self, CapturedWork work, Stream target) except -1:
    self.time += 1
    work.last_use = self.time
    work.graph.launch(target)
    return 0


cdef CapturedWork patched(Replays self, CallKey key):
    cdef CapturedWork work
    cdef CapturedWork latest = None
    for work in self.works.values():
        if work.plan is not None and key.is_of_kind(work.key) and (latest is None or latest.last_use < work.last_use):
            latest = work
    if latest is None:
        return None
    try:
        if not latest.plan.patch(latest, key.data, key.context):
            return None
    except CUDAError:  # some nodes may have changed
        latest.plan.is_dead = True
        del self.works[latest.key]
        return None
    del self.works[latest.key]
    keep(self, key, latest)
    return latest


# An executable for what was just captured, in place of the one used last where that will do; it is launched.
cdef int Replays_settle(
    Replays self, CallKey key, uintptr_t context, GraphBuilder builder, tuple arguments, Stream target
) except -1:
    cdef CapturedWork captured
    cdef CapturedWork work = None
    kernels = tuple(_kernels(arguments))
    captured = CapturedWork_create(builder._capture.tree, kernels, () if key is None else key.data)
    with self.lock:
        if key is not None and key.data:
            learn(self, key, kinds_of(arguments[0], arguments[1], self.positions, self.names), captured)
        if key is None or key not in self.seen:
            work = updated(self, context, builder, captured)
        if work is None:
            work = captured
            work.graph = builder.complete(self.options)
            self.captures += 1
        else:
            self.updates += 1
        # What cannot be compared is only there to be updated.
        keep(self, CallKey_unequal(context) if key is None else key, work)
        launch_work(self, work, target)
    return 0


cdef int learn(Replays self, CallKey key, list kinds, CapturedWork captured) except -1:
    cdef ReplayPlan plan
    kind = key.context, key.shape
    plan = self.plans.get(kind)
    if plan is None:
        plan = self.plans[kind] = ReplayPlan_create(kinds)
        if len(self.plans) > self.maxsize:
            del self.plans[next(iter(self.plans))]
    captured.plan = plan
    if not plan.is_dead:
        try:
            CapturedWork_read(captured)
        except CUDAError:  # what the driver does not show is captured each time
            captured.images = None
        plan.learn(captured)
    return 0


cdef int keep(Replays self, CallKey key, CapturedWork work) except -1:
    cdef CapturedWork other
    cdef CapturedWork oldest
    work.key = key
    self.works[key] = work
    if not key.is_unequal:
        remember(self, key)
    while len(self.works) > self.maxsize:
        oldest = None
        for other in self.works.values():
            if other is not work and (oldest is None or other.last_use < oldest.last_use):
                oldest = other
        del self.works[oldest.key]
    return 0


cdef int remember(Replays self, CallKey key) except -1:
    if key in self.seen:
        return 0
    self.seen.add(key)
    if len(self.past) < MOST_SEEN:
        self.past.append(key)
        return 0
    self.seen.discard(self.past[self.next_past])
    self.past[self.next_past] = key
    self.next_past = (self.next_past + 1) % MOST_SEEN
    return 0


cdef CapturedWork updated(Replays self, uintptr_t context, GraphBuilder builder, CapturedWork captured):
    cdef CapturedWork work
    for work in sorted(self.works.values(), key=_last_use, reverse=True):
        if work.key.context != context:
            continue
        try:
            work.graph.update(builder)
        except CUDAError:  # the shape differs; the executable is unchanged
            continue
        CapturedWork_update(work, captured)
        del self.works[work.key]
        return work
    return None


def _last_use(CapturedWork work):
    return work.last_use


def _kernels(argument, depth=0):
    if isinstance(argument, Kernel):
        yield argument
    elif depth > _MOST_DEPTH:
        return
    elif isinstance(argument, dict):
        yield from _kernels(tuple(argument.values()), depth + 1)
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _kernels(item, depth + 1)
