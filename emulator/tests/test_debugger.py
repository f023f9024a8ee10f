# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whole programs in gdb: ``python -m cuda.emulator --gdb program.cu``."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requires(command="gdb", compiler=True, source=True)

PROGRAM = """\
#include <cstdio>
__device__ int square(int v)
{
    int r = v * v;
    return r;
}
__global__ void fill(int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = square(i);
}
// gdb moves breakpoints in the kernel to the next line of the host's code, as long as the kernel is not loaded.
int sum(const int* values, int n)
{
    int total = 0;
    for (int i = 0; i < n; ++i)
        total += values[i];
    return total;
}
int main(int argc, char** argv)
{
    int *out, start[2] = {1, 2}, n = sum(start, 2) * 16;
    cudaMallocManaged(&out, n * sizeof(int));
    fill<<<2, 32>>>(out, n);
    cudaDeviceSynchronize();
    printf("sum %d\\n", sum(out, n));
    return 3;
}
"""
STORE = "kernel break program.cu:11"


def debug(tmp_path, *steps, program=PROGRAM):
    """Run the program in gdb with these commands, and return what gdb and the program print."""
    path = tmp_path / "program.cu"
    path.write_text(program)
    settings = {"CUDA_EMULATOR_GDB": "-batch " + " ".join(f'-ex "{step}"' for step in steps)}
    command = [sys.executable, "-m", "cuda.emulator", "--gdb", path]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


def places(output):
    """Return the blocks and threads that "kernel where" has printed."""
    found = re.findall(r"block \((\d+), 0, 0\), thread \((\d+), 0, 0\)", output)
    return [(int(block), int(thread)) for block, thread in found]


def test_main_is_that_of_the_program(tmp_path):
    out, errors = debug(tmp_path, "break main", "run", "print argc", "kernel where", "kernel thread 1", "continue")
    assert "hit Breakpoint 1, main (argc=1, argv=0x" in out, out
    assert "$1 = 1" in out and "sum 35720" in out and "exited with code 03" in out, out
    assert errors.count("thread 1 of gdb runs no kernel, and no other does") == 2, errors


def test_step_enters_functions_of_the_program_only(tmp_path):
    out, _ = debug(tmp_path, "break program.cu:25", "run", "step", STORE, "continue", "step", "bt 1")
    assert "fill (out=0x" in out and "square (v=0) at" in out, out
    assert "cuda/emulator/" not in out.partition("#0")[0], out  # in headers of the device


def test_kernel_breakpoint_ignores_host_functions(tmp_path):
    out, _ = debug(tmp_path, f"{STORE} block 0 thread 0", STORE, "run", "kernel where", "info symbol $pc")
    assert places(out) == [(0, 0)], out
    assert "fill(int*, int)" in out and "sum (" not in out, out


def test_built_in_variables_have_values(tmp_path):
    values = ["threadIdx", "threadIdx.x + blockIdx.x * blockDim.x", "gridDim.x", "i"]
    out, _ = debug(tmp_path, f"{STORE} block 1 thread 5", "run", *(f"print {value}" for value in values))
    assert "$1 = {x = 5, y = 0, z = 0}" in out, out
    assert re.findall(r"\$[2-4] = (\d+)", out) == ["37", "2", "37"], out


def test_condition_uses_built_in_variables(tmp_path):
    stop = "break program.cu:11 if threadIdx.x == 9 && blockIdx.x == 1"
    out, _ = debug(tmp_path, "break main", "run", STORE, "continue", "delete", stop, "continue", "kernel where")
    assert places(out) == [(1, 9)], out


def test_thread_is_reached_past_breakpoints_at_its_line(tmp_path):
    steps = ["run", "kernel where", "kernel thread 9", "kernel where", "continue", "kernel where"]
    out, _ = debug(tmp_path, STORE, *steps)
    assert places(out) == [(0, 0), (0, 9), (0, 10)], out  # the breakpoint holds afterwards


def test_thread_that_does_not_come_ends_the_program(tmp_path):
    out, errors = debug(tmp_path, STORE, "run", "kernel thread 77", "kernel where", "kernel thread 1")
    assert "sum 35720" in out and "exited with code 03" in out, out
    assert errors.count("the program is not running") == 2, errors


def test_other_threads_are_chosen_at_a_source_line(tmp_path):
    _, errors = debug(tmp_path, STORE, "run", "up 4", "kernel thread 1")
    assert 'there is no source line here; go to one of the kernel with "down"' in errors, errors


def test_error_names_the_thread_that_runs_a_kernel(tmp_path):
    steps = ["python for t in gdb.selected_inferior().threads(): 'emu-memory' != t.name or t.switch()", "kernel where"]
    _, errors = debug(tmp_path, STORE, "run", *steps)
    assert re.search(r'thread \d+ of gdb runs no kernel; select one that does with "thread \d+"', errors), errors


FAULTY = """\
#include <cstdio>
__device__ int value(int i, int n)
{
    return 12 / (n - i);
}
__global__ void fill(int* out, int n)
{
    int i = threadIdx.x;
    out[i] = value(i, n);
}
int main()
{
    int* out;
    cudaMalloc(&out, 5 * sizeof(int));
    fill<<<1, 8>>>(out, %d);
    printf("%%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""
# By n: the thread that fails, how, at which line, and the error.
FAULTS = {
    6: (5, "illegal address", "out[i] = value(i, n);", "accessed memory"),
    3: (3, "integer division by zero", "return 12 / (n - i);", "ended abnormally"),
}


@pytest.mark.parametrize("n", FAULTS)
def test_failing_kernel_stops_at_its_line(tmp_path, n):
    thread, title, line, error = FAULTS[n]
    out, _ = debug(tmp_path, "run", "print i", "continue", program=FAULTY % n)
    before, _, after = out.partition(f"Kernel fault: {title}")
    assert line in after and places(after) == [(0, thread)] and f"$1 = {thread}" in after, out
    assert error in after and error not in before, out
