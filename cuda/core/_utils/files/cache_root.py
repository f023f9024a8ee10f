# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The user's directory for caches."""

from __future__ import annotations

import os
import sys

__all__ = ["cache_directory", "cache_root"]


def cache_root() -> pathlib.Path:  # noqa: F821
    """Return the user's directory for caches, which may not exist yet.

    On Linux ``$XDG_CACHE_HOME/cuda-python``, or ``~/.cache/cuda-python``; on Windows
    ``%LOCALAPPDATA%\\cuda-python``.

    Raises
    ------
    RuntimeError
        If there is no home directory.
    """
    from pathlib import Path  # takes longer to import than everything else here

    return Path(cache_directory())


def cache_directory() -> str:
    """Return :func:`cache_root` as a str, without importing pathlib."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(_home(), "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(_home(), ".cache")
    return os.path.join(base, "cuda-python")


def _home() -> str:
    home = os.path.expanduser("~")
    if home == "~":  # neither $HOME nor an entry in the password database
        raise RuntimeError("the home directory, where caches are kept, is unknown: set XDG_CACHE_HOME, or HOME")
    return home
