# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices: identity, the current device, and the streams, events and memory created on them."""

import copy
import gc
import html
import inspect
import pickle
import re
import subprocess
import sys
import weakref

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, CUDAError, Device, EventOptions, MemoryResource
from support.contexts import current_context, foreign_context, no_context
from support.contract import ComputeCapability
from support.memory import HostMemoryResource
from support.threads import in_thread
from support.work import busy


class Recorder(MemoryResource):
    """A memory resource whose allocations all fail, and which records their arguments."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self):
        self.requests = []

    def allocate(self, size, *, stream):
        self.requests.append((size, stream))
        raise CUDAError("allocates nothing")

    def deallocate(self, ptr, size, *, stream):
        raise AssertionError("nothing was allocated")


# --- Construction and identity ---------------------------------------------------------------------


def test_constructor_accepts_an_optional_ordinal():
    assert str(inspect.signature(Device)) == "(device_id=None)"


def test_cannot_be_subclassed():
    with pytest.raises(TypeError):
        type("Mine", (Device,), {})


@pytest.mark.requires(driver=False)
def test_missing_driver_is_named():
    for call in (Device, Device.get_all_devices, lambda: Device(0)):
        with pytest.raises(RuntimeError, match="libcuda"):
            call()


def test_all_devices_are_listed_by_ordinal(device):
    everything = Device.get_all_devices()
    assert isinstance(everything, tuple)
    assert [int(one) for one in everything] == list(range(len(everything)))
    assert everything[0] is device


def test_notebooks_show_a_table(device):
    table = device._repr_html_()
    major, minor = device.compute_capability
    assert table.startswith("<table><caption>Device 0</caption>")
    for value in (f"{major}.{minor}", device.uuid, device.pci_bus_id, html.escape(device.name)):
        assert f"<td>{value}</td>" in table


def test_devices_convert_to_their_ordinal_and_compare_by_it(devices):
    for ordinal, device in enumerate(devices):
        assert int(device) == device.device_id == ordinal
        assert repr(device) == f"<Device {ordinal} ({device.name})>"
        assert device != ordinal
        assert [other for other in devices if other == device] == [device]
    assert len(set(devices)) == len(devices)


def test_pickle_and_copy_find_the_same_object(device):
    assert pickle.loads(pickle.dumps(device)) is device
    assert copy.copy(device) is device
    assert copy.deepcopy(device) is device


def test_attributes_are_read_only(device):
    for name in ("device_id", "name", "properties", "compute_capability", "context", "surprise"):
        with pytest.raises(AttributeError):
            setattr(device, name, 1)


# --- Name, identifiers and capability --------------------------------------------------------------


def test_name_and_uuid_and_pci_bus_id(device):
    assert device.name
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.uuid)
    assert device.uuid == device.uuid
    assert re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]", device.pci_bus_id)


@pytest.mark.requires(software=True)
def test_uuid_is_queried_each_time_as_a_restore_may_change_it(device):
    from cuda import emulator

    with emulator.fail("cuDeviceGetUuid*", nth=1 << 40) as plan:
        assert device.uuid == device.uuid
    assert plan.matched == 2


def test_uuids_differ(devices):
    assert len({device.uuid for device in devices}) == len(devices)


def test_pci_bus_id_agrees_with_the_properties(device):
    domain, bus, rest = device.pci_bus_id.split(":")
    properties = device.properties
    found = (int(domain, 16), int(bus, 16), int(rest.split(".")[0], 16))
    assert found == (properties.pci_domain_id, properties.pci_bus_id, properties.pci_device_id)


def test_compute_capability_agrees_with_the_properties(device):
    capability = device.compute_capability
    assert isinstance(capability, ComputeCapability)
    assert capability is device.compute_capability
    assert capability == (device.properties.compute_capability_major, device.properties.compute_capability_minor)
    assert device.arch == f"{capability.major}{capability.minor}"


def test_device_can_access_its_own_memory(device):
    assert device.can_access_peer(device) is True
    assert device.can_access_peer(0) is True


@pytest.mark.requires(devices=2)
def test_peer_access_is_a_bool(devices):
    assert isinstance(devices[0].can_access_peer(devices[1]), bool)
    assert devices[0].can_access_peer(1) == devices[0].can_access_peer(devices[1])


@pytest.mark.parametrize(
    ("peer", "error"), [(-1, ValueError), (10_000, ValueError), (None, TypeError), ("0", TypeError)]
)
def test_unknown_peers_are_rejected(device, peer, error):
    with pytest.raises(error):
        device.can_access_peer(peer)


@pytest.mark.parametrize(("setting", "expected"), [("1", 2), ("0", 1), ("", 1), ("yes", 1), (" 2x", 2), ("-1", 2)])
def test_default_stream_follows_the_environment(device, monkeypatch, setting, expected):
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", setting)
    stream = device.default_stream
    assert stream == (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)[expected - 1]
    assert int(stream.handle) == expected


# --- Current ---------------------------------------------------------------------------------------


def test_each_thread_must_set_a_device_current(device):
    def use(call):
        def attempt():
            fresh = Device(0)
            with pytest.raises(CUDAError, match="set_current"):
                call(fresh)
            return True

        return in_thread(attempt)

    for call in (
        lambda fresh: fresh.context,
        lambda fresh: fresh.create_stream(),
        lambda fresh: fresh.create_event(),
        lambda fresh: fresh.sync(),
        lambda fresh: fresh.allocate(1, stream=LEGACY_DEFAULT_STREAM),
    ):
        assert use(call)


def test_set_current_installs_the_primary_context(device):
    with no_context():
        assert device.set_current() is None
        assert current_context() == int(device.context.handle)
        context = device.context
        assert device.set_current() is None
        assert device.context is context


def test_set_current_shares_the_primary_context_between_threads(device):
    def get():
        Device(0).set_current()
        return Device(0).context

    assert in_thread(get) == device.context


@pytest.mark.requires(cuda=(12, 9))
def test_set_current_returns_the_same_context_object_it_replaced(device):
    with foreign_context() as context:
        primary = device.context
        assert device.set_current(context) is primary
        assert current_context() == int(context.handle)
        assert device.context is context
        assert device.set_current(primary) is context
        assert current_context() == int(primary.handle)
        assert device.context is primary


def test_set_current_returns_none_where_nothing_was_current(device):
    primary = device.context
    with no_context():
        assert device.set_current(primary) is None
        assert current_context() == int(primary.handle)


@pytest.mark.requires(cuda=(12, 9))
def test_set_current_wraps_a_context_made_current_elsewhere(device):
    from cuda.bindings import driver

    with foreign_context() as context:
        driver.cuCtxPushCurrent(context.handle)
        replaced = device.set_current(device.context)
        assert replaced == context
        assert "device=0" in repr(replaced)
        driver.cuCtxPopCurrent()
        device.set_current()


@pytest.mark.requires(cuda=(12, 9))
def test_set_current_rejects_a_closed_context(device):
    with foreign_context() as context:
        context.close()
        with pytest.raises(RuntimeError, match="closed"):
            device.set_current(context)


def test_set_current_recovers_from_a_closed_context(device):
    with no_context():
        device.context.close()
        with pytest.raises(RuntimeError, match="closed"):
            device.create_stream()
        device.set_current()
        device.create_stream().close()
    assert not device.context.is_closed


def test_with_makes_current_and_restores(devices):
    with no_context():
        with devices[0] as inside:
            assert inside is devices[0]
            assert Device() is devices[0]
            assert current_context() == int(devices[0].context.handle)
            with devices[-1]:
                assert Device() is devices[-1]
                with devices[0]:
                    assert Device() is devices[0]
                assert Device() is devices[-1]
            assert Device() is devices[0]
        assert current_context() == 0


@pytest.mark.requires(cuda=(12, 9))
def test_with_restores_after_an_exception_and_a_change_inside(devices):
    with foreign_context() as context:
        devices[0].set_current(context)
        with pytest.raises(KeyError), devices[-1]:
            devices[0].set_current()
            raise KeyError
        assert current_context() == int(context.handle)
        devices[0].set_current()


@pytest.mark.requires(cuda=(12, 9))
def test_with_uses_the_context_installed_last(device):
    with foreign_context() as context:
        primary = device.set_current(context)
        with no_context(), device:
            assert current_context() == int(context.handle)
        device.set_current(primary)
        device.set_current()


def test_with_prepares_a_device_not_set_current(device):
    def use():
        with Device(0) as fresh:
            stream = fresh.create_stream()
        stream.close()
        return current_context()

    assert in_thread(use) == 0


def test_leaving_with_nothing_current_raises(device):
    from cuda.bindings import driver

    with no_context(), pytest.raises(CUDAError), device:
        driver.cuCtxPopCurrent()


# --- Streams and events of a device ----------------------------------------------------------------


def test_methods_act_on_their_device_whichever_is_current(devices):
    for device in devices:
        device.set_current()
    first, last = devices[0], devices[-1]
    before = current_context()
    stream, event = first.create_stream(), first.create_event()
    assert stream.device is event.device is first
    assert stream.context == event.context == first.context
    first.sync()
    assert current_context() == before
    assert Device() is last
    stream.close()


def test_methods_act_where_no_context_is_current(device):
    with no_context():
        stream, event = device.create_stream(), device.create_event()
        stream.record(event).sync()
        assert stream.device is event.device is device
        device.sync()
        assert current_context() == 0
        stream.close()


def test_sync_waits_for_the_device_of_the_object(devices):
    for device in devices:
        device.set_current()
    stream = devices[0].create_stream()
    with busy(stream) as release:
        event = stream.record()
        assert not event.is_done
        release()
        devices[0].sync()
        assert event.is_done
        assert stream.is_done
    stream.close()


def test_create_stream_wraps_and_keeps_a_foreign_stream(device, stream):
    class Foreign:
        def __cuda_stream__(self):
            return (0, 2)

    foreign = Foreign()
    reference = weakref.ref(foreign)
    wrapper = device.create_stream(foreign)
    del foreign
    gc.collect()
    assert reference() is not None
    assert int(wrapper.handle) == 2
    wrapper.close()
    gc.collect()
    assert reference() is None
    again = device.create_stream(stream)
    assert again == stream
    again.close()
    assert not stream.is_closed
    stream.sync()


def test_create_stream_rejects_both_arguments(device, stream):
    with pytest.raises(ValueError, match="exclude"):
        device.create_stream(stream, {"priority": 0})


def test_create_stream_rejects_objects_that_are_not_streams(device):
    with pytest.raises(TypeError, match="__cuda_stream__"):
        device.create_stream(1)


def test_create_event_accepts_options(device):
    event = device.create_event(EventOptions(timing_enabled=True, blocking_sync=True))
    assert event.is_timing_enabled
    assert event.is_blocking_sync
    assert device.create_event({"timing_enabled": True}).is_timing_enabled
    assert device.create_event().is_done


def test_create_event_rejects_events_between_processes(device):
    with pytest.raises(TypeError, match=r"Stream\.record"):
        device.create_event({"ipc_enabled": True})


# --- Memory ----------------------------------------------------------------------------------------


def test_memory_resource_is_created_once(device):
    fresh = in_thread(lambda: (Device(0).memory_resource, Device(0).memory_resource))
    assert fresh[0] is fresh[1]
    assert isinstance(fresh[0], MemoryResource)
    assert fresh[0].device_id == 0


def test_memory_resource_can_be_set(device, stream):
    before, recorder = device.memory_resource, Recorder()
    device.memory_resource = recorder
    try:
        assert device.memory_resource is recorder
        with pytest.raises(CUDAError, match="allocates nothing"):
            device.allocate(12, stream=stream)
        assert recorder.requests == [(12, stream)]
    finally:
        device.memory_resource = before


def test_allocation_smaller_than_requested_is_rejected(device, stream):
    class ShortMemoryResource(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return super().allocate(size - 1, stream=stream)

    before, device.memory_resource = device.memory_resource, ShortMemoryResource()
    try:
        with pytest.raises(RuntimeError, match="ShortMemoryResource.* 63 bytes.* requested size is 64 bytes"):
            device.allocate(64, stream=stream)
    finally:
        device.memory_resource = before


def test_memory_resource_rejects_other_types(device):
    with pytest.raises(TypeError, match="MemoryResource"):
        device.memory_resource = object()


def test_allocate_rejects_bad_arguments(device, stream):
    with pytest.raises(TypeError, match="stream"):
        device.allocate(1)
    with pytest.raises(TypeError, match="stream"):
        device.allocate(1, stream=None)
    for size in (-1, 2**63):
        with pytest.raises(OverflowError, match="size must be a number of bytes"):
            device.allocate(size, stream=stream)
    for size in ("1", None, 1.5):
        with pytest.raises(TypeError, match="size"):
            device.allocate(size, stream=stream)


@pytest.mark.requires(mempool=True)
def test_allocate_returns_device_memory(device, stream):
    buffer = device.allocate(1024, stream=stream)
    assert buffer.size >= 1024
    assert buffer.device_id == 0
    assert buffer.memory_resource is device.memory_resource
    buffer.close(stream)


# --- Exit of the interpreter -----------------------------------------------------------------------

ENDINGS = """
import threading
from cuda.core import Device
{body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "keep = Device(0); keep.set_current(); stream = keep.create_stream(); stream.record()",
        "Device(0).set_current(); threading.local().device = Device(0)",
        "thread = threading.Thread(target=lambda: Device(0).set_current()); thread.start(); thread.join()",
        "event = threading.Event(); threading.Thread(target=lambda: (Device(0), event.wait()), daemon=True).start()",
        "import atexit; atexit.register(lambda: Device(0).set_current())",
        "class Late:\n    def __del__(self): Device(0)\nlocal = threading.local(); local.late = Late(); Device(0)",
    ],
)
def test_interpreter_exits_quietly(device, body):
    code = ENDINGS.format(body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
