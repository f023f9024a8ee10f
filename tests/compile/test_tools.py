# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What NVVM and nvJitLink share: their errors, which have the log, and the lock that lets one thread call at a time."""

import importlib
import pickle
import threading

import pytest

from cuda.core import CUDAError
from cuda.core._compile import _tools
from cuda.core._compile._tools import CallLock

# --- Errors: instances of the bindings' class and of CUDAError -------------------------------------


KINDS = {"nvvmError": "cuda.bindings.nvvm", "nvJitLinkError": "cuda.bindings.nvjitlink"}


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_an_instance_of_both_classes(kind):
    error = _tools.tool_error(kind, 3, "toolCall", "what was done", "the log\n")
    assert isinstance(error, getattr(importlib.import_module(KINDS[kind]), kind))
    assert isinstance(error, CUDAError)
    assert type(error).__name__ == kind
    assert (error.status, error.code, error.api, error.log) == (3, 3, "toolCall", "the log")
    assert error.name.startswith("ERROR_")
    assert str(error).startswith(f"{error.name} (3): ")
    assert str(error).endswith("(toolCall); see errors#compile-errors\nwhat was done\nthe log")


def test_error_without_detail_and_log():
    error = _tools.tool_error("nvJitLinkError", 6, "nvJitLinkComplete")
    assert str(error) == "ERROR_INTERNAL (6): internal (nvJitLinkComplete); see errors#compile-errors"
    assert error.log is None


def test_unknown_status_is_shown_by_its_number():
    assert str(_tools.tool_error("nvJitLinkError", 999, "nvJitLinkComplete")).startswith("ERROR_999 (999)")


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_pickled(kind):
    error = _tools.tool_error(kind, 3, "toolCall", "detail", "the log")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) is getattr(_tools, kind)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = _tools.no_such_name


# --- CallLock: work for later is done after the call -----------------------------------------------


def test_work_is_done_immediately_if_no_call_is_in_progress():
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


def test_work_is_done_after_a_failing_call():
    lock, done = CallLock(), []
    with pytest.raises(KeyError), lock:
        lock.after_call(lambda: done.append(1))
        raise KeyError
    assert done == [1]


def test_call_inside_a_call_of_the_same_thread_is_rejected():
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
