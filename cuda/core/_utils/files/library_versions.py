# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of libraries that take long to load, recorded between runs.

A library of a hundred megabytes takes tens of milliseconds to load, and a program that finds all its code in a cache
needs only its version. A record is for one path and the file that was there: inode, size, and times of
modification and change. Replacing the library changes at least the last of these.
"""

from __future__ import annotations

import contextlib
import os
import time

from cuda.core._utils.files.cache_root import cache_directory
from cuda.core._utils.files.hashing import sha256
from cuda.core._utils.files.private_files import make_private_directories, read_trusted, replace_private

__all__ = ["record_version", "recorded_version"]

_FORM = "cuda.core library version 1"
_MOST_BYTES = 8192
# A file that changed just now may change again without a difference in its times.
_SETTLED_NS = 2_000_000_000


def recorded_version(path: str) -> tuple[int, int] | None:
    """Return the version of a library, as :func:`record_version` recorded it; None where it did not.

    Parameters
    ----------
    path : str
        The path of the library.
    """
    state, record = state_of(path), record_path(path)
    found = None if state is None or record is None else read_trusted(record, _MOST_BYTES)
    if found is None:
        return None
    head, _, version = found.rpartition(b"\n")
    major, _, minor = version.partition(b".")
    if head != described(path, state) or not (major.isdigit() and minor.isdigit()):
        return None
    return int(major), int(minor)


def record_version(path: str, version: tuple[int, int]) -> None:
    """Record the version of a library that was loaded; if that fails, it is loaded again the next time."""
    state, target = state_of(path), record_path(path)
    if state is None or target is None or recorded_version(path) == version:
        return
    if time.time_ns() - max(state[-2:]) < _SETTLED_NS:
        return
    temporary = f"{target}.{os.getpid()}.{time.time_ns()}"
    with contextlib.suppress(OSError):
        make_private_directories(os.path.dirname(target))
        replace_private(target, temporary, described(path, state) + b"\n%d.%d" % version)


def record_path(path: str) -> str | None:
    """Return the file that has the record of a library; None where there is no directory for caches."""
    name = sha256(os.fsencode(path)).hexdigest()[:32]
    try:
        return os.path.join(cache_directory(), "library-versions", name)
    except RuntimeError:
        return None


def state_of(path: str) -> tuple[int, ...] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def described(path: str, state: tuple[int, ...]) -> bytes:
    return "\n".join([_FORM, path, " ".join(map(str, state))]).encode(errors="surrogateescape")
