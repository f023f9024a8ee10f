# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CallLock: one thread calls at a time, and work for later is done after the call."""

import threading

import pytest

from cuda.core._compile._tools import CallLock


def test_work_is_done_at_once_if_no_call_is_in_progress():
    lock, done = CallLock(), []
    lock.after_call(lambda: done.append(1))
    assert done == [1]


def test_work_of_the_same_thread_waits_for_its_call():
    lock, done = CallLock(), []
    with lock:
        lock.after_call(lambda: done.append(1))
        assert done == []
    assert done == [1]


def test_work_of_another_thread_is_left_to_the_call():
    lock, done = CallLock(), []
    with lock:
        other = threading.Thread(target=lambda: lock.after_call(lambda: done.append(threading.get_ident())))
        other.start()
        other.join(10)
        assert not other.is_alive() and done == []
    assert done == [threading.get_ident()]


def test_work_is_done_after_a_call_that_fails():
    lock, done = CallLock(), []
    with pytest.raises(KeyError), lock:
        lock.after_call(lambda: done.append(1))
        raise KeyError
    assert done == [1]


def test_a_call_inside_a_call_of_the_same_thread_is_rejected():
    lock = CallLock()
    with lock, pytest.raises(RuntimeError, match="a finalizer cannot use an object during a call"):
        with lock:
            pass
    with lock:
        pass


def test_calls_of_threads_do_not_overlap_and_no_work_is_lost():
    lock, inside, done, problems = CallLock(), [], [], []

    def call():
        for _ in range(300):
            with lock:
                inside.append(1)
                problems.extend(inside[1:])
                inside.pop()
            lock.after_call(lambda: done.append(1))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(done), problems) == (1200, [])
