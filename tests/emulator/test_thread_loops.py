# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A kernel runs the threads of a block in one loop."""

import ctypes
import re

import numpy as np
import pytest

from support.compiled import Program

SOURCE = r"""
extern "C" __global__ void indices(unsigned* out)
{
    unsigned number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[number] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
}
// Each even thread waits for the next one, by preemption or at a barrier of the warp.
extern "C" __global__ void pairs(volatile unsigned* out)
{
    unsigned t = threadIdx.x;
    if (t % 2 == 0)
        while (out[t + 1] == 0) {
        }
    out[t] = t % 2 ? t : out[t + 1];
}
extern "C" __global__ void some_wait(unsigned* out)
{
    if (threadIdx.x % 64 < 32)
        __syncwarp();
    out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void stacks(unsigned* out)
{
    auto* bytes = static_cast<volatile unsigned*>(__builtin_alloca(40000));
    bytes[9999] = threadIdx.x;
    out[threadIdx.x] = bytes[9999];
}
extern "C" __global__ void parameter(unsigned* out, unsigned value) { out[threadIdx.x] = value++; }
"""


@pytest.fixture(scope="module")
def loops(driver):
    return driver.cuLibraryLoadData(Program(SOURCE).image, [], [], 0, [], [], 0)


@pytest.fixture
def run(driver, loops, memory):
    """Return a function that runs a kernel with one block, and returns what it wrote."""

    def run(name, block, *arguments):
        kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(loops, name.encode())))
        values = (memory, *(value for value, _ in arguments))
        kinds = (ctypes.c_void_p, *(kind for _, kind in arguments))
        driver.cuLaunchKernel(kernel, 1, 1, 1, *block, 0, None, (values, kinds), 0)
        driver.cuCtxSynchronize()
        out = np.zeros(int(np.prod(block)), np.uint32)
        driver.cuMemcpyDtoH(out, memory, out.nbytes)
        return out

    return run


@pytest.mark.parametrize("block", [(1024, 1, 1), (7, 5, 3), (1, 1, 64), (1, 33, 2), (33, 1, 5)])
def test_each_thread_has_its_index(run, block):
    z, y, x = np.indices(block[::-1])
    assert (run("indices", block) == (x + 100 * y + 10000 * z).ravel()).all()


def test_a_thread_can_wait_for_a_later_one(run):
    assert (run("pairs", (512, 1, 1)) == (np.arange(512) | 1)).all()


def test_threads_continue_after_some_have_waited(run):
    assert (run("some_wait", (1000, 1, 1)) == np.arange(1000)).all()


def test_each_thread_frees_its_stack(run):
    assert (run("stacks", (1024, 1, 1)) == np.arange(1024)).all()


def test_each_thread_has_its_copy_of_the_parameters(run):
    assert (run("parameter", (64, 1, 1), (5, ctypes.c_uint32)) == 5).all()


@pytest.mark.parametrize("elements", [-1, 16, 1 << 33, 1 << 40, 1 << 46, -(1 << 60)])
def test_any_address_is_reported_with_its_access(child, elements):
    text = child(f"""
import ctypes
from cuda.core import Device, LaunchConfig, Program, launch
device = Device(); device.set_current(); stream = device.create_stream()
code = Program('extern "C" __global__ void wild(int* p, long long i) {{ p[i] = 1; }}', "c++").compile("cubin")
buffer = device.allocate(64, stream=stream)
print("at", hex((int(buffer.handle) + 4 * {elements}) % (1 << 64)))
launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("wild"), buffer, ctypes.c_longlong({elements}))
try: stream.sync()
except Exception as error: print(error)
""")
    address = re.search("at (0x[0-9a-f]+)", text)[1]
    assert f"illegal address: store of 4 bytes at {address}" in text
