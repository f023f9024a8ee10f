# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that call the software device through the driver API; their tests are skipped on a GPU."""

import subprocess
import sys

import pytest

import cuda.emulator
from support.compiled import Program
from support.work import settle


class Driver:
    """``cuda.bindings.driver`` with calls that return their value, or raise an error with the name of the result."""

    class Error(Exception):
        def __init__(self, call, result):
            super().__init__(f"{call}: {result.name}")
            self.result = result

    def __init__(self):
        from cuda.bindings import driver

        self.raw = driver

    def __getattr__(self, name):
        value = getattr(self.raw, name)
        if not name.startswith("cu") or name.startswith("cuuint"):
            return value

        def call(*arguments):
            result, *rest = value(*arguments)
            if result != 0:
                raise Driver.Error(name, result)
            return rest[0] if len(rest) == 1 else tuple(rest)

        return call

    def zeros(self, size):
        """Return zeroed memory that any stream may use: the fill is asynchronous, and is waited for here."""
        pointer = self.cuMemAlloc(size)
        self.cuMemsetD8(pointer, 0, size)
        self.cuCtxSynchronize()
        return pointer

    def result(self, name, *arguments):
        """Return the name of the result of a call, without CUDA_ERROR_."""
        return getattr(self.raw, name)(*arguments)[0].name.removeprefix("CUDA_").removeprefix("ERROR_")


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    import numpy as np

    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def driver():
    cuda.emulator.activate()
    driver = Driver()
    driver.cuInit(0)
    return driver


@pytest.fixture
def context(driver):
    """A new context of device 0, which is current, and in which the test must not leak anything.

    It is not the primary one, because other tests in the process may use that.
    """
    before = set(cuda.emulator.leaks())
    context = driver.cuCtxCreate(None, 0, 0)
    yield context
    driver.cuCtxDestroy(context)
    left = set(cuda.emulator.leaks()) - before
    if left:  # what earlier tests dropped may have been retired meanwhile
        settle()
    assert not left & set(cuda.emulator.leaks())


@pytest.fixture
def memory(driver, context):
    """The address of 4096 zero bytes."""
    pointer = driver.zeros(4096)
    yield int(pointer)
    driver.cuMemFree(pointer)


@pytest.fixture
def there(driver, context):
    """A context of device 1, which is not current."""
    other = driver.cuCtxCreate(None, 0, 1)
    driver.cuCtxPopCurrent()
    yield other
    driver.cuCtxDestroy(other)


@pytest.fixture
def queue(driver, context):
    """A stream that does not wait for the legacy one."""
    return driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)


SOURCE = r"""
extern "C" __global__ void nothing() {}
extern "C" __global__ void add(int *out, int value) { atomicAdd(out, value); }
extern "C" __global__ void store(long long *out, char a, short b, int c, long long d, float e, double f)
{ out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = (long long)e; out[5] = (long long)f; }
extern "C" __global__ void scale(float a, float *x, size_t n)
{ size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
extern "C" __global__ void wait_for(volatile int *flag, int *out) { while (*flag == 0) ; *out = *flag; }
extern "C" __global__ void slow(int *out, int value) { __nanosleep(2000000); *out = value; }
extern "C" __global__ void __launch_bounds__(128) bounded() {}
extern "C" __global__ void wild(int *p, long long i) { p[i] = 1; }
extern "C" __global__ void shared_bytes(int *out)
{ extern __shared__ int s[]; __shared__ int t[64];
  t[threadIdx.x % 64] = 1; s[threadIdx.x] = 2; __syncthreads(); *out = s[0] + t[0]; }
__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void count(int *out) { atomicMax(out, atomicAdd(&counter, 1)); }
"""


@pytest.fixture(scope="session")
def image(driver):
    """The kernels above, compiled once."""
    return Program(SOURCE, "--gpu-architecture=sm_90").image


@pytest.fixture
def library(driver, image):
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
    yield library
    driver.raw.cuLibraryUnload(library)


@pytest.fixture
def kernel(driver, library):
    """Return a function that returns kernels by name, as the type that launches take."""
    return lambda name: driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))


@pytest.fixture
def child():
    """Return a function that runs code in a new process on the software device, and returns its output."""

    def run(code, *, device=True, status=0, **variables):
        import os

        prefix = ["-m", "cuda.emulator"] if device else []
        environment = {**os.environ, **{f"CUDA_EMULATOR_{key}": str(value) for key, value in variables.items()}}
        environment.pop("CUDA_CORE_DEVICE", None)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(
            [sys.executable, *prefix, "-c", code], capture_output=True, text=True, env=environment, timeout=60
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    return run
