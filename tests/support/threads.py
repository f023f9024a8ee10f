# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads whose exceptions reach the test."""

from __future__ import annotations

import threading


def in_thread(function):
    """Call a function on a new thread and return its result or raise its exception."""
    outcome = {}

    def run():
        try:
            outcome["result"] = function()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


COUNT = 8


def run_in_threads(function) -> list:
    """Call a function in COUNT threads that start together, with the thread's number; return the exceptions."""
    barrier = threading.Barrier(COUNT)
    errors = []

    def call(number):
        barrier.wait()
        try:
            function(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def close_beside(item, count, function) -> list:
    """Close an object while ``count`` threads call a function with it; return the exceptions of the threads."""
    errors = []

    def call():
        try:
            function(item)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    item.close()
    for thread in threads:
        thread.join(60)
    return errors
