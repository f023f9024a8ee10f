# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers are neither duplicated nor merged by optimizing compilers, and divergent warps are reported."""

import re

import numpy as np
import pytest

from support.barrier_kernels import BLOCKS, EXPECTED, WIDTH, numbers
from support.compiled import Code, Program
from support.compilers import COMPILERS, INSTALLED
from support.kernel_files import KernelFile
from support.paths import KERNELS

barriers = KernelFile("barriers.cu", headers=True)

RUN_ALL = """
import cuda.emulator
from support.driver import Driver
from support.barrier_kernels import *
from support.compiled import Code, Program
from support.paths import KERNELS

driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
code = Code(driver, Program((KERNELS / "barriers.cu").read_text(), "-arch=sm_90", name="barriers.cu").image)
for name, expected in EXPECTED.items():
    out = np.empty_like(numbers())
    code(name, BLOCKS, WIDTH, numbers(), out)
    if not (out == expected(numbers())).all():
        print(name)
print("end")
"""


@pytest.mark.requires(nvrtc=True)
@pytest.mark.parametrize("name", EXPECTED)
def test_kernels_with_barriers_return_expected_results(stream, name):
    out = np.empty_like(numbers())
    barriers(stream, name, BLOCKS, WIDTH, numbers(), out)
    np.testing.assert_array_equal(out, EXPECTED[name](numbers()))


def test_every_kernel_with_barriers_is_tested():
    text = (KERNELS / "barriers.cu").read_text()
    assert set(re.findall(r"__global__ void (\w+)\(", text)) == EXPECTED.keys()


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", INSTALLED)
def test_each_compiler_keeps_the_barriers(child, compiler, level):
    assert child(RUN_ALL, CXX=f"{COMPILERS[compiler]} {level}") == "end\n"


DIVERGENT = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int n)
{{
    auto block = cg::this_thread_block();
    if (threadIdx.x % 32 < n)
        {call};
    else
        {call};
}}
"""


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("call", ["__syncthreads()", "block.sync()", "cg::sync(block)", "__syncthreads_or(n)"])
def test_threads_of_a_warp_at_different_barriers_are_reported(driver, context, capfd, call):
    source = DIVERGENT.format(call=call)
    lines = [number for number, line in enumerate(source.splitlines(), 1) if call in line]
    code = Code(driver, Program(source, "-arch=sm_90", name="places.cu").image)
    with pytest.raises(Exception, match="LAUNCH_FAILED"):
        code("k", 1, 64, 8)
    report = capfd.readouterr().err
    assert "divergent barrier: threads of one warp meet at __syncthreads() in different places" in report
    assert f"8 threads wait at __syncthreads(), places.cu:{lines[0]} " in report
    assert f"24 threads wait at __syncthreads(), places.cu:{lines[1]} " in report
    assert ": 0-7\n" in report
    code.close()


@pytest.mark.requires(software=True)
def test_different_warps_can_wait_at_different_barriers(driver, context, capfd):
    source = """
extern "C" __global__ void k(int* x)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""
    code = Code(driver, Program(source, "-arch=sm_90").image)
    x = np.empty(64, np.int32)
    code("k", 1, 64, x)
    assert (x.tolist(), capfd.readouterr().err) == (list(range(63, -1, -1)), "")
    code.close()
