# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dropping the last reference never waits for the device: the resource is released once the work is done."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import cuda.emulator
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    VirtualMemoryResource,
    register_host_memory,
)
from support.internals import has_pending_destructions, wait_for_pending_destructions
from support.memory import _SynchronousMemoryResource
from support.shared_memory import import_pool, make_pool
from support.work import busy, released_after_failure

pytestmark = [pytest.mark.requires(device=True), pytest.mark.usefixtures("nothing_waits")]

KINDS = {
    "page-locked": lambda: LegacyPinnedMemoryResource().allocate(4096),
    "limited": lambda: LimitingMemoryResource(LegacyPinnedMemoryResource(), 1 << 20).allocate(4096),
    "registered": lambda: register_host_memory(np.zeros(4096, np.uint8)),
    "virtual": lambda: VirtualMemoryResource(0).allocate(1 << 21),
    "classic": lambda: _SynchronousMemoryResource(0).allocate(4096),
}


def returns_on_a_thread(device, function):
    """Return whether a function returns on a new thread, although the device is busy."""

    def run():
        device.set_current()
        function()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    return not thread.is_alive()


@pytest.mark.parametrize("kind", KINDS)
def test_memory_dropped_while_the_device_works_is_queued(device, stream, kind):
    held = [KINDS[kind]()]
    with busy(stream) as release:
        held.clear()
        assert has_pending_destructions()
        release()
        stream.sync()
    assert not has_pending_destructions()


@pytest.mark.parametrize("kind", KINDS)
def test_collection_on_another_thread_does_not_wait(device, stream, kind):
    cycle = [KINDS[kind]()]
    cycle.append(cycle)
    with busy(stream) as release:
        del cycle
        assert returns_on_a_thread(device, gc.collect)
        assert has_pending_destructions()
        release()
        stream.sync()
    assert not has_pending_destructions()


# Without virtual memory, whose close waits for the stream that it is given.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "virtual"])
def test_closing_waits_for_the_work(device, stream, kind):
    memory = KINDS[kind]()
    with busy(stream) as release:
        timer = threading.Timer(0.02, release)
        timer.start()
        memory.close()
        assert stream.is_done
        timer.join()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)  # lists allocations
@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_waited_is_freed(device, stream, kind):
    def allocations():
        return {line for line in cuda.emulator.leaks() if not line.startswith("event")}

    before = allocations()
    held = [KINDS[kind]()]
    made = allocations()
    assert made > before
    with busy(stream) as release:
        held.clear()
        assert allocations() == made
        release()
        stream.sync()
    assert allocations() == before


def test_memory_also_waits_for_later_work(device, stream):
    """The driver's free would wait for that work."""
    held = [KINDS["page-locked"]()]
    with busy(stream) as release:
        held.clear()
        event = stream.record()
        with busy(stream) as release_later:
            release()
            event.sync()
            assert has_pending_destructions()
            release_later()
            stream.sync()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)  # makes calls fail
@pytest.mark.parametrize(
    ("api", "allocate"),
    [
        ("cuMemAllocHost*", lambda stream: LegacyPinnedMemoryResource().allocate(64)),
        ("cuMemAlloc_v2", lambda stream: _SynchronousMemoryResource(0).allocate(64)),
        ("cuMemAllocFromPoolAsync", lambda stream: stream.device.allocate(64, stream=stream)),
    ],
)
def test_allocation_out_of_memory_waits_for_pending_frees(device, stream, api, allocate):
    held, other = [KINDS["page-locked"]()], device.create_stream()
    allocate(other).close()
    with busy(stream) as release:
        held.clear()
        with released_after_failure(release, api):
            memory = allocate(other)
        assert not has_pending_destructions()
    assert memory.size == 64
    with cuda.emulator.fail(api, "CUDA_ERROR_OUT_OF_MEMORY"), pytest.raises(MemoryError):
        allocate(other)


@pytest.mark.requires(software=True)  # makes calls fail
@pytest.mark.parametrize("api", ["cuMemPoolCreate", "cuMemPoolImportFromShareableHandle"])
def test_new_pool_out_of_memory_waits_for_pending_frees(device, stream, api):
    shared = make_pool(DeviceMemoryResource)
    handle = shared.allocation_handle

    def pool():
        is_import = api != "cuMemPoolCreate"
        return import_pool(DeviceMemoryResource, int(handle)) if is_import else make_pool(DeviceMemoryResource)

    pool().close()
    held = [KINDS["page-locked"]()]
    with busy(stream) as release:
        held.clear()
        with released_after_failure(release, api):
            made = pool()
        assert not has_pending_destructions()
    made.close()
    with cuda.emulator.fail(api, "CUDA_ERROR_OUT_OF_MEMORY"), pytest.raises(MemoryError):
        pool()


def test_array_is_registered_again_after_its_buffer_was_dropped(device, stream):
    array = np.zeros(4096, np.uint8)
    held = [register_host_memory(array)]
    with busy(stream) as release:
        held.clear()
        timer = threading.Timer(0.02, release)
        timer.start()
        again = register_host_memory(array)
        timer.join()
    assert again.size == 4096
    again.close()


def test_next_allocation_waits_if_many_frees_are_pending(device, stream):
    held = [LegacyPinnedMemoryResource().allocate(64) for _ in range(300)]
    with busy(stream) as release:
        held.clear()
        timer = threading.Timer(0.02, release)
        timer.start()
        LegacyPinnedMemoryResource().allocate(64).close(LEGACY_DEFAULT_STREAM)
        timer.join()
        assert stream.is_done
    assert not wait_for_pending_destructions()


def test_memory_dropped_during_a_capture_is_freed_after_it(device, stream):
    held = [KINDS["page-locked"]()]
    builder = device.create_graph_builder().begin_building(mode="global")
    held.clear()
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)  # lists streams
def test_stream_closed_with_pending_work_is_destroyed_after_it(device):
    def streams():
        return {line for line in cuda.emulator.leaks() if line.startswith("stream")}

    before = streams()
    stream = device.create_stream()
    made = streams()
    with busy(stream) as release:
        event = stream.record()
        stream.close()
        assert streams() == made > before
        release()
        event.sync()
    device.sync()
    assert streams() == before
