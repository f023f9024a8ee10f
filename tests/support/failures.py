# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs whose driver calls fail in turn, on the software device."""

from __future__ import annotations

import gc
import re
from concurrent.futures import ThreadPoolExecutor

CODES = ("CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN")
# What leaves a mark behind work that the end of a resource waits for. Where that fails, the stream is asked again.
MARKING = ("cuStreamGetCtx", "cuCtxGetCurrent", "cuCtxPushCurrent*", "cuEventCreate", "cuEventRecord", "cuEventQuery")


def fail_each_call(program, code, *, calls="*", overcome=()) -> set[str]:
    """Run a program with each of its driver calls failing in turn, and return which those were.

    Each failure has to come out as the exception of its code, or as a warning where an exception
    cannot; that of the calls in ``overcome`` may also be without consequence. It must leave nothing
    on the device, and the program has to work afterwards.
    """
    import cuda.emulator
    from cuda.core._handles._deferred_destruction import wait_for_pending_destructions

    wrong = []

    def settled():
        try:
            program()
        finally:
            wait_for_pending_destructions()  # what waits for work is not left over

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

    # What exists already is no garbage of the program: looking through it takes most of the time.
    gc.collect()
    gc.freeze()
    try:
        return call_beside_main(sweep)
    finally:
        gc.unfreeze()


def call_beside_main(function):
    """Call a function on another thread with the same current device, and return its value.

    There a wait is one driver call; on the main thread it asks as often as the work takes time.
    """
    from cuda.core import Device

    ordinal = Device().device_id
    with ThreadPoolExecutor(1, initializer=lambda: Device(ordinal).set_current()) as pool:
        return pool.submit(function).result()


def is_clear(error, call, code) -> bool:
    """Return whether an exception is of the class of the code, and says which call failed."""
    from cuda.core._utils.cuda_utils import CUDAError, OutOfMemoryError

    return (
        isinstance(error, CUDAError)
        and error.name == code
        and error.api == re.sub(r"_v\d+$", "", call)
        and error.api in str(error)
        and isinstance(error, OutOfMemoryError) == (code == "CUDA_ERROR_OUT_OF_MEMORY")
    )
