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
        long owner                  # the thread that holds it
        list works                  # CapturedWork, that used last first
        tuple candidates            # the CallFamily of each work, which calls are compared with
        dict families               # CallPattern -> CallFamily, oldest first
        uint64_t capture_count
        uint64_t update_count
        uint64_t replay_count
        uint64_t patch_count

    # Whether an executable served a call, as it was or with other data.
    cdef bint launch(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, const KeptStream& stream
    ) except -1

    # The same for a call that is described already.
    cdef bint launch_described(self, CallPattern pattern, list data, const KeptStream& stream) except -1

    # The kind of a call, and its data; None where it cannot be compared with others.
    cdef CallPattern describe(self, uintptr_t context, tuple args, dict kwargs, list data)

    # An executable for what was just captured, in place of the one used last where that will do; it is launched.
    cdef int settle(
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
