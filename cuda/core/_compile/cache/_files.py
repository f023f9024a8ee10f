# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache in a directory, shared by processes."""

from __future__ import annotations

import binascii
import contextlib
import os
import stat
import sys
import time

from cuda.core._compile.cache._abc import Counters, ProgramCacheResource, checked_key, checked_limit, checked_value
from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.files.hashing import sha256
from cuda.core._utils.files.private_files import (
    create_private,
    make_private_directories,
    make_private_directory,
    open_trusted,
    read_descriptor,
    read_trusted,
    replace_private,
)
from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.validators import check_path

__all__ = ["FileStreamProgramCache"]

_cache_root = Deferred("cuda.core._utils.files.cache_root")
_caller = Deferred("cuda.core._utils.errors.caller")

_IS_WINDOWS = sys.platform == "win32"
# A temporary file of this age, in seconds, has been left behind by a process that died.
_STALE = 3600
# How long to wait, in seconds, until a file that another process holds open can be replaced on Windows.
_RETRIES = (0.001, 0.01, 0.05, 0.1)
# How often a value is read again that another process replaces meanwhile.
_MOST_READS = 20
# The largest value, in bytes, that is read without a checksum entry, which has its length.
_MOST_UNCHECKED = 1 << 30
# No check is longer.
_MOST_OF_CHECK = 64


@needs_init("_root", "_entries", "_checks", "_temporary")
class FileStreamProgramCache(Counters, ProgramCacheResource):
    """A cache of compiled programs in a directory, which threads and processes can share.

    Parameters
    ----------
    path : str | os.PathLike, optional
        The directory, made if it does not exist. If None, ``program-cache`` among the user's caches.
    max_size_bytes : int, optional
        The maximum size of its files in bytes; when a value is written, the least recently read ones are removed.
        If None, there is no limit.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``max_size_bytes`` is below 1.

    Warns
    -----
    RuntimeWarning
        Once, if the directory cannot be written; values are then not stored.

    Notes
    -----
    The value of a key is the file ``entries/xx/yyy``, where ``xxyyy`` is the SHA-256 of the key; it
    contains only the value, so other tools can use it. It is replaced atomically: a reader gets
    the old or the new value. A value that was damaged on the disk is a miss, and is removed.

    Directories and files are created with access for their owner only, whatever the umask. A value is a miss
    if its file is not a regular file, belongs to another user than this one or root, or can be written by
    others; the next value that is stored replaces it.

    Examples
    --------
    >>> with FileStreamProgramCache() as cache:
    ...     code = Program(source, "c++", options).compile("cubin", cache=cache)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None):
        super().__init__()
        self._limit = checked_limit(max_size_bytes)
        self._root = str(_cache_root.cache_root() / "program-cache") if path is None else os.fsdecode(path)
        check_path("path", self._root)
        self._entries = os.path.join(self._root, "entries")
        self._checks = os.path.join(self._root, "checks")
        self._temporary = os.path.join(self._root, "tmp")
        self._has_warned = False
        try:
            self._make_directories()
            self._sweep()
        except OSError as error:
            self._warn(error)

    def __getitem__(self, key):
        path = self._path(checked_key(key))
        value = self._read(path)
        self._count(value is not None)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        path, value = self._path(checked_key(key)), checked_value(value)
        try:
            self._write(path, value)
            if self._limit is not None:
                self._evict(self._limit)
        except OSError as error:
            self._warn(error)

    def __delitem__(self, key):
        path = self._path(checked_key(key))
        try:
            state = os.lstat(path)
            if not stat.S_ISREG(state.st_mode):
                raise KeyError(key)
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            raise KeyError(key) from None
        unlink(self._check_path(path, state))

    def __len__(self):
        return sum(1 for _ in self._files())

    def __repr__(self):
        return f"<FileStreamProgramCache in {self._root!r}>"

    def clear(self) -> None:
        """Remove all values, except those that another process writes meanwhile."""
        try:
            for path, state in list(self._files()):
                self._remove(path, state)
            self._sweep()
        except OSError as error:
            self._warn(error)

    @property
    def size_bytes(self) -> int:
        """The size of the values on the disk in bytes."""
        return sum(state.st_size for _, state in self._files())

    def _path(self, key: bytes) -> str:
        name = sha256(key).hexdigest()
        return os.path.join(self._entries, name[:2], name[2:])

    def _check_path(self, path: str, state) -> str:
        # The number of a replaced file may be that of the next one, whose entry a late writer must not remove.
        return f"{self._checks}{path[len(self._entries) :]}.{state.st_ino}-{state.st_mtime_ns}"

    def _read(self, path: str) -> bytes | None:
        try:
            for _ in range(_MOST_READS):
                descriptor, state = open_trusted(path)
                try:
                    # As long as the file is open, no other has its number.
                    value = self._checked_content(path, descriptor, state)
                    if value is not None:
                        # Not all file systems note when a file was read.
                        with contextlib.suppress(OSError):
                            os.utime(path if _IS_WINDOWS else descriptor, ns=(time.time_ns(), state.st_mtime_ns))
                        return value
                finally:
                    os.close(descriptor)
                if self._remove(path, state):
                    break
        except OSError:
            pass
        return None

    def _checked_content(self, path: str, descriptor: int, state) -> bytes | None:
        """Return what an open file contains, or None if it was damaged."""
        check_path = self._check_path(path, state)
        check = read_trusted(check_path, _MOST_OF_CHECK)
        # A file of a directory that was copied has the check of its original.
        checks = self._other_checks(check_path) if check is None else {check_path: check}
        if not checks:  # of another tool
            return read_descriptor(descriptor, state.st_size) if state.st_size <= _MOST_UNCHECKED else None
        # Before memory is taken for a file whose size is wrong.
        length = b"%d " % state.st_size
        if not any(check.startswith(length) for check in checks.values()):
            return None
        value = read_descriptor(descriptor, state.st_size)
        wanted = check_of(value)
        fitting = [found for found, check in checks.items() if check == wanted]
        if not fitting:
            return None
        if check is None and self._write_check(check_path, wanted):
            for found in fitting:
                unlink(found)
        return value

    def _other_checks(self, check_path: str) -> dict[str, bytes]:
        """Return the checks of a key for files with other numbers, by path."""
        directory, name = os.path.split(check_path)
        prefix = name[: name.index(".") + 1]
        try:
            paths = [os.path.join(directory, other) for other in os.listdir(directory) if other.startswith(prefix)]
        except OSError:
            return {}
        checks = {path: read_trusted(path, _MOST_OF_CHECK) for path in paths}
        return {path: check for path, check in checks.items() if check is not None}

    def _write(self, path: str, value: bytes) -> None:
        self._make_directories()
        temporary, check_path = self._temporary_path(), None
        try:
            with create_private(temporary) as file:
                file.write(value)
                file.flush()
                os.fsync(file.fileno())
            # The clock of files may be behind this one, which tells when they are read.
            now = time.time_ns()
            os.utime(temporary, ns=(now, now))
            # Before the file can be found, so that none is compared with the check of another.
            check_path = self._check_path(path, os.lstat(temporary))
            self._write_check(check_path, check_of(value))
            make_private_directory(os.path.dirname(path))
            replaced = [state for found, state in scan(os.path.dirname(path)) if found == path]
            if replaced and stat.S_ISDIR(replaced[0].st_mode):
                remove_tree(path)
            replace(temporary, path)
        except BaseException:
            if check_path is not None:
                unlink(check_path)
            raise
        finally:
            unlink(temporary)
        for state in replaced:
            unlink(self._check_path(path, state))

    def _write_check(self, path: str, check: bytes) -> bool:
        """Write a checksum entry, if possible: a value without one can still be used."""
        try:
            make_private_directory(self._checks)
            make_private_directory(os.path.dirname(path))
            replace_private(path, self._temporary_path(), check)
        except OSError:
            unlink(path)  # of a file that had this number before
            return False
        return True

    def _temporary_path(self) -> str:
        return os.path.join(self._temporary, os.urandom(16).hex())

    def _evict(self, limit: int) -> None:
        self._sweep()
        # Ones that can never fit go first, so that they do not drive out all others.
        files = sorted(self._files(), key=lambda item: (item[1].st_size <= limit, item[1].st_atime_ns))
        size = sum(state.st_size for _, state in files) + sum(state.st_size for _, state in scan(self._temporary))
        for path, state in files:
            if size <= limit:
                break
            self._remove(path, state)
            size -= state.st_size

    def _remove(self, path, state) -> bool:
        """Remove a file, unless it has been replaced; return whether it is gone."""
        try:
            now = os.lstat(path)
            if (now.st_ino, now.st_mtime_ns, now.st_size) != (state.st_ino, state.st_mtime_ns, state.st_size):
                return False
            os.unlink(path)
        except FileNotFoundError:
            return True
        unlink(self._check_path(path, state))
        return True

    def _sweep(self) -> None:
        """Remove temporary files that were left behind."""
        for path, state in scan(self._temporary):
            if time.time() - state.st_mtime > _STALE:
                unlink(path)

    def _files(self):
        """Yield the path and the state of every value."""
        for directory, _ in scan(self._entries):
            yield from (item for item in scan(directory) if stat.S_ISREG(item[1].st_mode))

    def _make_directories(self) -> None:
        make_private_directories(self._root)
        make_private_directory(self._entries)
        make_private_directory(self._temporary)

    def _warn(self, error: OSError) -> None:
        """Warn once that the directory cannot be used; compilation works without it."""
        if not self._has_warned:
            self._has_warned = True
            _caller.warn_caller(
                f"the program cache in {self._root!r} cannot be written, so nothing is kept there: {error}",
                RuntimeWarning,
            )


def check_of(value: bytes) -> bytes:
    """Return the checksum entry of a value, to detect damage of its file."""
    return b"%d %08x\n" % (len(value), binascii.crc32(value))


def scan(directory: str) -> list[tuple[str, os.stat_result]]:
    """Return the paths and states of what is in a directory, which may change meanwhile."""
    found = []
    with contextlib.suppress(OSError), os.scandir(directory) as items:
        for item in items:
            with contextlib.suppress(OSError):
                # On Windows, the state in the listing has no number.
                found.append((item.path, os.lstat(item.path)))
    return found


def unlink(path: str) -> None:
    """Remove a file, if it is there and can be removed."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def remove_tree(path: str) -> None:
    """Remove a directory with all that it contains, as far as it can be removed; follow no link."""
    import shutil  # rarely needed, and slow to import

    shutil.rmtree(path, ignore_errors=True)


def replace(source: str, target: str) -> None:
    """Move a file over another one.

    On Windows, that fails while another process reads the target: after some time the new file is discarded.
    """
    for delay in _RETRIES if _IS_WINDOWS else ():
        try:
            return os.replace(source, target)
        except PermissionError:
            time.sleep(delay)
    if not _IS_WINDOWS:
        os.replace(source, target)
    return None
