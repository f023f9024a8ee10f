# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waiting for streams and events in event loops, and callbacks of streams."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import ContextOptions, CUDAError, LaunchConfig, LaunchError, launch
from support.green import split
from support.kernels import compiled
from support.threads import in_thread, run_in_threads
from support.work import busy

FAULT = 'extern "C" __global__ void fault() { *(volatile int*)8 = 1; }'
ONE = LaunchConfig(grid=1, block=1)
PATIENCE = 30  # seconds

LOOPS = ["asyncio", pytest.param("uvloop", marks=pytest.mark.requires(module="uvloop"))]


@pytest.fixture(params=LOOPS)
def run(request):
    """The function that runs a coroutine in a new event loop."""
    if request.param == "asyncio":
        return asyncio.run
    import uvloop

    return uvloop.run


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def until(condition) -> None:
    """Wait in short steps for a condition."""
    for _ in range(PATIENCE * 100):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


# --- Await -----------------------------------------------------------------------------------------


def test_await_ends_after_the_work_while_other_tasks_run(run, stream):
    async def main():
        order = []

        async def wait():
            await stream
            order.append("work")

        with busy(stream) as release:
            task = asyncio.create_task(wait())
            await asyncio.sleep(0.02)
            order.append("task")
            assert not task.done()
            release()
            await task
        assert order == ["task", "work"]

    run(main())


def test_await_of_completed_work_ends_immediately(run, device, stream):
    async def main():
        event = stream.record()
        stream.sync()
        for idle in (stream, event, device.create_event()):
            with pytest.raises(StopIteration):
                next(idle.__await__())
            assert await idle is None

    run(main())


def test_await_event_does_not_wait_for_later_work(run, device):
    async def main():
        later = device.zeros((), np.int32, pinned=True)
        with device.create_stream() as stream, busy(stream) as first:
            event = stream.record()
            # Not a host function: a GPU driver runs one at a time, and its callbacks only then.
            stream.wait_value(later, 1)
            waiting = asyncio.ensure_future(event)
            await asyncio.sleep(0.02)
            assert not waiting.done()
            first()
            await waiting
            assert event.is_done
            assert not stream.is_done
            np.asarray(later).fill(1)
            await stream

    run(main())


def test_many_awaits_of_one_stream_and_several_streams(run, device):
    async def main():
        streams = [device.create_stream() for _ in range(5)]
        with busy(streams[0]) as release:
            for stream in streams[1:]:
                stream.wait(streams[0])
            tasks = [asyncio.ensure_future(stream) for stream in streams for _ in range(20)]
            await asyncio.sleep(0)
            release()
            assert await asyncio.gather(*tasks) == [None] * 100

    run(main())


def test_canceled_await_ends_and_the_work_goes_on(run, stream):
    async def main():
        with busy(stream) as release:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(stream, 0.01)
            again = asyncio.ensure_future(stream)
            await asyncio.sleep(0)
            release()
            await again

    run(main())


def test_async_with_waits_and_closes(run, device):
    async def main():
        async with device.create_stream() as stream:
            context = busy(stream)
            release = context.__enter__()
            asyncio.get_running_loop().call_later(0.02, release)
            event = stream.record()
        assert event.is_done
        assert stream.is_closed
        context.__exit__(None, None, None)

    run(main())


def test_async_with_closes_after_errors_and_allows_closed_ones(run, device):
    async def main():
        with pytest.raises(ZeroDivisionError):
            async with device.create_stream() as stream:
                raise ZeroDivisionError
        assert stream.is_closed
        async with device.create_stream() as stream:
            stream.close()

    run(main())


def test_await_without_an_event_loop_raises(stream):
    with busy(stream):
        with pytest.raises(RuntimeError, match=r"event loop.*sync\(\)"):
            stream.__await__()
        with pytest.raises(RuntimeError, match=r"event loop.*sync\(\)"):
            stream.record().__await__()


def test_await_of_a_closed_object_raises(device):
    stream = device.create_stream()
    event = stream.record()
    stream.close()
    event.close()
    for thing in (stream, event):
        with pytest.raises(RuntimeError, match="closed"):
            thing.__await__()


def test_await_of_a_capturing_stream_raises_and_keeps_capturing(stream):
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(RuntimeError, match="capturing"):
        stream.__await__()
    with pytest.raises(RuntimeError, match="capturing"):
        stream.add_callback(print)
    launch(builder, ONE, compiled('extern "C" __global__ void empty() {}').get_kernel("empty"))
    builder.end_building().complete().launch(stream)
    stream.sync()


def test_closing_a_stream_does_not_end_its_await_early(run, device):
    async def main():
        stream = device.create_stream()
        with busy(stream) as release:
            task = asyncio.ensure_future(stream)
            await asyncio.sleep(0)
            stream.close()
            await asyncio.sleep(0.02)
            assert not task.done()
            release()
            await task

    run(main())


@pytest.mark.requires(green=True)
def test_streams_and_events_of_a_green_context(run, device):
    async def main():
        context = device.create_context(ContextOptions(resources=split(device, 8)))
        async with context.create_stream() as stream:
            with busy(stream) as release:
                tasks = [asyncio.ensure_future(stream.record()), asyncio.ensure_future(stream)]
                await asyncio.sleep(0)
                release()
                await asyncio.gather(*tasks)

    run(main())


# --- Errors ----------------------------------------------------------------------------------------


@pytest.mark.requires(software=True, cuda=(12, 9))
@pytest.mark.filterwarnings("ignore::cuda.core.CUDAWarning")
def test_failed_kernel_is_raised_by_await_and_passed_to_callback(run, device, stream):
    async def main():
        errors = []
        event = None
        with busy(stream) as release:
            launch(stream, ONE, compiled(FAULT).get_kernel("fault"))
            event = stream.record()
            stream.add_callback(errors.append)
            tasks = [asyncio.ensure_future(stream), asyncio.ensure_future(event)]
            await asyncio.sleep(0)
            release()
            for task in tasks:
                with pytest.raises(LaunchError, match="kernel fault: illegal address") as caught:
                    await task
                assert caught.value.api == "cuStreamQuery"
                assert "default_program:1 in fault" in caught.value.log
        with pytest.raises(LaunchError):
            await stream
        await until(lambda: errors)
        assert isinstance(errors[0], LaunchError)

    try:
        run(main())
    finally:
        device.reset()


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("call", ["cuStreamAddCallback", "cuStreamWaitEvent", "cuStreamCreate"])
def test_failed_driver_calls_raise_and_leave_nothing_pending(run, device, stream, call):
    from cuda import emulator

    async def main():
        with busy(stream):
            event = stream.record()
            for thing in (event, stream) if call == "cuStreamAddCallback" else (event,):
                with emulator.fail(call), pytest.raises(CUDAError, match=call):
                    await thing

    run(main())


# --- Callbacks -------------------------------------------------------------------------------------


def test_callback_runs_in_the_loop_in_order(run, stream):
    async def main():
        called = []
        with busy(stream) as release:
            pending = [
                stream.add_callback(lambda error, n=n: called.append((n, error, threading.get_ident())))
                for n in range(50)
            ]
            await asyncio.sleep(0.02)
            assert called == []
            assert all(callback.is_pending for callback in pending)
            release()
            await until(lambda: len(called) == 50)
        assert called == [(n, None, threading.get_ident()) for n in range(50)]
        assert not any(callback.is_pending for callback in pending)
        assert not pending[0].cancel()

    run(main())


def test_callback_without_a_loop_can_use_the_device(device, stream):
    is_called, found = threading.Event(), []

    def function(error):
        found.append((error, threading.get_ident()))
        is_called.set()

    with busy(stream) as release:
        stream.add_callback(function)
        assert not is_called.wait(0.02)
        release()
        assert is_called.wait(PATIENCE)
    assert found[0][0] is None
    assert found[0][1] != threading.get_ident()


def test_canceled_callback_is_not_called(run, stream):
    async def main():
        called = []
        with busy(stream) as release:
            first = stream.add_callback(called.append)
            second = stream.add_callback(called.append)
            assert first.cancel()
            assert not first.cancel()
            assert not first.is_pending
            assert "canceled" in repr(first)
            assert "append" in repr(second)
            release()
            await stream
            await until(lambda: called)
        assert called == [None]

    run(main())


def test_callback_of_another_type_is_rejected(stream):
    with pytest.raises(TypeError, match="function must be callable, not int"):
        stream.add_callback(3)
    with pytest.raises(RuntimeError, match=r"Stream\.add_callback"):
        type(stream.add_callback(print))()


def test_exceptions_of_callbacks_are_reported_and_the_others_run(run, stream, unraisable):
    async def main():
        called = []
        with busy(stream) as release:
            stream.add_callback(lambda error: 1 / 0)
            stream.add_callback(called.append)
            release()
            await until(lambda: called)

    run(main())
    assert [report.kind for report in unraisable] == [ZeroDivisionError]


def test_exit_in_a_callback_ends_the_loop_after_the_others(run, stream):
    called = []

    async def main():
        with busy(stream) as release:
            stream.add_callback(lambda error: sys.exit(3))
            stream.add_callback(called.append)
            release()
            await asyncio.sleep(PATIENCE)

    with pytest.raises(SystemExit):
        run(main())
    assert called in ([], [None])  # the second may complete after the loop has ended


def test_exit_in_a_callback_does_not_end_the_thread(stream, unraisable):
    is_called = threading.Event()
    stream.add_callback(lambda error: sys.exit(3))
    stream.add_callback(lambda error: is_called.set())
    assert is_called.wait(PATIENCE)
    assert [report.kind for report in unraisable] == [SystemExit]


def test_callback_keeps_its_function_only_until_the_call(stream):
    class Function:
        def __call__(self, error):
            is_called.set()

    is_called, function = threading.Event(), Function()
    observed = weakref.ref(function)
    with busy(stream) as release:
        callback = stream.add_callback(function)
        del function
        release()
        assert is_called.wait(PATIENCE)
    for _ in range(1000):
        gc.collect()
        if observed() is None:
            break
    assert observed() is None
    assert not callback.is_pending


# --- Loops and threads -----------------------------------------------------------------------------


def test_loop_closed_while_work_runs(run, stream):
    async def main():
        stream.add_callback(called.append)
        pending.append(asyncio.ensure_future(stream))
        await asyncio.sleep(0)

    called, pending = [], []
    with busy(stream) as release:
        run(main())
        release()
        stream.sync()
    assert pending[0].done()
    run(wait_for(stream))
    assert called == []


async def wait_for(stream) -> None:
    await stream


def test_loops_leave_no_descriptors(run, stream):
    async def main():
        with busy(stream) as release:
            task = asyncio.ensure_future(stream)
            await asyncio.sleep(0)
            release()
            await task

    run(main())
    gc.collect()
    before = descriptors()
    for _ in range(20):
        run(main())
        gc.collect()
    assert descriptors() <= before + 1


def test_two_loops_in_two_threads(run, device):
    def use(number):
        device.set_current()

        async def main():
            async with device.create_stream() as stream:
                for _ in range(50):
                    event = stream.record()
                    await event
                    await stream

        run(main())

    assert run_in_threads(use) == []


def test_work_released_by_another_thread_wakes_the_loop(run, stream):
    async def main():
        with busy(stream) as release:
            threading.Timer(0.02, release).start()
            await stream
            in_thread(lambda: stream.sync())

    run(main())


def test_default_stream(run, device):
    async def main():
        stream = device.default_stream
        with busy(stream) as release:
            task = asyncio.ensure_future(stream)
            await asyncio.sleep(0)
            release()
            await task

    run(main())


# --- Processes -------------------------------------------------------------------------------------

PROGRAM = """
import asyncio, os, signal, sys, threading, time
from cuda.core import *

device = Device()
device.set_current()
stream = device.create_stream()
source = 'extern "C" __global__ void spin(long long n) { long long e = clock64() + n; while (clock64() < e); }'
spin = Program(source, "c++").compile("cubin").get_kernel("spin")
launch(stream, LaunchConfig(grid=1, block=1), spin, 1)
stream.sync()

def work(ticks=100_000_000):
    launch(stream, LaunchConfig(grid=1, block=1), spin, ticks)

async def main():
    {main}

asyncio.run(main())
print("end")
"""

# Body of main(), and the last line printed or the exit status.
PROGRAMS = {
    "pending await": ("work(); asyncio.ensure_future(stream); await asyncio.sleep(0)", "end"),
    "pending callback": ("work(); stream.add_callback(print); await asyncio.sleep(0)", "end"),
    "exit in a task": ("work(); asyncio.ensure_future(stream); await asyncio.sleep(0); sys.exit(3)", 3),
    "exit with a pending thread": (
        "work(); threading.Thread(target=lambda: stream.add_callback(print)).start(); await asyncio.sleep(0.01)",
        "end",
    ),
    "fork": (
        "await stream; pid = os.fork()\n    if pid == 0: print('child', flush=True); os._exit(0)\n"
        "    os.waitpid(pid, 0); work(); await stream",
        "end",
    ),
    "fork while waiting": (
        "work(); task = asyncio.ensure_future(stream); await asyncio.sleep(0); pid = os.fork()\n"
        "    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0); await task",
        "end",
    ),
}


@pytest.mark.requires(device=True)
@pytest.mark.parametrize("name", PROGRAMS)
def test_process_ends_normally(name):
    main, expected = PROGRAMS[name]
    program = PROGRAM.replace("{main}", main)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    if isinstance(expected, int):
        assert done.returncode == expected, done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout.split()


@pytest.mark.requires(device=True)
def test_interrupt_ends_an_await():
    main = "work(1 << 40); threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start(); await stream"
    program = PROGRAM.replace("{main}", main)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode in (1, 130, -signal.SIGINT)
