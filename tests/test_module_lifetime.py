# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A library is unloaded when the last object that uses it is closed or collected, and not before."""

import contextlib
import gc
import itertools
import threading

import pytest
from cuda.bindings import driver

from cuda.core import CUDAError, Kernel, LaunchConfig, ObjectCode, launch
from support.bindings import handle_return
from support.kernels import HostMemory, compiled
from support.work import busy, settle

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]

SOURCE = """
__device__ int counter = 5;
__managed__ int shared_with_host = 7;
extern "C" __global__ void count(int* out) { *out = ++counter; }
"""
ONE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def unloads():
    """Return the number of libraries unloaded since the test began."""
    from cuda import emulator

    gc.collect()
    settle()  # a library is unloaded when its context is idle, and an earlier test might have left work
    with emulator.fail("cuLibraryUnload", nth=1 << 40) as plan:
        yield lambda: plan.matched


@pytest.fixture
def no_leak(unloads):
    from cuda import emulator

    before = set(emulator.leaks())
    yield
    settle()
    assert set(emulator.leaks()) <= before


def fresh():
    """Return code that has not been loaded yet."""
    return ObjectCode.from_cubin(compiled(SOURCE).code)


USERS = {
    "code": lambda code: code,
    "kernel": lambda code: code.get_kernel("count"),
    "variable": lambda code: code.get_global("counter"),
    "managed": lambda code: code.get_global("shared_with_host"),
}
MORE_USERS = {
    **USERS,
    "attributes": lambda code: code.get_kernel("count").attributes,
    "attributes of a device": lambda code: code.get_kernel("count").attributes[0],
    "occupancy": lambda code: code.get_kernel("count").occupancy,
    "wrapped kernel": lambda code: Kernel.from_handle(int(code.get_kernel("count").handle)),
    "capsule": lambda code: code.get_global("counter").__dlpack__(),
    "memoryview": lambda code: memoryview(code.get_global("shared_with_host")),
}


@pytest.mark.parametrize("order", list(itertools.permutations(USERS)), ids="-".join)
@pytest.mark.parametrize("how", ["close", "drop"])
def test_last_user_unloads_the_library(device, unloads, no_leak, order, how):
    code = fresh()
    users = {name: make(code) for name, make in USERS.items()}
    del code
    for name in order:
        assert unloads() == 0
        if how == "close":
            users[name].close()
        else:
            del users[name]
            gc.collect()
    assert unloads() == 1


@pytest.mark.parametrize("name", MORE_USERS)
def test_each_user_alone_keeps_the_library(device, unloads, no_leak, name):
    code = fresh()
    assert hash(code) != 0  # loads the library
    user = MORE_USERS[name](code)
    del code
    gc.collect()
    assert unloads() == 0
    assert user is not None
    del user
    gc.collect()
    assert unloads() == 1


def test_bound_kernel_keeps_the_library(device, stream, unloads, no_leak):
    memory = HostMemory(4)
    bound = fresh().get_kernel("count").bind(ONE, stream=stream)
    gc.collect()
    bound(memory.buffer)
    stream.sync()
    assert (int.from_bytes(bytes(memory), "little"), unloads()) == (6, 0)
    del bound
    gc.collect()
    assert unloads() == 1


def test_launched_kernels_finish_before_the_unload(device, stream, unloads, no_leak):
    memory = HostMemory(4)
    with fresh() as code:
        launch(stream, ONE, code.get_kernel("count"), memory.buffer)
    gc.collect()
    stream.sync()
    assert int.from_bytes(bytes(memory), "little") == 6


def test_never_loaded_code_is_not_unloaded(device, unloads):
    fresh().close()
    gc.collect()
    assert unloads() == 0


def test_failed_loads_and_lookups_leak_nothing(device, unloads, no_leak):
    with pytest.raises(CUDAError, match="loading"):
        ObjectCode.from_cubin(b"\x7fELF" + bytes(200)).get_kernel("count")
    code = fresh()
    for get in (code.get_kernel, code.get_global):
        with pytest.raises(CUDAError, match="NOT_FOUND"):
            get("nowhere")
    code.close()
    gc.collect()
    assert unloads() == 1


def test_threads_that_drop_the_last_users_unload_once(device, unloads, no_leak):
    for _ in range(20):
        code = fresh()
        users = [contextlib.closing(make(code)) for make in USERS.values()]
        threads = [threading.Thread(target=user.__exit__, args=(None, None, None)) for user in users]
        del code, users
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        del threads
    gc.collect()
    assert unloads() == 20


def test_collection_does_not_wait_for_the_work_of_a_stream(device, unloads):
    stream = device.create_stream()
    cycle = [fresh().get_kernel("count")]
    cycle.append(cycle)
    with busy(stream):
        del cycle
        gc.collect()
        assert unloads() == 0
    stream.sync()
    assert unloads() == 1


def test_deferred_unload_also_waits_for_later_work(device, unloads):
    first, second = device.create_stream(), device.create_stream()
    code = fresh()
    code.get_kernel("count")
    with busy(second):
        with busy(first):
            code.close()
            del code
        first.sync()
        assert unloads() == 0
    second.sync()
    assert unloads() == 1


def test_many_deferred_unloads_end_by_waiting_for_a_busy_stream(device, unloads):
    stream = device.create_stream()
    codes = [fresh() for _ in range(300)]
    for code in codes:
        code.get_kernel("count")
    thread = threading.Thread(target=codes.clear)
    with busy(stream) as let_go:
        del code
        thread.start()
        while len(codes) and unloads() == 0:  # a call is counted when it begins, and then waits
            pass
        let_go()
        thread.join()
    stream.sync()
    assert unloads() == 300


def test_library_whose_handle_was_read_stays_loaded(device, stream, unloads):
    """Some programs, such as numba-cuda, unload it by the handle, and a second unload crashes the driver."""
    code = fresh()
    handle = code.handle
    assert code.handle == handle
    kernel = code.get_kernel("count")
    out = HostMemory(4)
    del code
    gc.collect()
    launch(stream, ONE, kernel, out.address)
    stream.sync()
    del kernel
    gc.collect()
    assert unloads() == 0
    handle_return(driver.cuLibraryUnload(handle))
    assert unloads() == 1


def test_close_unloads_a_library_whose_handle_was_read(device, unloads, no_leak):
    code = fresh()
    assert int(code.handle)
    kernel = code.get_kernel("count")
    code.close()
    assert unloads() == 0
    kernel.close()
    assert unloads() == 1
    assert not int(code.handle)
    code.close()
