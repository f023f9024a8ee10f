# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events of the system."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _system_events
from cuda.core.system.typing import SystemEventType

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.requires(software=True)
def test_wait_ends_at_its_timeout_without_events(gpu):
    for events in ("bind", SystemEventType.UNBIND, ["bind", "unbind"]):
        registered = system.register_events(events)
        assert type(registered) is _system_events.RegisteredSystemEvents
        with pytest.raises(system.TimeoutError):
            registered.wait(timeout_ms=1, buffer_size=2)


@pytest.mark.parametrize(
    "events, error", [(5, TypeError), (("bind",), TypeError), ("clock", ValueError), (["bind", 1], ValueError)]
)
def test_invalid_event_types_are_rejected(events, error):
    with pytest.raises(error):
        system.register_events(events)


@pytest.fixture
def registered(fake):
    fake("system_event_set_create", 5)
    fake("system_event_set_free")
    fake("system_register_events")
    return system.register_events(["bind", "unbind"])


def test_events_have_types_and_devices(gpu, fake, registered):
    pci = gpu.pci_info
    records = nvml.SystemEventData_v1(3)
    records.event_type = [1, 2, 64]
    records.gpu_id = [pci.domain << 16 | pci.bus << 8 | pci.device, 0x1700, 0x1700]
    fake("system_event_set_wait", records)
    events = registered.wait(100, 8)
    assert fake.calls[-1] == ("system_event_set_wait", 5, 50, 8)
    assert ("system_register_events", 3, 5) in fake.calls
    assert type(events) is _system_events.SystemEvents and len(events) == 3
    first, second, newer = events
    assert type(first) is _system_events.SystemEvent
    assert (first.event_type, second.event_type) == (SystemEventType.UNBIND, SystemEventType.BIND)
    assert first.device.index == gpu.index
    assert repr(second) == "SystemEvent(event_type=<SystemEventType.BIND: 'bind'>, gpu_id=0x00001700)"
    assert "an event that this version does not know: 0x40" in repr(newer) and not hasattr(newer, "event_type")
    with pytest.raises(IndexError):
        events[3]


def test_invalid_arguments_of_wait_are_rejected(registered):
    with pytest.raises(ValueError, match="buffer_size must be at least 1, not 0"):
        registered.wait(1, 0)
    with pytest.raises(TypeError, match="buffer_size must be an int"):
        registered.wait(1, "8")
    with pytest.raises(ValueError, match="buffer_size must be in the range"):
        registered.wait(1, 1 << 16)  # so many records would be allocated
    with pytest.raises(ValueError, match="timeout_ms must be in the range"):
        registered.wait(-5)


def test_rejected_registration_raises(fake):
    fake("system_register_events", system.UnknownError(999))
    with pytest.raises(system.UnknownError):
        system.register_events("bind")


def test_event_set_is_freed_with_its_object(fake):
    fake("system_event_set_create", 5)
    fake("system_event_set_free")
    fake("system_register_events")
    registered = system.register_events("bind")
    assert ("system_event_set_free", 5) not in fake.calls
    del registered
    assert fake.calls[-1] == ("system_event_set_free", 5)
