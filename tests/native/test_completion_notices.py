# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Notices of the driver: its messages, and calls for memory. A Python thread handles them, never the driver's."""

import asyncio
import logging
import os
import queue
import threading
import time

import pytest

from cuda.core import CUDAError, ObjectCode, OutOfMemoryError
from cuda.core.utils import driver_log


def open_files():
    return len(os.listdir("/proc/self/fd"))


def fail():
    """Make a call that the driver rejects with a message."""
    with pytest.raises(CUDAError):
        ObjectCode.from_cubin(b"not a cubin").get_kernel("f")


@pytest.mark.requires(cuda=(12, 9))
def test_messages_of_the_driver_are_logged(device):
    records = queue.SimpleQueue()
    handler = logging.Handler()
    handler.emit = lambda record: records.put((record.levelname, record.getMessage(), threading.get_ident()))
    logger = logging.getLogger("cuda.core.driver")
    logger.addHandler(handler)
    try:
        with driver_log():
            fail()
            level, message, thread = records.get(timeout=30)
    finally:
        logger.removeHandler(handler)
    assert level == "ERROR" and message and thread != threading.get_ident()


@pytest.mark.requires(cuda=(12, 9))
def test_log_ends_with_its_block(device):
    before = open_files()
    with driver_log():
        assert open_files() > before
    deadline = time.monotonic() + 30
    while open_files() > before and time.monotonic() < deadline:  # the thread closes its end of the pipe
        time.sleep(0.01)
    assert open_files() <= before


def exhaust(device):
    device.set_current()
    with pytest.raises(OutOfMemoryError):
        device.allocate(1 << 50, stream=device.default_stream)


@pytest.mark.requires(software=True, cuda=(12, 4))
def test_function_is_called_for_memory(device):
    sizes = queue.SimpleQueue()
    notices = device.on_memory_pressure(sizes.put)
    exhaust(device)
    assert sizes.get(timeout=30) > 1 << 40
    assert "MemoryNotices of device 0" in repr(notices)
    notices.cancel()
    notices.cancel()
    while not sizes.empty():  # the pool tries several times
        sizes.get()
    exhaust(device)
    with pytest.raises(queue.Empty):
        sizes.get(timeout=0.1)


@pytest.mark.requires(software=True, cuda=(12, 4))
def test_function_is_called_in_the_event_loop(device):
    async def main():
        found = asyncio.get_running_loop().create_future()
        notices = device.on_memory_pressure(lambda size: found.done() or found.set_result(threading.get_ident()))
        await asyncio.to_thread(exhaust, device)
        try:
            return await asyncio.wait_for(found, 30)
        finally:
            notices.cancel()

    assert asyncio.run(main()) == threading.get_ident()


@pytest.mark.requires(software=True, cuda=(12, 4))
def test_exceptions_of_the_function_are_shown(device, unraisable):
    notices = device.on_memory_pressure(lambda size: 1 / 0)
    exhaust(device)
    deadline = time.monotonic() + 30
    while not unraisable and time.monotonic() < deadline:
        time.sleep(0.01)
    notices.cancel()
    assert unraisable[0].kind is ZeroDivisionError


def test_function_must_be_callable(device):
    with pytest.raises(TypeError, match="function must be callable, not int"):
        device.on_memory_pressure(3)
