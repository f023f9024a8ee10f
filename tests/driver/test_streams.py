# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Streams, events, timing, and the profiler."""

import gc
import weakref

import numpy as np
import pytest

import cuda.core
import cuda.core.driver as drv
from cuda.core.driver._streams import Kept, core_stream, keep_until_done

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(("flags", "nonblocking"), [(0, False), (1, True), (drv.stream_flags.NON_BLOCKING, True)])
def test_flags_decide_whether_a_stream_is_nonblocking(flags, nonblocking):
    stream = drv.Stream(flags)
    assert core_stream(stream).is_nonblocking is nonblocking
    assert stream.is_done()
    stream.synchronize()
    assert isinstance(stream.handle, int) and stream.handle > 2
    assert f"{stream.handle:#x}" in repr(stream)
    assert stream.__cuda_stream__() == (0, stream.handle)


@pytest.mark.parametrize(
    ("flags", "error", "text"),
    [
        (2, drv.LogicError, "flags must be 0 or 1, not 2"),
        (-1, drv.LogicError, "flags must be 0 or 1, not -1"),
        ("fast", TypeError, "flags must be an int, not str"),
        (None, TypeError, "flags must be an int, not NoneType"),
    ],
)
def test_unknown_flags_of_streams_are_rejected(flags, error, text):
    with pytest.raises(error, match=text):
        drv.Stream(flags)


def test_streams_of_other_libraries_are_accepted(device):
    inner = device.create_stream()
    assert core_stream(inner) is inner
    assert core_stream(None) is cuda.core.LEGACY_DEFAULT_STREAM

    class Foreign:
        def __cuda_stream__(self):
            return 0, int(inner.handle)

    assert int(core_stream(Foreign()).handle) == int(inner.handle)
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        core_stream(7)


def test_events_are_recorded_and_timed():
    start, end = drv.Event(), drv.Event()
    assert start.record() is start
    stream = drv.Stream()
    assert end.record(stream).synchronize() is end
    assert end.query()
    assert end.time_since(start) == start.time_till(end) >= 0.0
    assert isinstance(start.handle, int)


def test_stream_waits_for_an_event():
    first, second, event = drv.Stream(1), drv.Stream(1), drv.Event(drv.event_flags.DISABLE_TIMING)
    memory = drv.mem_alloc(1 << 16)
    drv.memset_d8_async(memory, 5, 1 << 16, first)
    event.record(first)
    second.wait_for_event(event)
    result = np.empty(1 << 16, np.uint8)
    drv.memcpy_dtoh_async(result, memory, second)
    second.synchronize()
    assert (result == 5).all()
    with pytest.raises(TypeError, match="event must be an Event"):
        second.wait_for_event(None)


def test_elapsed_time_needs_recorded_events_with_timing():
    start, end = drv.Event(), drv.Event(drv.event_flags.DISABLE_TIMING)
    with pytest.raises(drv.LogicError, match="cuEventElapsedTime failed"):
        end.record().synchronize().time_since(start.record())
    with pytest.raises(drv.LogicError, match="cuEventElapsedTime failed"):
        drv.Event().time_till(start)


@pytest.mark.parametrize("flags", [-1, 8])
def test_unknown_flags_of_events_are_rejected(flags):
    with pytest.raises(drv.LogicError, match="flags must combine event_flags"):
        drv.Event(flags)


def test_streams_and_events_keep_their_context():
    stream = drv.Stream()
    assert stream._context is drv.Context.get_current()


def test_objects_of_pending_work_are_kept_and_released_later():
    class Thing:
        pass

    stream, things = drv.Stream(), [Thing() for _ in range(4 * Kept.LIMIT)]
    for thing in things:
        keep_until_done(core_stream(stream), "cuX", thing)
        core_stream(stream).sync()
    last = weakref.ref(things[-1])
    first = weakref.ref(things[0])
    del things, thing
    gc.collect()
    assert last() is not None and first() is None
    stream.synchronize()
    gc.collect()
    assert last() is None


@pytest.mark.parametrize("finish", [lambda event: event.synchronize(), lambda event: wait_by_query(event)])
def test_complete_event_releases_the_objects_of_earlier_work(finish):
    class Thing:
        pass

    stream, event, things = drv.Stream(), drv.Event(), [Thing() for _ in range(3)]
    references = [weakref.ref(thing) for thing in things]
    keep_until_done(core_stream(stream), "cuX", things[0])
    keep_until_done(core_stream(stream), "cuX", things[1])
    event.record(stream)
    keep_until_done(core_stream(stream), "cuX", things[2])
    del things
    gc.collect()
    assert all(reference() for reference in references)
    for _ in range(2):
        finish(event)
        gc.collect()
        assert [reference() is None for reference in references] == [True, True, False]
    finish(drv.Event().record(stream))
    gc.collect()
    assert references[2]() is None


def wait_by_query(event):
    while not event.query():
        pass


def test_releasing_the_same_objects_twice_releases_no_others():
    kept = Kept()
    stream = core_stream(None)
    for number in range(5):
        kept.add(stream, number)
    kept.release(2)
    kept.release(1)
    assert [objects for _, objects in kept.objects] == [(2,), (3,), (4,)]
    kept.release(9)
    kept.release(9)
    assert not kept.objects and kept.count == 5


def test_profiler_is_started_and_stopped():
    assert drv.start_profiler() is None
    assert drv.stop_profiler() is None


def test_initialize_profiler_is_not_supported():
    with pytest.raises(drv.NotSupportedError, match="nsys"):
        drv.initialize_profiler("config", "output", drv.profiler_output_mode.CSV)
