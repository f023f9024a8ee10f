# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of libraries that take long to load, stored in files between runs.

A library of a hundred megabytes takes tens of milliseconds to load, and a program that finds all its code in a cache
needs only its version. A record is valid for one path and one file: its device, inode, size, modification time and
status change time. Replacing the library changes at least the last of these.
"""

from __future__ import annotations

import contextlib
import os
import time

from cuda.core._utils.files.cache_root import cache_directory
from cuda.core._utils.files.hashing import sha256
from cuda.core._utils.files.private_files import make_private_directories, read_trusted, replace_private

__all__ = ["record_version", "recorded_version"]

_FORMAT = "cuda.core library version 1"
_MAX_BYTES = 8192
# A file that changed more recently may change again without a difference in its times.
_SETTLED_NS = 2_000_000_000


def recorded_version(path: str) -> tuple[int, int] | None:
    """Return the version that :func:`record_version` recorded for a library; None if there is no valid record.

    Parameters
    ----------
    path : str
        The path of the library.
    """
    state, record = file_state(path), record_path(path)
    found = None if state is None or record is None else read_trusted(record, _MAX_BYTES)
    if found is None:
        return None
    head, _, version = found.rpartition(b"\n")
    major, _, minor = version.partition(b".")
    if head != record_key(path, state) or not (major.isdigit() and minor.isdigit()):
        return None
    return int(major), int(minor)


def record_version(path: str, version: tuple[int, int]) -> None:
    """Record the version of a loaded library; errors are ignored, and the next run loads the library again."""
    state, target = file_state(path), record_path(path)
    if state is None or target is None or recorded_version(path) == version:
        return
    if time.time_ns() - max(state[-2:]) < _SETTLED_NS:
        return
    temporary = f"{target}.{os.getpid()}.{time.time_ns()}"
    with contextlib.suppress(OSError):
        make_private_directories(os.path.dirname(target))
        replace_private(target, temporary, record_key(path, state) + b"\n%d.%d" % version)


def record_path(path: str) -> str | None:
    """Return the path of the file with the record of a library; None if there is no directory for caches."""
    name = sha256(os.fsencode(path)).hexdigest()[:32]
    try:
        return os.path.join(cache_directory(), "library-versions", name)
    except RuntimeError:
        return None


def file_state(path: str) -> tuple[int, ...] | None:
    """Return what identifies the contents of a file; None if there is no such file."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def record_key(path: str, state: tuple[int, ...]) -> bytes:
    """Return the lines of a record before the version; if they differ, the record is for another file."""
    return "\n".join([_FORMAT, path, " ".join(map(str, state))]).encode(errors="surrogateescape")
