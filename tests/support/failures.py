# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a program once per driver call, and makes a different call fail each time, on the software device."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from support.processes import exempt_older_objects
from support.work import settle

CODES = ("CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN")
# Calls that record an event after work that a release waits for. If one fails, the stream is queried.
MARKING = ("cuStreamGetCtx", "cuCtxGetCurrent", "cuCtxPushCurrent*", "cuEventCreate", "cuEventRecord", "cuEventQuery")


def fail_each_call(program, code, *, calls="*", overcome=()) -> set[str]:
    """Run a program with each of its driver calls failing in turn, and return which those were.

    Each failure must raise the exception of its code, or a warning where nothing can be raised; a failure
    of the calls in ``overcome`` may also have no consequence. No failure may leak an allocation or a handle
    of the device, and the program must work afterwards.
    """
    import cuda.emulator

    wrong = []

    def settled():
        try:
            program()
        finally:
            settle()  # a resource that waits for its work is not a leak

    def check(call, error):
        if not is_clear(error, call, code):
            wrong.append(f"{call} failed with {type(error).__name__}: {error}")

    def sweep():
        failed = cuda.emulator.sweep(settled, code, calls=",!".join([calls, *overcome]), check=check)
        if overcome:
            failed += cuda.emulator.sweep(settled, code, calls=",".join(overcome), must_raise=False, check=check)
        assert not wrong, "; ".join(wrong)
        program()
        return set(failed)

    settled()  # what earlier tests left to destroy would change the number of calls
    exempt_older_objects()
    return call_beside_main(sweep)


def call_beside_main(function):
    """Call a function on another thread with the same current device, and return its value.

    There a wait is one driver call; on the main thread it polls, and the number of calls varies.
    """
    from cuda.core import Device

    ordinal = Device().device_id
    with ThreadPoolExecutor(1, initializer=lambda: Device(ordinal).set_current()) as pool:
        return pool.submit(function).result()


def is_clear(error, call, code) -> bool:
    """Return whether an exception has the class of the error code, and names the call that failed."""
    from cuda.core import CUDAError, OutOfMemoryError

    return (
        isinstance(error, CUDAError)
        and error.name == code
        and error.api == re.sub(r"_v\d+$", "", call)
        and error.api in str(error)
        and isinstance(error, OutOfMemoryError) == (code == "CUDA_ERROR_OUT_OF_MEMORY")
    )
