# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events: options, queries, waiting, the time between two, and use by other processes."""

import gc
import pickle
import signal
import threading
import time
import warnings
from multiprocessing.reduction import ForkingPickler

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, DeviceMemoryResource, Event, EventOptions
from support import shared_memory
from support.contexts import current_context, foreign_context, no_context
from support.contract import IPCEventDescriptor, reset_fork_warning
from support.processes import Child, start_method
from support.threads import in_thread
from support.work import busy

TIMED = EventOptions(timing_enabled=True)


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match=r"Stream\.record"):
        Event()


# --- Options ---------------------------------------------------------------------------------------


def test_options_have_defaults():
    assert EventOptions() == EventOptions(timing_enabled=False, blocking_sync=False, ipc_enabled=False)


@pytest.mark.parametrize("kind", [EventOptions, dict])
def test_events_for_other_processes_cannot_measure_time(device, stream, kind):
    options = kind(timing_enabled=True, ipc_enabled=True)
    for create in (lambda: stream.record(options=options), lambda: device.create_event(options)):
        with pytest.raises(TypeError, match="ipc_enabled and timing_enabled"):
            create()


@pytest.mark.parametrize("timing", [True, False, None])
@pytest.mark.parametrize("blocking", [True, False, None])
def test_event_has_the_properties_that_its_options_set(device, stream, timing, blocking):
    options = EventOptions(timing_enabled=timing, blocking_sync=blocking)
    for event in (device.create_event(options), stream.record(options=options)):
        assert event.is_timing_enabled is bool(timing)
        assert event.is_blocking_sync is bool(blocking)
        assert event.is_ipc_enabled is False


def test_event_measures_no_time_by_default(device, stream):
    for event in (device.create_event(), stream.record()):
        assert not event.is_timing_enabled
        assert not event.is_blocking_sync


def test_options_of_another_type_are_rejected(device, stream):
    for call in (lambda: device.create_event(1), lambda: stream.record(options=1)):
        with pytest.raises(TypeError, match="EventOptions"):
            call()


# --- Identity --------------------------------------------------------------------------------------


def test_handle_is_the_bindings_event(device):
    from cuda.bindings import driver

    event = device.create_event()
    assert isinstance(event.handle, driver.CUevent)
    assert int(event.handle) != 0
    assert repr(event) == f"<Event handle={int(event.handle):#x}>"


def test_events_compare_and_hash_by_their_handle(device):
    first, second = device.create_event(), device.create_event()
    assert first == first
    assert first != second
    assert len({first, second}) == 2
    assert first != int(first.handle)
    assert hash(first) == hash(first)


def test_event_has_its_device_and_context(device, stream):
    for event in (device.create_event(), stream.record()):
        assert event.device is device
        assert event.context == device.context


def test_not_picklable(device):
    with pytest.raises(TypeError):
        pickle.dumps(device.create_event())


# --- Waiting ---------------------------------------------------------------------------------------


def test_event_never_recorded_is_done(device):
    event = device.create_event()
    assert event.is_done is True
    event.sync()


def test_is_done_and_sync_follow_the_work(stream):
    with busy(stream) as release:
        event = stream.record()
        assert event.is_done is False
        release()
        event.sync()
        assert event.is_done is True


def test_sync_lets_other_threads_run(stream):
    with busy(stream) as release:
        event = stream.record()

        def later():
            time.sleep(0.02)
            release()

        thread = threading.Thread(target=later)
        thread.start()
        event.sync()
        thread.join()
        assert event.is_done


def test_sync_works_where_no_context_is_current(stream):
    event = stream.record()
    with no_context():
        event.sync()
        assert event.is_done
    assert in_thread(lambda: event.is_done)


def test_event_recorded_again_waits_for_the_later_work(stream):
    event = stream.record()
    event.sync()
    with busy(stream) as release:
        assert stream.record(event) is event
        assert not event.is_done
        release()
        event.sync()


# --- Time ------------------------------------------------------------------------------------------


def test_event_difference_is_the_time_in_milliseconds(stream):
    began = time.monotonic()
    start = stream.record(options=TIMED)
    with busy(stream) as release:
        end = stream.record(options=TIMED)
        start.sync()
        time.sleep(0.02)
        release()
        end.sync()
    assert 15 < end - start < (time.monotonic() - began) * 1e3 + 1
    assert start - end == pytest.approx(-(end - start))
    assert isinstance(end - start, float)


def test_time_needs_timing(stream):
    timed, other = stream.record(options=TIMED), stream.record()
    stream.sync()
    for first, second in ((timed, other), (other, timed), (other, other)):
        with pytest.raises(RuntimeError, match="timing"):
            first - second


def test_time_needs_recorded_events(device, stream):
    recorded, other = stream.record(options=TIMED), device.create_event(TIMED)
    stream.sync()
    for first, second in ((recorded, other), (other, recorded)):
        with pytest.raises(RuntimeError, match="recorded"):
            first - second


@pytest.mark.requires(devices=2)
def test_time_between_events_of_two_devices_names_both(devices):
    events = []
    for device in devices[:2]:
        with device:
            stream = device.create_stream()
            events += stream.record(options=TIMED), device.default_stream.record(options=TIMED)
            stream.sync()
            device.sync()
    first, second = events[:2], events[2:]
    assert all(event.is_done for event in events)
    for left, right in ((first[0], second[0]), (first[0], second[1]), (first[1], second[0])):
        with pytest.raises(RuntimeError, match="same device, not of device 0 and device 1"):
            left - right
        with pytest.raises(RuntimeError, match="same device, not of device 1 and device 0"):
            right - left
    unrecorded = devices[1].create_event(TIMED)
    with pytest.raises(RuntimeError, match="same device, not of device 1 and device 0"):
        unrecorded - first[0]
    assert first[0] - first[1] == -(first[1] - first[0])


@pytest.mark.requires(cuda=(12, 5))  # foreign_context() calls cuCtxCreate_v4
def test_time_between_events_of_two_contexts_names_both(device, stream):
    with foreign_context() as context:
        before = device.set_current(context)
        there = device.create_stream()
        other = there.record(options=TIMED)
        device.set_current(before)
        mine = stream.record(options=TIMED)
        other.sync()
        mine.sync()
        with pytest.raises(RuntimeError, match=f"same context, not of 0x.* and {int(stream.context.handle):#x}"):
            other - mine
        other.close()
        there.close()


def test_time_needs_completed_events(stream):
    start = stream.record(options=TIMED)
    with busy(stream) as release:
        end = stream.record(options=TIMED)
        with pytest.raises(RuntimeError, match="completed"):
            end - start
        release()
        stream.sync()


@pytest.mark.parametrize("other", [1, None, "event"])
def test_differences_with_other_types_are_rejected(device, other):
    event = device.create_event(TIMED)
    with pytest.raises(TypeError):
        event - other
    with pytest.raises(TypeError):
        other - event
    with pytest.raises(TypeError):
        event -= other


# --- Closing ---------------------------------------------------------------------------------------


def test_closed_event_has_no_handle_and_rejects_each_use(device, stream):
    event, open_event = device.create_event(TIMED), stream.record(options=TIMED)
    stream.sync()
    event.close()
    event.close()
    assert event.is_closed
    assert int(event.handle) == 0
    assert hash(event) == hash(0)
    assert repr(event) == "<Event handle=0x0>"
    assert event == event
    for use in (
        event.sync,
        lambda: event.is_done,
        lambda: stream.record(event),
        lambda: stream.wait(event),
        lambda: event - open_event,
        lambda: open_event - event,
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_with_block_closes_the_event(device):
    with device.create_event() as event:
        assert not event.is_closed
    assert event.is_closed


def test_events_can_be_dropped_while_the_stream_is_busy(stream):
    with busy(stream) as release:
        for _ in range(10):
            stream.record()
        gc.collect()
        release()
    stream.sync()
    assert stream.is_done


def test_event_outlives_its_stream(device):
    stream = device.create_stream()
    event = stream.record()
    stream.close()
    event.sync()
    assert event.is_done
    assert event.context == device.context


def test_default_stream_event_belongs_to_the_current_context(device):
    event = LEGACY_DEFAULT_STREAM.record()
    assert int(event.context.handle) == current_context()
    assert event.device is device
    event.sync()


# --- Between processes -----------------------------------------------------------------------------


@pytest.fixture
def shared(stream):
    """An event that other processes may open."""
    return stream.record(options={"ipc_enabled": True})


def test_descriptor_is_compared_and_pickled_by_its_bytes():
    descriptor = IPCEventDescriptor._init(bytes(64), True)
    assert descriptor == IPCEventDescriptor._init(bytes(64), False)
    assert descriptor != IPCEventDescriptor._init(b"\1" * 64, True)
    assert descriptor.__eq__(3) is NotImplemented
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor
    assert "IPCEventDescriptor" in repr(descriptor)
    with pytest.raises(TypeError, match="unhashable"):
        hash(descriptor)
    with pytest.raises(RuntimeError, match="use"):
        IPCEventDescriptor()


def test_short_descriptor_is_rejected():
    with pytest.raises(ValueError, match="64 bytes, not 3"):
        Event.from_ipc_descriptor(IPCEventDescriptor._init(b"abc", False))
    with pytest.raises(TypeError, match="IPCEventDescriptor, not bytes"):
        Event.from_ipc_descriptor(b"abc")


@pytest.mark.requires(ipc=True)
def test_opening_a_lost_event_raises_and_destroys_no_other(shared):
    payload = bytearray(shared.ipc_descriptor.__reduce__()[1][0])
    payload[8:24] = bytes(16)
    with warnings.catch_warnings(), pytest.raises(CUDAError):
        warnings.simplefilter("error")
        Event.from_ipc_descriptor(IPCEventDescriptor._init(bytes(payload), False))
    shared.sync()
    assert shared.is_done is True


def test_only_events_for_other_processes_have_a_descriptor(stream):
    with pytest.raises(RuntimeError, match="ipc_enabled"):
        stream.record().ipc_descriptor  # noqa: B018


@pytest.mark.requires(ipc=True)
def test_descriptor_is_requested_once_and_not_after_close(shared):
    assert shared.ipc_descriptor is shared.ipc_descriptor
    shared.close()
    with pytest.raises(RuntimeError, match="closed"):
        shared.ipc_descriptor  # noqa: B018


@pytest.mark.requires(ipc=True)
def test_shared_event_is_pickled_only_by_multiprocessing(shared):
    with pytest.raises(TypeError):
        pickle.dumps(shared)


@pytest.mark.requires(ipc=True)
@pytest.mark.parametrize("blocking", [False, True])
def test_received_event_has_the_properties_of_the_sent_one(spawned, child, stream, blocking):
    event = stream.record(options={"ipc_enabled": True, "blocking_sync": blocking})
    assert child.call(shared_memory.event_state, event) == (None, None, True, False, blocking, False)


@pytest.mark.requires(ipc=True)
def test_another_process_opens_an_event_by_its_descriptor(child, shared):
    assert child.call(shared_memory.open_event, shared.ipc_descriptor) is True


@pytest.mark.requires(ipc=True)
def test_event_sent_there_and_back_is_equal(spawned, child, device, shared):
    returned = child.call(shared_memory.echo, shared)
    assert returned == shared
    assert returned.device is device
    shared.close()
    returned.sync()
    assert returned.is_done is True


@pytest.mark.requires(ipc=True)
def test_event_is_pickled_on_a_thread_without_a_context(spawned, shared):
    assert in_thread(lambda: ForkingPickler.loads(bytes(ForkingPickler.dumps(shared)))) == shared


@pytest.mark.requires(ipc=True)
def test_received_event_can_be_sent_on_after_its_close(spawned, child, shared):
    returned = child.call(shared_memory.close_and_return, shared)
    assert returned == shared
    shared.close()
    returned.sync()


@pytest.mark.requires(ipc=True)
def test_event_closed_before_it_was_ever_sent_cannot_be_sent(spawned, shared):
    shared.close()
    with pytest.raises(RuntimeError, match="this Event is closed"):
        ForkingPickler.dumps(shared)


@pytest.mark.requires(ipc=True)
def test_received_event_reports_completed_work(spawned, child, stream):
    with busy(stream) as release:
        event = stream.record(options={"ipc_enabled": True})
        assert child.call(shared_memory.is_done, event) is False
        release()
        event.sync()
        assert child.call(shared_memory.is_done, event) is True


@pytest.mark.requires(ipc=True, software=True)
def test_killed_process_event_completes_before_its_parent_waits(spawned, stream):
    child = Child()
    event = child.call(shared_memory.record_after_work)
    assert event.is_done is False
    child.process.kill()  # it stays a zombie until it is joined
    stream.wait(event)
    stream.sync()
    event.sync()
    assert event.is_done is True
    assert child.stop() == -signal.SIGKILL


@pytest.mark.requires(ipc=True)
def test_work_of_another_process_waits_for_the_event(spawned, child, device, stream):
    pool = DeviceMemoryResource(device, {"ipc_enabled": True})
    buffer = pool.allocate(4096, stream=stream)
    buffer.fill(1, stream=stream)
    buffer.fill(2, stream=stream)
    event = stream.record(options={"ipc_enabled": True})
    assert child.call(shared_memory.read_after, event, buffer) == b"\2" * 4096


@pytest.mark.requires(ipc=True)
def test_forking_programs_are_warned_of_events(shared):
    with start_method("fork"):
        reset_fork_warning()
        with pytest.warns(UserWarning, match="fork"):
            ForkingPickler.dumps(shared)
    reset_fork_warning()
