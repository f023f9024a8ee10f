# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's log of failed calls."""

import ctypes
import re
import threading

import pytest

HEAD = r"\[\d\d:\d\d:\d\d\.\d{3}\]\[\d+\]\[CUDA\]\[E\]\[(\w+)\] "


@pytest.fixture
def log(driver, context):
    """Return a function that returns the messages since its last call, or since the test began."""
    state = [driver.cuLogsCurrent(0)]

    def read(size=30000):
        buffer = bytearray(size)
        length, state[0] = None, state[0]
        result = driver.raw.cuLogsDumpToMemory(state[0], buffer, size, 0)
        assert result[0] == 0, result
        state[0], length = result[1], result[2]
        return buffer[:length].decode()

    return read


def test_each_failed_call_is_logged_with_its_name_and_code(driver, log):
    driver.result("cuStreamCreate", 77)
    assert re.fullmatch(HEAD + r"Returning 1 \(CUDA_ERROR_INVALID_VALUE\)\n", text := log())
    assert re.match(HEAD, text)[1] == "cuStreamCreate"
    assert log() == ""


def test_success_and_not_ready_are_not_logged(driver, log, queue):
    word = driver.zeros(4)
    driver.cuStreamWaitValue32(queue, word, 1, 0)
    assert driver.result("cuStreamQuery", queue) == "NOT_READY"
    driver.cuMemsetD32(word, 1, 1)
    driver.cuStreamSynchronize(queue)
    driver.cuMemFree(word)
    assert log() == ""


def test_report_of_a_kernel_is_logged_before_the_code(driver, log, queue, kernel):
    memory = driver.cuMemAlloc(64)
    driver.cuLaunchKernel(kernel("wild"), 1, 1, 1, 1, 1, 1, 0, queue, ((memory, 1 << 40), (None, ctypes.c_int64)), 0)
    for _ in range(2):  # each call in a failed context logs the report
        assert driver.result("cuStreamSynchronize", queue) == "ILLEGAL_ADDRESS"
        lines = log().splitlines()
        assert re.match(HEAD + "kernel wild: illegal address: store of 4 bytes", lines[0])
        assert "thread (0, 0, 0)" in "".join(line for line in lines if line.startswith("  "))
        assert re.match(HEAD + "Returning 700", lines[-1])


@pytest.mark.parametrize(
    "sizes, text",
    [
        (
            (1, 70000, 1, 32, 1, 1, 0),
            r"a launch of \(1, 70000, 1\) blocks of \(32, 1, 1\) threads is outside the limits",
        ),
        ((1, 1, 1, 2048, 1, 1, 0), r"of \(2048, 1, 1\) threads .* whose blocks have at most 1024 threads"),
        ((1, 1, 1, 32, 1, 1, 1 << 20), "the kernel may have 49152 bytes of dynamic shared memory, not 1048576"),
        ((1, 1, 1, 32, 1, 1, 0), "the kernel has 2 parameters, and the pointer to number 1 is null"),
    ],
)
def test_launch_that_is_rejected_is_explained(driver, log, queue, kernel, sizes, text):
    nowhere = (ctypes.c_void_p * 2)()
    assert (
        driver.result("cuLaunchKernel", kernel("wild"), *sizes, queue, ctypes.addressof(nowhere), 0) == "INVALID_VALUE"
    )
    assert re.search(text, log())


def test_unimplemented_call_is_logged(driver, log):
    assert driver.result("cuCoredumpGetAttribute", driver.raw.CUcoredumpSettings.CU_COREDUMP_FILE) == "NOT_SUPPORTED"
    assert "does not implement this call" in log()


def test_small_buffer_receives_the_newest_messages(driver, log):
    for _ in range(3):
        driver.result("cuStreamCreate", 77)
    driver.result("cuEventCreate", 1 << 20)
    lines = log(200).splitlines()
    assert "missing" in lines[0]
    assert "cuEventCreate" in lines[-1]


def test_buffer_too_small_for_any_message_is_rejected(driver, log):
    driver.result("cuStreamCreate", 77)
    assert driver.raw.cuLogsDumpToMemory(None, bytearray(8), 8, 0)[0].name == "CUDA_ERROR_INVALID_VALUE"


def test_old_messages_are_dropped_when_the_log_is_full(driver, log):
    for _ in range(1000):
        driver.result("cuStreamCreate", 77)
    text = log()
    assert len(text) <= 25600 + 64
    assert text.startswith("[older messages are missing]\n")


def test_callback_receives_each_message_until_it_is_unregistered(driver, log):
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
    def callback(data, level, message, length):
        seen.append((level, message.decode(), length))

    address = driver.raw.CUlogsCallback(ctypes.cast(callback, ctypes.c_void_p).value)
    handle = driver.cuLogsRegisterCallback(address, 0)
    driver.result("cuStreamCreate", 77)
    driver.cuLogsUnregisterCallback(handle)
    driver.result("cuStreamCreate", 77)
    ((level, message, length),) = seen
    assert (level, length) == (0, len(message))
    assert re.match(HEAD, message)[1] == "cuStreamCreate"
    assert driver.result("cuLogsUnregisterCallback", handle) == "INVALID_VALUE"


def test_log_is_written_to_a_file(driver, log, tmp_path):
    path = tmp_path / "log.txt"
    position = driver.cuLogsCurrent(0)
    driver.result("cuStreamCreate", 77)
    driver.cuLogsDumpToFile(position, bytes(path), 0)
    assert path.read_text() == log()
    assert driver.result("cuLogsDumpToFile", position, bytes(tmp_path / "no" / "folder"), 0) == "INVALID_VALUE"


def test_messages_of_several_threads_are_not_mixed(driver, log, context):
    def work():
        driver.cuCtxSetCurrent(context)
        for _ in range(200):
            driver.result("cuStreamCreate", 77)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = log().splitlines()[1:]
    assert lines
    assert all(re.fullmatch(HEAD + r"Returning 1 \(CUDA_ERROR_INVALID_VALUE\)", line) for line in lines)


WILD = """
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device(); device.set_current(); stream = device.create_stream()
code = 'extern "C" __global__ void wild(int* p) { p[threadIdx.x] = 1; }'
kernel = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("wild")
buffer = device.allocate(64, stream=stream)
launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer)
"""


SOURCE_LINES = {
    # Source, options, and the place with the line that the report shows.
    "name": ("{body}", dict(name="some.cu"), 'at some.cu:3 in f\n    *(volatile int*)8 = 1; // \u00e4 \\ " )emu"\n'),
    "first line": ("{body}", dict(first_line=40), "at default_program:42 in f\n    *(volatile int*)8 = 1; //"),
    "directive": ('__device__ int a;\n#line 7 "b.cu"\n{body}', {}, "at b.cu:9 in f\n    *(volatile int*)8 = 1; //"),
}


@pytest.mark.parametrize("name", SOURCE_LINES)
@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_report_shows_the_source_line(child, name, target):
    source, options, expected = SOURCE_LINES[name]
    body = 'extern "C" __global__ void f()\n{\n\t*(volatile int*)8 = 1; // \u00e4 \\ " )emu"\n}'
    options = {"arch": "sm_90" if target == "cubin" else "compute_90", **options}
    source = source.replace("{body}", body)
    out = child(
        "from cuda.core import *\ndevice = Device(); device.set_current(); stream = device.create_stream()\n"
        f"code = Program({source!r}, 'c++', ProgramOptions(**{options!r})).compile({target!r})\n"
        "launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel('f'))\n"
        "try: stream.sync()\nexcept LaunchError as error: print(ascii(error.log))"
    )
    assert ascii(expected)[1:-1] in out, out


@pytest.mark.parametrize(
    "call", ["stream.sync()", "device.sync()", "device.create_event()", "buffer.fill(0, stream=stream)"]
)
def test_exception_contains_kernel_report(child, call):
    code = f"try: {call}\nexcept Exception as error: print(f'{{type(error).__name__}}|{{error}}|{{error.log}}|')"
    name, message, log = child(WILD + "try: stream.sync()\nexcept Exception: pass\n" + code).split("|")[:3]
    assert name == "LaunchError"
    report = log.splitlines()
    assert report[0].startswith("kernel wild: illegal address: store of 4 bytes")
    assert "default_program:1 in wild" in report[1]
    assert report[2] == '    extern "C" __global__ void wild(int* p) { p[threadIdx.x] = 1; }'
    assert "thread (16, 0, 0) of (32, 1, 1)" in report[3]
    assert message.splitlines()[1:] == report
    assert "sanitizer" not in message


# In mangled names these letters are types.
@pytest.mark.parametrize("name", ["f", "i", "v", "x", "d"])
def test_kernel_name_of_one_letter_is_reported_as_it_is(child, name):
    program = WILD.replace("wild", name) + "try: stream.sync()\nexcept Exception as error: print(error.log)"
    assert child(program).startswith(f"kernel {name}: illegal address")
