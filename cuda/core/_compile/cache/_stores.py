# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Program caches: their interface, in memory and on disk."""

from __future__ import annotations

import abc
import binascii
import contextlib
import fcntl
import os
import stat
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256

from cuda.core._module import ObjectCode
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.files import (
    cache_root,
    create_private,
    make_private_directories,
    make_private_directory,
    open_trusted,
    read_descriptor,
    read_trusted,
    replace_private,
)
from cuda.core._utils.locks import RLock
from cuda.core._utils.validators import check_path, name_bytes, shown

__all__ = ["FileStreamProgramCache", "InMemoryProgramCache", "ProgramCacheResource"]

_IS_WINDOWS = sys.platform == "win32"
# A temporary file older than this, in seconds, was left by a process that died.
_STALE_AFTER = 3600
# The pauses, in seconds, between attempts to replace a file that another process holds open on Windows.
_RETRIES = (0.001, 0.01, 0.05, 0.1)
# How often a read is repeated because another process replaced the file in the meantime.
_MAX_READS = 20
# The largest file, in bytes, that is read without a checksum entry, because only the entry contains the length.
_MAX_UNVERIFIED_BYTES = 1 << 30
# The length limit of a checksum entry.
_MAX_CHECKSUM_BYTES = 64


class ProgramCacheResource(abc.ABC):
    """A store of compiled programs by key, which :meth:`Program.compile` accepts as ``cache``.

    A subclass defines ``__getitem__``, ``__setitem__``, ``__delitem__``, ``__len__`` and :meth:`clear`. Keys are bytes,
    or a str, which is encoded as UTF-8. Values are bytes, or an :class:`ObjectCode`, whose code is stored. There is no
    ``in`` and no iteration, because another process can change the cache at any time. Use :meth:`get` instead.
    """

    __iter__ = None

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    @abc.abstractmethod
    def __getitem__(self, key: bytes | str) -> bytes:
        """Return the value, or raise KeyError."""

    @abc.abstractmethod
    def __setitem__(self, key: bytes | str, value: bytes | bytearray | memoryview | ObjectCode) -> None:
        """Store a value, which replaces the key's earlier value."""

    @abc.abstractmethod
    def __delitem__(self, key: bytes | str) -> None:
        """Remove the value, or raise KeyError."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Return the number of values."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove all values."""

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        """Return the value, or ``default`` if there is none.

        Parameters
        ----------
        key : bytes | str
            The key.
        default : bytes, optional
            The result for a key without a value. Defaults to None.

        Raises
        ------
        TypeError
            If ``key`` has the wrong type.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def update(
        self, items: Mapping[bytes | str, bytes | ObjectCode] | Iterable[tuple[bytes | str, bytes | ObjectCode]], /
    ) -> None:
        """Store several values in turn.

        Parameters
        ----------
        items : Mapping | iterable[tuple]
            Keys and values.
        """
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def _compiling(self, key: bytes):
        """Return a context manager that one thread of one process at a time can enter for a key, if the cache can.

        Its value is true if the key is in the cache by then.
        """
        return contextlib.nullcontext()

    def close(self) -> None:  # noqa: B027
        """Release the resources of the cache, which does nothing unless a subclass overrides it."""


class Counters:
    """Thread-safe counters of the hits and misses of a cache."""

    def __init__(self):
        self._lock = RLock()
        self._hits = 0
        self._misses = 0

    def _count(self, is_hit: bool) -> None:
        with self._lock:
            if is_hit:
                self._hits += 1
            else:
                self._misses += 1

    @property
    def hits(self) -> int:
        """The number of lookups through this object that found a value."""
        return self._hits

    @property
    def misses(self) -> int:
        """The number of lookups through this object that found no value."""
        return self._misses


class InMemoryProgramCache(Counters, ProgramCacheResource):
    """A cache of compiled programs in the memory of this process, which threads can share.

    Parameters
    ----------
    max_size_bytes : int, optional
        The maximum size of all values in bytes. Above it, the least recently read ones are removed. Defaults to no
        limit.

    Raises
    ------
    TypeError
        If ``max_size_bytes`` is not an int.
    ValueError
        If it is below 1.

    Examples
    --------
    >>> from cuda.core import Program, ProgramOptions
    >>> from cuda.core.utils import InMemoryProgramCache
    >>> cache = InMemoryProgramCache(max_size_bytes=64 << 20)
    >>> program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
    >>> code = program.compile("cubin", cache=cache)
    >>> len(cache)
    1
    """

    def __init__(self, *, max_size_bytes: int | None = None):
        super().__init__()
        self._limit = checked_limit(max_size_bytes)
        self._values = OrderedDict()  # the least recently read one comes first
        self._size = 0

    def __getitem__(self, key):
        key = checked_key(key)
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                self._hits += 1
                return value
            self._misses += 1
        raise KeyError(key)

    def __setitem__(self, key, value):
        key, value = checked_key(key), checked_value(value)
        with self._lock:
            self._remove(key)
            # A value above the limit is not stored, because it would displace all others.
            if self._limit is not None and len(value) > self._limit:
                return
            self._values[key] = value
            self._size += len(value)
            while self._limit is not None and self._size > self._limit:
                self._remove(next(iter(self._values)))

    def __delitem__(self, key):
        key = checked_key(key)
        with self._lock:
            if not self._remove(key):
                raise KeyError(key)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return f"<InMemoryProgramCache of {len(self)} programs, {self.size_bytes} bytes>"

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()
            self._size = 0

    @property
    def size_bytes(self) -> int:
        """The size of all values, in bytes."""
        return self._size

    def _remove(self, key) -> bool:
        value = self._values.pop(key, None)
        self._size -= len(value or b"")
        return value is not None


class FileStreamProgramCache(Counters, ProgramCacheResource):
    """A cache of compiled programs in a directory, which threads and processes can share.

    Parameters
    ----------
    path : str | os.PathLike, optional
        The directory, which is created if it does not exist. Defaults to ``program-cache`` in the user's cache
        directory.
    max_size_bytes : int, optional
        The maximum size of all files in bytes. Storing a value above it removes the least recently read ones. Defaults
        to no limit.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``max_size_bytes`` is below 1.

    Warns
    -----
    RuntimeWarning
        Once, if the directory cannot be written, for example because the disk is full. Values are then not stored.

    Notes
    -----
    The value of a key is the file ``entries/xx/yyy``, where ``xxyyy`` is the SHA-256 of the key. It contains only the
    value, so other tools can use it. It is replaced atomically, so a reader gets either the old or the new value. A
    value that does not match its checksum is a miss, and is removed.

    Only their owner can access the directories and files, whatever the umask. A value is a miss if its file is not a
    regular file, belongs neither to this user nor to root, or can be written by others. Storing the next value replaces
    it.

    Examples
    --------
    >>> import tempfile
    >>> from cuda.core import Program, ProgramOptions
    >>> from cuda.core.utils import FileStreamProgramCache
    >>> with tempfile.TemporaryDirectory() as path, FileStreamProgramCache(path) as cache:
    ...     program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
    ...     code = program.compile("cubin", cache=cache)
    ...     len(cache)
    1
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None):
        super().__init__()
        self._limit = checked_limit(max_size_bytes)
        self._root = str(cache_root() / "program-cache") if path is None else os.fsdecode(path)
        check_path("path", self._root)
        self._entries = os.path.join(self._root, "entries")
        self._checks = os.path.join(self._root, "checks")
        self._temporary = os.path.join(self._root, "tmp")
        self._has_warned = False
        try:
            self._make_directories()
            self._remove_stale_files()
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
        unlink(self._checksum_path(path, state))

    def __len__(self):
        return sum(1 for _ in self._files())

    def __repr__(self):
        return f"<FileStreamProgramCache in {self._root!r}>"

    def clear(self) -> None:
        """Remove all values, except those that another process stores in the meantime."""
        try:
            for path, state in list(self._files()):
                self._remove(path, state)
            self._remove_stale_files()
        except OSError as error:
            self._warn(error)

    @property
    def size_bytes(self) -> int:
        """The size of all values on the disk, in bytes."""
        return sum(state.st_size for _, state in self._files())

    @contextlib.contextmanager
    def _compiling(self, key: bytes):
        # Many processes start at the same time, and each needs the same kernels. One of 256 files for all keys, so that
        # they do not accumulate; another key of the same file only waits longer.
        path = os.path.join(self._temporary, f"lock-{sha256(key).hexdigest()[:2]}")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError:  # the directory cannot be written
            yield False
            return
        try:
            with contextlib.suppress(OSError):  # some file systems have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield os.path.exists(self._path(key))
        finally:
            os.close(descriptor)

    def _path(self, key: bytes) -> str:
        name = sha256(key).hexdigest()
        return os.path.join(self._entries, name[:2], name[2:])

    def _checksum_path(self, path: str, state) -> str:
        # The inode of a replaced file can be reused, and a late writer must not remove the new file's entry. So the
        # name also contains the time of modification.
        return f"{self._checks}{path[len(self._entries) :]}.{state.st_ino}-{state.st_mtime_ns}"

    def _read(self, path: str) -> bytes | None:
        try:
            for _ in range(_MAX_READS):
                descriptor, state = open_trusted(path)
                try:
                    # While the file is open, no other file can have its inode.
                    value = self._verified_content(path, descriptor, state)
                    if value is not None:
                        # Not all file systems update the access time, by which _evict() sorts.
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

    def _verified_content(self, path: str, descriptor: int, state) -> bytes | None:
        """Return the contents of an open file, or None if they do not match the checksum."""
        checksum_path = self._checksum_path(path, state)
        check = read_trusted(checksum_path, _MAX_CHECKSUM_BYTES)
        # In a copied directory the files have new inodes, so their checksums are under the names of the originals.
        checks = self._other_checksums(checksum_path) if check is None else {checksum_path: check}
        if not checks:  # a file from another tool
            return read_descriptor(descriptor, state.st_size) if state.st_size <= _MAX_UNVERIFIED_BYTES else None
        # Checked first, so that no memory is allocated for a file of a wrong size.
        length = b"%d " % state.st_size
        if not any(check.startswith(length) for check in checks.values()):
            return None
        value = read_descriptor(descriptor, state.st_size)
        wanted = checksum_of(value)
        fitting = [found for found, check in checks.items() if check == wanted]
        if not fitting:
            return None
        if check is None and self._write_checksum(checksum_path, wanted):
            for found in fitting:
                unlink(found)
        return value

    def _other_checksums(self, checksum_path: str) -> dict[str, bytes]:
        """Return the checksum entries of the same key for files with other inodes, by path."""
        directory, name = os.path.split(checksum_path)
        prefix = name[: name.index(".") + 1]
        try:
            paths = [os.path.join(directory, other) for other in os.listdir(directory) if other.startswith(prefix)]
        except OSError:
            return {}
        checks = {path: read_trusted(path, _MAX_CHECKSUM_BYTES) for path in paths}
        return {path: check for path, check in checks.items() if check is not None}

    def _write(self, path: str, value: bytes) -> None:
        self._make_directories()
        temporary, checksum_path = self._temporary_path(), None
        try:
            with create_private(temporary) as file:
                file.write(value)
                file.flush()
                os.fsync(file.fileno())
            # The file system's clock might be behind this one, which sets the times of reading.
            now = time.time_ns()
            os.utime(temporary, ns=(now, now))
            # Written before the file can be found, so that no file is compared with another's checksum.
            checksum_path = self._checksum_path(path, os.lstat(temporary))
            self._write_checksum(checksum_path, checksum_of(value))
            make_private_directory(os.path.dirname(path))
            replaced = [state for found, state in scan(os.path.dirname(path)) if found == path]
            if replaced and stat.S_ISDIR(replaced[0].st_mode):
                remove_tree(path)
            replace(temporary, path)
        except BaseException:
            if checksum_path is not None:
                unlink(checksum_path)
            raise
        finally:
            unlink(temporary)
        for state in replaced:
            unlink(self._checksum_path(path, state))

    def _write_checksum(self, path: str, check: bytes) -> bool:
        """Write a checksum entry, and return whether that was possible. A value can be used without one."""
        try:
            make_private_directory(self._checks)
            make_private_directory(os.path.dirname(path))
            replace_private(path, self._temporary_path(), check)
        except OSError:
            unlink(path)  # an entry of an earlier file with this inode
            return False
        return True

    def _temporary_path(self) -> str:
        return os.path.join(self._temporary, os.urandom(16).hex())

    def _evict(self, limit: int) -> None:
        self._remove_stale_files()
        # Files above the limit are removed first, because they would displace all others.
        files = sorted(self._files(), key=lambda item: (item[1].st_size <= limit, item[1].st_atime_ns))
        size = sum(state.st_size for _, state in files) + sum(state.st_size for _, state in scan(self._temporary))
        for path, state in files:
            if size <= limit:
                break
            self._remove(path, state)
            size -= state.st_size

    def _remove(self, path, state) -> bool:
        """Remove a file unless it was replaced, and return whether it was removed."""
        try:
            now = os.lstat(path)
            if (now.st_ino, now.st_mtime_ns, now.st_size) != (state.st_ino, state.st_mtime_ns, state.st_size):
                return False
            os.unlink(path)
        except FileNotFoundError:
            return True
        unlink(self._checksum_path(path, state))
        return True

    def _remove_stale_files(self) -> None:
        """Remove temporary files left by processes that died."""
        for path, state in scan(self._temporary):
            if not os.path.basename(path).startswith("lock-") and time.time() - state.st_mtime > _STALE_AFTER:
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
        """Warn once that the directory cannot be written. Compilation works without it."""
        if not self._has_warned:
            self._has_warned = True
            warn_caller(
                f"the program cache in {self._root!r} cannot be written, so compiled code is not stored there: {error}",
                RuntimeWarning,
            )


def checked_key(key) -> bytes:
    """Return a key as bytes, or raise TypeError."""
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        return name_bytes("a key", key) if "\0" not in key else key.encode()
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    raise TypeError(f"a key must be bytes or str, not {type(key).__name__}")


def checked_value(value) -> bytes:
    """Return a value as bytes, or raise TypeError. For an ObjectCode in a file, read the file."""
    if isinstance(value, ObjectCode):
        value = value.code
        if isinstance(value, str):
            with open(value, "rb") as file:
                return file.read()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"a value must be bytes, a bytearray, a memoryview or an ObjectCode, not {type(value).__name__}")


def checked_limit(max_size_bytes) -> int | None:
    """Return a size limit, or raise TypeError or ValueError."""
    if max_size_bytes is None:
        return None
    if isinstance(max_size_bytes, bool) or not isinstance(max_size_bytes, int):
        raise TypeError(f"max_size_bytes must be an int or None, not {type(max_size_bytes).__name__}")
    if max_size_bytes <= 0:
        raise ValueError(f"max_size_bytes must be at least 1, or None for no limit, but is {shown(max_size_bytes)}")
    return max_size_bytes


def checksum_of(value: bytes) -> bytes:
    """Return the checksum entry of a value: its length and its CRC-32."""
    return b"%d %08x\n" % (len(value), binascii.crc32(value))


def scan(directory: str) -> list[tuple[str, os.stat_result]]:
    """Return the path and state of each entry of a directory, without those that another process is removing."""
    found = []
    with contextlib.suppress(OSError), os.scandir(directory) as items:
        for item in items:
            with contextlib.suppress(OSError):
                # On Windows, the state in the listing has no inode.
                found.append((item.path, os.lstat(item.path)))
    return found


def unlink(path: str) -> None:
    """Remove a file if possible."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def remove_tree(path: str) -> None:
    """Remove a directory and its contents, as far as possible, and follow no symbolic links."""
    import shutil  # rarely needed, and slow to import

    shutil.rmtree(path, ignore_errors=True)


def replace(source: str, target: str) -> None:
    """Move a file over another one.

    On Windows, that fails while another process reads the target. After some attempts the new file is discarded.
    """
    for delay in _RETRIES if _IS_WINDOWS else ():
        try:
            return os.replace(source, target)
        except PermissionError:
            time.sleep(delay)
    if not _IS_WINDOWS:
        os.replace(source, target)
    return None
