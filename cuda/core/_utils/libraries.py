# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The paths of the driver and NVRTC for ``_native/calls.cpp``, which opens the libraries.

The dynamic linker finds the driver by its name, and NVRTC is nearly always in a wheel beside the bindings. Only
otherwise does ``cuda.pathfinder`` search, because importing it takes longer than importing this package.

``checks_memory``, ``compiler_build`` and ``facts`` are what other modules need to know of a software device that takes
their place.
"""

from __future__ import annotations

import importlib
import os
import sys

from cuda.core._utils.device_choice import checks_memory, compiler_build, facts

__all__ = ["MISSING_DRIVER", "checks_memory", "compiler_build", "driver", "facts", "nvrtc"]

MISSING_DRIVER = (
    "the CUDA driver (libcuda.so.1) was not found; on a machine with an NVIDIA GPU, install the NVIDIA display driver, "
    "version 535 or newer; on others, install cuda-emulator, the software device, from its wheel file or a clone, and "
    "set CUDA_CORE_DEVICE=auto or run python -m cuda.emulator program.py"
)

BROKEN_DRIVER = (
    "the CUDA driver cannot be loaded: {}; install the NVIDIA display driver again, for this kind of machine, and "
    "check that LD_LIBRARY_PATH leads to no other libcuda.so.1"
)

_DRIVER = "libcuda.so.1"
# Where the wheels of NVRTC have the library, below the directory `nvidia`, by the major version of CUDA.
_COMPILERS = {13: "cu13/lib/libnvrtc.so.13", 12: "cuda_nvrtc/lib/libnvrtc.so.12"}


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
    folders = [f"{entry}/nvidia" for entry in sys.path if entry.endswith("-packages")]
    found = {
        major: f"{folder}/{place}"
        for major, place in _COMPILERS.items()
        for folder in reversed(folders)
        if os.path.exists(f"{folder}/{place}")
    }
    if len(found) > 1:
        # Programs of one version must not go to functions of the other, such as those of the bindings.
        bindings = importlib.import_module("cuda.core._utils.cuda_utils").binding_version()[0]
        return found.get(bindings, found[13])
    return next(iter(found.values()), "")


def _search(name: str) -> str:
    return importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib(name).abs_path
