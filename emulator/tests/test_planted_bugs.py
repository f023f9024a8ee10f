# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels with one bug each are reported with its line, but not the same kernels without the bug."""

import re

import numpy as np
import pytest

from support.compiled import Code, Program
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "bugs.cu").read_text()
THREADS = 32
SIZE = 4 * THREADS

# The result of each bug and a pattern of its report.
ADDRESS, FAILED = "ILLEGAL_ADDRESS", "LAUNCH_FAILED"
BUGS = {
    "global_behind": (
        ADDRESS,
        "store of 4 bytes .* just past the end of the 128 bytes of device memory of device 0 from cuMem",
    ),
    "global_before": (ADDRESS, "load of 4 bytes .* 4 bytes before the 128 bytes of device memory"),
    "dynamic_shared": (ADDRESS, "just past the end of the 128 bytes of dynamic shared memory"),
    "static_shared": (ADDRESS, "store of 4 bytes .* just past the end of the 64 bytes of __shared__ values"),
    # What is found at this distance from the array differs.
    "local_array": (ADDRESS, "load of 4 bytes .*(local variable|not device memory|no memory is allocated there)"),
    "variable": (ADDRESS, "store of 4 bytes .* just past the end of the 64 bytes of __device__ table"),
    "variable_of_40_bytes": (ADDRESS, "store of 8 bytes .* just past the end of the 40 bytes of __device__ factors"),
    "constant": (ADDRESS, "load of 4 bytes .* just past the end of the 64 bytes of __constant__ constants"),
    "heap_after_free": (ADDRESS, r"at offset 36 in the 40 bytes of a malloc\(\) in a kernel, which was freed"),
    "heap_behind": (ADDRESS, r"just past the end of the 40 bytes of a malloc\(\) in a kernel"),
    "free_twice": (None, r"free.*which was freed"),
    "misaligned": ("MISALIGNED_ADDRESS", "store of 8 bytes"),
    "misaligned_atomic": ("MISALIGNED_ADDRESS", "store of 8 bytes"),
    "misaligned_components": ("MISALIGNED_ADDRESS", "load of 16 bytes"),
    "misaligned_make": ("MISALIGNED_ADDRESS", "store of 16 bytes"),
    "misaligned_ldg": ("MISALIGNED_ADDRESS", "load of 16 bytes"),
    "misaligned_shared": ("MISALIGNED_ADDRESS", "load of 16 bytes"),
    "null_pointer": (ADDRESS, "store of 4 bytes at 0x0: a null pointer"),
    "host_pointer": (ADDRESS, "not device memory: host memory"),
    "atomic_behind": (ADDRESS, "store of 4 bytes .* just past the end of the 128 bytes of device memory"),
    "wide_behind": (ADDRESS, "just past the end of the 128 bytes of device memory"),
    "divergent_barrier": (FAILED, r"16 threads wait at __syncthreads\(\).*: 0-15"),
    "barrier_and_warp": (FAILED, r"deadlock.*\n.*31 threads wait at __syncthreads.*\n.*1 thread waits at __syncwarp"),
    "stack_overflow": (FAILED, "stack overflow"),
    "asserted": ("ASSERT", r"Assertion `threadIdx.x != 5 \|\| !bad` failed"),
    "trapped": (FAILED, "trap"),
    # A GPU does not report this: the quotient has all bits set.
    "division_by_zero": (FAILED, "integer division by zero"),
}


def lines_of(bug):
    """Return the lines at which a bug can be reported. Most bugs have one."""
    return {number for number, line in enumerate(SOURCE.splitlines(), 1) if re.search(rf"// at {bug}\b", line)}


def reported_lines(report):
    return {int(line) for line in re.findall(r"bugs\.cu:(\d+)", report)}


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "-arch=sm_90", name="bugs.cu").image


@pytest.fixture
def run(driver, context, image):
    """Return a function that runs a kernel of the file on 32 numbers and returns them."""
    code = Code(driver, image)

    def run(name, bad):
        data = np.zeros(THREADS, np.int32)
        if name == "host_pointer":
            data[:2].view(np.int64)[0] = data.ctypes.data
        threads = 2 * THREADS if name == "global_behind" else THREADS
        code(name, 1, threads, data, THREADS, bad, shared=SIZE)
        return data

    yield run
    code.close()


@pytest.mark.parametrize("bug", BUGS)
def test_bug_is_reported_with_its_line(run, capfd, bug):
    result, words = BUGS[bug]
    with pytest.raises(Exception, match=f"cuCtxSynchronize: CUDA_ERROR_{result or '.*'}$"):
        run(bug, 1)
    report = capfd.readouterr().err
    assert re.search(words, report), report
    assert f"kernel {bug}" in report
    assert reported_lines(report) and reported_lines(report) <= lines_of(bug) | other_waiters(bug), report
    assert re.search(r"block \(0, 0, 0\) of \(1, 1, 1\), thread \(\d+, 0, 0\)", report)


def other_waiters(bug):
    """Return further lines at which threads wait, which a report of a deadlock includes."""
    return {line + 3 for line in lines_of(bug)} if bug == "barrier_and_warp" else set()


@pytest.mark.parametrize("bug", BUGS)
def test_kernel_without_the_bug_is_not_reported(run, capfd, bug):
    run(bug, 0)
    assert capfd.readouterr().err == ""


def test_every_planted_bug_is_tested():
    named = set(re.findall(r"__global__ void (\w+)\(", SOURCE))
    assert named - BUGS.keys() == {"use_after_free", "endless", "wait_for_nobody"}


def test_use_of_freed_memory_is_reported_with_its_allocation(driver, context, image, capfd):
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"use_after_free")))
    pointer = driver.cuMemAlloc(SIZE)

    def launch():
        import ctypes

        arguments = ((int(pointer), THREADS, 0), (ctypes.c_void_p, ctypes.c_int, ctypes.c_int))
        driver.cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, driver.CUstream(0), arguments, 0)
        return driver.result("cuCtxSynchronize")

    assert (launch(), capfd.readouterr().err) == ("SUCCESS", "")
    driver.cuMemFree(pointer)
    assert launch() == ADDRESS
    report = capfd.readouterr().err
    assert "in the 128 bytes of device memory of device 0 from cuMemAlloc" in report
    assert "which was freed" in report
    assert reported_lines(report) == lines_of("use_after_free")
    driver.raw.cuLibraryUnload(library)


ENDLESS = """
import sys
import numpy as np
from cuda.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
options = ProgramOptions(name="bugs.cu")
kernel = Program(open({path!r}).read(), "c++", options).compile("cubin").get_kernel({name!r})
buffer = device.allocate(128, stream=stream)
for bad in (0, 1):
    buffer.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, 32, bad)
    try:
        stream.sync()
        print("ended")
    except CUDAError as error:
        print(error)
"""


@pytest.mark.parametrize("bug", ["endless", "wait_for_nobody"])
def test_time_limit_ends_an_endless_kernel(child, bug):
    out = child(ENDLESS.format(path=str(KERNELS / "bugs.cu"), name=bug), TIME_LIMIT=0.2)
    assert out.startswith("ended\n")
    assert "CUDA_ERROR_LAUNCH_TIMEOUT" in out
    start = min(lines_of(bug))
    assert reported_lines(out) and reported_lines(out) <= {start - 1, start, start + 1}, out
