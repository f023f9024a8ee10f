# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Blocking calls of Python functions that a signal can interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from cuda.core._utils import host_wait as waiting
from support.code import slow_program


@pytest.fixture
def raising_alarm():
    """A function that lets the signal SIGALRM come soon, whose handler raises TimeoutError."""

    def handler(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def unused():
    raise AssertionError("nothing was interrupted")


def test_result_is_returned_and_an_error_is_raised():
    assert waiting.run_interruptibly(lambda: 3, unused, unused) == 3
    with pytest.raises(ZeroDivisionError):
        waiting.run_interruptibly(lambda: 1 / 0, unused, unused)


def test_another_thread_calls_the_function_itself():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(waiting.run_interruptibly(threading.get_ident, unused, unused))
    )
    thread.start()
    thread.join()
    assert found == [thread.ident]
    assert waiting.run_interruptibly(threading.get_ident, unused, unused) != threading.get_ident()


def test_wait_ends_under_a_handler_that_restarts_system_calls(raising_alarm):
    stop = threading.Event()
    signal.siginterrupt(signal.SIGALRM, False)
    raising_alarm()
    with pytest.raises(TimeoutError):
        waiting.run_interruptibly(lambda: stop.wait(10), stop.set, unused)
    assert stop.is_set()


def test_canceled_call_is_waited_for(raising_alarm):
    stop = threading.Event()
    raising_alarm()
    with pytest.raises(TimeoutError):
        waiting.run_interruptibly(stop.wait, stop.set, unused)


def test_call_that_ignores_cancellation_is_cleaned_up_later(raising_alarm, monkeypatch):
    monkeypatch.setattr(waiting, "CANCEL_TIMEOUT", 0.01)
    stop, freed = threading.Event(), threading.Event()
    raising_alarm()
    with pytest.raises(TimeoutError):
        waiting.run_interruptibly(stop.wait, lambda: None, lambda: freed.set)
    assert not freed.is_set()
    stop.set()
    assert freed.wait(10)


def test_wait_in_steps_ends_with_a_result_or_at_the_timeout():
    steps = []
    assert waiting.wait_in_steps(lambda seconds: steps.append(seconds) or (7 if len(steps) == 3 else None)) == 7
    assert steps == [waiting.STEP] * 3
    assert waiting.wait_in_steps(lambda seconds: time.sleep(seconds), timeout=0.01) is None
    assert waiting.wait_in_steps(lambda seconds: None, timeout=0) is None


def test_signal_ends_a_wait_in_steps(raising_alarm):
    raising_alarm()
    with pytest.raises(TimeoutError):
        waiting.wait_in_steps(lambda seconds: time.sleep(seconds))


@pytest.mark.requires(nvrtc=True, software=False)
def test_process_exits_normally_during_an_abandoned_compile():
    code = slow_program(12) + (
        "from cuda.core._utils import host_wait; host_wait.CANCEL_TIMEOUT = 0; threading.Thread(target=send).start()\n"
        "try: Program(source, 'c++', ProgramOptions(arch='sm_90')).compile('cubin')\n"
        "except KeyboardInterrupt: print('left'); sys.exit(3)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30)
    assert (done.returncode, done.stdout) == (3, "left\n"), done.stderr
