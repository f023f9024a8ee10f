# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A recorded version of a library is valid for the unchanged file only."""

from __future__ import annotations

import errno
import os

import pytest

from cuda.core._utils import files as library_versions
from cuda.core._utils.files import record_version, recorded_version
from support.processes import let_clock_tick


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(library_versions, "_SETTLED_NS", 0)
    path = tmp_path / "libtool.so.13"
    path.write_bytes(b"code")
    return path


def records(library):
    return list((library.parent / "caches" / "cuda-python" / "library-versions").iterdir())


def test_a_recorded_version_is_read(library):
    assert recorded_version(str(library)) is None
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) == (13, 5)
    (record,) = records(library)
    assert record.stat().st_mode & 0o777 == 0o600


def test_a_library_that_was_replaced_has_no_record_even_with_the_same_size_and_time(library):
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


def test_a_library_that_is_written_in_place_has_no_record(library):
    record_version(str(library), (13, 5))
    state = library.stat()
    let_clock_tick(library.parent)
    library.write_bytes(b"CODE")
    os.utime(library, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert recorded_version(str(library)) is None


def test_a_library_that_has_just_changed_is_not_recorded(library, monkeypatch):
    monkeypatch.setattr(library_versions, "_SETTLED_NS", 10**15)
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None


def test_a_missing_library_has_no_version(library):
    record_version(str(library), (13, 5))
    library.unlink()
    assert recorded_version(str(library)) is None
    record_version(str(library), (13, 5))
    assert recorded_version(str(library)) is None


@pytest.mark.parametrize("spoil", [b"", b"13.5", b"garbage\n13.5"], ids=repr)
def test_a_damaged_record_is_ignored(library, spoil):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.write_bytes(spoil)
    assert recorded_version(str(library)) is None


def test_a_record_with_a_damaged_version_is_ignored(library):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.write_bytes(record.read_bytes().replace(b"13.5", b"13.x"))
    assert recorded_version(str(library)) is None


def test_a_record_that_others_can_write_is_ignored(library):
    record_version(str(library), (13, 5))
    (record,) = records(library)
    record.chmod(0o666)
    assert recorded_version(str(library)) is None


def test_a_record_that_cannot_be_renamed_leaves_no_file(library, fake_os):
    fake_os("replace", errno.ENOSPC)
    record_version(str(library), (13, 5))
    assert records(library) == [] and recorded_version(str(library)) is None


def test_a_directory_that_cannot_be_made_is_no_error(library, monkeypatch):
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
