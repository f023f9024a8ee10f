# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes that were changed in an executable: the driver retains operands for whole graphs only.

Replaced operands may be in use by earlier launches. They are released once the stream of the last launch is idle, which
later changes and launches query. When the executable is destroyed, a host function behind that launch releases them.
"""

from __future__ import annotations

cimport cython
from cython.operator cimport dereference, preincrement
from libc.stdint cimport uint64_t, uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._handles cimport KeepList, StreamHandle
from cuda.core._handles._work cimport NO_WORK, work_in_current_context
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport is_interpreter_exiting

__all__ = []


cdef class ExecutableOperands:
    def __dealloc__(self):
        if is_interpreter_exiting():
            return
        retire_all(self)
        if not self._retired.empty():
            release_after_launch(self)


cdef int ExecutableOperands_exchange(ExecutableOperands self, uintptr_t node, KeepList* keeps) except -1:
    cdef KeepList* previous = NULL
    with cython.critical_section(self):
        self.is_used = True
        self.change_count += 1
        previous = self._current[node]
        self._current[node] = keeps
        if previous != NULL:
            self._retired.push_back(previous)
        release_retired(self)
    return 0


cdef int ExecutableOperands_clear(ExecutableOperands self) except -1:
    with cython.critical_section(self):
        self.change_count += 1
        retire_all(self)
        release_retired(self)
        self.is_used = not self._retired.empty()
    return 0


cdef int ExecutableOperands_launch(ExecutableOperands self, const StreamHandle& h_stream) except -1:
    with cython.critical_section(self):
        release_retired(self)
        # Launches of one executable never overlap, so when the last has completed, all have.
        self._h_last.set(h_stream)
        self._launch_count += 1
    return 0


cdef void retire_all(ExecutableOperands self) noexcept:
    cdef unordered_map[uintptr_t, KeepListPointer].iterator row = self._current.begin()
    while row != self._current.end():
        if dereference(row).second != NULL:
            self._retired.push_back(dereference(row).second)
        preincrement(row)
    self._current.clear()


# Releases replaced operands if no launch in flight can use them. They are moved away first, because other threads may
# change and launch the executable during the query.
cdef void release_retired(ExecutableOperands self) noexcept:
    cdef vector[KeepListPointer] items
    cdef KeepList* keeps
    cdef StreamHandle h_last
    cdef uint64_t launch_count = self._launch_count
    cdef bint is_released
    if self._retired.empty():
        return
    h_last = self._h_last.copy()
    items.swap(self._retired)
    with nogil:
        is_released = not h_last or is_idle(h_last)
    if not is_released:
        self._retired.insert(self._retired.end(), items.begin(), items.end())
        self.is_used = True
        return
    for keeps in items:
        keeps.drop_reference()
    if self._launch_count == launch_count:
        self._h_last.reset()


# False also if a capture forbids the query.
cdef bint is_idle(const StreamHandle& h_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    return work_in_current_context(h_stream.get(), NULL) == NO_WORK


# Releases replaced operands from a host function behind the last launch, because no later call will query the stream.
cdef void release_after_launch(ExecutableOperands self) noexcept:
    cdef vector[KeepListPointer]* items
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err
    cdef StreamHandle h_last
    release_retired(self)
    if self._retired.empty():
        return
    h_last = self._h_last.copy()
    # A stream that is capturing now cannot run a host function; then the operands are leaked.
    if (
        cydriver.cuStreamIsCapturing(h_last.get(), &c_status) != cydriver.CUresult.CUDA_SUCCESS
        or c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    ):
        return
    items = new vector[KeepListPointer]()
    items.swap(self._retired)
    with nogil:
        err = cydriver.cuLaunchHostFunc(h_last.get(), &drop_all, items)
    # A context in an error state runs nothing, so nothing is in use.
    if err != cydriver.CUresult.CUDA_SUCCESS:
        drop_all(items)


# Called on a thread of the driver: dropping a reference queues the objects, which the main thread releases.
cdef void drop_all(void* data) noexcept nogil:
    cdef vector[KeepListPointer]* items = <vector[KeepListPointer]*>data
    cdef KeepList* keeps
    for keeps in items[0]:
        keeps.drop_reference()
    del items
