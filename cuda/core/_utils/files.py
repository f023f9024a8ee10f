# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Files that the library keeps for its user: private files, the root of all caches, and recorded versions."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time

__all__ = [
    "cache_directory",
    "cache_root",
    "create_private",
    "make_private_directories",
    "make_private_directory",
    "open_trusted",
    "read_descriptor",
    "read_trusted",
    "record_version",
    "recorded_version",
    "replace_private",
]


# --- The root of all caches -----------------------------------------------------------------------


def cache_root() -> pathlib.Path:  # noqa: F821
    """Return the user's cache directory, which might not exist yet.

    On Linux ``$XDG_CACHE_HOME/cuda-python``, or ``~/.cache/cuda-python``; on Windows
    ``%LOCALAPPDATA%\\cuda-python``.

    Raises
    ------
    RuntimeError
        If there is no home directory.
    """
    from pathlib import Path  # takes longer to import than everything else here

    return Path(cache_directory())


def cache_directory() -> str:
    """Return :func:`cache_root` as a str, without importing pathlib."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(_home(), "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(_home(), ".cache")
    return os.path.join(base, "cuda-python")


def _home() -> str:
    home = os.path.expanduser("~")
    if home == "~":  # neither $HOME nor an entry in the password database
        raise RuntimeError("the home directory, where caches are kept, is unknown: set XDG_CACHE_HOME, or HOME")
    return home


# --- Private files and directories ----------------------------------------------------------------

# With O_NONBLOCK, opening a FIFO does not block. Regular files ignore it. Windows lacks most of these flags.
_READ = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _name, 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_HAS_OWNERS = hasattr(os, "geteuid")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_trusted(path: str) -> tuple[int, os.stat_result]:
    """Open a regular file for reading, without blocking.

    The file must be owned by this user or root, and others must not be able to write it.

    Returns
    -------
    int
        The file descriptor. The caller closes it.
    os.stat_result
        The status of the open file.

    Raises
    ------
    OSError
        If the file cannot be opened, or is not such a file but a link, a FIFO, a directory, or another user's file.
    """
    descriptor = os.open(path, _READ)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if _HAS_OWNERS and (state.st_mode & _WRITABLE_BY_OTHERS or not is_trusted_owner(state.st_uid)):
            raise PermissionError(errno.EPERM, "a file of another user, or one that others can write", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, state


def is_trusted_owner(owner: int) -> bool:
    """Return whether ``owner`` is this user, or root, who can write every file anyway."""
    return owner == 0 or owner == os.geteuid()


def read_descriptor(descriptor: int, size: int) -> bytes:
    """Read ``size`` bytes from an open file, or fewer if the file is shorter."""
    value = os.read(descriptor, size)
    # One call of read() returns at most 2 GiB.
    if len(value) < size:
        parts = [value]
        while value and (size := size - len(value)):
            value = os.read(descriptor, size)
            parts.append(value)
        return b"".join(parts)
    return value


def read_trusted(path: str, most: int) -> bytes | None:
    """Return the first ``most`` bytes of a file that :func:`open_trusted` accepts, or None if it cannot be read."""
    try:
        descriptor, _ = open_trusted(path)
        try:
            return os.read(descriptor, most)
        finally:
            os.close(descriptor)
    except OSError:
        return None


def create_private(path: str):
    """Create a file that only its owner can read and write, whatever the umask, and return it open for writing."""
    descriptor = os.open(path, _CREATE, 0o600)
    if _HAS_OWNERS:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "wb")


def make_private_directories(path: str) -> None:
    """Create a directory and its missing parents that only the owner can access, whatever the umask.

    Raises
    ------
    OSError
        If it cannot be created, or the path is not a directory.
    """
    with contextlib.suppress(FileNotFoundError):
        os.lstat(path)  # raises for a path that is too long, before any of its parents is created
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        path = parent if parent != path else ""
    for path in reversed(missing):
        make_directory(path)


def make_private_directory(path: str) -> None:
    """Create a directory that only its owner can access, whatever the umask.

    Anything else at the path is deleted. An existing directory stays, but if this user owns it, others lose their
    permission to write.

    Raises
    ------
    OSError
        If it cannot be created.
    """
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return make_directory(path)
    if not stat.S_ISDIR(state.st_mode):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return make_directory(path)
    if _HAS_OWNERS and state.st_mode & _WRITABLE_BY_OTHERS and state.st_uid == os.geteuid():
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IMODE(state.st_mode) & ~_WRITABLE_BY_OTHERS)
    return None


def make_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.path.isdir(path):  # another process created it in the meantime
            return
        raise
    if _HAS_OWNERS:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.chmod(path, 0o700)


def replace_private(path: str, temporary: str, value: bytes) -> None:
    """Replace a file atomically with a new one that only its owner can read and write.

    Parameters
    ----------
    path : str
        The file to replace. It need not exist.
    temporary : str
        An unused path in the same file system, which is unused again after the call.
    value : bytes
        The contents of the new file.

    Raises
    ------
    OSError
        If the file cannot be written or replaced.
    """
    file = create_private(temporary)
    try:
        with file:
            file.write(value)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


# --- Recorded versions of libraries ---------------------------------------------------------------

_FORMAT = "cuda.core library version 1"
_MAX_BYTES = 8192
# A file that changed more recently might change again without a difference in its times.
_SETTLED_NS = 2_000_000_000


def recorded_version(path: str) -> tuple[int, int] | None:
    """Return the version that :func:`record_version` recorded for a library, or None without a valid record.

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
    """Record the version of a loaded library. If that fails, the next process loads the library again."""
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
    """Return the path of the file with a library's record, or None if there is no cache directory."""
    from hashlib import sha256  # takes longer to import than everything else here

    name = sha256(os.fsencode(path)).hexdigest()[:32]
    try:
        return os.path.join(cache_directory(), "library-versions", name)
    except RuntimeError:
        return None


def file_state(path: str) -> tuple[int, ...] | None:
    """Return numbers that identify the contents of a file, or None if there is no such file."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def record_key(path: str, state: tuple[int, ...]) -> bytes:
    """Return the lines of a record before the version. If they differ, the record is for another file."""
    return "\n".join([_FORMAT, path, " ".join(map(str, state))]).encode(errors="surrogateescape")
