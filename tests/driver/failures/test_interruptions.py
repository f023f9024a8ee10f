# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An exception of a signal handler at any bytecode of the classic interface loses no resource."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from support.interrupts import interrupt_everywhere
from support.work import settle

pytestmark = [pytest.mark.requires(software=True), pytest.mark.usefixtures("context")]

SHAPE = (8, 4)


def memory():
    drv.mem_alloc(4096).free()
    kept = drv.mem_alloc(100)
    del kept


def pitched_memory():
    kept, _ = drv.mem_alloc_pitch(100, 8, 4)
    kept.free()


def page_locked_memory():
    array = drv.pagelocked_empty(SHAPE, np.float32)
    del array
    array = drv.pagelocked_zeros(SHAPE, np.float32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
    del array


def managed_memory():
    array = drv.managed_empty(SHAPE, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    del array


def registered_memory():
    array = drv.register_host_memory(np.zeros(SHAPE))
    array.base.unregister()


def streams():
    stream, event = drv.Stream(), drv.Event()
    event.record(stream)
    event.synchronize()
    del stream, event


def shared_events():
    event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    event.record()
    del event


def arrays():
    array = drv.np_to_array(np.zeros(SHAPE, np.float32), "C")
    array.free()


PROGRAMS = {
    "memory": memory,
    "pitched": pitched_memory,
    "page-locked": page_locked_memory,
    "managed": managed_memory,
    "registered": registered_memory,
    "streams": streams,
    "shared events": shared_events,
    "arrays": arrays,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_interrupted_allocations_and_frees_lose_nothing(program):
    assert interrupt_everywhere(program) > 20


def test_interrupted_pools_lose_nothing():
    pool, host = drv.DeviceMemoryPool(), drv.PageLockedMemoryPool()

    def program():
        memory = pool.allocate(1000)
        memory.free()
        memory = pool.allocate(1000)
        array = host.allocate(SHAPE, np.float32)
        del memory, array

    def clean():
        pool.free_held()
        host.free_held()
        settle()

    assert interrupt_everywhere(program, clean=clean) > 20
    assert (pool.active_blocks, host.active_blocks) == (0, 0)


def test_interrupted_array_operations_lose_nothing(context):
    array = gpuarray.to_gpu(np.arange(100, dtype=np.float32))

    def program():
        (array + array).get()
        gpuarray.to_gpu(np.zeros(100, np.float32))
        gpuarray.zeros(100, np.float32)

    def clean():
        for end in (context.take_array, context.take_result):
            if end is not None:
                end._resource.trim() if hasattr(end, "_resource") else None
        settle()

    assert interrupt_everywhere(program, clean=clean) > 20
