# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Event sets: waits with a timeout, event types, and the end of a set; events of devices."""

import time

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system.typing import EventType
from support.interpreter import run
from support.processes import uncollected
from support.threads import run_in_threads

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.requires(software=True)
def test_only_supported_event_types_are_registered(gpu):
    assert gpu.get_supported_event_types() == [EventType.XID_CRITICAL_ERROR]
    with pytest.raises(system.NotSupportedError):
        gpu.register_events(["xid_critical_error", EventType.CLOCK])
    several = [gpu.register_events(events) for events in ("xid_critical_error", EventType.XID_CRITICAL_ERROR)]
    for events in several:
        with pytest.raises(system.TimeoutError):
            events.wait(1)


def test_supported_event_types_are_members(gpu, fake):
    fake("device_get_supported_event_types", 0x11B | 1 << 50)
    assert gpu.get_supported_event_types() == [
        EventType.SINGLE_BIT_ECC_ERROR,
        EventType.DOUBLE_BIT_ECC_ERROR,
        EventType.XID_CRITICAL_ERROR,
        EventType.CLOCK,
        EventType.MIG_CONFIG_CHANGE,
    ]


@pytest.mark.requires(software=True)
def test_fault_of_a_kernel_is_an_event():
    out = run(
        "import ctypes\nfrom cuda.core import Device, LaunchConfig, Program, launch, system\n"
        "device = Device(1); device.set_current(); stream = device.create_stream()\n"
        "gpu = device.to_system_device(); events = gpu.register_events(['xid_critical_error'])\n"
        "code = 'extern \"C\" __global__ void f(int *p) { *p = 1; }'\n"
        "launch(stream, LaunchConfig(grid=1, block=1), Program(code, 'c++').compile('cubin').get_kernel('f'),\n"
        "       ctypes.c_void_p(64))\n"
        "event = events.wait()\n"
        "print(event.event_type, event.event_data, event.device.uuid == gpu.uuid, repr(event) in str(event))\n"
        "print(event.gpu_instance_id == event.compute_instance_id == 0xFFFFFFFF)"
    )
    assert out.splitlines() == ["xid_critical_error 31 True True", "True"]


def test_only_xid_errors_have_data(gpu, fake):
    record = nvml.EventData()
    record.device_, record.event_type, record.event_data = gpu._handle, int(nvml.EventType.CLOCK), 3
    fake("device_register_events")
    fake("event_set_wait_v2", record)
    event = gpu.register_events("clock").wait()
    assert type(event).__name__ == "EventData" and event.event_type is EventType.CLOCK
    assert event.device.index == gpu.index and repr(event) == f"<EventData 'clock' of {gpu!r}>"
    for name in ("event_data", "gpu_instance_id", "compute_instance_id"):
        with pytest.raises(ValueError, match=f"only an event of type 'xid_critical_error' has {name}, not 'clock'"):
            getattr(event, name)
    record.event_type = int(nvml.EventType.XID_CRITICAL_ERROR)
    assert event.event_data == 3 and repr(event) == f"<EventData 'xid_critical_error' 3 of {gpu!r}>"


def test_unknown_event_types_are_an_error(gpu, fake):
    record = nvml.EventData()
    record.device_, record.event_type = gpu._handle, 1 << 40
    fake("device_register_events")
    fake("event_set_wait_v2", record)
    event = gpu.register_events("clock").wait()
    assert repr(event) == f"<EventData 0x10000000000 of {gpu!r}>"
    with pytest.raises(ValueError, match="an event that this version does not know: 0x10000000000"):
        event.event_type  # noqa: B018
    assert not hasattr(event, "event_data")


def test_lost_device_is_reported_by_wait(gpu, fake):
    fake("device_register_events")
    fake("event_set_wait_v2", system.GpuIsLostError(15))
    with pytest.raises(system.GpuIsLostError):
        gpu.register_events("pstate").wait(100)


def test_wait_ends_at_its_timeout(gpu):
    events = gpu.register_events([])
    assert type(events).__name__ == "DeviceEvents"
    start = time.monotonic()
    for timeout in (1, 120):  # shorter and longer than one step
        with pytest.raises(system.TimeoutError):
            events.wait(timeout_ms=timeout)
    assert time.monotonic() - start >= 0.12


@pytest.mark.parametrize(
    "timeout, error", [(-1, ValueError), (1 << 32, ValueError), ("1", TypeError), (1.5, TypeError), (None, TypeError)]
)
def test_invalid_timeouts_are_rejected(gpu, timeout, error):
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
def test_invalid_event_types_are_rejected(gpu, events, error):
    with pytest.raises(error):
        gpu.register_events(events)


def test_event_set_is_freed_with_its_object(gpu, fake):
    fake("event_set_create", 77)
    fake("event_set_free")
    events = gpu.register_events([])
    assert ("event_set_free", 77) not in fake.calls
    del events
    assert fake.calls[-1] == ("event_set_free", 77)


def test_event_set_is_freed_without_gc_after_an_interrupted_wait(gpu, fake):
    steps = iter(range(2))

    def wait(handle, milliseconds):
        raise KeyboardInterrupt if next(steps) else nvml.TimeoutError(nvml.Return.ERROR_TIMEOUT)

    fake("device_register_events")
    fake("event_set_wait_v2", wait)
    fake("event_set_create", 77)
    fake("event_set_free")
    events = gpu.register_events("clock")
    with uncollected():
        with pytest.raises(KeyboardInterrupt) as caught:
            events.wait()
        caught.value.__traceback__ = None
        del events, caught
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


def test_failure_to_free_an_event_set_is_ignored(gpu, fake):
    fake("event_set_free", system.UninitializedError(1))
    events = gpu.register_events([])
    del events  # an exception in __del__ would be a warning, which fails the test
    assert fake.calls[-1][0] == "event_set_free"
