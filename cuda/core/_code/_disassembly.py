# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Machine instructions of code as text, from NVIDIA's disassembler."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import tempfile

from cuda.core._code._elf import elf_symbol
from cuda.core._utils.cuda_utils import NotSupportedError

__all__ = ["disassemble"]

_MISSING = "nvdisasm was not found; install nvidia-cuda-nvdisasm, or the CUDA toolkit with its bin directory on PATH"


def disassemble(code: bytes | str | os.PathLike, symbol: str | None) -> str:
    """Return the instructions of a cubin as ``nvdisasm`` prints them, of one kernel or of all.

    Parameters
    ----------
    code : bytes | str | os.PathLike
        The cubin, or the path of its file.
    symbol : str | None
        The symbol of the kernel, or None for all.

    Raises
    ------
    NotSupportedError
        If ``nvdisasm`` is not installed.
    RuntimeError
        If it fails, with its message.
    ValueError
        If the code has no such symbol.
    """
    options = ["--print-code"]
    if not isinstance(code, bytes):
        with open(code, "rb") as file:
            code = file.read()
    if symbol is not None:
        index = elf_symbol(code, symbol)
        if index is None:
            raise ValueError(f"name must be the name of a kernel in this code, which has no symbol {symbol!r}")
        options += ["--cuda-function-index", str(index)]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        done = subprocess.run([_tool(), *options, file.name], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"nvdisasm failed: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def _tool() -> str:
    found = shutil.which("nvdisasm")
    if found is None:
        pathfinder = importlib.import_module("cuda.pathfinder")
        find = getattr(pathfinder, "find_nvidia_binary_utility", None)  # the oldest supported version has none
        found = find and find("nvdisasm")
    if not found:
        raise NotSupportedError(_MISSING)
    return found
