# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Endless kernels are ended by Ctrl-C, the exit and a reset, and later work is not affected."""

import threading

import numpy as np
import pytest

import cuda.emulator

# A kernel that sets p[1] in host memory when it runs, and then waits until p[0] is set.
SPIN = r'''
import ctypes, os, signal, sys, threading, time
import cuda.emulator
cuda.emulator.activate()
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore Ctrl-C
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
code = """
extern "C" __global__ void spin(volatile int* p) { p[1] = 1; while (p[0] == 0) {} p[2] = 5; }
extern "C" __global__ void one(int* p) { p[3] = 7; }
"""
device = Device(); device.set_current(); stream = device.create_stream(); config = LaunchConfig(grid=1, block=1)
library = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
buffer = LegacyPinnedMemoryResource().allocate(64)
seen = (ctypes.c_int * 16).from_address(int(buffer.handle)); ctypes.memset(seen, 0, 64)
spin, one = library.get_kernel("spin"), library.get_kernel("one")
def until_it_runs():
    while not seen[1]: time.sleep(0.001)
def interrupt():
    until_it_runs(); time.sleep(0.2)  # the main thread has begun to wait
    os.kill(os.getpid(), signal.SIGINT)
'''


def test_ctrl_c_ends_an_endless_kernel_and_later_launches_work(child):
    out = child(
        SPIN + "threading.Thread(target=interrupt).start()\n"
        "try: launch(stream, config, spin, buffer); launch(stream, config, one, buffer); stream.sync()\n"
        "except KeyboardInterrupt: print('interrupted', seen[3])\n"
        "launch(stream, config, one, buffer); stream.sync(); print('then', seen[3], seen[2])"
    )
    assert "interrupted 0" in out
    assert "then 7 0" in out
    assert "kernel spin: ended before it completed" in out
    assert "default_program:2 in spin" in out


def test_ctrl_c_in_python_code_also_ends_kernels(child):
    out = child(
        SPIN + "threading.Thread(target=interrupt).start()\n"
        "try:\n launch(stream, config, spin, buffer)\n while True: pass\n"
        "except KeyboardInterrupt: pass\n"
        "try: stream.sync()\n"
        "except Exception as error: print(error.name)\n"
        "stream.sync(); print('no second error')"
    )
    assert "CUDA_ERROR_LAUNCH_FAILED" in out
    assert "no second error" in out


def test_program_signal_handler_keeps_kernels_running(child):
    out = child(
        SPIN + "def handler(*_): print('handled'); seen[0] = 1\n"
        "signal.signal(signal.SIGINT, handler); launch(stream, config, spin, buffer)\n"
        "interrupt(); stream.sync(); print(seen[2])"
    )
    assert out.split() == ["handled", "5"]


@pytest.mark.parametrize("end", ["", "sys.exit()", "stream.close(); library.close()"])
def test_exit_does_not_wait_for_an_endless_kernel(child, end):
    out = child(
        SPIN + "class Late:\n def __del__(self): buffer.close()\n"
        "late = Late(); launch(stream, config, spin, buffer); until_it_runs()\n" + end
    )
    assert "kernel spin: ended before it completed" in out


RAW = "from cuda.bindings import driver as d\n result = "
WAITS = {
    "stream": "stream.sync()",
    "event": "event.sync()",
    "device": "device.sync()",
    "copy": "import numpy; memory.copy_to(numpy.zeros(64, 'u1'), stream=stream); stream.sync()",
    "polling": "\n while not stream.is_done: time.sleep(0.001)",
    "raw context": RAW + "d.cuCtxSynchronize()[0]",
    "raw stream": RAW + "d.cuStreamSynchronize(int(stream.handle))[0]",
    "raw event": RAW + "d.cuEventSynchronize(int(event.handle))[0]",
    "raw polling": RAW + "600\n while result == 600: result = d.cuStreamQuery(int(stream.handle))[0]",
}


@pytest.mark.parametrize("name", WAITS)
def test_waiting_daemon_threads_print_nothing_at_exit(child, name):
    check = "\n if result: raise RuntimeError(result.name)" if name.startswith("raw") else ""
    out = child(
        SPIN + "memory = device.allocate(64, stream=stream); stream.sync()\n"
        "launch(stream, config, spin, buffer); event = stream.record(); until_it_runs()\n"
        f"def wait():\n device.set_current(); {WAITS[name]}{check}\n print('returned')\n"
        "threading.Thread(target=wait, daemon=True).start(); time.sleep(0.1)"
    )
    assert "kernel spin: ended before it completed" in out
    assert "Traceback" not in out and "returned" not in out


def test_threads_that_poll_on_at_exit_do_not_see_success(child):
    out = child(
        SPIN + "from cuda.bindings import driver\n"
        "launch(stream, config, spin, buffer); until_it_runs()\n"
        "def poll():\n device.set_current(); handle = int(stream.handle)\n"
        " while driver.cuStreamQuery(handle)[0]: pass\n print('returned')\n"
        "for _ in range(6): threading.Thread(target=poll, daemon=True).start()\n"
        "time.sleep(0.1)"
    )
    assert "kernel spin: ended before it completed" in out
    assert "returned" not in out


def test_exit_waits_for_short_work(child):
    out = child(SPIN + "import atexit\nlaunch(stream, config, spin, buffer); until_it_runs(); seen[0] = 1\n")
    assert out == ""


def test_reset_of_the_context_ends_its_kernels(child):
    out = child(
        SPIN + "from cuda.bindings import driver\n"
        "launch(stream, config, spin, buffer); until_it_runs()\n"
        "print(driver.cuDevicePrimaryCtxReset(0)[0].name)"
    )
    assert "CUDA_SUCCESS" in out


def test_threads_waiting_for_stopped_kernel_return(driver, context, queue, kernel):
    flag, results = driver.zeros(64), []
    values = (flag, flag), (None, None)
    driver.cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, queue, values, 0)
    event = driver.cuEventCreate(0)
    driver.cuEventRecord(event, queue)
    begun = threading.Barrier(3)

    def wait(name, handle):
        driver.cuCtxSetCurrent(context)
        begun.wait()
        results.append(driver.result(name, handle))

    threads = [
        threading.Thread(target=wait, args=row)
        for row in (("cuStreamSynchronize", queue), ("cuEventSynchronize", event))
    ]
    for thread in threads:
        thread.start()
    begun.wait()
    cuda.emulator.end_kernels()
    for thread in threads:
        thread.join()
    assert "LAUNCH_FAILED" in results
    assert driver.result("cuCtxSynchronize") == "SUCCESS"
    driver.cuMemFree(flag)


def test_queued_work_is_dropped_with_one_error(driver, context, queue, kernel):
    flag, out = driver.zeros(64), np.zeros(16, np.int32)
    driver.cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, queue, ((flag, flag), (None, None)), 0)
    driver.cuMemsetD32Async(flag, 3, 16, queue)
    cuda.emulator.end_kernels()
    assert driver.result("cuStreamSynchronize", queue) == "LAUNCH_FAILED"
    assert driver.result("cuStreamSynchronize", queue) == "SUCCESS"
    driver.cuMemcpyDtoH(out.ctypes.data, flag, 64)
    assert not out.any()
    driver.cuMemsetD32Async(flag, 4, 16, queue)
    assert driver.result("cuStreamSynchronize", queue) == "SUCCESS"
    driver.cuMemcpyDtoH(out.ctypes.data, flag, 64)
    assert (out == 4).all()
    driver.cuMemFree(flag)


def test_query_of_stream_or_event_reports_dropped_work_once(driver, context, queue):
    word = driver.zeros(64)
    event = driver.cuEventCreate(0)
    for call in (lambda: ("cuStreamQuery", queue), lambda: ("cuEventQuery", event)):
        driver.cuStreamWaitValue32(queue, word, 1, 0)
        driver.cuEventRecord(event, queue)
        assert driver.result(*call()) == "NOT_READY"
        cuda.emulator.end_kernels()
        while (result := driver.result(*call())) == "NOT_READY":
            pass
        assert result == "LAUNCH_FAILED"
        assert driver.result(*call()) == "SUCCESS"
    driver.cuMemFree(word)
