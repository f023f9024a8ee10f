# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Work on a stream that lasts until a test releases it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import threading

# The driver keeps the address of a semaphore until its work has run, so none is ever freed.
_semaphores = []


@contextlib.contextmanager
def busy(stream):
    """Keep a stream busy inside the block, or until the yielded function is called.

    The driver waits for a C library semaphore, so the GIL is not involved. Garbage is collected
    before and not inside the block: unloading the kernels of earlier tests would wait for the busy device.
    """
    gc.collect()
    gc.disable()
    libc = ctypes.CDLL(None)
    semaphore = ctypes.create_string_buffer(64)
    _semaphores.append(semaphore)
    libc.sem_init(semaphore, 0, 0)
    wait = ctypes.cast(libc.sem_wait, ctypes.c_void_p).value
    # Not by the bindings, because the CUDA 12 bindings hold the GIL while the function runs.
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchHostFunc
    error = launch(*map(ctypes.c_void_p, (int(stream.handle), wait, ctypes.addressof(semaphore))))
    assert error == 0, error
    is_released = False

    def release():
        nonlocal is_released
        if not is_released:
            is_released = True
            libc.sem_post(semaphore)

    try:
        yield release
    finally:
        release()
        gc.enable()


@contextlib.contextmanager
def released_after_failure(release, calls):
    """Make the first of some driver calls fail as without memory, and only then end the work of a busy stream."""
    import cuda.emulator

    is_over = threading.Event()

    def wait():
        while not plan.fired and not is_over.wait(0.001):
            pass
        release()

    with cuda.emulator.fail(calls, "CUDA_ERROR_OUT_OF_MEMORY", nth=1) as plan:
        thread = threading.Thread(target=wait)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


def settle():
    """Wait until no resource waits for work to end, including work of earlier tests."""
    from support.internals import wait_for_pending_destructions

    for _ in range(150):  # each wait takes up to a fifth of a second
        if not wait_for_pending_destructions():
            return
    raise AssertionError("a resource still waits for work")
