# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs whose driver calls fail in turn, on the software device."""

from __future__ import annotations

import gc
import re

CODES = ("CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN")


def fail_each_call(program, code, *, calls="*", overcome=()) -> set[str]:
    """Run a program with each of its driver calls failing in turn, and return which those were.

    Each failure has to come out as the exception of its code, or as a warning where an exception
    cannot; that of the calls in ``overcome`` may also be without consequence. It must leave nothing
    on the device, and the program has to work afterwards.
    """
    import cuda.emulator

    wrong = []

    def check(call, error):
        if not is_clear(error, call, code):
            wrong.append(f"{call} failed with {type(error).__name__}: {error}")

    # What exists already is no garbage of the program: looking through it takes most of the time.
    gc.collect()
    gc.freeze()
    try:
        failed = cuda.emulator.sweep(program, code, calls=",!".join([calls, *overcome]), check=check)
        if overcome:
            failed += cuda.emulator.sweep(program, code, calls=",".join(overcome), must_raise=False, check=check)
        assert not wrong, "; ".join(wrong)
        program()
    finally:
        gc.unfreeze()
    return set(failed)


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
