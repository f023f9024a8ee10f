# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""FileStreamProgramCache with planted files, unusual umasks, copied directories and full disks."""

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cuda.core import Program, ProgramOptions
from cuda.core._compile.cache import _stores as _files
from cuda.core.utils import FileStreamProgramCache

KEY = b"key"
NAME = hashlib.sha256(KEY).hexdigest()
SHARD, REST = NAME[:2], NAME[2:]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def cache(root):
    cache = FileStreamProgramCache(root)
    cache[KEY] = b"code"
    return cache


@pytest.fixture
def entry(cache, root):
    return root / "entries" / SHARD / REST


def check_files(root) -> list[Path]:
    return [path for path in (root / "checks").rglob("*") if path.is_file()]


def plant_fifo(path: Path, elsewhere: Path) -> None:
    os.mkfifo(path, 0o600)


def plant_directory(path: Path, elsewhere: Path) -> None:
    (path / "deep" / "er").mkdir(parents=True)
    (path / "deep" / "file").write_bytes(b"planted")


def plant_link(path: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes(b"planted")
    elsewhere.chmod(0o600)
    path.symlink_to(elsewhere)


def plant_link_to_a_fifo(path: Path, elsewhere: Path) -> None:
    os.mkfifo(elsewhere, 0o600)
    path.symlink_to(elsewhere)


def plant_loop(path: Path, elsewhere: Path) -> None:
    path.symlink_to(path.name)


def plant_file_for_the_group(path: Path, elsewhere: Path) -> None:
    path.write_bytes(b"planted")
    path.chmod(0o620)


def plant_file_for_all(path: Path, elsewhere: Path) -> None:
    path.write_bytes(b"planted")
    path.chmod(0o602)


PLANTED = [
    plant_fifo,
    plant_directory,
    plant_link,
    plant_link_to_a_fifo,
    plant_loop,
    plant_file_for_the_group,
    plant_file_for_all,
]

# Runs in its own process, because a planted FIFO may block it.
USE_CACHE = """
import sys
from cuda.core.utils import FileStreamProgramCache
with FileStreamProgramCache(sys.argv[1], max_size_bytes=10_000) as cache:
    print(cache.get("key"), end=" ")
    cache["key"] = b"made anew"
    print(cache.get("key"), len(cache), cache.size_bytes)
"""


def use_in_process(root) -> str:
    """Read, store and read a value in another process, and return its output."""
    command = [sys.executable, "-W", "error", "-c", USE_CACHE, str(root)]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()


@pytest.mark.parametrize("plant", PLANTED)
def test_planted_values_are_a_miss_and_replaced(entry, root, tmp_path, plant):
    entry.unlink()
    plant(entry, tmp_path / "elsewhere")
    assert use_in_process(root) == "None b'made anew' 1 9"
    assert stat.S_ISREG(entry.lstat().st_mode)
    assert stat.S_IMODE(entry.lstat().st_mode) == 0o600


@pytest.mark.parametrize("plant", PLANTED)
def test_planted_values_do_not_count(cache, entry, tmp_path, plant):
    entry.unlink()
    plant(entry, tmp_path / "elsewhere")
    if not entry.is_file() or entry.is_symlink():
        assert (len(cache), cache.size_bytes) == (0, 0)
        with pytest.raises(KeyError):
            del cache[KEY]
    assert cache.get(KEY) is None


@pytest.mark.parametrize("plant", [plant_fifo, plant_link, plant_link_to_a_fifo, plant_loop])
@pytest.mark.parametrize("place", ["check", "check directory", "entry directory", "checks", "tmp", "entries"])
def test_planted_checks_and_directories_are_replaced(entry, root, tmp_path, plant, place):
    places = {"check directory": root / "checks" / SHARD, "entry directory": root / "entries" / SHARD}
    path = check_files(root)[0] if place == "check" else places.get(place, root / place)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    plant(path, tmp_path / "elsewhere")
    assert use_in_process(root).endswith(" b'made anew' 1 9")
    assert not (tmp_path / "elsewhere").is_dir()


def test_value_of_another_user_is_a_miss_and_replaced(cache, entry, fake_os, monkeypatch):
    os.utime(entry, (1, 1))
    if os.geteuid() == 0:
        os.chown(entry, 65534, -1)
    else:
        fake_os("geteuid", lambda: os.getuid() + 1)
    assert cache.get(KEY) is None
    monkeypatch.undo()
    cache[KEY] = b"made anew"
    assert cache[KEY] == b"made anew"


@pytest.mark.parametrize("has_check", [True, False])
def test_huge_sparse_file_is_removed_without_being_read(cache, entry, root, has_check):
    for path in () if has_check else check_files(root):
        path.unlink()
    os.truncate(entry, 1 << 43)
    assert cache.get(KEY) is None
    assert not entry.exists()
    cache[KEY] = b"made anew"
    assert cache[KEY] == b"made anew"


def test_huge_sparse_file_does_not_evict_other_values(root):
    cache = FileStreamProgramCache(root, max_size_bytes=1000)
    cache["other"] = b"x" * 500
    cache[KEY] = b"code"
    os.truncate(root / "entries" / SHARD / REST, 1 << 43)
    cache["third"] = b"y" * 100
    assert cache.get("other") == b"x" * 500
    assert cache.get("third") == b"y" * 100


# Copied trees


def copy(cache, root, tmp_path) -> FileStreamProgramCache:
    """Return a cache in a copy of the directory, whose files have other inodes."""
    shutil.copytree(root, tmp_path / "copy")
    return FileStreamProgramCache(tmp_path / "copy")


def test_copied_tree_has_the_values_and_new_checks(cache, root, tmp_path):
    copied = copy(cache, root, tmp_path)
    assert copied[KEY] == b"code"
    state = (tmp_path / "copy" / "entries" / SHARD / REST).stat()
    checks = [path.name for path in check_files(tmp_path / "copy")]
    assert checks == [f"{REST}.{state.st_ino}-{state.st_mtime_ns}"]
    assert copied[KEY] == b"code"


@pytest.mark.parametrize("damage", [b"", b"cod", b"c0de", b"code and more"])
def test_damage_in_a_copied_tree_is_found(cache, root, tmp_path, damage):
    copied = copy(cache, root, tmp_path)
    (tmp_path / "copy" / "entries" / SHARD / REST).write_bytes(damage)
    assert copied.get(KEY) is None
    copied[KEY] = b"made anew"
    assert copied[KEY] == b"made anew"


def test_value_replaced_while_it_is_read_is_read_again(cache, root, monkeypatch):
    real, calls = _files.open_trusted, []

    def open_and_replace(path):
        found = real(path)
        calls.append(path)
        if len(calls) == 1:
            FileStreamProgramCache(root)[KEY] = b"newer"
        return found

    monkeypatch.setattr(_files, "open_trusted", open_and_replace)
    assert cache.get(KEY) == b"newer"


# Permissions


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_files_and_directories_are_private_whatever_the_umask(tmp_path, umask):
    command = [sys.executable, "-c", f"import os\nos.umask({umask})\n{USE_CACHE}", str(tmp_path / "new" / "cache")]
    out = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    assert out.strip() == "None b'made anew' 1 9"
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert len(paths) == 9
    modes = {str(path): oct(stat.S_IMODE(path.stat().st_mode)) for path in paths}
    assert modes == {str(path): "0o700" if path.is_dir() else "0o600" for path in paths}


def test_others_lose_write_access_below_the_cache_root(root):
    for name in ("", "entries", "tmp"):
        (root / name).mkdir(parents=True)
        (root / name).chmod(0o777)
    FileStreamProgramCache(root)
    modes = [stat.S_IMODE((root / name).stat().st_mode) for name in ("", "entries", "tmp")]
    assert modes == [0o777, 0o755, 0o755]


# Full disks


def fail(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


class FullFile:
    """A file that cannot be written to."""

    def __init__(self, path):
        self._file = open(path, "xb")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._file.close()

    write = fail


FULL = {
    "open": (_files, "create_private", fail),
    "write": (_files, "create_private", FullFile),
    "fsync": (os, "fsync", fail),
    "rename": (os, "replace", fail),
    "directory": (os, "mkdir", fail),
    "time": (os, "utime", fail),
}


@pytest.fixture
def full_disk(monkeypatch):
    """A function that returns a context manager, inside which the disk is full for one kind of call."""

    @contextlib.contextmanager
    def full(where):
        with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="No space left") as caught:
            patch.setattr(*FULL[where])
            yield caught

    return full


@pytest.mark.parametrize("where", FULL)
def test_full_disk_loses_only_the_value_and_leaves_no_file(root, full_disk, where):
    cache = FileStreamProgramCache(root)
    with full_disk(where) as caught:
        cache[KEY] = b"code"
        cache[KEY] = b"code"
    assert [warning.filename for warning in caught] == [__file__]
    assert cache.get(KEY) is None
    assert [path for path in root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("where", FULL)
def test_full_disk_keeps_the_stored_values(cache, entry, root, full_disk, where):
    with full_disk(where):
        if where == "directory":
            shutil.rmtree(root / "tmp")
        cache[KEY] = b"other"
    assert cache[KEY] == b"code"
    assert len(check_files(root)) == 1


@pytest.mark.parametrize("where", FULL)
def test_program_is_compiled_on_a_full_disk(device, root, full_disk, where):
    cache = FileStreamProgramCache(root)
    program = Program('extern "C" __global__ void k() {}', "c++", ProgramOptions())
    wanted = bytes(program.compile("cubin").code)
    with full_disk(where):
        code = program.compile("cubin", cache=cache).code
    assert bytes(code) == wanted
    left = [path for path in (root / "tmp").iterdir() if not path.name.startswith("lock-")]
    assert (len(cache), left) == (0, [])
    assert bytes(program.compile("cubin", cache=cache).code) == wanted
    assert len(cache) == 1
