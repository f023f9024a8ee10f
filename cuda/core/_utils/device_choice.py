# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Hardware or software device: decided once, before anything looks for the driver.

``CUDA_CORE_DEVICE`` chooses: ``hardware`` (the default) never uses the software device,
``software`` always does, and ``auto`` does where the driver is missing or reports no device.
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["settle"]

_CHOICES = ("hardware", "software", "auto")


def settle() -> None:
    """Activate the software device if ``CUDA_CORE_DEVICE`` says so.

    Raises
    ------
    ValueError
        If the variable has another value than the three.
    RuntimeError
        If the software device is wanted and cannot be loaded.
    """
    choice = os.environ.get("CUDA_CORE_DEVICE", "").strip().lower() or "hardware"
    if choice not in _CHOICES:
        raise ValueError(f"CUDA_CORE_DEVICE must be one of {', '.join(_CHOICES)}, not {choice!r}")
    if choice == "hardware" or _is_active() or (choice == "auto" and _has_hardware()):
        return
    from cuda import emulator

    emulator.activate()
    if choice == "auto":
        # Children take the same device, without another search and another word.
        os.environ["CUDA_CORE_DEVICE"] = "software"
        print("cuda.core: no CUDA device was found; using the software device", file=sys.stderr)


def _is_active() -> bool:
    emulator = sys.modules.get("cuda.emulator")
    return emulator is not None and emulator.is_active()


def _has_hardware() -> bool:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
