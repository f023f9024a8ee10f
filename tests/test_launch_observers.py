# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Launch observers: CUDA_CORE_DEBUG, CUDA_CORE_NVTX, and library functions."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import cuda.emulator
from cuda.core import LaunchConfig, LaunchError, Program, _launch_observers, _launcher, _module, launch, utils
from cuda.core.driver.compiler import SourceModule
from support.kernels import compiled
from support.work import settle

SOURCE = """
extern "C" __global__ void store(int* place, int value) { place[threadIdx.x] = value; }
"""
ONE = LaunchConfig(grid=1, block=1)

PROGRAM = """
import sys
from cuda.core import *

device = Device()
device.set_current()
stream = device.create_stream()
store = Program('extern "C" __global__ void store(int* p, int n) { p[threadIdx.x] = n; }', "c++").compile("cubin")
store = store.get_kernel("store")
memory = device.allocate(64, stream=stream)
ONE, MANY = LaunchConfig(grid=1, block=1), LaunchConfig(grid=1, block=32)
builder = stream.create_graph_builder().begin_building()
launch(builder, MANY, store, memory, 7)
graph = builder.end_building().complete()
launch(stream, ONE, store, memory, 7)
assert stream.is_done == IS_DEBUGGED or not IS_DEBUGGED
try:
    LAUNCH
except LaunchError as error:
    print(error, *getattr(error, "__notes__", ()))
else:
    print("not raised")
"""
LAUNCHES = {
    "launch(stream, MANY, store, memory, 7)": "kernel 'store', launched at <string>:",
    "store.bind(MANY, stream=stream)(memory, 7)": "kernel 'store', launched at <string>:",
    "graph.launch(stream)": "waited for <Graph",
}


def run(launched: str, **environment) -> str:
    is_debugged = environment["CUDA_CORE_DEBUG"] == "1"
    program = PROGRAM.replace("LAUNCH\n", f"{launched}\n").replace("IS_DEBUGGED", str(is_debugged))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.requires(software=True, cuda=(12, 9))
@pytest.mark.parametrize("launched", LAUNCHES)
def test_debug_mode_raises_the_error_of_a_kernel_at_its_launch(launched):
    text = run(launched, CUDA_CORE_DEBUG="1")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in text
    assert "thread (16, 0, 0) of (32, 1, 1)" in text
    assert LAUNCHES[launched] in text


@pytest.mark.requires(software=True)
def test_debug_mode_shows_the_configuration_and_the_arguments():
    text = run("launch(stream, MANY, store, memory, 7)", CUDA_CORE_DEBUG="1")
    assert "LaunchConfig(grid=(1, 1, 1)" in text
    assert "arguments: <Buffer" in text
    assert text.rstrip().endswith("size=64>, 7")


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("value", ["0", ""])
def test_debug_mode_is_off_by_default(value):
    assert run("launch(stream, MANY, store, memory, 7)", CUDA_CORE_DEBUG=value).startswith("not raised")


@pytest.fixture
def seen():
    """The launches that an observer sees during the test."""
    found = []

    class Observer:
        def __init__(self, record):
            self.record = record

        def __enter__(self):
            found.append(("begin", self.record))

        def __exit__(self, *exc_info):
            found.append(("end", self.record))

    _launcher.change_observers(add=[Observer])
    yield found
    _launcher.change_observers(remove=[Observer])


@pytest.mark.requires(cuda=(12, 4))
def test_observers_surround_each_launch(device, stream, seen):
    kernel = compiled(SOURCE).get_kernel("store")
    memory = device.allocate(64, stream=stream)
    launch(stream, ONE, kernel, memory, 7)
    kernel.bind(ONE, stream=stream)(memory, value=8)
    stream.sync()
    assert [when for when, _ in seen] == ["begin", "end", "begin", "end"]
    first, second = seen[0][1], seen[2][1]
    assert (first.name, first.kernel, first.arguments) == ("store", kernel, (memory, 7))
    assert second.arguments == (memory, 8)
    assert first.file == __file__
    assert second.line == first.line + 1
    assert not first.is_captured
    assert str(first).startswith(f"kernel 'store', launched at {__file__}:{first.line}")


def test_observers_recognize_captured_launches(device, stream, seen):
    memory = device.allocate(64, stream=stream)
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, compiled(SOURCE).get_kernel("store"), memory, 7)
    builder.end_building()
    assert seen[0][1].is_captured


@pytest.mark.requires(cuda=(12, 4))
def test_rejected_launch_leaves_the_observers(device, stream, seen):
    with pytest.raises(TypeError):
        launch(stream, ONE, compiled(SOURCE).get_kernel("store"))
    assert [when for when, _ in seen] == ["begin", "end"]


def test_arguments_with_long_texts_are_shown_by_their_type(device, stream):
    record = _launch_observers.Launch("f", None, ONE, stream, ("x" * 100, [1, 2]), False, sys._getframe())
    assert str(record).endswith("arguments: <str>, [1, 2]")
    assert str(_launch_observers.Launch("f", None, ONE, stream, (), False, None)).endswith("arguments: none")


class FakeRange:
    """A stand-in for the package nvtx."""

    names: list = []

    @classmethod
    def annotate(cls, message, domain):
        from contextlib import nullcontext

        cls.names.append((message, domain))
        return nullcontext()


def test_nvtx_ranges_name_the_kernel_and_the_line(device, stream, monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", FakeRange)
    monkeypatch.setenv("CUDA_CORE_NVTX", "1")
    monkeypatch.setenv("CUDA_CORE_DEBUG", "0")
    observers = _launch_observers.observers_of_environment()
    assert len(observers) == 1
    _launcher.change_observers(add=observers)
    try:
        launch(stream, ONE, compiled(SOURCE).get_kernel("store"), device.allocate(64, stream=stream), 7)
    finally:
        _launcher.change_observers(remove=observers)
    ((name, domain),) = FakeRange.names
    assert name.startswith("store test_launch_observers.py:")
    assert domain == "cuda.core"


def test_nvtx_without_its_package_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(ModuleNotFoundError, match="CUDA_CORE_NVTX needs the package nvtx"):
        _launch_observers.nvtx_observer()


def failure(stream) -> str:
    """Return the message of a failed kernel without a report from the driver."""
    with (
        cuda.emulator.fail("cuStreamSynchronize,cuStreamQuery", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        pytest.raises(LaunchError) as caught,
    ):
        stream.sync()
    return str(caught.value)


def last_launches(stream) -> list[str]:
    first, *lines = failure(stream).partition("Kernels launched last")[2].splitlines()
    assert first == ", newest first:"
    assert all(line.startswith("  ") for line in lines)
    return [line[2:] for line in lines]


TEN = "".join(f'extern "C" __global__ void last_launch_{number}() {{}}\n' for number in range(10))


@pytest.mark.requires(software=True, cuda=(12, 4))  # reports parameters
def test_failures_list_the_kernels_launched_last(stream):
    code = compiled(TEN)
    for number in range(10):
        launch(stream, LaunchConfig(grid=(number + 1, 2), block=(3, 1, 4)), code.get_kernel(f"last_launch_{number}"))
    for _ in range(3):
        launch(stream, ONE, code.get_kernel("last_launch_5"))
    lines = last_launches(stream)
    assert lines[0].startswith(f"last_launch_5() at {__file__}:")
    assert lines[0].endswith(" with grid (1, 1, 1) and block (1, 1, 1)")
    assert lines[1].endswith(" with grid (10, 2, 1) and block (3, 1, 4)")
    assert [line.partition("()")[0][-1] for line in lines] == list("59876432")


VALUES = """
#include <cuda_bf16.h>
struct Pair { int first, second; };
struct Large { char bytes[20]; };
__global__ void values(const float* pointer, float f, double d, int i, unsigned char b, bool flag, float2 vector,
                       __nv_bfloat16 narrow, Pair pair, Large large) {}
extern "C" __global__ void many(Large a, Large b, Large c, Large d, Large e, Large f, Large g, int last) {}
"""


@pytest.mark.requires(software=True, cuda=(12, 4))  # reports parameters
def test_failures_show_the_arguments_of_kernels(stream):
    code = compiled(VALUES)
    many = code.get_kernel("many")
    values = utils.kernel(VALUES, "values", cache=False)
    pair = np.array([1, 2], np.int32).tobytes()
    launch(stream, ONE, many, *[bytes(20)] * 7, 9)
    values(4096, 0.1, 1e300, -7, 255, True, (1, -2.5), 1, pair, bytes(20), grid=1, block=1, stream=stream)
    first, second, *_ = last_launches(stream)
    assert first.startswith(
        "values(0x1000, 0.1, 1e+300, -7, 255, True, (1, -2.5), 0x3f80, 0x200000001, <20 bytes>) at "
    )
    assert second.startswith(f"many({'<20 bytes>, ' * 6}..., ...) at ")


@pytest.mark.requires(software=True, cuda=(12, 4))  # reports parameters
def test_failures_show_where_the_program_launched_last(device, stream):
    source = "__global__ void placed(int i) {}"
    kernel, classic = utils.kernel(source, "placed", cache=False), SourceModule(source)
    bound = kernel.bind(ONE, 1, stream=stream)
    lines = []
    for start in (
        lambda: bound(),
        lambda: kernel(2, grid=1, block=1, stream=stream),
        lambda: classic.get_function("placed")(np.int32(3), grid=(1,), block=(1, 1, 1)),
        lambda: launch(stream, ONE, kernel, 4),
    ):
        start()
        lines.append((last_launches(stream)[0], start.__code__.co_firstlineno))
    # The classic interface does not use the types of parameters.
    for value, (text, line) in zip(["1", "2", "0x3", "4"], lines, strict=True):
        assert text.startswith(f"placed({value}) at {__file__}:{line} with")


@pytest.mark.requires(software=True, cuda=(12, 4))  # reports parameters
def test_code_without_a_module_name_launches(stream):
    kernel = compiled(TEN).get_kernel("last_launch_0")
    exec("launch(stream, config, kernel)", {"__name__": None, "launch": launch, "stream": stream, "config": ONE,
                                            "kernel": kernel})  # fmt: skip
    assert last_launches(stream)[0].startswith("last_launch_0() at <string>:1 with")


@pytest.mark.requires(software=True)
def test_last_launches_keep_no_frames_alive(stream):
    class Marker:
        pass

    def work():
        marker = Marker()
        launch(stream, ONE, compiled(TEN).get_kernel("last_launch_0"))
        return weakref.ref(marker)

    assert work()() is None


@pytest.mark.requires(software=True, cuda=(12, 4))  # reports parameters
def test_last_launches_keep_no_code_loaded(stream):
    code = Program('extern "C" __global__ void last_and_closed() {}', "c++").compile("cubin")
    kernel = code.get_kernel("last_and_closed")
    launch(stream, ONE, kernel)
    stream.sync()
    gc.collect()  # what earlier tests left
    settle()  # a library is unloaded when its context is idle, and an earlier test might have left work
    with cuda.emulator.fail("cuLibraryUnload", nth=1000) as unloads:  # only counts
        kernel.close()
        code.close()
        gc.collect()
        settle()
    assert unloads.matched == 1
    assert last_launches(stream)[0].startswith("last_and_closed() at ")


@pytest.mark.requires(software=True)
def test_threads_launch_while_failures_are_described(device, stream):
    code = compiled(TEN)
    kernels = [code.get_kernel(f"last_launch_{number}") for number in range(10)]

    def work():
        device.set_current()
        own = device.create_stream()
        for _ in range(300):
            for kernel in kernels:
                launch(own, ONE, kernel)
        own.sync()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        lines = _module.describe_last_launches().splitlines()
        assert lines[0] == "Kernels launched last, newest first:" and 2 <= len(lines) <= 9
    for thread in threads:
        thread.join()
    lines = _module.describe_last_launches().splitlines()[1:]
    assert len(lines) == 8 and all(line.startswith("  last_launch_") for line in lines)
