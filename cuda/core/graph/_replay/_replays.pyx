# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of a captured function: choosing one for a call, and updating it.

A call is compared, argument by argument, with the patterns of calls that have an executable. That needs no key and no
lock. The rest (find the executable, change its nodes, launch it) is one critical section, because another thread must
not change the nodes before they are launched.
"""

from __future__ import annotations

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
)
from libc.stdint cimport uint8_t, uint64_t, uintptr_t
from libc.string cimport memcmp
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport KeptGraphExec, KeptStream
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._executable cimport Graph_keep
from cuda.core.graph._graph_builder cimport GraphBuilder
from cuda.core.graph._replay._data_arguments cimport (
    MAX_WORDS,
    CallPattern,
    CallPattern_create,
    DataChoice,
    DataWord,
    write_words,
)
from cuda.core.graph._replay._node_images cimport write_change
from cuda.core.graph._replay._replay_plan cimport (
    CapturedWork,
    CapturedWork_create,
    CapturedWork_read,
    CapturedWork_update,
    ReplayPlan,
    ReplayPlan_create,
)

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.graph._replay._data_arguments import NotComparable

__all__ = []

cdef extern from "Python.h":
    # The second argument is a timeout in microseconds, the third whether a signal interrupts the wait.
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long, int) nogil

# The number of patterns that are remembered, to recognize calls that come back.
cdef Py_ssize_t MAX_FAMILIES = 256

cdef enum:
    # A set-associative cache of the data of earlier calls; each set replaces its oldest entry.
    SETS = 64
    WAYS = 8
    SIGNAL_CHECK_INTERVAL = 100_000  # microseconds


# Calls of one pattern, which differ in data only.
@cython.final
cdef class CallFamily:
    cdef:
        CallPattern pattern
        ReplayPlan plan                 # None without data
        uint64_t[SETS * WAYS] past      # hashes of the data of earlier calls
        uint8_t[SETS] next_way

    cdef bint has_seen(self, const DataWord* words) noexcept:
        cdef uint64_t mark = hash_of(words, len(self.pattern.kinds))
        cdef const uint64_t* row = &self.past[mark % SETS * WAYS]
        cdef int way
        for way in range(WAYS):
            if row[way] == mark:
                return True
        return False

    cdef int remember(self, const DataWord* words) except -1:
        cdef uint64_t mark
        if self.has_seen(words):
            return 0
        mark = hash_of(words, len(self.pattern.kinds))
        self.past[mark % SETS * WAYS + self.next_way[mark % SETS]] = mark
        self.next_way[mark % SETS] = (self.next_way[mark % SETS] + 1) % WAYS
        return 0


@cython.final
cdef class Replays:
    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError()

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef bint launch(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, const KeptStream& stream
    ) except -1:
        cdef DataWord[MAX_WORDS] words
        cdef CallFamily family
        cdef tuple candidates
        with cython.critical_section(self):
            candidates = self.candidates
        for family in candidates:
            if family.pattern.match(context, arguments, count, names, words):
                acquire(self)
                try:
                    return launch_known(self, family, words, stream)
                finally:
                    release(self)
        return False

    cdef bint launch_described(self, CallPattern pattern, list data, const KeptStream& stream) except -1:
        cdef vector[DataWord] words
        words.resize(len(data))
        write_words(data, words.data())
        acquire(self)
        try:
            family = self.families.get(pattern)
            return family is not None and launch_known(self, family, words.data(), stream)
        finally:
            release(self)

    cdef CallPattern describe(self, uintptr_t context, tuple args, dict kwargs, list data):
        try:
            return CallPattern_create(context, args, kwargs, self.choice, self.positions, self.data_names, data)
        except NotComparable:
            return None

    cdef int launch_captured(
        self,
        uintptr_t context,
        CallPattern pattern,
        list data,
        tuple kernels,
        GraphBuilder builder,
        const KeptStream& stream,
    ) except -1:
        cdef CapturedWork captured = CapturedWork_create(builder._capture.tree, kernels, data)
        cdef CapturedWork work = None
        cdef CallFamily family = None
        acquire(self)
        try:
            if pattern is not None:
                family = family_of(self, pattern)
                learn(family, captured)
            # Data that comes back gets an executable of its own, instead of an update with each call.
            if family is None or not family.has_seen(captured.words.data()):
                work = update_existing(self, context, builder, captured)
            if work is None:
                work = captured
                work.graph = builder.complete(self.options)
                work.context = context
                self.works.insert(0, work)
                self.capture_count += 1
            else:
                self.update_count += 1
            work.family = family
            if family is not None:
                family.remember(work.words.data())
            # Evict the least recently used works. `_evicted` keeps them until the lock is released.
            _evicted = self.works[self.maxsize:]
            del self.works[self.maxsize:]
            set_candidates(self)
            launch_work(work, stream)
        finally:
            release(self)
        return 0

    cdef int clear(self) except -1:
        acquire(self)
        try:
            works, self.works = self.works, []
            families, self.families = self.families, {}
            set_candidates(self)
        finally:
            release(self)
        # Their executables are destroyed here, after the lock is released.
        del works, families
        return 0


cdef Replays Replays_create(
    DataChoice choice, frozenset positions, frozenset data_names, object options, Py_ssize_t maxsize
):
    cdef Replays self = Replays.__new__(Replays)
    self.choice = choice
    self.positions = positions
    self.data_names = data_names
    self.options = options
    self.maxsize = maxsize
    self.works = []
    self.candidates = ()
    self.families = {}
    return self


# ---------------------------------------------------------------------------------------------
# The lock. Acquiring it calls no Python code, and waiting for it checks for signals.

cdef int acquire(Replays self) except -1:
    cdef PyThread_type_lock lock = self.lock
    cdef int is_taken = PyThread_acquire_lock(lock, NOWAIT_LOCK)
    if not is_taken and self.owner == PyThread_get_thread_ident():
        raise RuntimeError("a captured function cannot be called during a call of itself, for example by a finalizer")
    while not is_taken:
        with nogil:
            is_taken = PyThread_acquire_lock_timed(lock, SIGNAL_CHECK_INTERVAL, 0)
        if not is_taken:
            PyErr_CheckSignals()
    self.owner = PyThread_get_thread_ident()
    return 0


cdef inline void release(Replays self) noexcept:
    self.owner = 0
    PyThread_release_lock(self.lock)


# ---------------------------------------------------------------------------------------------
# Called with the lock held.

cdef bint launch_known(Replays self, CallFamily family, const DataWord* words, const KeptStream& stream) except -1:
    cdef CapturedWork work
    cdef CapturedWork latest = None
    cdef Py_ssize_t index
    cdef size_t size = len(family.pattern.kinds) * sizeof(DataWord)
    for index in range(len(self.works)):
        work = <CapturedWork>self.works[index]
        if work.family is not family:
            continue
        if memcmp(work.words.data(), words, size) == 0:
            set_first(self, index, work)
            launch_work(work, stream)
            self.replay_count += 1
            return True
        if latest is None:
            latest = work
    # Data that comes back gets an executable of its own, up to `maxsize`.
    if latest is None or family.plan is None or (len(self.works) < self.maxsize and family.has_seen(words)):
        return False
    if not family.plan.patch(latest, words):
        return False
    if not launch_patched(latest, family, stream):
        self.works.remove(latest)
        set_candidates(self)
        return False
    family.remember(words)
    set_first(self, -1, latest)
    self.patch_count += 1
    return True


cdef int launch_work(CapturedWork work, const KeptStream& stream) except -1:
    cdef KeptGraphExec executable
    Graph_keep(work.graph, &executable)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphLaunch(executable.get(), stream.get()), b"cuGraphLaunch")
    return 0


# False if a node cannot be changed; then the executable must be dropped.
cdef bint launch_patched(CapturedWork work, CallFamily family, const KeptStream& stream) except -1:
    cdef KeptGraphExec executable
    cdef cydriver.CUcontext c_context = <cydriver.CUcontext>family.pattern.context
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_SUCCESS
    cdef bint is_changed = False
    cdef size_t index
    Graph_keep(work.graph, &executable)
    with nogil:
        for index in range(work.changes.size()):
            err = write_change(executable.get(), work.changes[index], c_context)
            if err != cydriver.CUresult.CUDA_SUCCESS:
                break
        else:
            is_changed = True
            HANDLE_RETURN(cydriver.cuGraphLaunch(executable.get(), stream.get()), b"cuGraphLaunch")
    if not is_changed:
        family.plan.is_invalid = True
    return is_changed


cdef int set_first(Replays self, Py_ssize_t index, CapturedWork work) except -1:
    if <CapturedWork>self.works[0] is not work:
        del self.works[self.works.index(work) if index < 0 else index]
        self.works.insert(0, work)
    return 0


cdef int set_candidates(Replays self) except -1:
    cdef CapturedWork work
    found = {id(work.family): work.family for work in self.works if work.family is not None}
    candidates = tuple([family for family in found.values() if (<CallFamily>family).pattern.is_fast()])
    with cython.critical_section(self):
        self.candidates = candidates
    return 0


cdef CallFamily family_of(Replays self, CallPattern pattern):
    cdef CallFamily family = self.families.get(pattern)
    if family is not None:
        return family
    family = CallFamily.__new__(CallFamily)
    family.pattern = pattern
    if pattern.kinds:
        family.plan = ReplayPlan_create(pattern.kinds)
    self.families[pattern] = family
    if len(self.families) > MAX_FAMILIES:
        del self.families[next(iter(self.families))]
    return family


cdef int learn(CallFamily family, CapturedWork captured) except -1:
    if family.plan is None or family.plan.is_invalid:
        return 0
    try:
        CapturedWork_read(captured)
    except CUDAError:  # the driver does not report the parameters of a node: capture with each call
        captured.images = None
    return family.plan.learn(captured)


cdef CapturedWork update_existing(Replays self, uintptr_t context, GraphBuilder builder, CapturedWork captured):
    cdef CapturedWork work
    for work in list(self.works):
        if work.context != context:
            continue
        try:
            work.graph.update(builder)
        except CUDAError:  # the topology differs; the executable is unchanged
            continue
        CapturedWork_update(work, captured)
        set_first(self, -1, work)
        return work
    return None


cdef uint64_t hash_of(const DataWord* words, Py_ssize_t count) noexcept:
    cdef uint64_t mark = 0x9e3779b97f4a7c15
    cdef Py_ssize_t index
    for index in range(count):
        mark = (mark ^ words[index].bits ^ words[index].type << 56) * <uint64_t>0xff51afd7ed558ccd
        mark ^= mark >> 32
    return mark | 1 << 63  # never 0, which is an empty entry of the cache
