# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""FileStreamProgramCache: its files, and file system errors."""

import errno
import hashlib
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda.core._compile.cache import _stores as _files
from cuda.core.utils import FileStreamProgramCache


@pytest.fixture
def root(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def cache(root):
    return FileStreamProgramCache(root)


def entry(root, key: bytes) -> Path:
    """Return the path of the file with a key's value."""
    name = hashlib.sha256(key).hexdigest()
    return Path(root) / "entries" / name[:2] / name[2:]


def test_value_is_a_file_named_by_the_hash_of_its_key(cache, root):
    cache["key"] = b"code"
    assert entry(root, b"key").read_bytes() == b"code"
    assert [path for path in (root / "tmp").iterdir() if not path.name.startswith("lock-")] == []
    assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o700


def test_only_missing_directories_are_created_with_permissions(root):
    (root / "tmp").mkdir(parents=True)
    (root / "tmp").chmod(0o755)
    FileStreamProgramCache(str(root))
    assert (root / "entries").is_dir()
    assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o755


def test_default_directory_is_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    FileStreamProgramCache()["key"] = b"code"
    assert entry(tmp_path / "cuda-python" / "program-cache", b"key").read_bytes() == b"code"


@pytest.mark.parametrize("path", [5, 1.5, object()])
def test_path_of_wrong_type_is_rejected(path):
    with pytest.raises(TypeError):
        FileStreamProgramCache(path)


def test_another_cache_object_finds_the_value(cache, root):
    cache["key"] = b"code"
    assert FileStreamProgramCache(root)["key"] == b"code"


def test_files_without_a_check_are_read(cache, root):
    path = entry(root, b"key")
    path.parent.mkdir()
    path.write_bytes(b"foreign")
    path.chmod(0o644)
    assert cache["key"] == b"foreign"
    assert len(cache) == 1


def test_reading_changes_only_the_access_time(cache, root):
    cache["key"] = b"code"
    path = entry(root, b"key")
    os.utime(path, ns=(1, 1))
    assert cache["key"] == b"code"
    assert path.stat().st_atime_ns > 1
    assert path.stat().st_mtime_ns == 1


@pytest.mark.parametrize("damage", [b"", b"other code", b"cod", b"code and more"])
def test_damaged_value_is_a_miss_and_can_be_stored_again(cache, root, damage):
    cache["key"] = b"code"
    with open(entry(root, b"key"), "r+b") as file:
        file.truncate(0)
        file.write(damage)
    assert cache.get("key") is None
    assert len(cache) == 0
    assert cache.misses == 1
    cache["key"] = b"code"
    assert cache["key"] == b"code"


def test_checks_are_removed_with_their_values(cache, root):
    for value in (b"one", b"two", b"three"):
        cache["key"] = value
    assert len([path for path in (root / "checks").rglob("*") if path.is_file()]) == 1
    del cache["key"]
    cache["key"] = b"code"
    cache.clear()
    assert [path for path in (root / "checks").rglob("*") if path.is_file()] == []


def test_value_is_returned_unchecked_if_its_check_is_unwritable(cache, root, monkeypatch):
    monkeypatch.setattr(cache, "_checks", str(root / "missing" / "checks"))
    cache["key"] = b"code"
    assert not (root / "missing").exists()
    assert cache["key"] == b"code"
    assert len(cache) == 1


def test_old_temporary_files_are_swept(cache, root):
    old, young = root / "tmp" / "old", root / "tmp" / "young"
    for sweep in (lambda: FileStreamProgramCache(root), cache.clear):
        old.write_bytes(b"x")
        young.write_bytes(b"x")
        os.utime(old, (time.time() - 4000,) * 2)
        sweep()
        assert not old.exists()
        assert young.exists()


def test_temporary_files_count_and_old_ones_are_evicted(root):
    cache = FileStreamProgramCache(root, max_size_bytes=100)
    (root / "tmp" / "other").write_bytes(b"x" * 80)
    cache["a"] = b"a" * 30
    assert cache.get("a") is None
    os.utime(root / "tmp" / "other", (0, 0))
    cache["a"] = b"a" * 30
    assert cache["a"] == b"a" * 30


def test_clear_keeps_a_value_replaced_in_the_meantime(cache, root, monkeypatch):
    cache["key"] = b"old"
    listed = list(cache._files())
    monkeypatch.setattr(cache, "_files", lambda: iter(listed))
    cache["key"] = b"newer"
    cache.clear()
    assert cache["key"] == b"newer"


def test_value_removed_by_another_process_counts_as_removed(cache, root):
    cache["key"] = b"code"
    path, state = next(iter(cache._files()))
    os.unlink(path)
    assert cache._remove(path, state)
    with pytest.raises(KeyError):
        del cache["key"]


# Directories that cannot be written


def test_unwritable_directory_warns_once_and_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="program cache in .* cannot be written") as caught:
        cache = FileStreamProgramCache(tmp_path / "file" / "cache", max_size_bytes=10)
    assert [warning.filename for warning in caught] == [__file__]
    cache["key"] = b"code"
    cache.clear()
    assert (cache.get("key"), len(cache), cache.size_bytes) == (None, 0, 0)
    with pytest.raises(KeyError):
        del cache["key"]


def test_read_only_directory_still_returns_its_values(cache, root, fake_os):
    cache["key"] = b"code"
    fake_os("utime", errno.EACCES)
    assert cache["key"] == b"code"


def test_clearing_where_nothing_can_be_removed_warns(cache, fake_os, monkeypatch):
    cache["key"] = b"code"
    fake_os("unlink", errno.EACCES)
    with pytest.warns(RuntimeWarning, match="Permission denied"):
        cache.clear()
    with pytest.raises(PermissionError):
        del cache["key"]
    monkeypatch.undo()
    assert cache["key"] == b"code"


def test_removed_directory_is_created_again(cache, root):
    cache["key"] = b"code"
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert cache.get("key") is None
    cache["key"] = b"code"
    assert cache["key"] == b"code"


@pytest.mark.parametrize("failures", [2, 100])
def test_file_others_read_is_replaced_later_or_kept_on_windows(cache, fake_os, monkeypatch, failures):
    cache["key"] = b"old"
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) <= failures:
            raise PermissionError(errno.EACCES, "in use")
        real(source, target)

    monkeypatch.setattr(_files, "_IS_WINDOWS", True)
    fake_os("replace", replace)
    cache["key"] = b"new"
    assert cache["key"] == (b"new" if failures == 2 else b"old")


# Real file system failures, in a separate process


def run_in_child(program: str, *args) -> str:
    """Run a program whose ``compiled(number)`` compiles a kernel with ``cache``; return its output and its warnings."""
    command = [sys.executable, "-W", "always", "-c", f"{COMPILER}{program}", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


COMPILER = """
import sys
from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache

def compiled(number, cache=None):
    source = f"template <class T> __global__ void f(T* x) {{ *x = {number}; }}"
    program = Program(source, "c++", ProgramOptions(arch="sm_90"))
    return program.compile("cubin", name_expressions=["f<int>"], cache=cache).code

cache = FileStreamProgramCache(sys.argv[1])
"""

FULL_DISK = """
import resource

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # the write that exceeds it is cut off, and the next one fails
assert [compiled(number, cache) for number in (1, 2, 1)] == [compiled(number) for number in (1, 2, 1)]
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert compiled(1, cache) == compiled(1, cache)
"""

READ_ONLY = """
import ctypes

# Without its capabilities, root cannot write read-only directories either.
header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(header, nothing) == 0
cache = FileStreamProgramCache(sys.argv[1])
assert compiled(1, cache) == compiled(1) and cache.hits == 2
assert compiled(2, cache) == compiled(2)
assert compiled(3, cache) == compiled(3)
cache.clear()
assert len(cache) == 2
"""


@pytest.mark.requires(nvrtc=True, software=False)
def test_code_is_compiled_but_not_stored_on_a_full_disk(root):
    output = run_in_child(FULL_DISK, root)
    assert output.count("RuntimeWarning: the program cache in") == 1
    assert [path for path in (root / "tmp").iterdir() if not path.name.startswith("lock-")] == []
    assert len(FileStreamProgramCache(root)) == 3  # the names of two kernels, and the code stored without the limit


@pytest.mark.requires(nvrtc=True)
def test_read_only_directory_returns_its_code_and_stores_none(root):
    run_in_child("compiled(1, cache)", root)
    directories = [root, *(path for path in root.rglob("*") if path.is_dir())]
    for directory in directories:
        directory.chmod(0o500)
    try:
        output = run_in_child(READ_ONLY, root)
    finally:
        for directory in directories:
            directory.chmod(0o700)
    # One warning for each cache object.
    assert output.count("RuntimeWarning: the program cache in") == 1
    assert len(FileStreamProgramCache(root)) == 2


# Many processes


WORKER = """
import sys
from cuda.core.utils import FileStreamProgramCache
cache = FileStreamProgramCache(sys.argv[1])
values = [letter * 5000 for letter in (b"a", b"b", b"c")]
for step in range(30):
    cache["key"] = values[(int(sys.argv[2]) + step) % 3]
    # A miss is possible while other processes replace the value.
    assert cache.get("key", values[0]) in values
"""


def test_processes_read_only_complete_values(root):
    FileStreamProgramCache(root)["key"] = b"a" * 5000
    command = [sys.executable, "-c", WORKER, str(root)]
    workers = [subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE) for number in range(3)]
    assert [(worker.communicate()[1], worker.returncode) for worker in workers] == [(b"", 0)] * 3
    cache = FileStreamProgramCache(root)
    cache["key"] = b"d" * 5000
    assert cache["key"] == b"d" * 5000 and len(cache) == 1


RACE = """
import sys, time
from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache
compiled = []
real = Program._compile
Program._compile = lambda *arguments: compiled.append(1) or real(*arguments)
cache = FileStreamProgramCache(sys.argv[1])
program = Program('extern "C" __global__ void once() {}', "c++", ProgramOptions(arch="sm_90"))
print("ready", flush=True)
sys.stdin.readline()
program.compile("cubin", cache=cache)
print(len(compiled))
"""


def test_processes_compile_a_program_once(tmp_path):
    command = [sys.executable, "-c", RACE, str(tmp_path / "cache")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen(command, **pipes) for _ in range(4)]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * 4
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    assert sum(int(child.communicate(timeout=120)[0]) for child in children) == 1
