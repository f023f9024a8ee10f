# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The user's cache directory."""

import shutil
from pathlib import Path

import pytest

from cuda.core.utils import FileStreamProgramCache


def cache_root(inside) -> Path:
    """Return the default directory of a program cache below another directory."""
    FileStreamProgramCache()["key"] = b"code"
    (found,) = Path(inside).rglob("program-cache")
    shutil.rmtree(found)
    return found.parent


def test_directory_follows_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root(tmp_path) == tmp_path / "cuda-python"


def test_without_the_variable_it_is_in_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in (None, ""):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        if value is not None:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_root(tmp_path) == tmp_path / ".cache" / "cuda-python"


def test_on_windows_it_is_in_the_local_data(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache_root(tmp_path) == Path(tmp_path) / "cuda-python"


def test_missing_home_error_names_the_variable_to_set(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "~")
    with pytest.raises(RuntimeError, match="set XDG_CACHE_HOME"):
        FileStreamProgramCache()
