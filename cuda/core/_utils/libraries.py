# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The paths of the driver and NVRTC for ``library_calls.hpp``, which opens the libraries.

The dynamic linker finds the driver by its name, and NVRTC is nearly always in a wheel beside the bindings. Only
otherwise does ``cuda.pathfinder`` search, because importing it takes longer than importing this package.
"""

from __future__ import annotations

import importlib
import os
import sys

__all__ = ["MISSING_DRIVER", "driver", "nvrtc"]


MISSING_DRIVER = (
    "the CUDA driver (libcuda.so.1) was not found; install the NVIDIA display driver, version 580 or newer, "
    "on a machine with an NVIDIA GPU, or use the software device: set CUDA_CORE_DEVICE=auto, or run "
    "python -m cuda.emulator program.py"
)

BROKEN_DRIVER = (
    "the CUDA driver cannot be loaded: {}; install the NVIDIA display driver again, for this kind of machine, and "
    "check that LD_LIBRARY_PATH leads to no other libcuda.so.1"
)

_DRIVER = "libcuda.so.1"
_COMPILER = "libnvrtc.so.13"


def driver(is_thorough: bool) -> str:
    """Return the name or the path of the driver.

    Parameters
    ----------
    is_thorough : bool
        Whether ``cuda.pathfinder`` searches. The caller passes True if the first result does not exist.

    Raises
    ------
    RuntimeError
        If the search finds no driver.
    """
    if not is_thorough:
        return _DRIVER
    try:
        return _search("cuda")
    except RuntimeError as error:
        # Keep the class, by which programs catch the error.
        raise type(error)(_reason()) from None


def _reason() -> str:
    """Return the reason why the dynamic linker does not load the driver."""
    try:
        importlib.import_module("ctypes").CDLL(_DRIVER)
    except OSError as error:
        if "No such file" not in str(error):
            return BROKEN_DRIVER.format(error)
    return MISSING_DRIVER


def nvrtc(is_thorough: bool) -> str:
    """Return the path of NVRTC, or "" if it is not next to the bindings. See :func:`driver` for the parameter."""
    if is_thorough:
        return _search("nvrtc")
    for entry in sys.path:
        path = f"{entry}/nvidia/cu13/lib/{_COMPILER}"
        if entry.endswith("-packages") and os.path.exists(path):
            return path
    return ""


def _search(name: str) -> str:
    return importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib(name).abs_path
