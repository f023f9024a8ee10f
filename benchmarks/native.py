# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiles and loads the C parts of the benchmarks."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

__all__ = ["load", "load_null_driver"]

HERE = Path(__file__).resolve().parent


def load(source: str, mode: int = ctypes.DEFAULT_MODE, name: str | None = None) -> ctypes.CDLL:
    """Compile a C file of this directory into a temporary library, and load that.

    Parameters
    ----------
    source : str
        The file.
    mode : int, optional
        The mode of ``dlopen``, such as ``ctypes.RTLD_GLOBAL``.
    name : str, optional
        The SONAME of the library.
    """
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "library.so"
        command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
        command += [f"-Wl,-soname,{name}"] if name else []
        subprocess.run([*command, "-o", str(library), str(HERE / source)], check=True)
        return ctypes.CDLL(str(library), mode)


def load_null_driver() -> None:
    """Make ``null_driver.c`` the CUDA driver of this process; call it before anything uses CUDA."""
    load("null_driver.c", ctypes.RTLD_GLOBAL, "libcuda.so.1")
