# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Accesses past the end of module variables, and writes to constant ones, are reported with the variable's name."""

import re
import subprocess
import sys

import pytest

SOURCE = r"""
__device__ int whole[16], other[16], odd[5];
__device__ double filled[8] = {1, 2, 3, 4, 5, 6, 7, 8}, next_to_it = 9;
__constant__ int table[64], more[64];
__device__ void put(int* at, int value) { *at = value; }
extern "C" {
__global__ void behind_whole(int* x) { x[0] = whole[threadIdx.x + 16]; }
__global__ void behind_other(int* x) { x[0] = other[threadIdx.x + 16]; }
__global__ void behind_odd(int* x) { odd[threadIdx.x + 5] = 1; }
__global__ void behind_filled(int* x) { filled[threadIdx.x + 8] = 1; }
__global__ void behind_table(int* x) { x[0] = table[threadIdx.x + 64]; }
__global__ void write(int* x) { put(table + threadIdx.x, 1); }
__global__ void write_after_reading(int* x) { x[0] = table[1]; put(table + threadIdx.x, 1); }
__global__ void silent(int* x)
{
    int i = threadIdx.x;
    whole[i] = other[i] = i; odd[i % 5] = i; filled[i % 8] = next_to_it;
    x[0] = table[i] + more[63 - i] + whole[15];
}
}
"""
CHILD = """
import sys
import numpy as np
import cuda.emulator
cuda.emulator.activate()
sys.path[:0] = {path!r}
from support.driver import Driver
from support.compiled import Code, Program
driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
Code(driver, Program({source!r}, "-arch=sm_90").image)({name!r}, 1, {threads}, np.zeros(1, np.int32))
"""


def run(name, threads=1):
    program = CHILD.format(path=sys.path, source=SOURCE, name=name, threads=threads)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("behind_whole", "just past the end of the 64 bytes of __device__ whole"),
        ("behind_other", "just past the end of the 64 bytes of __device__ other"),
        ("behind_odd", "just past the end of the 20 bytes of __device__ odd"),
        ("behind_filled", "just past the end of the 64 bytes of __device__ filled"),
        ("behind_table", "just past the end of the 256 bytes of __constant__ table"),
        ("write", "__constant__ table, which kernels can only read"),
        ("write_after_reading", "__constant__ table, which kernels can only read"),
    ],
)
def test_report_names_the_variable(name, words):
    done = run(name)
    assert words in done.stderr
    assert re.search(r"CUDA_ERROR_ILLEGAL_ADDRESS", done.stderr)


def test_accesses_within_variables_are_not_reported():
    done = run("silent", 16)
    assert (done.returncode, done.stderr) == (0, "")
