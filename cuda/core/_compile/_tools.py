# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiler and linker tools: the lock that serializes calls, and errors with a log."""

from __future__ import annotations

import functools
import importlib

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.locks import RLock

__all__ = ["CallLock", "tool_error"]


class CallLock:
    """A lock that serializes the calls of an object, each of which is a ``with`` block.

    Closing the object never waits for the lock, because a finalizer might close it during a call, on the calling thread
    or on a thread that the call waits for. Instead, :meth:`after_call` defers the work to the end of the call.
    """

    def __init__(self):
        self._lock = RLock()
        self._is_held = False
        self._deferred = []

    def __enter__(self):
        self._lock.acquire()
        if self._is_held:
            self._lock.release()
            raise RuntimeError("a finalizer cannot use an object during a call of the same object")
        self._is_held = True

    def __exit__(self, *exc_info):
        self._is_held = False
        self._run_deferred()
        self._lock.release()
        # Run work that was deferred just before the lock was released.
        self._try_to_run_deferred()

    def after_call(self, work) -> None:
        """Call ``work()`` now, or when the call in progress ends."""
        self._deferred.append(work)
        self._try_to_run_deferred()

    def _try_to_run_deferred(self) -> None:
        # If another thread holds the lock, that thread tries again after releasing it.
        while self._deferred and self._lock.acquire(blocking=False):
            is_held = self._is_held
            if not is_held:
                self._run_deferred()
            self._lock.release()
            if is_held:
                return

    def _run_deferred(self) -> None:
        while self._deferred:
            self._deferred.pop()()


def tool_error(kind: str, status: int, api: str, detail: str = "", log: str = ""):
    """Return the exception for a failed call to a tool.

    Parameters
    ----------
    kind : str
        ``"nvvmError"``, ``"nvJitLinkError"`` or ``"nvJitLinkInputError"``.
    status : int
        The result code of the call.
    api : str
        The C function that was called.
    detail : str, optional
        What was being done, and advice.
    log : str, optional
        The tool's log.
    """
    results = importlib.import_module(_BASES[kind][0]).Result
    name = next((result.name for result in results if int(result) == int(status)), f"ERROR_{int(status)}")
    log = log.strip()
    message = f"{name} ({int(status)}): {name.removeprefix('ERROR_').replace('_', ' ').lower()} ({api})"
    message += "; see errors#compile-errors"
    error = error_class(kind)("\n".join(part for part in (message, detail, log) if part))
    error.status = error.code = int(status)
    error.name = name
    error.api = api
    error.log = log or None
    return error


@functools.cache
def error_class(kind: str) -> type:
    """Return the exception class, which derives from the one in the bindings."""
    home, name, others = _BASES[kind]
    base = getattr(importlib.import_module(home), name)
    members = {
        "__doc__": f"{base.__name__}, with the tool's log.",
        "__init__": CUDAError.__init__,
        # Pickles refer to the class by this module, and restore it from the message and the attributes.
        "__module__": __name__,
        "__reduce__": Exception.__reduce__,
    }
    return type(kind, (base, CUDAError, *others), members)


# The module and the name of the bindings' exception class, and further base classes.
_BASES = {
    "nvvmError": ("cuda.bindings.nvvm", "nvvmError", ()),
    "nvJitLinkError": ("cuda.bindings.nvjitlink", "nvJitLinkError", ()),
    # For inputs that this library rejects before they reach nvJitLink.
    "nvJitLinkInputError": ("cuda.bindings.nvjitlink", "nvJitLinkError", (ValueError,)),
}


def __getattr__(name):
    if name in _BASES:
        return error_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
