# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The device of the tests, their fixtures, and the marker by which a test states its needs."""

import gc
import os
import signal
import subprocess
import sys

import pytest

import cuda.emulator
from support.capabilities import capabilities
from support.compiled import Program
from support.driver import Driver


def pytest_configure(config):
    # Shells start background jobs with Ctrl-C ignored, which child processes of tests would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "requires(**needs): skip if the machine lacks a capability")
    # Kernels also run on a GPU, which shows that the tests are right; the other tests are skipped there.
    if os.environ.get("CUDA_CORE_DEVICE") != "hardware":
        cuda.emulator.activate()


def pytest_collection_modifyitems(items):
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        needs = {"device": True} if {"device", "stream"} & fixtures else {}
        if "driver" in fixtures:
            needs["software"] = True
        # Each marker by itself, because two can name the same capability, such as two commands.
        marked = [mark.kwargs for mark in item.iter_markers("requires")]
        reason = next(filter(None, map(capabilities().missing, [needs, *marked])), None)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish():
    """Hide the collected tests from the garbage collector, because most objects belong to them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Recover the device after a failed test, so that the next ones do not fail because of its kernels."""
    report = yield
    if report.failed and cuda.emulator.is_active():
        cuda.emulator.reset()
    return report


@pytest.fixture
def device():
    """Device 0, current on this thread."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    """A new stream on device 0, idle and closed when the test ends."""
    with device.create_stream() as stream:
        yield stream
        stream.sync()


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    import numpy as np

    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def driver():
    driver = Driver()
    driver.cuInit(0)
    return driver


@pytest.fixture
def context(driver):
    """A new context of device 0, current on this thread, which the test must leave without leaks.

    It is not the primary context, because other tests of the process may use that one.
    """
    before = set(cuda.emulator.leaks())
    context = driver.cuCtxCreate(None, 0, 0)
    yield context
    driver.cuCtxDestroy(context)
    assert set(cuda.emulator.leaks()) <= before


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
    """A stream that does not wait for the legacy stream."""
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
    """The kernels of SOURCE, compiled once."""
    return Program(SOURCE, "--gpu-architecture=sm_90").image


@pytest.fixture
def library(driver, image):
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
    yield library
    driver.raw.cuLibraryUnload(library)


@pytest.fixture
def kernel(driver, library):
    """Return a function that returns kernels by name, as the type that launches accept."""
    return lambda name: driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))


@pytest.fixture(scope="session")
def child():
    """Return a function that runs code in a new process on the software device, and returns its output."""

    def run(code, *, device=True, status=0, **variables):
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
