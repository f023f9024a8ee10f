# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Signals while the main thread waits: for a kernel without end, for a compilation, and at exit."""

from __future__ import annotations

import pytest

import cuda.emulator
from cuda.core import CUDAError
from support.code import slow_program
from support.interpreter import run

pytestmark = pytest.mark.requires(device=True)

# Starts a kernel that ends when `seen[0]` is set: a wait that returns before that was interrupted. `interrupt` sends a
# signal half a second later, when even a busy machine has begun to wait: outside of a wait, the signal would make the
# software device end the kernel and report an error later.
START = r'''
import ctypes, os, signal, sys, threading, time
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
device = Device(); device.set_current(); stream = device.create_stream(); other = device.create_stream()
code = """
extern "C" __global__ void spin(volatile int* p) { p[1] = 1; while (p[0] == 0) {} }
extern "C" __global__ void one(int* p) { p[3] = 7; }
"""
library = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
buffer = LegacyPinnedMemoryResource().allocate(64)
seen = (ctypes.c_int * 16).from_address(int(buffer.handle)); ctypes.memset(seen, 0, 64)
config, spin, one = LaunchConfig(grid=1, block=1), library.get_kernel("spin"), library.get_kernel("one")
launch(other, config, one, buffer); other.sync(); seen[3] = 0  # loads the code while nothing runs
launch(stream, config, spin, buffer)
event = stream.record()
while not seen[1]: time.sleep(0.001)
def interrupt(number=signal.SIGINT):
    def send(): time.sleep(0.5); os.kill(os.getpid(), number)
    threading.Thread(target=send).start()
'''


@pytest.mark.parametrize("wait", ["stream.sync()", "event.sync()", "device.sync()"])
def test_ctrl_c_ends_a_wait_for_an_endless_kernel(wait):
    out = run(
        START + f"try: interrupt(); {wait}\nexcept KeyboardInterrupt: print('interrupted')\n"
        "launch(other, config, one, buffer); other.sync(); print(seen[3])\n"
        "seen[0] = 1; stream.sync(); event.sync(); device.sync(); print('done')"
    )
    assert out.split() == ["interrupted", "7", "done"]


@pytest.mark.parametrize("wait", ["stream.sync()", "event.sync()", "device.sync()"])
def test_any_handler_that_raises_ends_a_wait(wait):
    out = run(
        START + "def late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)\n"
        f"try: interrupt(signal.SIGALRM); {wait}\nexcept TimeoutError: print('late', stream.is_done)\n"
        f"seen[0] = 1; {wait}; print(stream.is_done)"
    )
    assert out.split() == ["late", "False", "True"]


@pytest.mark.parametrize("wait", ["stream.sync()", "event.sync()", "device.sync()"])
def test_handler_that_returns_does_not_end_a_wait(wait):
    out = run(
        START + "signal.signal(signal.SIGALRM, lambda *_: seen.__setitem__(0, 1))\n"
        f"interrupt(signal.SIGALRM); {wait}; print(stream.is_done)"
    )
    assert out.split() == ["True"]


def test_signal_does_not_end_the_wait_of_another_thread():
    out = run(
        START + "thread = threading.Thread(target=stream.sync); thread.start()\n"
        "signal.signal(signal.SIGALRM, lambda *_: None); interrupt(signal.SIGALRM); time.sleep(0.3)\n"
        "print(thread.is_alive()); seen[0] = 1; thread.join(); print(stream.is_done)"
    )
    assert out.split() == ["True", "True"]


def test_exit_does_not_wait_for_an_endless_kernel_of_globals():
    assert run(START + "print('end')", timeout=20) == "end\n"


QUEUE = """
seen[0] = 1; stream.sync()
def queue():
    device.set_current(); own = device.create_stream(); memory = device.allocate(64, stream=own)
    while True: {work}
for _ in range(4): threading.Thread(target=queue, daemon=True).start()
time.sleep(0.05); print('end')
"""


@pytest.mark.requires(software=True)  # a GPU's driver decides itself what it waits for at exit
@pytest.mark.parametrize(
    "work",
    [
        "launch(own, config, one, memory)",
        "launch(own, config, one, memory); LegacyPinnedMemoryResource().allocate(64); device.sync()",
    ],
)
def test_exit_does_not_wait_for_threads_that_queue_work_forever(work):
    assert run(START + QUEUE.format(work=work), timeout=20) == "end\n"


@pytest.mark.requires(software=True)  # lists the driver calls
def test_exit_releases_global_objects_where_no_work_is_left(tmp_path):
    begin = "import os; os.environ['CUDA_EMULATOR_TRACE'] = {trace!r}\n"
    for end, is_released in (("seen[0] = 1; stream.sync()", True), ("", False)):
        trace = tmp_path / f"trace-{is_released}"
        run(begin.format(trace=str(trace)) + START + end)
        assert ("cuStreamDestroy" in trace.read_text()) is is_released


def test_ctrl_c_ends_a_compilation_and_the_next_one_works():
    out = run(
        (slow_program(12, 1000) if cuda.emulator.is_active() else slow_program(5))
        + "program = Program(source, 'c++', ProgramOptions(arch='sm_90'))\n"
        "threading.Thread(target=send).start()\n"
        "try: program.compile('cubin')\nexcept KeyboardInterrupt: back(); print('interrupted', program.is_closed)\n"
        "small = Program('extern \"C\" __global__ void f() {}', 'c++').compile('cubin'); print(len(small.code) > 0)\n"
        "program.close(); print(program.is_closed)"
    )
    assert out.split()[0] == "interrupted"
    assert out.split()[-1] == "True"


def test_compile_errors_belong_to_the_calling_thread():
    from cuda.core import NVRTCError, Program

    with pytest.raises(NVRTCError, match="expected|error") as caught:
        Program('extern "C" __global__ void f( { }', "c++").compile("cubin")
    assert caught.value.log


# Calls that wait for the device implicitly: releases of resources, and copies of pageable memory.
WAITING = {
    "pinned": ("b = LegacyPinnedMemoryResource().allocate(64)", "b.close()"),
    "collected": ("b = LegacyPinnedMemoryResource().allocate(64)", "del b"),
    "registered": ("b = register_host_memory(np.zeros(64))", "b.close()"),
    "registered on a stream": ("b = register_host_memory(np.zeros(64))", "b.close(stream)"),
    "virtual": ("b = VirtualMemoryResource(device).allocate(1 << 21)", "b.close()"),
    "virtual on a stream": ("b = VirtualMemoryResource(device).allocate(1 << 21)", "b.close(stream)"),
    "classic": ("from cuda.core.driver import mem_alloc\nb = mem_alloc(64)", "b.free()"),
    "array": (
        "from cuda.core.texture import OpaqueArrayOptions\n"
        "b = device.create_opaque_array(OpaqueArrayOptions(shape=(8, 8), format='float32', num_channels=1))",
        "b.close()",
    ),
    "copy to the host": (
        "b = device.allocate(64, stream=stream); h = np.zeros(64, 'u1')",
        "b.copy_to(h, stream=stream)",
    ),
    "copy of much from the host": (
        "b = device.allocate(1 << 20, stream=stream); h = np.zeros(1 << 20, 'u1')",
        "b.copy_from(h, stream=stream)",
    ),
    "copy with gaps": (
        "b = device.allocate(64, stream=stream); h = np.zeros((8, 16), 'u1')[:, ::2]",
        "b.copy_to(h, stream=stream)",
    ),
}
NAMES = "import numpy as np\nfrom cuda.core import VirtualMemoryResource\nfrom cuda.core import register_host_memory\n"


@pytest.mark.parametrize("kind", WAITING)
def test_handler_that_raises_ends_an_implicit_wait(kind):
    setup, wait = WAITING[kind]
    out = run(
        START + f"{NAMES}{setup}\ndef late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)\n"
        f"try:\n    interrupt(signal.SIGALRM); {wait}\n    while True: pass\n"
        "except TimeoutError: print('late', stream.is_done)\n"
        "seen[0] = 1; stream.sync(); launch(other, config, one, buffer); other.sync(); print(seen[3])"
    )
    assert out.split() == ["late", "False", "7"]


@pytest.mark.parametrize("kind", ["pinned", "registered"])
def test_ctrl_c_ends_the_wait_of_a_close(kind):
    setup, wait = WAITING[kind]
    out = run(
        START + f"{NAMES}{setup}\ntry:\n    interrupt(); {wait}\n    while True: pass\n"
        "except KeyboardInterrupt: print('interrupted')\n"
        "launch(other, config, one, buffer); other.sync(); print(seen[3])"
    )
    assert out.split() == ["interrupted", "7"]


@pytest.mark.requires(software=True)  # counts allocations
def test_memory_is_freed_after_the_work_if_close_is_interrupted():
    out = run(
        START + f"{NAMES}from cuda import emulator\n"
        "def left(): return sum(not line.startswith('event') for line in emulator.leaks())\n"
        f"before = left()\n{WAITING['pinned'][0]}\n"
        "def late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)\n"
        "try:\n    interrupt(signal.SIGALRM); b.close()\n    while True: pass\nexcept TimeoutError: pass\n"
        "print(left() - before); seen[0] = 1; stream.sync(); end = time.monotonic() + 20\n"
        "while left() != before: assert time.monotonic() < end\n"
        "print('freed')"
    )
    assert out.split() == ["1", "freed"]


@pytest.mark.requires(software=True)  # makes a call fail
def test_release_that_fails_after_an_interrupt_warns():
    out = run(
        START + f"{NAMES}from cuda import emulator\nimport warnings\n{WAITING['pinned'][0]}\n"
        "def late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)\n"
        "told = []\nwarnings.showwarning = lambda message, *_: told.append(str(message))\n"
        "warnings.simplefilter('always')\n"
        "with emulator.fail('cuMemFreeHost', 'CUDA_ERROR_INVALID_VALUE', when='after'):\n"
        "    try:\n        interrupt(signal.SIGALRM); b.close()\n        while True: pass\n"
        "    except TimeoutError: pass\n    seen[0] = 1; stream.sync(); end = time.monotonic() + 20\n"
        "    while not told: assert time.monotonic() < end\n"
        "print('cuMemFreeHost' in told[0])"
    )
    assert out.split() == ["True"]


@pytest.mark.requires(software=True)  # its loader compiles
def test_ctrl_c_ends_the_loading_of_code():
    # The software device compiles PTX when it is loaded, unless its cache has the result.
    out = run(
        "import os, shutil, tempfile\nos.environ['CUDA_EMULATOR_CACHE_DIR'] = cache = tempfile.mkdtemp()\n"
        + slow_program(12, 150)
        + "code = Program(source, 'c++', ProgramOptions(arch='sm_90')).compile('ptx'); shutil.rmtree(cache)\n"
        "threading.Thread(target=send).start()\n"
        "try: code.get_kernel('k0')\nexcept KeyboardInterrupt: back(); print('interrupted', code.is_closed)\n"
        "small = Program('extern \"C\" __global__ void f() {}', 'c++').compile('cubin')\n"
        "small.get_kernel('f'); print('loaded')"
    )
    assert out.split() == ["interrupted", "False", "loaded"]


# Objects that a child process shares: the driver call that imports each, and the expression that makes the call.
IMPORTS = {
    "a pool": ("cuMemPoolImportFromShareableHandle", "shared_memory.import_pool(DeviceMemoryResource, int(handle))"),
    "memory": ("cuMemPoolImportPointer", "Buffer.from_ipc_descriptor(pool, buffer_descriptor, stream=stream)"),
    "an event": ("cuIpcOpenEventHandle", "Event.from_ipc_descriptor(event_descriptor)"),
}


@pytest.mark.requires(software=True, ipc=True)  # makes a call hang
@pytest.mark.parametrize("what", IMPORTS)
def test_ctrl_c_ends_an_import_from_another_process(what):
    call, importing = IMPORTS[what]
    out = run(
        "import gc, multiprocessing, os, signal, threading, time\n"
        "multiprocessing.set_start_method('spawn')\n"
        "from cuda import emulator\n"
        "from cuda.core import Buffer, Device, DeviceMemoryResource, Event\n"
        "from support import shared_memory\n"
        "from support.processes import Child\n"
        "device = Device(0); device.set_current(); stream = device.create_stream()\n"
        "child = Child()\n"
        "handle, buffer_descriptor, event_descriptor = child.call(shared_memory.share_all)\n"
        "pool = shared_memory.import_pool(DeviceMemoryResource, int(handle))\n"
        f"work = lambda: {importing}\n"
        "work().close(); stream.sync(); before = emulator.leaks()\n"
        f"with emulator.fail({call!r}, when='hang') as plan:\n"
        "    def send():\n"
        "        while not plan.fired: time.sleep(0.001)\n"
        "        sent.append(time.monotonic()); os.kill(os.getpid(), signal.SIGINT)\n"
        "    sent = []; threading.Thread(target=send).start()\n"
        "    try: work()\n"
        "    except KeyboardInterrupt: assert time.monotonic() - sent[0] < 5; print('interrupted')\n"
        "work().close(); stream.sync(); gc.collect()\n"
        "end = time.monotonic() + 20\n"
        "while emulator.leaks() != before: assert time.monotonic() < end, (before, emulator.leaks())\n"
        "print('imported', child.stop())"
    )
    assert out.split() == ["interrupted", "imported", "0"]


# Launches a kernel, waits for it, and prints the driver calls of the wait.
TRACED_WAIT = r"""
import os; trace = {trace!r}; os.environ["CUDA_EMULATOR_TRACE"] = trace
from cuda.core import Device, Kernel, LaunchConfig, Program, Stream, launch
device = Device(); device.set_current(); stream = device.create_stream()
def kernel(body="", name="f"):
    code = 'extern "C" __global__ void ' + name + "() {{ " + body + " }}"
    return Program(code, "c++").compile("cubin").get_kernel(name)
work = kernel()
launch(stream, LaunchConfig(grid=1, block=1), work); event = stream.record(); device.sync()
{before}
launch(stream, LaunchConfig(grid=1, block=1), work); stream.record(event)
start = os.path.getsize(trace)
{wait}
calls = open(trace).read()[start:]
print([name for name in ("cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize") if name in calls])
"""


def driver_waits(tmp_path, wait: str, before: str = "") -> str:
    return run(TRACED_WAIT.format(trace=str(tmp_path / "trace"), before=before, wait=wait)).splitlines()[-1]


@pytest.mark.requires(software=True, cuda=(12, 9))
@pytest.mark.parametrize("wait", ["stream.sync()", "event.sync()"])
def test_wait_ends_with_the_query_that_finds_the_work_complete(tmp_path, wait):
    assert driver_waits(tmp_path, wait) == "[]"


@pytest.mark.requires(software=True, cuda=(12, 4))
@pytest.mark.parametrize(
    "before",
    [
        "int(stream.handle)",
        "stream.__cuda_stream__()",
        "int(event.handle)",
        "other = Device(0).create_stream(); Stream.from_handle(int(other.handle))",
        "Kernel.from_handle(int(work.handle))",
        "from cuda.core import DeviceMemoryResource; pool = DeviceMemoryResource(0, {'release_threshold': 1 << 20})",
    ],
    ids=["handle", "protocol", "event handle", "foreign stream", "foreign kernel", "release threshold"],
)
def test_wait_ends_in_the_driver_if_output_or_pools_may_need_it(tmp_path, before):
    assert driver_waits(tmp_path, "stream.sync()", before) == "['cuStreamSynchronize']"


@pytest.mark.requires(software=True)
def test_waiting_again_for_an_idle_device_asks_the_driver_once(tmp_path):
    again = "device.sync(); start = os.path.getsize(trace); device.sync()"
    assert driver_waits(tmp_path, again) == "['cuCtxSynchronize']"


@pytest.mark.parametrize("mode", ["relaxed", "thread_local", "global"])
def test_device_wait_raises_during_a_capture_and_leaves_it_valid(device, mode):
    with device.create_graph_builder() as builder:
        builder.begin_building(mode)
        with pytest.raises(CUDAError, match="CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"):
            device.sync()
        builder.end_building()
        device.sync()
        builder.complete().close()


@pytest.mark.requires(software=True)
def test_device_wait_leaves_captures_valid_on_cuda_12_4():
    code = (
        "from cuda.core import CUDAError, Device\n"
        "device = Device(); device.set_current(); builder = device.create_graph_builder().begin_building()\n"
        "try: device.sync()\n"
        "except CUDAError as error: print(error.name)\n"
        "print(len(builder.end_building().graph_definition.nodes())); device.sync()\n"
    )
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": "12.4", "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    assert run(code, **variables) == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED\n0\n"


def test_threads_wait_for_a_device_while_others_capture():
    out = run(
        "import threading, time\nfrom cuda.core import CUDAError, Device\n"
        "device = Device(); device.set_current(); end = time.monotonic() + 0.3; counts = [0, 0]\n"
        "def wait():\n"
        "    device.set_current()\n"
        "    while time.monotonic() < end:\n"
        "        try: device.sync(); counts[0] += 1\n"
        "        except CUDAError as error: assert 'CAPTURE' in error.name, error\n"
        "def capture():\n"
        "    device.set_current()\n"
        "    while time.monotonic() < end:\n"
        "        with device.create_graph_builder() as builder:\n"
        "            builder.begin_building('relaxed')\n"
        "            try: builder.end_building(); counts[1] += 1\n"
        "            except CUDAError as error: assert 'CAPTURE' in error.name, error\n"
        "threads = [threading.Thread(target=target) for target in 3 * [wait, capture]]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(all(counts))"
    )
    assert out.strip() == "True"


@pytest.mark.requires(software=True)
def test_default_streams_are_waited_for_by_the_driver(tmp_path):
    before = "from cuda.core import LEGACY_DEFAULT_STREAM as stream"
    assert driver_waits(tmp_path, "stream.sync()", before) == "['cuStreamSynchronize']"


@pytest.mark.parametrize("wait", ["stream.sync()", "stream.record().sync()", "device.sync()"])
def test_wait_prints_the_output_of_kernels(wait):
    out = run(
        "import ctypes, os\nfrom cuda.core import Device, LaunchConfig, Program, launch\n"
        "device = Device(); device.set_current(); stream = device.create_stream()\n"
        'code = \'extern "C" __global__ void f() { printf("printed"); }\'\n'
        "kernel = Program(code, 'c++').compile('cubin').get_kernel('f')\n"
        f"launch(stream, LaunchConfig(grid=1, block=1), kernel); {wait}\n"
        "ctypes.CDLL(None).fflush(None); os._exit(0)"
    )
    assert out == "printed"
