# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The choice between GPUs and the software device, made once, before the driver is loaded.

``CUDA_CORE_DEVICE`` selects: ``hardware`` (the default) never uses the software device, ``software`` always does, and
``auto`` does if the driver is missing or reports no device.
"""

from __future__ import annotations

import os
import sys

__all__ = [
    "apply",
    "choice",
    "has_dropped_work",
    "is_set",
    "is_software",
    "reset_software",
    "software_build",
    "software_headers",
    "software_library",
]

_CHOICES = ("hardware", "software", "auto")
_chosen: str | None = None  # the value that apply() found


def apply() -> None:
    """Activate the software device if ``CUDA_CORE_DEVICE`` selects it.

    Raises
    ------
    ValueError
        If the variable has an unknown value.
    RuntimeError
        If the software device is selected and cannot be loaded.
    """
    global _chosen
    _chosen = _read_variable()
    if _chosen == "hardware" or is_software() or (_chosen == "auto" and _has_hardware()):
        return
    from cuda import emulator

    emulator.activate()
    if _chosen == "auto":
        # Child processes use the same device, without searching and printing again.
        os.environ["CUDA_CORE_DEVICE"] = "software"
        print("cuda.core: no CUDA device was found; using the software device", file=sys.stderr)


def choice() -> str:
    """Return the value of ``CUDA_CORE_DEVICE`` with which the package was imported."""
    return _chosen or _read_variable()


def is_software() -> bool:
    """Return whether this process uses the software device."""
    emulator = sys.modules.get("cuda.emulator")
    return emulator is not None and emulator.is_active()


def has_dropped_work() -> bool:
    """Return whether the software device dropped enqueued work because of Ctrl-C. A GPU always completes it."""
    return is_software() and sys.modules["cuda.emulator"].settle_interrupts()


def reset_software() -> None:
    """Make the software device usable again after a faulty kernel."""
    sys.modules["cuda.emulator"].reset()


def software_headers() -> list[str]:
    """Return the directories with the software device's headers for kernels, or an empty list on hardware."""
    if not is_software():
        return []
    return [os.path.join(os.path.dirname(sys.modules["cuda.emulator"].__file__), "device_include")]


def software_build() -> str:
    """Return a string that identifies the build of the software device, for cache keys, or "" on hardware."""
    path = software_library() if is_software() else None
    if path is None:
        return ""
    state = os.stat(path)
    return f"software {state.st_size} {state.st_mtime_ns}"


def software_library() -> str | None:
    """Return the path of the software device's library, or None if it was not built."""
    try:
        from cuda import emulator
    except ImportError:
        return None
    path = emulator.library_path()
    return path if os.path.exists(path) else None


def is_set(variable: str) -> bool:
    """Return whether an environment variable has a value other than 0."""
    return os.environ.get(variable, "").strip() not in ("", "0")


def _read_variable() -> str:
    value = os.environ.get("CUDA_CORE_DEVICE", "").strip().lower() or "hardware"
    if value not in _CHOICES:
        raise ValueError(f"CUDA_CORE_DEVICE must be one of {', '.join(_CHOICES)}, not {value!r}")
    return value


def _has_hardware() -> bool:
    import ctypes  # takes longer than everything else here

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
