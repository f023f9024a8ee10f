# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts made without ``cuda.core``, as other libraries in the process do, and leftovers of failed tests."""

from __future__ import annotations

import contextlib
import gc
import sys

# Kernel errors that make every later call in the context fail.
FAULTS = (
    "ILLEGAL_ADDRESS",
    "LAUNCH_TIMEOUT",
    "ASSERT",
    "HARDWARE_STACK_ERROR",
    "ILLEGAL_INSTRUCTION",
    "MISALIGNED_ADDRESS",
    "INVALID_ADDRESS_SPACE",
    "INVALID_PC",
    "LAUNCH_FAILED",
)


@contextlib.contextmanager
def foreign_context(device_id=0):
    """Create a context through the bindings, without making it current; yield it as a :class:`Context`."""
    from cuda.bindings import driver

    from cuda.core import Stream
    from support.bindings import binding_version, handle_return

    first = () if binding_version() < (13,) else (None,)
    raw = handle_return(driver.cuCtxCreate(*first, 0, device_id))
    raw_stream = handle_return(driver.cuStreamCreate(1))
    handle_return(driver.cuCtxPopCurrent())
    try:
        yield Stream.from_handle(int(raw_stream)).context
    finally:
        handle_return(driver.cuStreamDestroy(raw_stream))
        handle_return(driver.cuCtxDestroy(raw))


@contextlib.contextmanager
def no_context():
    """Pop all contexts of this thread for the block, and push them again after it."""
    from cuda.bindings import driver

    from support.bindings import handle_return

    popped = []
    while int(handle_return(driver.cuCtxGetCurrent())):
        popped.append(handle_return(driver.cuCtxPopCurrent()))
    try:
        yield
    finally:
        while int(handle_return(driver.cuCtxGetCurrent())):
            handle_return(driver.cuCtxPopCurrent())
        for context in reversed(popped):
            handle_return(driver.cuCtxPushCurrent(context))


def current_context() -> int:
    """Return the address of the context current on this thread, 0 if there is none."""
    from cuda.bindings import driver

    from support.bindings import handle_return

    return int(handle_return(driver.cuCtxGetCurrent()))


def is_context_lost() -> bool:
    """Return whether a kernel's fault has broken the current context: every later call of this process will fail."""
    from cuda.bindings import driver

    lost = [int(getattr(driver.CUresult, f"CUDA_ERROR_{fault}")) for fault in FAULTS]
    try:
        if driver.cuCtxGetCurrent()[0] != 0:  # the driver is not initialized yet
            return False
    except RuntimeError:  # there is no driver
        return False
    return bool(current_context()) and int(driver.cuMemGetInfo()[0]) in lost


def end_captures() -> None:
    """Close all graph builders, if a builder still captures: in a strict mode, calls of later tests would fail."""
    module = sys.modules.get("cuda.core._native._cuda_core")
    if module is None or module.capture_count() == 0:
        return
    from cuda.core.graph import GraphBuilder

    for candidate in gc.get_objects():
        if type(candidate) is GraphBuilder:
            candidate.close()


def end_capture(stream) -> None:
    """End a stream's capture begun through the bindings, if there is one."""
    from cuda.bindings import driver

    error, status = driver.cuStreamIsCapturing(stream.handle)
    if error or not status:
        return
    error, graph = driver.cuStreamEndCapture(stream.handle)
    if not error:
        driver.cuGraphDestroy(graph)
