# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Files and directories that only their owner can write; files that others could have written are not read."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

__all__ = [
    "create_private",
    "make_private_directories",
    "make_private_directory",
    "open_trusted",
    "read_descriptor",
    "read_trusted",
    "replace_private",
]

# With O_NONBLOCK, opening a FIFO does not block; regular files ignore it. Windows lacks most of these flags.
_READ = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _name, 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_HAS_OWNERS = hasattr(os, "geteuid")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_trusted(path: str) -> tuple[int, os.stat_result]:
    """Open a regular file for reading, without blocking; it must be owned by this user or root and not be writable by
    others.

    Returns
    -------
    int
        The file descriptor. The caller closes it.
    os.stat_result
        The status of the open file.

    Raises
    ------
    OSError
        If the file cannot be opened, or is not such a file: a link, a FIFO, a directory, or a file of another user.
    """
    descriptor = os.open(path, _READ)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if _HAS_OWNERS and (state.st_mode & _WRITABLE_BY_OTHERS or not is_trusted_owner(state.st_uid)):
            raise PermissionError(errno.EPERM, "a file of another user, or that others can write", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, state


def is_trusted_owner(owner: int) -> bool:
    """Return whether ``owner`` is this user, or root, who can write every file anyway."""
    return owner == 0 or owner == os.geteuid()


def read_descriptor(descriptor: int, size: int) -> bytes:
    """Read ``size`` bytes from an open file; fewer if the file ends before."""
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
    """Return the first ``most`` bytes of a file that :func:`open_trusted` accepts; None if it cannot be read."""
    try:
        descriptor, _ = open_trusted(path)
        try:
            return os.read(descriptor, most)
        finally:
            os.close(descriptor)
    except OSError:
        return None


def create_private(path: str):
    """Create a file that only its owner can read and write, whatever the umask; return it open for writing."""
    descriptor = os.open(path, _CREATE, 0o600)
    if _HAS_OWNERS:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "wb")


def make_private_directories(path: str) -> None:
    """Create a directory and its missing parents, accessible to the owner only, whatever the umask.

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
    """Create a directory that only its owner can access, whatever the umask; anything else at the path is deleted.

    An existing directory stays. If this user owns it, write permission is taken from others.

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
        if os.path.isdir(path):  # another process has created it meanwhile
            return
        raise
    if _HAS_OWNERS:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.chmod(path, 0o700)


def replace_private(path: str, temporary: str, value: bytes) -> None:
    """Replace a file atomically by a new one that only its owner can read and write.

    Parameters
    ----------
    path : str
        The file to replace; it need not exist.
    temporary : str
        An unused path in the same file system. After the call, it is unused again.
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
