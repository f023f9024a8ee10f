# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compiler driver ``nvcc``, for callers that name one."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile

from cuda.core._utils.files.hashing import sha256
from cuda.core.driver._errors import CompileError

__all__ = ["preprocess", "run", "version"]


def run(nvcc: str, source: str, options: list[str], target: str, cache) -> tuple[bytes, str]:
    """Return what ``nvcc`` makes of a source, and what it says.

    A cache is asked where the source includes nothing: what ``nvcc`` reads besides is not known.

    Raises
    ------
    CompileError
        If the compilation fails, or there is no such compiler.
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
    """Return a source with its headers, as the preprocessor of ``nvcc`` gives it."""
    with tempfile.TemporaryDirectory(prefix="cuda_core_nvcc_") as directory:
        path = os.path.join(directory, "source.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        return _call([nvcc, "--preprocess", *options, path], "nvcc preprocessing failed", is_output=True)


@functools.cache
def version(nvcc: str) -> str:
    """Return what ``nvcc --version`` prints.

    Raises
    ------
    CompileError
        If there is no such compiler.
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
