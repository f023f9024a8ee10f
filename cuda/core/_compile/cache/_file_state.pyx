# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The state of files (inode, size and times), to detect changes."""

from __future__ import annotations

from libc.stdint cimport int64_t

__all__ = ["file_states"]


cdef extern from "<sys/stat.h>" nogil:
    struct c_timespec "timespec":
        long long tv_sec
        long tv_nsec

    struct c_stat "stat":
        unsigned long long st_ino
        long long st_size
        c_timespec st_mtim
        c_timespec st_ctim

    int stat_of "stat"(const char* path, c_stat* state)


cdef struct FileState:
    int64_t inode
    int64_t size
    int64_t modified    # nanoseconds since 1970, as below
    int64_t changed


def file_states(list paths):
    """Return the states of files and directories, four 64-bit integers each, for comparison (``stat``).

    Parameters
    ----------
    paths : list of bytes
        The files and directories; the state of a missing one is zeros.

    Returns
    -------
    bytes
        For each path: inode, size in bytes, and times of modification and of change in nanoseconds.
    """
    cdef c_stat state
    cdef FileState result
    cdef const char* c_path
    cdef Py_ssize_t index
    cdef Py_ssize_t count = len(paths)
    cdef bytes path
    cdef bytearray states = bytearray(count * sizeof(FileState))
    cdef FileState* c_states = <FileState*><char*>states
    # The GIL is kept: releasing it takes longer than a query of a local file system.
    for index in range(count):
        path = paths[index]
        c_path = path
        if stat_of(c_path, &state) == 0:
            result.inode = <int64_t>state.st_ino
            result.size = state.st_size
            result.modified = state.st_mtim.tv_sec * 1_000_000_000 + state.st_mtim.tv_nsec
            result.changed = state.st_ctim.tv_sec * 1_000_000_000 + state.st_ctim.tv_nsec
            c_states[index] = result
    return bytes(states)
