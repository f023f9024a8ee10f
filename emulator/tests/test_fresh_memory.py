# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fresh and reused memory has a pattern, and large memory that nobody touches costs nothing."""

import ctypes
import resource
import time

import numpy as np
import pytest

import cuda.emulator
from support.compiled import Program

pytestmark = pytest.mark.requires(software=True)

SOURCE = r"""
__device__ void keep(int* values, int* out) { out[0] = values[threadIdx.x % 8]; }
extern "C" __global__ void static_shared(int* out) { __shared__ int s[300]; out[0] = s[299]; }
extern "C" __global__ void dynamic_shared(int* out) { extern __shared__ int s[]; out[0] = s[31]; }
extern "C" __global__ void heap(int* out) { int* p = (int*)malloc(64); out[0] = p[15]; free(p); }
extern "C" __global__ void local(int* out, int n) { int v[8]; for (int i = 0; i < n; ++i) v[i] = i; out[0] = v[n]; }
extern "C" __global__ void copy(const char* in, char* out, long long n, int step)
{
    for (long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * step; i < n;
         i += (long long)gridDim.x * blockDim.x * step)
        out[i] = in[i];
}
"""
FRESH, LOCAL = 0xFD, 0xFE
SIZES = [1, 100, 4096, 200_000, 300_000, 5_000_001]


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "-arch=sm_90").image


@pytest.fixture
def launch(driver, context, image):
    """Return a function that launches a kernel with addresses and integers."""
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)

    def launch(name, *arguments, threads=1, blocks=1, shared=128):
        kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))
        types = tuple(ctypes.c_longlong if abs(value) > 1 << 30 else ctypes.c_int for value in arguments)
        driver.cuLaunchKernel(
            kernel, blocks, 1, 1, threads, 1, 1, shared, driver.CUstream(0), (tuple(arguments), types), 0
        )
        driver.cuCtxSynchronize()

    yield launch
    driver.raw.cuLibraryUnload(library)


def read(driver, pointer, size):
    out = np.zeros(size, np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, size)
    return out


@pytest.mark.parametrize("size", SIZES)
def test_device_memory_has_the_pattern_also_when_reused(driver, context, size):
    for _ in range(20):  # more bytes than the quarantine holds
        pointer = driver.cuMemAlloc(size)
        assert (read(driver, pointer, size) == FRESH).all()
        driver.cuMemsetD8(pointer, 1, size)
        assert (read(driver, pointer, size) == 1).all()
        driver.cuMemFree(pointer)


@pytest.mark.parametrize("size", SIZES)
def test_kernels_find_the_pattern_in_device_memory(driver, launch, size):
    source, target = driver.cuMemAlloc(size), driver.cuMemAlloc(size)
    part = size // 3
    driver.cuMemsetD8(int(source) + part, 7, part)
    launch("copy", int(source), int(target), size + (1 << 40) - (1 << 40), 1, threads=128, blocks=4)
    out = read(driver, target, size)
    expected = np.full(size, FRESH, np.uint8)
    expected[part : 2 * part] = 7
    assert np.array_equal(out, expected)
    driver.cuMemFree(source)
    driver.cuMemFree(target)


def test_pool_memory_has_the_pattern(driver, context):
    stream = driver.cuStreamCreate(0)
    for size in SIZES:
        pointer = driver.cuMemAllocAsync(size, stream)
        driver.cuStreamSynchronize(stream)
        assert (read(driver, pointer, size) == FRESH).all()
        driver.cuMemFreeAsync(pointer, stream)
    driver.cuStreamDestroy(stream)


@pytest.mark.parametrize("size", SIZES)
def test_pinned_memory_has_the_pattern_also_when_reused(driver, context, size):
    for _ in range(20):
        address = driver.cuMemAllocHost(size)
        memory = np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(int(address)))
        assert (memory == FRESH).all()
        memory[:] = 1
        driver.cuMemFreeHost(address)


@pytest.mark.parametrize("name", ["static_shared", "dynamic_shared", "heap"])
def test_memory_of_a_block_has_the_pattern(driver, launch, name):
    out = driver.zeros(4)
    for _ in range(2):
        launch(name, int(out))
        assert (read(driver, out, 4) == FRESH).all()
    driver.cuMemFree(out)


def test_local_variables_have_the_pattern(driver, launch):
    out = driver.zeros(4)
    launch("local", int(out), 3)
    assert (read(driver, out, 4) == LOCAL).all()
    driver.cuMemFree(out)


def test_managed_memory_is_zero(driver, context):
    pointer = driver.cuMemAllocManaged(4096, 1)
    assert not read(driver, pointer, 4096).any()
    driver.cuMemFree(pointer)


def test_large_memory_that_nobody_touches_costs_nothing(driver, launch):
    size = 2 << 30
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    begin = time.process_time()
    pointer = driver.cuMemAlloc(size)
    seconds = time.process_time() - begin
    pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert seconds < 0.05 and pages < 2000
    out = driver.zeros(64)
    launch("copy", int(pointer) + size - 64, int(out), 64, 1)
    assert (read(driver, out, 64) == FRESH).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 6000
    driver.cuMemFree(out)
    driver.cuMemFree(pointer)


READ = """
import cuda.emulator
import numpy as np
from cuda.bindings import driver as d
d.cuInit(0)
d.cuCtxCreate(None, 0, 0)
for size in (64, 3_000_000):
    pointer = d.cuMemAlloc(size)[1]
    out = np.ones(size, np.uint8)
    d.cuMemcpyDtoH(out.ctypes.data, pointer, size)
    print(*np.unique(out))
"""


@pytest.mark.parametrize(("value", "byte"), [("0", 0), ("0xff", 255), ("16", 16)])
def test_variable_chooses_the_byte(child, value, byte):
    assert child(READ, FILL=value).split() == [str(byte)] * 2


DECOMPRESS = r"""
from cuda.core import Device, DeviceMemoryResource, LegacyPinnedMemoryResource
from cuda.core.utils import decompress_batch
import numpy as np
device = Device()
device.set_current()
stream = device.create_stream()
memory = LegacyPinnedMemoryResource()
source, sizes, copy = memory.allocate(6), memory.allocate(4), memory.allocate(300_000)
np.asarray(source)[:] = np.frombuffer(b"\x50abcde", np.uint8)
target = device.memory_resource.allocate(300_000, stream=stream)
decompress_batch(stream, [source], [target], sizes, algorithm="lz4")
copy.copy_from(target, stream=stream)
stream.sync()
print(bytes(np.asarray(copy)[:5]), *np.unique(np.asarray(copy)[5:]))
"""


def test_decompressed_bytes_in_fresh_memory_stay(child):
    assert child(DECOMPRESS, COMPUTE_CAPABILITY="10.0").split() == ["b'abcde'", str(FRESH)]


@pytest.mark.parametrize("value", ["256", "-1", "zero", "0x", "1.5"])
def test_wrong_byte_is_explained(child, value):
    out = child(READ, FILL=value, status=2)
    assert f"CUDA_EMULATOR_FILL={value} is not valid: it must be a byte such as 0xfd, or 0" in out


def test_no_memory_is_left_over(driver, context):
    assert not [line for line in cuda.emulator.leaks() if "cuMemAlloc" in line]
