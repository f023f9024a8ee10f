# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads for libraries whose objects may be used only by the thread that made them."""

from __future__ import annotations

import itertools
import os
import queue
import threading

__all__ = ["Worker", "next_worker"]

_COUNT = min(os.cpu_count() or 1, 8)


class Task:
    """A call that a worker makes, and what became of it."""

    def __init__(self, function, args):
        self._function = function
        self._args = args
        self._result = None
        self._error = None
        self._is_pending = threading.Lock()  # held until the call is made
        self._is_pending.acquire()

    def __call__(self) -> None:
        try:
            self._result = self._function(*self._args)
        except BaseException as error:
            self._error = error
        self._function = self._args = None
        self._is_pending.release()

    def result(self):
        """Wait for the call and return its result, or raise its exception."""
        self._is_pending.acquire()
        try:
            if self._error is not None:
                raise self._error
            return self._result
        finally:
            self._error = None  # its traceback refers to this task


class Worker:
    """A thread that makes calls one after the other, as long as the process lives."""

    def __init__(self):
        self._tasks = queue.SimpleQueue()
        self._process = os.getpid()
        self._thread = threading.Thread(target=work, args=(self._tasks,), name="cuda.core worker", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread is there: a forked child does not have it."""
        return self._process == os.getpid()

    def run(self, function, *args):
        """Make a call on the worker's thread and return its result.

        Raises
        ------
        RuntimeError
            In a forked child.
        """
        if threading.current_thread() is self._thread:
            return function(*args)
        if not self.is_alive:
            raise RuntimeError("this object was made before a fork, and the child process cannot use it")
        task = Task(function, args)
        self._tasks.put(task)
        return task.result()

    def post(self, function, *args) -> None:
        """Have a call made, without waiting for it; garbage collection may do this at any time."""
        if self.is_alive:
            self._tasks.put(Task(function, args))


def work(tasks: queue.SimpleQueue) -> None:
    """Make calls for ever."""
    while True:
        tasks.get()()


def next_worker() -> Worker:
    """Return one of a few workers, in turn."""
    index = next(_turn) % _COUNT
    with _lock:
        worker = _workers.get(index)
        if worker is None or not worker.is_alive:
            worker = _workers[index] = Worker()
    return worker


_turn = itertools.count()
_lock = threading.Lock()
_workers: dict[int, Worker] = {}

# A child must not inherit the lock in the hands of a thread that it does not have.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lock._at_fork_reinit)
