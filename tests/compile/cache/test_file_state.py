# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The state of files, by which a change is detected."""

import os
import struct

import pytest

from cuda.core._compile.cache._file_state import file_states


def test_state_has_inode_size_and_times(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"four")
    stat = os.stat(path)
    expected = (stat.st_ino, 4, stat.st_mtime_ns, stat.st_ctime_ns)
    assert struct.unpack("<4q", file_states([os.fsencode(path)])) == expected


def test_missing_files_have_a_state_of_zeros(tmp_path):
    (tmp_path / "here").touch()
    states = file_states([os.fsencode(tmp_path / name) for name in ("missing", "here")])
    assert states[:32] == bytes(32)
    assert states[32:] != bytes(32)


def test_every_change_changes_the_state(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    states = [file_states([os.fsencode(path)])]
    os.utime(path, ns=(0, 1))
    states.append(file_states([os.fsencode(path)]))
    path.unlink()
    states.append(file_states([os.fsencode(path)]))
    assert len(set(states)) == 3


def test_no_files_have_no_states():
    assert file_states([]) == b""


def test_paths_that_are_no_bytes_are_rejected():
    with pytest.raises(TypeError):
        file_states(["text"])
