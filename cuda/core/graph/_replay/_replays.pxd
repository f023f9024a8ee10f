# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport uint64_t, uintptr_t

from cuda.core._handles._handles cimport KeptStream
from cuda.core.graph._graph_builder cimport GraphBuilder
from cuda.core.graph._replay._data_arguments cimport CallPattern, DataChoice


# The executables of one captured function.
cdef class Replays:
    cdef:
        DataChoice choice
        frozenset positions         # of the data arguments
        frozenset data_names
        object options
        Py_ssize_t maxsize
        PyThread_type_lock lock
        long owner                  # the thread that holds the lock
        list works                  # CapturedWork, the most recently used first
        tuple candidates            # the CallFamily of each work, with which calls are compared
        dict families               # CallPattern -> CallFamily, oldest first
        uint64_t capture_count
        uint64_t update_count
        uint64_t replay_count
        uint64_t patch_count

    # Launches an executable for a call, unchanged or patched with other data; false if the call has to be captured.
    cdef bint launch(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, const KeptStream& stream
    ) except -1

    # The same for a call whose pattern is known.
    cdef bint launch_described(self, CallPattern pattern, list data, const KeptStream& stream) except -1

    # The pattern of a call and its data; None if it cannot be compared with others.
    cdef CallPattern describe(self, uintptr_t context, tuple args, dict kwargs, list data)

    # Launches work that was just captured: updates an existing executable if possible, else instantiates one.
    cdef int launch_captured(
        self,
        uintptr_t context,
        CallPattern pattern,
        list data,
        tuple kernels,
        GraphBuilder builder,
        const KeptStream& stream,
    ) except -1

    cdef int clear(self) except -1


cdef Replays Replays_create(
    DataChoice choice, frozenset positions, frozenset data_names, object options, Py_ssize_t maxsize
)
