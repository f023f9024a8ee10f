# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiling and loading the C parts of the benchmarks."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

__all__ = ["compile_text", "load", "load_null_driver"]

HERE = Path(__file__).resolve().parent


def load(source: str, mode: int = ctypes.DEFAULT_MODE, name: str | None = None) -> ctypes.CDLL:
    """Compile a C file in this directory into a temporary library, and load the library.

    Parameters
    ----------
    source : str
        The file name.
    mode : int, optional
        The ``dlopen`` mode, such as ``ctypes.RTLD_GLOBAL``.
    name : str, optional
        The library's SONAME.
    """
    return compile_text((HERE / source).read_text(), mode, name)


def compile_text(text: str, mode: int = ctypes.DEFAULT_MODE, name: str | None = None) -> ctypes.CDLL:
    """Compile C source like :func:`load`."""
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "library.so"
        command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
        command += [f"-Wl,-soname,{name}"] if name else []
        subprocess.run([*command, "-x", "c", "-o", str(library), "-"], input=text, text=True, check=True)
        return ctypes.CDLL(str(library), mode)


def load_null_driver() -> None:
    """Make ``null_driver.c`` this process's CUDA driver. Call this before anything uses CUDA."""
    load("null_driver.c", ctypes.RTLD_GLOBAL, "libcuda.so.1")
