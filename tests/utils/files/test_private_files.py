# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Private files: which files are opened, and how files and directories are made."""

import errno
import os
import stat

import pytest

from cuda.core._utils.files import (
    create_private,
    make_private_directories,
    make_private_directory,
    open_trusted,
    read_descriptor,
    read_trusted,
    replace_private,
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    path.chmod(0o600)
    return path


def test_a_private_file_is_opened(file):
    descriptor, state = open_trusted(str(file))
    assert state.st_size == 7
    assert read_descriptor(descriptor, 7) == b"content"
    os.close(descriptor)
    assert read_trusted(str(file), 4) == b"cont"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused_and_closed(file, mode):
    file.chmod(mode)
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(PermissionError, match="others can write"):
        open_trusted(str(file))
    assert set(os.listdir("/proc/self/fd")) <= before
    assert read_trusted(str(file), 4) is None


def test_a_file_of_another_user_is_refused(file, fake_os):
    if os.geteuid() == 0:
        os.chown(file, 65534, -1)
    else:
        fake_os("geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="another user"):
        open_trusted(str(file))


def test_a_fifo_and_a_directory_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError, match="not a regular file"):
            open_trusted(str(path))


def test_a_link_is_not_followed(file, tmp_path):
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


def test_a_new_file_is_private_and_replaces_no_other(tmp_path):
    mask = os.umask(0o277)
    try:
        with create_private(str(tmp_path / "new")) as file:
            file.write(b"content")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        create_private(str(tmp_path / "new"))


def test_directories_that_are_missing_are_made(tmp_path):
    make_private_directories(str(tmp_path / "a" / "b"))
    assert [stat.S_IMODE((tmp_path / path).stat().st_mode) for path in ("a", "a/b")] == [0o700] * 2


def test_a_file_in_place_of_a_directory_stays_or_is_replaced(file):
    with pytest.raises(FileExistsError):
        make_private_directories(str(file))
    make_private_directory(str(file))
    assert file.is_dir()
    file.chmod(0o775)
    make_private_directory(str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_a_path_that_is_too_long_makes_no_directories(tmp_path):
    with pytest.raises(OSError, match="File name too long"):
        make_private_directories(str(tmp_path / "a" / ("b/" * 5000)))
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_atomically(file, tmp_path):
    temporary = tmp_path / "new"
    replace_private(str(file), str(temporary), b"other")
    assert file.read_bytes() == b"other" and not temporary.exists()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_replaced_stays_and_no_temporary_file_is_left(file, tmp_path, fake_os):
    before, temporary = file.read_bytes(), tmp_path / "new"
    fake_os("replace", errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        replace_private(str(file), str(temporary), b"other")
    assert file.read_bytes() == before and not temporary.exists()


def test_an_existing_temporary_file_is_not_overwritten(file, tmp_path):
    temporary = tmp_path / "new"
    temporary.write_bytes(b"of another")
    with pytest.raises(FileExistsError):
        replace_private(str(file), str(temporary), b"other")
    assert temporary.read_bytes() == b"of another"
