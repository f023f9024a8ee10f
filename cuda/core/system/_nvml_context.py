# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Start and end of NVML: once per process, at its first use, and again in a child of fork."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref

from cuda.pathfinder import DynamicLibNotFoundError

from cuda.core._utils.values import CachedProperty, restated
from cuda.core.system._support import nvml, require

__all__ = ["DeviceHandle", "initialize", "is_initialized", "validate"]

_UNINITIALIZED, _INITIALIZED, _LIBRARY_NOT_FOUND = range(3)
_state = _UNINITIALIZED
_lock = threading.Lock()
_devices = weakref.WeakSet()  # whose handles end at a fork


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
        raise _error(nvml.LibraryNotFoundError, nvml.Return.ERROR_LIBRARY_NOT_FOUND, "NVML Shared Library Not Found")
    if _state == _UNINITIALIZED:
        raise _error(nvml.UninitializedError, nvml.Return.ERROR_UNINITIALIZED, "Uninitialized")
    if nvml.device_get_count_v2() == 0:
        raise _error(nvml.GpuNotFoundError, nvml.Return.ERROR_GPU_NOT_FOUND, "No GPU Found")


def _error(cls: type[Exception], status: int, text: str) -> Exception:
    """Return an error of NVML. Where there is no NVML the bindings cannot make one: they ask NVML for the text."""
    try:
        return cls(status)
    except DynamicLibNotFoundError:
        error = cls.__new__(cls, text)
        error.status = status
        return error


class DeviceHandle(CachedProperty):
    """NVML's handle of a device, in the device's dict, where an attribute is read without a call.

    In a child of fork the handles of the parent mean nothing, also after NVML has started there. So they
    are taken away, and the first use looks the device up by its UUID.
    """

    convert = int

    def __get__(self, device, owner=None):
        if device is None:
            return self
        initialize()
        uuid = device.__dict__.get("uuid")
        if uuid is None:
            error = _error(nvml.UninitializedError, nvml.Return.ERROR_UNINITIALIZED, "Uninitialized")
            raise restated(error, (nvml.UninitializedError,))
        handle = nvml.device_get_handle_by_uuid(uuid)
        self.keep(device, handle)
        return handle

    def keep(self, device, handle: int) -> None:
        """Set the handle of a device."""
        device.__dict__["_handle"] = handle
        _devices.add(device)


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


def _read_identities() -> None:
    for device in list(_devices):
        # It is kept; a device that cannot say it now is lost in the child.
        with contextlib.suppress(nvml.NvmlError, DynamicLibNotFoundError):
            device.uuid  # noqa: B018


def _start_afresh() -> None:
    # Another thread of the parent may have held the lock.
    global _state, _lock
    _state, _lock = _UNINITIALIZED, threading.Lock()
    for device in list(_devices):
        device.__dict__.pop("_handle", None)


atexit.register(_shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_read_identities, after_in_child=_start_afresh)
