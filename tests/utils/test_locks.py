# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Locks in forked child processes."""

import gc
import os
import threading
import weakref

from cuda.core._utils import locks


def test_lock_held_by_another_thread_is_free_in_a_forked_child():
    lock = locks.RLock()
    taken, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not lock.acquire(blocking=False)
    done.set()
    holder.join()


def test_locks_are_reentrant_and_not_kept_alive():
    lock = locks.RLock()
    with lock, lock:
        pass
    known = weakref.ref(lock)
    del lock
    gc.collect()
    assert known() is None


def test_locks_that_are_gone_are_forgotten():
    for _ in range(5000):
        locks.RLock()
    gc.collect()
    assert len(locks._locks) < 2500
