# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A kernel runs the threads of a block in one loop."""

import ctypes
import re

import numpy as np
import pytest

from support.compiled import Program
from support.compilers import COMPILERS, INSTALLED

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
// All threads but the last wait for the next one, by preemption in the middle of a row.
extern "C" __global__ void chain(unsigned* out)
{
    unsigned number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned last = blockDim.x * blockDim.y * blockDim.z - 1;
    while (number < last && atomicAdd(&out[number + 1], 0) == 0) {
    }
    atomicExch(&out[number], 1 + threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z);
}
extern "C" __global__ void some_exit(unsigned* out)
{
    unsigned number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[number] = 1;
    if (threadIdx.x % 2)
        asm volatile("exit;");
    out[number] = 2 + threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
}
extern "C" __global__ void extents(unsigned* out)
{
    dim3 size = blockDim;
    size = threadIdx.x ? gridDim : size;
    const uint3& grid = gridDim;
    auto chosen = threadIdx.x == 1 ? blockDim : dim3(7, 8, 9);
    out[threadIdx.x] = size.x + 10 * grid.y + 100 * chosen.x;
}
extern "C" __global__ void copies(unsigned* out)
{
    auto index = threadIdx;
    auto extent = blockDim;
    index = make_uint3(4, index.x, 6);
    extent = dim3(7, extent.x);
    unsigned all = index.x + 10 * index.y + 100 * extent.x + 1000 * extent.y + 10000 * extent.z;
    out[threadIdx.x] = all + 100000 * blockDim.x;
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


def test_thread_can_wait_for_a_later_one(run):
    assert (run("pairs", (512, 1, 1)) == (np.arange(512) | 1)).all()


def test_threads_continue_after_some_have_waited(run):
    assert (run("some_wait", (1000, 1, 1)) == np.arange(1000)).all()


def test_each_thread_frees_its_stack(run):
    assert (run("stacks", (1024, 1, 1)) == np.arange(1024)).all()


def test_each_thread_has_its_copy_of_the_parameters(run):
    assert (run("parameter", (64, 1, 1), (5, ctypes.c_uint32)) == 5).all()


@pytest.mark.parametrize("block", [(40, 1, 1), (5, 4, 3)])
def test_thread_keeps_index_after_waiting_in_a_row(run, memory, driver, block):
    driver.cuMemsetD8(memory, 0, 4096)
    z, y, x = np.indices(block[::-1])
    assert (run("chain", block) == 1 + (x + 100 * y + 10000 * z).ravel()).all()


def test_threads_continue_after_some_have_exited(run):
    z, y, x = np.indices((3, 5, 7))
    assert (run("some_exit", (7, 5, 3)) == np.where(x % 2, 1, 2 + x + 100 * y + 10000 * z).ravel()).all()


def test_extents_convert_to_other_types(run):
    assert run("extents", (2, 1, 1)).tolist() == [2 + 10 + 700, 1 + 10 + 200]


def test_copies_of_indices_and_extents_can_be_assigned(run):
    assert run("copies", (2, 1, 1)).tolist() == [212704, 212714]


FAULTS = r"""
import numpy as np
import cuda.emulator
from cuda.core import Device, LaunchConfig, Program, launch
source = '''extern "C" __global__ void faulty(int* out, int bad, int kind)
{
    int number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if (number == bad && kind == 1)
        while (((volatile int*)out)[200] == 0) { // line 5
        }
    int* to = number == bad ? nullptr : out;
    to[number] = number; // line 8
}
'''
device = Device(); device.set_current(); stream = device.create_stream()
kernel = Program(source, "c++").compile("cubin").get_kernel("faulty")
for bad in 39, 104:
    for kind in 0, 1:
        buffer = device.allocate(1024, stream=stream)
        buffer.fill(0, stream=stream)
        launch(stream, LaunchConfig(grid=1, block=(7, 5, 3)), kernel, buffer, np.int32(bad), np.int32(kind))
        try: stream.sync()
        except Exception as error: print(f"{bad}:", str(error).replace("\n", " "))
        cuda.emulator.reset()
"""


@pytest.mark.parametrize("check", ["none", "memory"])
@pytest.mark.parametrize("name", INSTALLED)
def test_fault_inside_a_block_names_thread_and_line(child, name, check):
    text = child(FAULTS, CXX=COMPILERS[name], CHECK=check, TIME_LIMIT=0.05)
    found = re.findall(r"^(\d+): .*default_program:(\d+) in faulty .*thread \((.*?)\) of", text, re.MULTILINE)
    threads = {"39": "4, 0, 1", "104": "6, 4, 2"}
    assert found == [(bad, line, threads[bad]) for bad in threads for line in ("8", "5")]


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
