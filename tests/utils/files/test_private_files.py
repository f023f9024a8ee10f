# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Private files: which are opened, how they are made, and the versions of unchanged libraries that they record."""

import errno
import os
import stat

import pytest

from cuda.core._utils import files
from cuda.core._utils.files import (
    create_private,
    make_private_directories,
    make_private_directory,
    open_trusted,
    read_descriptor,
    read_trusted,
    record_version,
    recorded_version,
    replace_private,
)
from support.processes import let_clock_tick

# --- Files and directories -------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    path.chmod(0o600)
    return path


def test_private_file_is_opened(file):
    descriptor, state = open_trusted(str(file))
    assert state.st_size == 7
    assert read_descriptor(descriptor, 7) == b"content"
    os.close(descriptor)
    assert read_trusted(str(file), 4) == b"cont"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_file_that_others_can_write_is_rejected_and_closed(file, mode):
    file.chmod(mode)
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(PermissionError, match="others can write"):
        open_trusted(str(file))
    assert set(os.listdir("/proc/self/fd")) <= before
    assert read_trusted(str(file), 4) is None


def test_file_of_another_user_is_rejected(file, fake_os):
    if os.geteuid() == 0:
        os.chown(file, 65534, -1)
    else:
        fake_os("geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="another user"):
        open_trusted(str(file))


def test_fifo_and_a_directory_are_rejected_immediately(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError, match="not a regular file"):
            open_trusted(str(path))


def test_link_is_not_followed(file, tmp_path):
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(OSError) as caught:
        open_trusted(str(tmp_path / "link"))
    assert caught.value.errno == errno.ELOOP


def test_short_reads_are_continued(file, fake_os):
    real = os.read
    descriptor, _ = open_trusted(str(file))
    fake_os("read", lambda descriptor, size: real(descriptor, min(size, 2)))
    assert read_descriptor(descriptor, 7) == b"content"
    os.lseek(descriptor, 0, os.SEEK_SET)
    assert read_descriptor(descriptor, 100) == b"content"
    os.close(descriptor)


def test_new_file_is_private_and_replaces_no_other(tmp_path):
    mask = os.umask(0o277)
    try:
        with create_private(str(tmp_path / "new")) as file:
            file.write(b"content")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        create_private(str(tmp_path / "new"))


def test_missing_directories_are_created(tmp_path):
    make_private_directories(str(tmp_path / "a" / "b"))
    assert [stat.S_IMODE((tmp_path / path).stat().st_mode) for path in ("a", "a/b")] == [0o700] * 2


def test_file_in_place_of_a_directory_stays_or_is_replaced(file):
    with pytest.raises(FileExistsError):
        make_private_directories(str(file))
    make_private_directory(str(file))
    assert file.is_dir()
    file.chmod(0o775)
    make_private_directory(str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_too_long_a_path_creates_no_directories(tmp_path):
    with pytest.raises(OSError, match="File name too long"):
        make_private_directories(str(tmp_path / "a" / ("b/" * 5000)))
    assert list(tmp_path.iterdir()) == []


def test_file_is_replaced_atomically(file, tmp_path):
    temporary = tmp_path / "new"
    replace_private(str(file), str(temporary), b"other")
    assert file.read_bytes() == b"other" and not temporary.exists()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_unreplaceable_file_stays_and_no_temporary_file_is_left(file, tmp_path, fake_os):
    before, temporary = file.read_bytes(), tmp_path / "new"
    fake_os("replace", errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        replace_private(str(file), str(temporary), b"other")
    assert file.read_bytes() == before and not temporary.exists()


def test_existing_temporary_file_is_not_overwritten(file, tmp_path):
    temporary = tmp_path / "new"
    temporary.write_bytes(b"of another")
    with pytest.raises(FileExistsError):
        replace_private(str(file), str(temporary), b"other")
    assert temporary.read_bytes() == b"of another"


# --- Recorded versions of libraries ----------------------------------------------------------------


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(files, "_SETTLED_NS", 0)
    path = tmp_path / "libtool.so.13"
    path.write_bytes(b"code")
    return path


def records(library):
    return list((library.parent / "caches" / "cuda-python" / "library-versions").iterdir())


def test_recorded_version_is_read(library):
    assert recorded_version(str(library)) is None
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) == (13, 5)
    (record,) = records(library)
    assert record.stat().st_mode & 0o777 == 0o600


def test_replaced_library_has_no_record_even_with_equal_metadata(library):
    record_version(str(library), (13, 5))
    state = library.stat()
    other = library.with_name("other")
    other.write_bytes(b"CODE")
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(library)
    assert library.stat().st_mtime_ns == state.st_mtime_ns
    assert recorded_version(str(library)) is None
    record_version(str(library), (13, 6))
    assert recorded_version(str(library)) == (13, 6)


def test_library_written_in_place_has_no_record(library):
    record_version(str(library), (13, 5))
    state = library.stat()
    let_clock_tick(library.parent)
    library.write_bytes(b"CODE")
    os.utime(library, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert recorded_version(str(library)) is None


def test_recently_changed_library_is_not_recorded(library, monkeypatch):
    monkeypatch.setattr(files, "_SETTLED_NS", 10**15)
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None


def test_missing_library_has_no_version(library):
    record_version(str(library), (13, 5))
    library.unlink()
    assert recorded_version(str(library)) is None
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None


@pytest.mark.parametrize("spoil", [b"", b"13.5", b"garbage\n13.5"], ids=repr)
def test_damaged_record_is_ignored(library, spoil):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.write_bytes(spoil)
    assert recorded_version(str(library)) is None


def test_record_with_a_damaged_version_is_ignored(library):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.write_bytes(record.read_bytes().replace(b"13.5", b"13.x"))
    assert recorded_version(str(library)) is None


def test_record_that_others_can_write_is_ignored(library):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.chmod(0o666)
    assert recorded_version(str(library)) is None


def test_record_that_cannot_be_renamed_leaves_no_file(library, fake_os):
    fake_os("replace", errno.ENOSPC)
    record_version(str(library), (13, 5))
    assert records(library) == [] and recorded_version(str(library)) is None


def test_uncreatable_directory_is_not_an_error(library, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None


def test_without_a_home_directory_nothing_is_recorded(library, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "~")
    monkeypatch.chdir(library.parent)
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None
    assert not os.path.exists("~")
