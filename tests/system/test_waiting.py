# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Event sets: waits with a timeout, event types, and the end of a set."""

import time

import pytest

from cuda.core import system
from cuda.core.system import _device
from support.interpreter import run
from support.threads import run_in_threads

pytestmark = pytest.mark.requires(nvml=True)


def test_wait_ends_at_its_timeout(gpu):
    events = gpu.register_events([])
    assert type(events) is _device.DeviceEvents
    start = time.monotonic()
    for timeout in (1, 120):  # shorter and longer than one step
        with pytest.raises(system.TimeoutError):
            events.wait(timeout_ms=timeout)
    assert time.monotonic() - start >= 0.12


@pytest.mark.parametrize(
    "timeout, error", [(-1, ValueError), (1 << 32, ValueError), ("1", TypeError), (1.5, TypeError), (None, TypeError)]
)
def test_invalid_timeouts_are_refused(gpu, timeout, error):
    with pytest.raises(error, match="timeout_ms must be"):
        gpu.register_events([]).wait(timeout)


def test_wait_lets_other_threads_run_and_is_ended_by_a_signal():
    out = run(
        "import os, signal, threading, time\nfrom cuda.core import system\n"
        "gpu = system.Device(index=0); kinds = gpu.get_supported_event_types()\n"
        "events = gpu.register_events([k for k in kinds if k == 'xid_critical_error'])\n"
        "count = 0\n"
        "def work():\n"
        "    global count\n"
        "    end = time.monotonic() + 0.2\n"
        "    while time.monotonic() < end: count += 1\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=work).start()\n"
        "try: events.wait()\n"
        "except KeyboardInterrupt: print('interrupted', count > 1000)"
    )
    assert out.split() == ["interrupted", "True"]


def test_many_threads_wait_at_the_same_time(gpu):
    def wait(_):
        with pytest.raises(system.TimeoutError):
            gpu.register_events([]).wait(20)

    assert run_in_threads(wait) == []


@pytest.mark.parametrize(
    "events, error",
    [(5, TypeError), (None, TypeError), (("clock",), TypeError), ("fire", ValueError), (["fire"], ValueError)],
)
def test_invalid_event_types_are_refused(gpu, events, error):
    with pytest.raises(error):
        gpu.register_events(events)


def test_event_set_is_freed_with_its_object(gpu, fake):
    fake("event_set_create", 77)
    fake("event_set_free")
    events = gpu.register_events([])
    assert ("event_set_free", 77) not in fake.calls
    del events
    assert fake.calls[-1] == ("event_set_free", 77)


def test_event_set_is_freed_if_registering_fails(gpu, fake, not_supported):
    fake("event_set_create", 77)
    fake("event_set_free")
    fake("device_register_events", not_supported)
    with pytest.raises(system.NotSupportedError) as caught:
        gpu.register_events("clock")
    caught.value.__traceback__ = None
    del caught
    assert fake.calls[-1] == ("event_set_free", 77)


def test_a_failure_to_free_an_event_set_is_ignored(gpu, fake):
    fake("event_set_free", system.UninitializedError(1))
    events = gpu.register_events([])
    del events  # an exception in __del__ would be a warning, which fails the test
    assert fake.calls[-1][0] == "event_set_free"
