# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Start and end of NVML: once per process, at its first use, and again in a child of fork."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading

from cuda.pathfinder import DynamicLibNotFoundError

from cuda.core.system._support import nvml, require

__all__ = ["initialize", "is_initialized", "validate"]

_UNINITIALIZED, _INITIALIZED, _LIBRARY_NOT_FOUND = range(3)
_state = _UNINITIALIZED
_lock = threading.Lock()


def initialize() -> None:
    """Start NVML (``nvmlInit``), unless it runs.

    Raises
    ------
    RuntimeError
        If the bindings have no NVML that fits; ``DynamicLibNotFoundError``, a kind of it, if the
        machine has no NVML library.
    NvmlError
        If NVML cannot start.
    """
    global _state
    if _state == _INITIALIZED:
        return
    require("NVML")
    with _lock:
        if _state == _INITIALIZED:
            return
        try:
            nvml.init_v2()
        except (DynamicLibNotFoundError, nvml.LibraryNotFoundError):
            _state = _LIBRARY_NOT_FOUND
            raise
        _state = _INITIALIZED


def is_initialized() -> bool:
    """Return whether NVML runs in this process."""
    return _state == _INITIALIZED


def validate() -> None:
    """Check that NVML runs and sees a GPU.

    Raises
    ------
    UninitializedError
        If NVML was not started.
    LibraryNotFoundError
        If the machine has no NVML library.
    GpuNotFoundError
        If NVML sees no GPU.
    """
    require("NVML")
    if _state == _LIBRARY_NOT_FOUND:
        raise nvml.LibraryNotFoundError(nvml.Return.ERROR_LIBRARY_NOT_FOUND)
    if _state == _UNINITIALIZED:
        raise nvml.UninitializedError(nvml.Return.ERROR_UNINITIALIZED)
    if nvml.device_get_count_v2() == 0:
        raise nvml.GpuNotFoundError(nvml.Return.ERROR_GPU_NOT_FOUND)


def _get_nvml_state() -> int:
    """Return 0 before the start, 1 while NVML runs, and 2 where its library was not found."""
    return _state


def _shut_down() -> None:
    global _state
    with _lock:
        if _state == _INITIALIZED:
            _state = _UNINITIALIZED
            with contextlib.suppress(nvml.NvmlError):
                nvml.shutdown()


def _start_afresh() -> None:
    # Another thread of the parent may have held the lock.
    global _state, _lock
    _state, _lock = _UNINITIALIZED, threading.Lock()


atexit.register(_shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
