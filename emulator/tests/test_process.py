# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The device and its process: exit, fork, threads, host functions and environment variables."""

import os
import subprocess
import sys

import pytest

import cuda.emulator

START = (
    "from cuda.bindings import driver as d; import os, threading; d.cuInit(0)\n"
    "c = d.cuDevicePrimaryCtxRetain(0)[1]; d.cuCtxSetCurrent(c); s = d.cuStreamCreate(0)[1]; p = d.cuMemAlloc(64)[1]\n"
)

WILD = """
import ctypes
from cuda.bindings import nvrtc
source = b'extern "C" __global__ void k(int* x) { x[20] = 1; }'
program = nvrtc.nvrtcCreateProgram(source, b"k.cu", 0, [], [])[1]
nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"])
cubin = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
nvrtc.nvrtcGetCUBIN(program, cubin)
kernel = d.cuLibraryGetKernel(d.cuLibraryLoadData(cubin, [], [], 0, [], [], 0)[1], b"k")[1]
d.cuLaunchKernel(d.CUfunction(int(kernel)), 1, 1, 1, 1, 1, 1, 0, s, ((int(p),), (ctypes.c_void_p,)), 0)
d.cuStreamSynchronize(s)
"""


def test_exit_with_pending_work_does_not_hang(child):
    child(START + "d.cuStreamWaitValue32(s, p, 1, 0); d.cuMemsetD8Async(p, 0, 64, s)")


def test_exit_during_allocations_does_not_crash(child):
    child(START + "threading.Thread(target=lambda: (d.cuCtxSetCurrent(c), d.cuMemAlloc(64))).start()")


def test_forked_child_has_no_device(child):
    out = child(
        START + "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"  # of fork with threads
        "d.cuMemsetD8Async(p, 0, 64, s)\n"
        "pid = os.fork()\n"
        "if pid == 0: print(d.cuMemAlloc(64)[0].name, d.cuInit(0)[0].name, flush=True); os._exit(0)\n"
        "os.waitpid(pid, 0); print(d.cuMemAlloc(64)[0].name)"
    )
    assert out.split() == ["CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_NOT_INITIALIZED", "CUDA_SUCCESS"]


def test_child_forked_before_the_initialization_can_initialize(child):
    out = child(
        "import os\nfrom cuda.bindings import driver as d\npid = os.fork()\n"
        "if pid == 0: print(d.cuInit(0)[0].name, flush=True); os._exit(0)\nos.waitpid(pid, 0)"
    )
    assert out.split() == ["CUDA_SUCCESS"]


def test_many_short_threads_can_use_their_streams(child):
    child(
        START + "def work():\n d.cuCtxSetCurrent(c); d.cuMemsetD8Async(p, 0, 64, d.CUstream(2))\n"
        "for _ in range(200):\n t = threading.Thread(target=work); t.start(); t.join()\n"
        "assert d.cuCtxSynchronize()[0] == 0"
    )


def test_hundreds_of_streams_do_not_start_hundreds_of_threads(child):
    child(
        START + "streams = [d.cuStreamCreate(1)[1] for _ in range(300)]\n"
        "for q in streams: d.cuMemsetD8Async(p, 0, 64, q)\n"
        "assert d.cuCtxSynchronize()[0] == 0\n"
        "assert len(os.listdir('/proc/self/task')) < 200"
    )


HOST_FUNCTION = (
    "import ctypes, time\nHOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)\n"
    "begun = []\ndef called(_): begun.append(1); print('begin', flush=True); time.sleep({}); print('end', flush=True)\n"
    "f = HOST(called); g = d.CUhostFn(ctypes.cast(f, ctypes.c_void_p).value)\n"
)


def test_exit_waits_for_a_short_host_function(child):
    out = child(
        START + HOST_FUNCTION.format(0.2) + "for _ in range(3): d.cuLaunchHostFunc(s, g, 0)\nwhile not begun: pass"
    )
    assert out == "begin\nend\n" * out.count("begin")


def test_exit_does_not_wait_for_a_long_host_function(child):
    assert child(START + HOST_FUNCTION.format(30) + "d.cuLaunchHostFunc(s, g, 0)\nwhile not begun: pass") == "begin\n"


def test_streams_skip_host_functions_after_interpreter_exit(child):
    out = child(
        START + HOST_FUNCTION.format(0) + "import cuda.emulator; cuda.emulator._active().emulator_stop_callbacks(0)\n"
        "d.cuLaunchHostFunc(s, g, 0); print(d.cuStreamSynchronize(s)[0].name)"
    )
    assert out.split() == ["CUDA_SUCCESS"]


@pytest.mark.parametrize("words", ["races", "initialized", "all", "memory,races", "races,initialized"])
def test_every_check_includes_memory_check(child, words):
    out = child(START + WILD, CHECK=words, CACHE_DIR="none")
    assert "store of 4 bytes" in out and "k.cu:1" in out
    assert "CUDA_EMULATOR_CHECK" not in out


CAPABILITIES = "7.5, 8.0, 8.6, 8.7, 8.8, 8.9, 9.0, 10.0, 10.3, 10.7, 11.0, 12.0, 12.1"
WRONG = [
    ("DEVICES", "0.5", "it must be a whole number from 0 to 8"),
    ("DEVICES", "9", "it must be a whole number from 0 to 8"),
    ("DEVICES", "-1", "it must be a whole number from 0 to 8"),
    ("DEVICES", "two", "it must be a whole number from 0 to 8"),
    ("MEMORY", "1K", "it must be a size from 1M to 1024G, such as 512M"),
    ("MEMORY", "nan", "it must be a size from 1M to 1024G, such as 512M"),
    ("THREADS", "1.5", "it must be a whole number from 0 to 1024"),
    ("TIME_LIMIT", "inf", "it must be a number of seconds from 0 to 1000000000"),
    ("LEAKS", "0.5", "it must be 0 or 1"),
    ("KEEP_GOING", "0", "it must be a whole number from 1 to 1000"),
    ("MODE", "shuffle:abc", "it must be eager, deterministic, shuffle, or shuffle:SEED with a whole number"),
    ("MODE", "shuffle:", "it must be eager, deterministic, shuffle, or shuffle:SEED with a whole number"),
    ("MODE", "shuffle:1x", "the seed must be a whole number from 0 to 18446744073709551615"),
    ("MODE", "lazy", "it must be eager, deterministic, shuffle, or shuffle:SEED with a whole number"),
    ("COMPUTE_CAPABILITY", "99999999999.1", f"it must be one of {CAPABILITIES}"),
    ("COMPUTE_CAPABILITY", "7.99", f"it must be one of {CAPABILITIES}"),
    ("COMPUTE_CAPABILITY", "9", f"it must be one of {CAPABILITIES}"),
    ("DRIVER_VERSION", "1.0", "it must be a version from 11.0 to 13.5, such as 12.4 or 12040"),
    ("DRIVER_VERSION", "99999999999.1", "it must be a version from 11.0 to 13.5, such as 12.4 or 12040"),
    ("DRIVER_VERSION", "12041", "it must be a version from 11.0 to 13.5, such as 12.4 or 12040"),
    ("CHECK", "memory,race", "it must be none, all, or a list of memory, sync, initialized, races, stack and rows"),
    ("CHECK", "sometimes", "it must be none, all, or a list of memory, sync, initialized, races, stack and rows"),
    ("FAIL", "nonsense", "the text after '=' is not the name or number of an error code"),
]


@pytest.mark.parametrize(("name", "value", "range"), WRONG, ids=lambda value: str(value)[:20])
def test_wrong_variable_is_one_sentence_and_nothing_runs(child, name, value, range):
    out = child("print('ran')", status=2, **{name: value})
    assert out == f"python -m cuda.emulator: CUDA_EMULATOR_{name}={value} is not valid: {range}\n"


@pytest.mark.parametrize("options", [["--shuffle", "3"], ["--coverage", "lines"], ["--advise"], ["--seed", "1"]])
def test_wrong_variable_is_reported_before_children_run(command, options):
    status, out = command(*options, "-c", "print('ran')", CUDA_EMULATOR_DEVICES="9")
    assert status == 2
    assert (
        out == "python -m cuda.emulator: CUDA_EMULATOR_DEVICES=9 is not valid: it must be a whole number from 0 to 8\n"
    )


def test_unknown_check_on_the_command_line_is_one_sentence(command):
    form = "it must be none, all, or a list of memory, sync, initialized, races, stack and rows"
    status, out = command("--check", "bogus", "-c", "print('ran')")
    assert status == 2
    assert out == f"python -m cuda.emulator: CUDA_EMULATOR_CHECK=bogus is not valid: {form}\n"


def test_too_large_seed_is_one_sentence(command):
    status, out = command("--seed", "99999999999999999999", "-c", "print('ran')")
    assert status == 2 and out.count("\n") == 1
    assert "the seed must be a whole number from 0 to 18446744073709551615" in out


@pytest.mark.parametrize(("name", "value"), [("CHECK", "memory,race"), ("FAIL", "nonsense")])
def test_wrong_variable_is_printed_once_without_activation(child, name, value):
    """As in a program in C, the first call prints the sentence and fails."""
    code = (
        "import ctypes\n"
        f"driver = ctypes.CDLL({cuda.emulator.library_path()!r})\n"
        "print(driver.cuInit(0), driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())), flush=True)\n"
        "program = ctypes.c_void_p()\n"
        "print(driver.nvrtcCreateProgram(ctypes.byref(program), b'', None, 0, None, None))"
    )
    out = child(code, device=False, **{name: value})
    assert out.startswith("1 1 3\n3\n")  # INVALID_VALUE, NOT_INITIALIZED; INVALID_INPUT
    assert out.count(f"cuda.emulator: CUDA_EMULATOR_{name}={value} is not valid: ") == 1


@pytest.fixture
def command():
    """Return a function that runs ``python -m cuda.emulator``, and returns its status and what it prints."""

    def run(*arguments, **variables):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
        done = subprocess.run(
            [sys.executable, "-m", "cuda.emulator", *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize(
    ("name", "value"),
    [("MODE", "shuffle:0x10"), ("MEMORY", "1.5G"), ("DRIVER_VERSION", "12040"), ("TIME_LIMIT", "0.5"), ("THREADS", "")],
)
def test_other_forms_of_values_are_accepted(child, name, value):
    assert (
        child("from cuda.bindings import driver as d; print(d.cuInit(0)[0].name)", **{name: value}) == "CUDA_SUCCESS\n"
    )


def test_memory_check_can_be_switched_off(child):
    out = child(START + WILD, CHECK="none")
    assert "k.cu:1" not in out and "CUDA_EMULATOR_CHECK" not in out


def test_names_of_the_package_are_its_public_ones():
    import cuda.emulator

    assert dir(cuda.emulator) == sorted(cuda.emulator.__all__)
