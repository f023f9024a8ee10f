# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The default resource, which allocates when no resource is named."""

import asyncio
import contextvars
import gc
import subprocess
import sys
import threading
import weakref

import pytest

from cuda.core import (
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    StatisticsMemoryResource,
    set_memory_resource,
    use_memory_resource,
)
from support.memory import HostMemoryResource
from support.threads import in_thread


class OfDevice(HostMemoryResource):
    """Host memory with the ``device_id`` of a device."""

    def __init__(self, device_id):
        super().__init__()
        self.device_id = device_id


@pytest.fixture
def usual(device):
    """The resource in use if none was chosen. A choice for the process ends with the test."""
    yield device.memory_resource
    set_memory_resource(None)


def on_new_thread(device, ordinal=0):
    """Return the default resource of a new thread, which has chosen none itself."""
    return in_thread(lambda: type(device)(ordinal).memory_resource)


# Blocks


def test_block_chooses_the_resource_until_its_end(device, stream, usual):
    mr = StatisticsMemoryResource(usual)
    with use_memory_resource(mr) as same:
        assert same is mr
        assert device.memory_resource is mr
        with device.allocate(64, stream=stream) as buffer:
            assert buffer.memory_resource is mr
    assert device.memory_resource is usual
    assert mr.statistics.total_count == 1


def test_blocks_nest(device, usual):
    first, second = OfDevice(0), OfDevice(0)
    with use_memory_resource(first):
        with use_memory_resource(second):
            assert device.memory_resource is second
        assert device.memory_resource is first
    assert device.memory_resource is usual


def test_exception_ends_the_block(device, usual):
    with pytest.raises(ZeroDivisionError), use_memory_resource(OfDevice(0)):
        raise ZeroDivisionError
    assert device.memory_resource is usual


def test_block_can_be_a_decorator(device, usual):
    mr = OfDevice(0)

    @use_memory_resource(mr)
    def current():
        return device.memory_resource

    assert [current(), current()] == [mr, mr]
    assert device.memory_resource is usual


@pytest.mark.parametrize("resource", [HostMemoryResource, LegacyPinnedMemoryResource])
def test_resource_of_no_device_is_used_for_all_devices(device, usual, resource):
    mr = resource()
    with use_memory_resource(mr):
        assert device.memory_resource is mr
    assert device.memory_resource is usual


def test_device_can_be_named(device, usual):
    mr = HostMemoryResource()
    for named in (device, 0):
        with use_memory_resource(mr, named):
            assert device.memory_resource is mr


@pytest.mark.requires(devices=2)
def test_resource_of_a_device_is_not_used_for_others(devices):
    usual = [device.memory_resource for device in devices[:2]]
    of_second, of_all = OfDevice(1), HostMemoryResource()
    with use_memory_resource(of_second):
        assert [device.memory_resource for device in devices[:2]] == [usual[0], of_second]
        with use_memory_resource(of_all):
            assert [device.memory_resource for device in devices[:2]] == [of_all, of_all]
            with use_memory_resource(of_second):
                assert [device.memory_resource for device in devices[:2]] == [of_all, of_second]
        with use_memory_resource(of_second, devices[0]):
            assert [device.memory_resource for device in devices[:2]] == [of_second, of_second]
    assert [device.memory_resource for device in devices[:2]] == usual


@pytest.mark.parametrize("mr", [None, 1, "pool", DeviceMemoryResource])
def test_other_objects_are_rejected(device, mr):
    with pytest.raises(TypeError, match="mr must be a MemoryResource"):
        use_memory_resource(mr)
    if mr is not None:
        with pytest.raises(TypeError, match="mr must be a MemoryResource"):
            set_memory_resource(mr)


@pytest.mark.parametrize(("named", "error"), [("0", TypeError), (1000, ValueError), (-1, ValueError)])
def test_other_devices_are_rejected(device, usual, named, error):
    mr = HostMemoryResource()
    for choose in (use_memory_resource, set_memory_resource):
        with pytest.raises(error, match="device"):
            choose(mr, named)
    with pytest.raises(error, match="device"):
        set_memory_resource(None, named)
    assert device.memory_resource is usual


def test_block_does_not_affect_other_threads(device, usual):
    mr = OfDevice(0)
    with use_memory_resource(mr):
        # In free-threaded Python, threads inherit the context by default.
        assert (on_new_thread(device) is mr) == bool(getattr(sys.flags, "thread_inherit_context", False))
        context = contextvars.copy_context()
    assert in_thread(lambda: context.run(lambda: type(device)(0).memory_resource)) is mr


def test_tasks_have_separate_blocks(device, usual):
    resources = [OfDevice(0) for _ in range(3)]

    async def work(mr):
        seen = []
        with use_memory_resource(mr):
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(device.memory_resource)
        return seen

    async def main():
        found = await asyncio.gather(*(work(mr) for mr in resources))
        return found, device.memory_resource

    found, outside = asyncio.run(main())
    assert found == [[mr] * 3 for mr in resources]
    assert outside is usual


def test_task_keeps_the_block_it_was_started_in(device, usual):
    mr = OfDevice(0)

    async def late():
        await asyncio.sleep(0)
        return device.memory_resource

    async def main():
        with use_memory_resource(mr):
            task = asyncio.create_task(late())
        return await task, device.memory_resource

    assert asyncio.run(main()) == (mr, usual)


def test_resource_is_not_kept_after_its_block(device, usual):
    mr = OfDevice(0)
    alive = weakref.ref(mr)
    with use_memory_resource(mr):
        pass
    del mr
    gc.collect()
    assert alive() is None


def test_closed_default_resource_rejects_to_allocate(device, stream, usual):
    mr = StatisticsMemoryResource(usual)
    with use_memory_resource(mr):
        mr.close()
        with pytest.raises(RuntimeError, match="closed"):
            device.allocate(64, stream=stream)


# Choices for the process and for threads. The main thread might have its own choice, so new threads are used.


def test_choice_for_the_process_is_used_by_all_threads(device, usual):
    mr = OfDevice(0)
    set_memory_resource(mr)
    assert [on_new_thread(device) for _ in range(2)] == [mr, mr]
    set_memory_resource(None)
    assert on_new_thread(device) is not mr


def test_threads_that_run_already_see_the_choice(device, usual):
    mr = OfDevice(0)
    seen = []
    ready, chosen = threading.Event(), threading.Event()

    def work():
        mine = type(device)(0)
        seen.append(mine.memory_resource)
        ready.set()
        chosen.wait(30)
        seen.append(mine.memory_resource)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(30)
    set_memory_resource(mr)
    chosen.set()
    thread.join()
    assert seen[0] is not mr
    assert seen[1] is mr


def test_choice_of_a_thread_comes_before_that_for_the_process(device, usual):
    of_process, of_thread, of_block = OfDevice(0), OfDevice(0), OfDevice(0)
    set_memory_resource(of_process)

    def work():
        mine = type(device)(0)
        mine.memory_resource = of_thread
        seen = [mine.memory_resource]
        with use_memory_resource(of_block):
            seen.append(mine.memory_resource)
        return seen

    assert in_thread(work) == [of_thread, of_block]
    assert on_new_thread(device) is of_process


@pytest.mark.requires(devices=2)
def test_choice_can_be_removed_for_one_device(devices, usual):
    set_memory_resource(OfDevice(0))
    set_memory_resource(OfDevice(1))
    set_memory_resource(None, 1)
    assert isinstance(on_new_thread(devices[0]), OfDevice)
    assert not isinstance(on_new_thread(devices[0], 1), OfDevice)


def test_no_device_is_needed_to_choose():
    code = "from cuda.core import *; from support.memory import HostMemoryResource\n"
    code += "with use_memory_resource(HostMemoryResource()): set_memory_resource(HostMemoryResource())\n"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
