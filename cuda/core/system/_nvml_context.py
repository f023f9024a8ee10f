# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialization and shutdown of NVML: once per process, on first use, and again in a forked child."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref

from cuda.pathfinder import DynamicLibNotFoundError

from cuda.core.system._support import nvml, require, without_value

__all__ = ["DeviceHandle", "initialize", "is_initialized", "validate"]

_UNINITIALIZED, _INITIALIZED, _LIBRARY_NOT_FOUND = range(3)
_state = _UNINITIALIZED
_lock = threading.Lock()
_devices = weakref.WeakSet()  # a fork invalidates their handles in the child


def initialize() -> None:
    """Initialize NVML (``nvmlInit_v2``), unless it is initialized.

    Raises
    ------
    RuntimeError
        If the bindings have no compatible NVML module; ``DynamicLibNotFoundError``, a subclass, if the
        machine has no NVML library.
    NvmlError
        If the initialization fails.
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
    """Return whether NVML is initialized in this process."""
    return _state == _INITIALIZED


def validate() -> None:
    """Check that NVML is initialized and sees a GPU.

    Raises
    ------
    UninitializedError
        If NVML is not initialized.
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
    """Return an NVML exception, even if the library is missing that provides its text."""
    try:
        return cls(status)
    except DynamicLibNotFoundError:
        error = cls.__new__(cls, text)
        error.status = status
        return error


class DeviceHandle:
    """A device's NVML handle, stored in the instance dict, where Python reads it without calling this descriptor.

    In a forked child, the handles of the parent are invalid, even once NVML is initialized there. So they are removed,
    and the first use looks up the device by its UUID.
    """

    def __get__(self, device, owner=None):
        if device is None:
            return self
        initialize()
        uuid = device.__dict__.get("uuid")
        if uuid is None:
            raise without_value(_error(nvml.UninitializedError, nvml.Return.ERROR_UNINITIALIZED, "Uninitialized"))
        handle = nvml.device_get_handle_by_uuid(uuid)
        self.keep(device, handle)
        return handle

    def keep(self, device, handle: int) -> None:
        """Set the handle of a device."""
        device.__dict__["_handle"] = handle
        _devices.add(device)


def _get_nvml_state() -> int:
    """Return 0 if NVML is not initialized, 1 if it is, and 2 if its library was not found."""
    return _state


def _shut_down() -> None:
    global _state
    with _lock:
        if _state == _INITIALIZED:
            _state = _UNINITIALIZED
            with contextlib.suppress(nvml.NvmlError):
                nvml.shutdown()


def _cache_uuids() -> None:
    for device in list(_devices):
        # Caches the UUID. A device whose UUID cannot be read now cannot be found again in the child.
        with contextlib.suppress(nvml.NvmlError, DynamicLibNotFoundError):
            device.uuid  # noqa: B018


def _reset_in_child() -> None:
    # A new lock, because the old one might be held by a thread that does not exist here.
    global _state, _lock
    _state, _lock = _UNINITIALIZED, threading.Lock()
    for device in list(_devices):
        device.__dict__.pop("_handle", None)


atexit.register(_shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_cache_uuids, after_in_child=_reset_in_child)
