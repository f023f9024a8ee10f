# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What pools of the driver keep, and when they are destroyed."""

import threading

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM
from cuda.core._native._cuda_core import has_pending_destructions
from cuda.core._memory import DeviceMemoryResource
from support.interpreter import run
from support.work import busy


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device, {})


@pytest.mark.requires(mempool=True)
def test_an_own_pool_keeps_its_memory_until_it_is_trimmed(stream, pool):
    pool.allocate(8 << 20, stream=stream).close()
    stream.sync()
    assert pool.attributes.reserved_mem_current >= 8 << 20
    pool.trim(1 << 40)
    assert pool.attributes.reserved_mem_current >= 8 << 20
    pool.trim()
    assert pool.attributes.reserved_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_a_pool_with_a_threshold_of_0_keeps_no_memory(device, stream):
    pool = DeviceMemoryResource(device, {"release_threshold": 0})
    pool.allocate(8 << 20, stream=stream).close()
    stream.sync()
    device.sync()
    assert pool.attributes.reserved_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_an_own_pool_outlives_its_resource_while_it_has_allocations(stream, pool):
    buffer = pool.allocate(64, stream=stream)
    attributes = pool.attributes
    pool.close()
    buffer.fill(1, stream=stream)
    stream.sync()
    assert attributes.used_mem_current > 0
    buffer.close()
    stream.sync()
    assert attributes.used_mem_current == 0


@pytest.mark.requires(software=True)  # lists the calls of the driver
def test_a_pool_is_destroyed_when_the_streams_that_may_free_its_memory_are_idle(tmp_path):
    trace = tmp_path / "trace"
    code = (
        "import ctypes; from cuda.core import *\n"
        "device = Device(); device.set_current(); stream = device.create_stream(); idle = device.create_stream()\n"
        "source = 'extern \"C\" __global__ void wait(volatile int* p) { p[1] = 1; while (p[0] == 0) {} }'\n"
        "kernel = Program(source, 'c++').compile('cubin').get_kernel('wait')\n"
        "flag = LegacyPinnedMemoryResource().allocate(64); seen = (ctypes.c_int * 2).from_address(int(flag.handle))\n"
        "seen[0] = seen[1] = 0\n"
        f"def destroyed(): return open({str(trace)!r}).read().count('cuMemPoolDestroy')\n"
        "def end(stream):\n"
        "    resource = DeviceMemoryResource(device, {}); buffer = resource.allocate(64, stream=stream)\n"
        "    resource.close(); buffer.close()\n"
        "def look(): pools.append(DeviceMemoryResource(device, {})); print(destroyed())\n"
        "pools = []; end(idle); idle.sync(); look()\n"
        "launch(stream, LaunchConfig(grid=1, block=1), kernel, flag)\n"
        "while not seen[1]: pass\n"
        "end(stream); idle.sync(); look()\n"
        "seen[0] = 1; stream.sync(); look()\n"
    )
    assert run(code, CUDA_EMULATOR_TRACE=str(trace)).split() == ["1", "1", "2"]


def test_threads_make_and_end_pools_while_others_synchronize(device):
    def work():
        device.set_current()
        stream = device.create_stream()
        for _ in range(20):
            with DeviceMemoryResource(device, {}).allocate(64, stream=stream) as buffer:
                buffer.fill(1, stream=stream)
            device.sync()
        done.append(buffer.is_closed)

    done = []
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert done == [True] * 8


def pool_with_pending_free(device, stream):
    pool = DeviceMemoryResource(device, {})
    pool.allocate(64, stream=stream).close()
    return pool


def test_a_pool_is_destroyed_after_work_of_default_streams(device):
    device.sync()
    with busy(LEGACY_DEFAULT_STREAM) as release:
        pool_with_pending_free(device, LEGACY_DEFAULT_STREAM).close()
        assert has_pending_destructions()
        release()
        LEGACY_DEFAULT_STREAM.sync()
    assert not has_pending_destructions()


def test_a_pool_is_destroyed_after_work_of_streams_that_were_closed(device):
    device.sync()
    stream = device.create_stream()
    with busy(stream) as release:
        pool = pool_with_pending_free(device, stream)
        event = stream.record()
        stream.close()
        pool.close()
        assert has_pending_destructions()
        release()
        event.sync()
    device.sync()
    assert not has_pending_destructions()
