# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events that processes share (IPC). They may be recorded again, unlike those of :mod:`cuda.core`."""

from __future__ import annotations

import ctypes
import importlib

from cuda.core.driver._errors import INVALID_VALUE, call, logic_error
from cuda.core.driver._held import Held

__all__ = ["SharedEvent"]


class SharedEvent:
    """An interprocess event of the driver, with the methods of :class:`cuda.core.Event` that this package uses."""

    def __init__(self, native):
        self._owned = _Owned(native)

    @property
    def handle(self) -> int:
        """The ``CUevent`` of the driver's bindings; RuntimeError if the event is closed."""
        return self.held().handle

    def held(self) -> _Owned:
        """Return the owner of the event, which a call keeps so that the event is destroyed only after it."""
        owned = self._owned
        if owned is None:
            raise RuntimeError("this SharedEvent is closed")
        return owned

    @classmethod
    def create(cls, flags: int) -> SharedEvent:
        """Create an event in the current context (``cuEventCreate``)."""
        return cls(call("cuEventCreate", flags))

    @classmethod
    def open(cls, handle) -> SharedEvent:
        """Open an event of another process (``cuIpcOpenEventHandle``)."""
        return cls(call("cuIpcOpenEventHandle", native_handle("CUipcEventHandle", handle, "cuIpcOpenEventHandle")))

    def export(self) -> bytearray:
        """Return 64 bytes with which another process opens the event (``cuIpcGetEventHandle``)."""
        return handle_bytes(call("cuIpcGetEventHandle", self.held()))

    def record(self, stream) -> None:
        """Record the event on a stream (``cuEventRecord``)."""
        call("cuEventRecord", self.held(), stream)

    def make_wait(self, stream) -> None:
        """Let later work of a stream wait for the event (``cuStreamWaitEvent``)."""
        call("cuStreamWaitEvent", stream, self.held(), 0)

    def sync(self) -> None:
        """Synchronize the host with the event (``cuEventSynchronize``)."""
        call("cuEventSynchronize", self.held())

    def close(self) -> None:
        """Destroy the event after the last call that uses it (``cuEventDestroy``); calling it again does nothing."""
        self._owned = None

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._owned is None

    @property
    def is_done(self) -> bool:
        """Whether the recorded work has completed (``cuEventQuery``)."""
        driver = importlib.import_module("cuda.bindings.driver")
        held = self.held()
        (result,) = driver.cuEventQuery(held.handle)
        if result == driver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if result != driver.CUresult.CUDA_SUCCESS:
            call("cuEventQuery", held)  # raises
        return True


class _Owned(Held):
    """The owner of an event, which is destroyed with the last reference to this object, such as that of a call."""

    def __init__(self, native):
        self.handle = native

    def __del__(self):
        call("cuEventDestroy", self.handle)


def native_handle(kind: str, handle, api: str):
    """Return an IPC handle of the driver's type for 64 bytes; LogicError for another number of bytes."""
    try:
        content = bytes(memoryview(handle))
    except TypeError:
        raise TypeError(f"handle must be bytes, not {type(handle).__name__}") from None
    if len(content) != 64:
        raise logic_error(api, INVALID_VALUE, f"handle must have 64 bytes, not {len(content)}")
    native = getattr(importlib.import_module("cuda.bindings.driver"), kind)()
    ctypes.memmove(native.getPtr(), content, 64)
    return native


def handle_bytes(native) -> bytearray:
    """Return the 64 bytes of an IPC handle of the driver's type."""
    return bytearray(ctypes.string_at(native.getPtr(), 64))
