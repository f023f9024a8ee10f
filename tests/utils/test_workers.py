# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Workers: all calls on one thread, results and exceptions for the caller, and none in a forked child."""

import subprocess
import sys
import threading

import pytest

from cuda.core._utils.workers import _COUNT, Worker, next_worker


def test_all_calls_are_made_by_one_thread():
    worker = Worker()
    idents = {worker.run(threading.get_ident) for _ in range(5)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


def test_exceptions_reach_the_caller():
    with pytest.raises(ZeroDivisionError):
        Worker().run(lambda: 1 // 0)


def test_a_call_inside_a_call():
    worker = Worker()
    assert worker.run(worker.run, len, "four") == 4


def test_post_does_not_wait():
    worker, gate, made = Worker(), threading.Event(), []
    worker.post(gate.wait)
    worker.post(made.append, 1)
    assert made == []
    gate.set()
    assert worker.run(list, made) == [1]


def test_workers_take_turns():
    assert len({next_worker() for _ in range(3 * _COUNT)}) == _COUNT


def test_many_threads_share_a_worker():
    worker, results = Worker(), []
    threads = [threading.Thread(target=lambda n=n: results.append(worker.run(pow, n, 2))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [n * n for n in range(20)]


def test_forked_child():
    script = (
        "import os\n"
        "from cuda.core._utils.workers import Worker, next_worker\n"
        "old = Worker(); first = next_worker(); first.run(len, '')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    old.post(len, '')\n"
        "    try:\n"
        "        old.run(len, '')\n"
        "    except RuntimeError as error:\n"
        "        assert 'made before a fork' in str(error)\n"
        "        os._exit(next_worker().run(len, 'seven!!'))\n"
        "    os._exit(1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("7\n", "")
