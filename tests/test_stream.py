# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Streams: creation, wrapping, ordering, closing and default streams."""

import asyncio
import contextlib
import contextvars
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Device, Event, Stream, StreamOptions
from cuda.core.typing import IsStreamType
from support.contexts import current_context, foreign_context, no_context
from support.contract import Stream_accept, default_stream
from support.internals import registry_sizes
from support.threads import in_thread
from support.work import busy

CONSTANTS = (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)


class Foreign:
    """A stream of another library."""

    def __init__(self, info):
        self.info = info

    def __cuda_stream__(self):
        return self.info


class Outdated:
    """A stream of another library whose ``__cuda_stream__`` is an attribute instead of a method."""

    def __init__(self, info):
        self.__cuda_stream__ = info


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match=r"Device\.create_stream"):
        Stream()


# --- Options ---------------------------------------------------------------------------------------


def test_options_have_defaults():
    assert StreamOptions() == StreamOptions(nonblocking=True, priority=None)


@pytest.mark.parametrize("priority", ["0", 0.5, []])
def test_priorities_of_another_type_are_rejected(device, priority):
    with pytest.raises(TypeError, match="priority"):
        StreamOptions(priority=priority)
    options = StreamOptions()
    options.priority = priority
    with pytest.raises(TypeError, match="priority"):
        device.create_stream(options=options)


@pytest.mark.parametrize("nonblocking", [True, False])
def test_stream_has_the_properties_that_its_options_set(device, nonblocking):
    stream = device.create_stream(options=StreamOptions(nonblocking=nonblocking, priority=0))
    assert stream.is_nonblocking is nonblocking
    assert stream.priority == 0
    stream.close()


def test_stream_is_nonblocking_and_of_least_priority_by_default(device):
    from cuda.bindings import driver

    _, least, _ = driver.cuCtxGetStreamPriorityRange()
    with device.create_stream() as stream:
        assert stream.is_nonblocking is True
        assert stream.priority == least


def test_only_priorities_in_the_device_range_are_accepted(device):
    from cuda.bindings import driver

    _, least, greatest = driver.cuCtxGetStreamPriorityRange()
    for priority in range(greatest, least + 1):
        with device.create_stream(options={"priority": priority}) as stream:
            assert stream.priority == priority
    for priority in (least + 1, greatest - 1, 10**6):
        with pytest.raises(ValueError, match="priority must be from"):
            device.create_stream(options={"priority": priority})


def test_options_of_another_type_are_rejected(device):
    with pytest.raises(TypeError, match="StreamOptions"):
        device.create_stream(options=1)


# --- Identity --------------------------------------------------------------------------------------


def test_handle_is_the_bindings_stream(stream):
    from cuda.bindings import driver

    assert isinstance(stream.handle, driver.CUstream)
    assert int(stream.handle) > 2
    assert stream.__cuda_stream__() == (0, int(stream.handle))


def test_equality_and_hash_follow_the_address(device, stream):
    same = Stream.from_handle(int(stream.handle))
    assert same is not stream
    assert same == stream
    assert hash(same) == hash(stream)
    with device.create_stream() as other:
        assert other != stream
        assert len({stream, same, other}) == 2
    assert stream != int(stream.handle)


def test_repr_has_both_addresses(stream):
    assert repr(stream) == f"<Stream handle={int(stream.handle):#x} context={current_context():#x}>"


def test_stream_has_its_device_and_context(device, stream):
    assert stream.device is device
    assert stream.context == device.context
    assert in_thread(lambda: stream.device is Device(0))


@pytest.mark.requires(cuda=(12, 9))
def test_stream_has_its_context_when_another_is_current(device):
    with foreign_context() as context:
        device.set_current(context)
        stream = device.create_stream()
        device.set_current()
        assert stream.context == context != device.context
        assert stream.device is device
        event = stream.record()
        assert event.context == context
        event.sync()
        stream.close()
        event.close()


def test_not_picklable(stream):
    with pytest.raises(TypeError):
        pickle.dumps(stream)


def test_streams_can_be_weakly_referenced(device):
    stream = device.create_stream()
    reference = weakref.ref(stream)
    del stream
    gc.collect()
    assert reference() is None


# --- Wrapping --------------------------------------------------------------------------------------


def test_closing_a_stream_from_handle_leaves_the_original_open(stream):
    borrowed = Stream.from_handle(int(stream.handle))
    assert borrowed.device is stream.device
    assert borrowed.context == stream.context
    borrowed.close()
    assert borrowed.is_closed
    stream.sync()


def test_from_handle_keeps_a_stream_of_this_library_alive(device):
    stream = device.create_stream()
    borrowed = Stream.from_handle(int(stream.handle))
    stream.close()
    borrowed.sync()
    event = borrowed.record()
    event.sync()
    assert event.is_done
    borrowed.close()


def test_from_handle_accepts_the_bindings_object(stream):
    assert Stream.from_handle(stream.handle) == stream


def test_closing_a_stream_from_handle_keeps_the_foreign_stream(device):
    from cuda.bindings import driver

    _, raw = driver.cuStreamCreate(0)
    stream = Stream.from_handle(int(raw))
    assert stream.is_nonblocking is False
    assert stream.device is device
    stream.close()
    assert int(driver.cuStreamDestroy(raw)[0]) == 0


def test_from_handle_wraps_the_null_stream(device):
    stream = Stream.from_handle(0)
    assert not stream.is_closed
    assert int(stream.handle) == 0
    stream.sync()
    assert stream.context == device.context
    stream.close()
    assert stream.is_closed


@pytest.mark.parametrize("handle", ["1", b"1", 1.0, None, object()])
def test_from_handle_rejects_other_types(handle):
    with pytest.raises(TypeError, match="handle must be an int"):
        Stream.from_handle(handle)


@pytest.mark.parametrize("handle", [-1, 2**64])
def test_from_handle_rejects_ints_over_64_bits(handle):
    with pytest.raises(ValueError, match=r"2\*\*64"):
        Stream.from_handle(handle)


# --- The stream protocol ---------------------------------------------------------------------------


def test_protocol_is_the_one_of_the_public_module():
    import cuda.core.typing

    assert IsStreamType is cuda.core.typing.IsStreamType


@pytest.mark.parametrize("info", [(0, 2), [0, 2]])
def test_foreign_stream_is_accepted(info):
    assert Stream_accept(Foreign(info), allow_stream_protocol=True) == PER_THREAD_DEFAULT_STREAM


def test_protocol_attribute_is_accepted_with_a_warning():
    with pytest.warns(DeprecationWarning, match="make it a method") as warned:
        stream = Stream_accept(Outdated((0, 2)), True)
    assert stream == PER_THREAD_DEFAULT_STREAM
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "info", [(1, 2), (0,), (0, 1, 2), 7, None, (0, None), (0, "x"), (0, -1), (0, 2**64), ("0", 1), ()], ids=repr
)
def test_foreign_stream_that_breaks_the_protocol_is_rejected(info):
    with pytest.raises(RuntimeError, match="__cuda_stream__"):
        Stream_accept(Foreign(info), True)


def test_object_without_the_protocol_is_rejected():
    with pytest.raises(TypeError, match="Stream or a GraphBuilder, not int"):
        Stream_accept(1, True)
    with pytest.raises(TypeError, match="an object with __cuda_stream__"):
        Stream._init(1)


@pytest.mark.parametrize("options", [{"priority": -1}, StreamOptions()])
def test_options_in_place_of_a_stream_are_explained(device, options):
    with pytest.raises(TypeError, match=rf"not {type(options).__name__}; pass options by name: options=\.\.\.$"):
        device.create_stream(options)


@pytest.mark.parametrize("wrong", [None, 0, "stream", Foreign((0, 2))])
def test_accept_allows_only_streams_unless_told_otherwise(wrong):
    with pytest.raises(TypeError, match="stream must be a Stream"):
        Stream_accept(wrong)


def test_accept_returns_the_given_stream():
    assert Stream_accept(LEGACY_DEFAULT_STREAM) is LEGACY_DEFAULT_STREAM


def test_exception_of_the_protocol_propagates():
    class Broken:
        def __cuda_stream__(self):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        Stream_accept(Broken(), True)


# --- Work ------------------------------------------------------------------------------------------


def test_is_done_and_sync_follow_the_work(stream):
    assert stream.is_done
    with busy(stream) as release:
        assert not stream.is_done
        release()
        stream.sync()
        assert stream.is_done


def test_record_creates_or_reuses_an_event(device, stream):
    event = stream.record()
    assert isinstance(event, Event)
    assert stream.record(event) is event
    assert stream.record(event, {"timing_enabled": True}) is event
    assert not event.is_timing_enabled
    assert stream.record(options={"timing_enabled": True}).is_timing_enabled


def test_record_rejects_other_types(stream):
    with pytest.raises(TypeError, match="event"):
        stream.record(stream)


@pytest.mark.requires(property="ipc_event_supported")
def test_record_rejects_an_event_between_processes(stream):
    shared = stream.record(options={"ipc_enabled": True})
    assert shared.is_ipc_enabled
    with pytest.raises(TypeError, match="between processes"):
        stream.record(shared)


def test_work_waits_for_an_event(device, stream):
    with device.create_stream() as other, busy(stream) as release:
        event = stream.record()
        other.wait(event)
        after = other.record()
        assert not after.is_done
        release()
        after.sync()
        assert event.is_done


@pytest.mark.parametrize("as_foreign", [False, True])
def test_work_waits_for_a_stream(device, stream, as_foreign):
    with device.create_stream() as other, busy(stream) as release:
        other.wait(Foreign((0, int(stream.handle))) if as_foreign else stream)
        after = other.record()
        assert not after.is_done
        release()
        other.sync()
        assert stream.is_done


def test_sync_returns_while_another_thread_keeps_the_stream_busy(stream):
    is_over = threading.Event()
    work = contextlib.ExitStack()
    release = work.enter_context(busy(stream))

    def keep_busy():
        done = release
        for _ in range(30):
            if is_over.wait(0.1):
                break
            following = work.enter_context(busy(stream))
            done()
            done = following
        done()

    thread = threading.Thread(target=keep_busy)
    with work:
        thread.start()
        stream.sync()
        has_returned_in_time = thread.is_alive()
        is_over.set()
        thread.join()
    assert has_returned_in_time


def test_wait_includes_only_the_work_before_it(device, stream):
    with device.create_stream() as first, device.create_stream() as second:
        first.wait(stream)
        with busy(stream) as release:
            second.wait(stream)
            first.sync()
            assert not second.is_done
            release()
            second.sync()


@pytest.mark.requires(devices=2)
def test_work_waits_for_a_stream_of_another_device(devices):
    for device in devices[1::-1]:
        device.set_current()
    with devices[0].create_stream() as stream, devices[1].create_stream() as other, busy(other) as release:
        stream.wait(other)
        assert not stream.is_done
        release()
        stream.sync()
        assert other.is_done


def test_work_waits_for_a_default_stream(device, stream):
    with busy(LEGACY_DEFAULT_STREAM) as release:
        stream.wait(LEGACY_DEFAULT_STREAM)
        assert not stream.is_done
        release()
        stream.sync()


@pytest.mark.parametrize("wrong", [None, 1, "event"])
def test_wait_rejects_other_types(stream, wrong):
    with pytest.raises(ValueError, match="event_or_stream must be an Event or a Stream"):
        stream.wait(wrong)


def test_streams_are_shared_between_threads(stream):
    def use():
        event = stream.record()
        event.sync()
        stream.sync()
        return event.is_done

    assert all(in_thread(use) for _ in range(5))


# --- Closing ---------------------------------------------------------------------------------------


def test_closed_stream_has_no_handle_and_rejects_each_use(device):
    stream, event = device.create_stream(), device.create_event()
    stream.close()
    stream.close()
    assert stream.is_closed
    assert int(stream.handle) == 0
    assert hash(stream) == hash(0)
    assert repr(stream) == "<Stream handle=0x0 context=0x0>"
    with device.create_stream() as open_stream:
        for use in (
            stream.sync,
            stream.record,
            lambda: stream.record(event),
            lambda: stream.wait(event),
            lambda: stream.wait(open_stream),
            lambda: open_stream.wait(stream),
            lambda: stream.is_done,
            lambda: stream.is_nonblocking,
            lambda: stream.priority,
            lambda: stream.device,
            lambda: stream.context,
            stream.__cuda_stream__,
            lambda: Stream_accept(stream),
        ):
            with pytest.raises(RuntimeError, match="closed"):
                use()


def test_with_block_closes_the_stream(device):
    with pytest.raises(KeyError), device.create_stream() as stream:
        raise KeyError
    assert stream.is_closed


def test_closing_a_busy_stream_lets_its_work_end(device):
    stream = device.create_stream()
    with busy(stream) as release:
        event = stream.record()
        stream.close()
        assert not event.is_done
        release()
        event.sync()


def test_registry_drops_closed_or_collected_streams(device):
    gc.collect()
    before = registry_sizes()["stream"]
    for _ in range(200):
        device.create_stream().close()
        device.create_stream().record()
    gc.collect()
    device.sync()  # closed streams stay until their work has completed
    assert registry_sizes()["stream"] == before


# --- Default streams -------------------------------------------------------------------------------


def test_default_streams_differ():
    assert [int(stream.handle) for stream in CONSTANTS] == [1, 2]
    assert len({*CONSTANTS, Stream.from_handle(0)}) == 3
    assert Stream.from_handle(1) == LEGACY_DEFAULT_STREAM


@pytest.mark.requires(cuda=(12, 9))
@pytest.mark.parametrize("stream", CONSTANTS, ids=["legacy", "per-thread"])
def test_default_streams_belong_to_the_current_context(device, stream):
    assert stream.device is device
    assert stream.context == device.context
    assert stream.record().context == device.context
    stream.sync()
    assert stream.is_done
    with foreign_context() as context:
        previous = device.set_current(context)
        assert stream.context == context
        device.set_current(previous)


@pytest.mark.requires(devices=2)
def test_default_streams_follow_the_current_device(devices):
    with devices[0]:
        assert LEGACY_DEFAULT_STREAM.device is devices[0]
        with devices[1]:
            assert LEGACY_DEFAULT_STREAM.device is devices[1]


def test_default_streams_need_a_current_context(device):
    with no_context():
        for use in (
            lambda: LEGACY_DEFAULT_STREAM.device,
            lambda: LEGACY_DEFAULT_STREAM.context,
            lambda: LEGACY_DEFAULT_STREAM.record(),
        ):
            with pytest.raises(RuntimeError, match="current context"):
                use()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(None, 1), ("", 1), ("0", 1), ("1", 2), ("7 of them", 2), ("-1", 2), ("no", 1), ("+0", 1)],
)
def test_environment_selects_the_default_stream(monkeypatch, setting, expected):
    name = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    monkeypatch.delenv(name, raising=False) if setting is None else monkeypatch.setenv(name, setting)
    assert default_stream() is CONSTANTS[expected - 1]


# --- Timing --------------------------------------------------------------------------------------


def test_timer_measures_the_work_of_its_block(device, stream):
    gate = device.zeros((), np.int32, pinned=True)
    with stream.timed() as timer:
        stream.record().sync()  # the device has begun the block
        stream.wait_value(gate, 1)
        threading.Timer(0.05, lambda: np.asarray(gate).fill(1)).start()
    # Work outside the block does not count. Reading waits for the end of the block.
    assert 10 < timer.ms < 60_000
    assert timer.ms == timer.ms


def test_timers_are_used_again_and_nest(stream):
    outer = stream.timed()
    for _ in range(2):
        with outer, stream.timed() as inner:
            pass
        assert outer.ms >= inner.ms >= 0


def test_timer_has_no_time_in_the_block_or_after_an_exception(stream):
    timer = stream.timed()
    with pytest.raises(RuntimeError, match="the timed block has not ended"):
        timer.ms  # noqa: B018
    with timer, pytest.raises(RuntimeError, match="the timed block has not ended"):
        timer.ms  # noqa: B018
    with pytest.raises(ZeroDivisionError), timer:
        1 / 0  # noqa: B018
    with pytest.raises(RuntimeError, match="the timed block has not ended"):
        timer.ms  # noqa: B018


def test_closed_streams_are_not_timed(device):
    stream = device.create_stream()
    timer = stream.timed()
    stream.close()
    for attempt in (stream.timed, timer.__enter__):
        with pytest.raises(RuntimeError, match="Stream is closed"):
            attempt()


# --- Private methods that other packages use -------------------------------------------------------


def test_init_creates_or_wraps_a_stream_of_the_subclass(device, stream):
    class Mine(Stream):
        pass

    made = Mine._init(device_id=0, ctx=device.context)
    wrapped = Mine._init(stream)
    assert type(made) is type(wrapped) is Mine
    assert made.device is device
    assert wrapped == stream
    assert Mine._init(options={"nonblocking": False}).is_nonblocking is False
    assert type(Mine._legacy_default()) is type(Mine._per_thread_default()) is Mine
    assert Mine._legacy_default() == LEGACY_DEFAULT_STREAM
    with pytest.raises(ValueError, match="exclude"):
        Mine._init(stream, {})
    with pytest.raises(TypeError):
        Mine._init(ctx=1)


def test_creating_a_stream_needs_a_current_context(device):
    with no_context(), pytest.raises(RuntimeError, match="current context"):
        Stream._init()


# --- Stream.use() ---------------------------------------------------------------------------------


def allocation_stream(array):
    return array.__cuda_array_interface__.get("stream")


def test_used_stream_is_the_default_of_arrays_and_copies(device, stream):
    with stream.use() as used:
        assert used is stream
        arrays = [device.empty(2, "i4"), device.zeros(2, "i4"), device.to_device(np.ones(2, np.int32))]
        assert {allocation_stream(array) for array in arrays} == {int(stream.handle)}
        arrays[0].fill(7)
        arrays[1].copy_from(arrays[0])
        arrays[1].copy_to(arrays[2])
        assert arrays[2].to_host().tolist() == [7, 7]
    assert allocation_stream(device.empty(2, "i4")) != int(stream.handle)
    assert not stream.is_closed


def test_used_stream_is_captured(device, stream):
    array = device.zeros(2, np.int32)
    builder = stream.create_graph_builder().begin_building()
    with builder.stream.use():
        array.fill(5)
    graph = builder.end_building().complete()
    assert array.tolist() == [0, 0]
    graph.launch(stream)
    assert array.tolist(stream=stream) == [5, 5]


def test_given_stream_takes_precedence_over_the_used_one(device, stream):
    with stream.use():
        other = device.create_stream()
        assert allocation_stream(device.empty(2, "i4", stream=other)) == int(other.handle)


def test_uses_of_streams_nest(device, stream):
    other = device.create_stream()
    with stream.use():
        with other.use():
            assert allocation_stream(device.empty(1, "i4")) == int(other.handle)
        assert allocation_stream(device.empty(1, "i4")) == int(stream.handle)


def test_used_stream_is_that_of_its_thread_and_task(device, stream):
    other = device.create_stream()

    async def task(its_stream):
        with its_stream.use():
            await asyncio.sleep(0)
            return allocation_stream(device.empty(1, "i4"))

    async def main():
        return await asyncio.gather(task(stream), task(other))

    with stream.use():
        assert asyncio.run(main()) == [int(stream.handle), int(other.handle)]
        context = contextvars.Context()  # as on a new thread
        assert context.run(lambda: allocation_stream(device.empty(1, "i4"))) != int(stream.handle)


@pytest.mark.requires(devices=2)
def test_used_stream_of_another_device_is_ignored(devices):
    with devices[1]:
        pass  # zeros() needs a device that was current before
    stream = devices[0].create_stream()
    with stream.use():
        array = devices[1].zeros(2, np.int32)
        array.fill(2)
        assert array.tolist() == [2, 2]


def test_closed_streams_are_not_used(device):
    stream = device.create_stream()
    with stream.use():
        stream.close()
        with pytest.raises(RuntimeError, match="this Stream is closed"):
            device.empty(1, "i4")
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        stream.use()
