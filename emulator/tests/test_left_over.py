# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What an interrupted compilation leaves behind, and a process with a limit on the size of files."""

import os
import sys

import pytest

COMPILE = f"""
import os, signal, sys, threading, time
sys.path[:0] = {sys.path!r}
os.environ["TMPDIR"] = TMPDIR
from support.compiled import Program
from cuda.bindings import nvrtc
import ctypes
SOURCE = '''
template <int N> __device__ int sum(int x) {{{{ return x + sum<N - 1>(x * N); }}}}
template <> __device__ int sum<0>(int x) {{{{ return x; }}}}
extern "C" __global__ void k(int* x) {{{{ x[0] = sum<300>(x[1]) + %s; }}}}
'''
def compile(number, options=("-arch=sm_90",)):
    return Program(SOURCE % number, *options)
""".replace("{{", "{").replace("}}", "}")

CANCEL = """
stop = False
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def asked(*_):
    return stop
library = ctypes.CDLL(cuda.emulator.library_path())
def cancel(number, after):
    global stop
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), (SOURCE % number).encode(), b"", 0, None, None)
    library.nvrtcSetFlowCallback(program, asked, None)
    stop, timer = False, threading.Timer(after, interrupt)
    timer.start()
    result = library.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-arch=sm_90"))
    timer.join()
    return result
def interrupt():
    global stop
    stop = True
for i in range(8):
    print(cancel(i, 0.03 + i * 0.05))
"""
EXITS = {
    "daemon": "threading.Thread(target=compile, args=(1,), daemon=True).start(); time.sleep(DELAY)",
    "sys.exit": "threading.Thread(target=compile, args=(2,), daemon=True).start(); time.sleep(DELAY); sys.exit(0)",
    "two threads": "for i in (3, 4): threading.Thread(target=compile, args=(i,), daemon=True).start()\\n"
    "time.sleep(DELAY)",
    "fork": "threading.Thread(target=compile, args=(5,), daemon=True).start(); time.sleep(DELAY)\\n"
    "child = os.fork()\\nif child: os.waitpid(child, 0)",
    "interrupt": "threading.Thread(target=compile, args=(6,), daemon=True).start(); time.sleep(DELAY)\\n"
    "try: signal.raise_signal(signal.SIGINT)\\nexcept KeyboardInterrupt: pass",
}


def processes_below(folder):
    """Return the processes whose temporary directory is below a directory: compilers."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if f"TMPDIR={folder}/cuda".encode() in file.read():
                    found.append(process)
        except OSError:  # it has ended
            continue
    return found


def test_canceled_compilations_leave_no_files(child, tmp_path):
    code = COMPILE.replace("= TMPDIR", f"= {str(tmp_path)!r}")
    out = child(code + "import cuda.emulator\n" + CANCEL, CACHE_DIR="none").split()
    assert out.count("16") >= 5 and len(out) == 8  # NVRTC_ERROR_CANCELLED
    assert os.listdir(tmp_path) == [] and processes_below(tmp_path) == []


@pytest.mark.parametrize("name", EXITS)
def test_exit_during_a_compilation_leaves_no_files(child, tmp_path, name):
    code = COMPILE.replace("= TMPDIR", f"= {str(tmp_path)!r}")
    for delay in (0.05, 0.3):
        child(code + EXITS[name].replace("DELAY", str(delay)).replace("\\n", "\n"), CACHE_DIR="none")
        assert os.listdir(tmp_path) == [] and processes_below(tmp_path) == []


# --- Limits on the size of files ------------------------------------------------------------------

LIMITED = f"""
import resource, signal, sys
sys.path[:0] = {sys.path!r}
resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as in a program in C; Python ignores it
import numpy as np
from support.compiled import Code, Program
from support.driver import Driver
driver = Driver()
result = driver.result("cuInit", 0)
print(result)
if result == "SUCCESS":
    context = driver.cuCtxCreate(None, 0, 0)
    x = np.zeros(32, "i4")
"""
RUN = LIMITED + (
    "    image = Program('extern \"C\" __global__ void k(int* x) { x[threadIdx.x] = 3; }', '-arch=sm_90').image\n"
    "    Code(driver, image)('k', 1, 32, x)\n"
    "    print(x.sum())\n"
)
MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("limit", "memory", "runs"),
    [
        (64 * 1024, "4G", False),
        (GIB - 1, "16M", False),
        (GIB, "1G", True),
        (4 * GIB, "4G", True),
        (4 * GIB - 1, "4G", False),
        (GIB, "4G", False),
    ],
)
def test_file_size_limit_fails_cuinit_or_nothing(child, limit, memory, runs):
    out = child(RUN.replace("LIMIT,", f"{limit},").replace(", LIMIT)", f", {limit})"), MEMORY=memory)
    if runs:
        assert out == "SUCCESS\n96\n"
    else:
        assert out.startswith("OUT_OF_MEMORY\n") and out.count("\n") == 2
        assert f"the file size limit (ulimit -f) of {limit} bytes is too small" in out
        assert "set CUDA_EMULATOR_MEMORY" in out


def test_file_size_limit_fails_larger_allocations(child):
    code = LIMITED.replace("LIMIT,", f"{GIB},").replace(", LIMIT)", f", {GIB})") + (
        "    properties = driver.CUmemAllocationProp()\n"
        "    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED\n"
        "    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE\n"
        "    print(driver.result('cuMemCreate', 1 << 30, properties, 0))\n"
        "    print(driver.result('cuMemCreate', 1 << 29, properties, 0))\n"
    )
    assert child(code, MEMORY="1G").split() == ["SUCCESS", "OUT_OF_MEMORY", "SUCCESS"]


def test_small_file_size_limit_fails_a_compilation(child):
    code = LIMITED.replace("LIMIT,", f"{GIB},").replace(", LIMIT)", f", {GIB})") + (
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "    program = Program('extern \"C\" __global__ void k(int* x) { x[0] = 3; }', '-arch=sm_90')\n"
        "    print(program.result != 'SUCCESS' and program.log != '')\n"
    )
    assert child(code, MEMORY="1G", CACHE_DIR="none").split() == ["SUCCESS", "True"]
