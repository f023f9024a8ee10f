# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilation with ``nvcc``, for programs that name its executable."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile

from hashlib import sha256
from cuda.core.driver._errors import CompileError

__all__ = ["preprocess", "run", "version"]


def run(nvcc: str, source: str, options: list[str], target: str, cache) -> tuple[bytes, str]:
    """Compile a source with ``nvcc``; return the code and the compiler's messages.

    The cache is used only if the source includes no files, because their content is not part of the key.

    Raises
    ------
    CompileError
        If the compilation fails, or the executable does not exist.
    """
    key = None
    if cache is not None and "#include" not in source.replace(" ", ""):
        key = sha256(repr((nvcc, version(nvcc), source, options, target)).encode()).digest()
        known = cache.get(key)
        if known is not None:
            return known, ""
    with tempfile.TemporaryDirectory(prefix="cuda_core_nvcc_") as directory:
        path = os.path.join(directory, "kernel.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        made = os.path.join(directory, f"kernel.{target}")
        said = _call([nvcc, f"--{target}", *options, "-o", made, path], "nvcc compilation failed")
        with open(made, "rb") as file:
            image = file.read()
    if key is not None:
        cache[key] = image
    return image, said


def preprocess(nvcc: str, source: str, options: list[str]) -> str:
    """Return the preprocessed source (``nvcc --preprocess``)."""
    with tempfile.TemporaryDirectory(prefix="cuda_core_nvcc_") as directory:
        path = os.path.join(directory, "source.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        return _call([nvcc, "--preprocess", *options, path], "nvcc preprocessing failed", is_output=True)


@functools.cache
def version(nvcc: str) -> str:
    """Return the output of ``nvcc --version``.

    Raises
    ------
    CompileError
        If the executable does not exist.
    """
    return _call([nvcc, "--version"], "nvcc was not found", is_output=True)


def _call(command: list[str], failure: str, is_output: bool = False) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompileError(f"{failure}: {error}", command) from None
    if done.returncode:
        raise CompileError(failure, command, done.stdout, done.stderr)
    return done.stdout if is_output else (done.stdout + done.stderr).strip()
