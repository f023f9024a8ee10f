# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An access that leaves one allocation or array does not reach the next, and the report names both."""

import re

import numpy as np
import pytest

import cuda.emulator
from support.compiled import Code, Program

pytestmark = pytest.mark.requires(software=True)

SOURCE = r"""
__shared__ float first_outside[16], second_outside[16];
struct Pair { int a; double b; };
__shared__ Pair pair;
template <class T> __device__ void put(T* p, int i, T value) { p[i] = value; }
extern "C" {
__global__ void store(int* p, long long i) { p[i] = 1; }
__global__ void inside(int* out, int i)
{
    __shared__ int first[16], second[16];
    second[i & 15] = 2;
    put(first, i, 1);
    out[0] = second[i & 15];
}
__global__ void large(int* out, int i)
{
    __shared__ int tile[32][32], next[32];
    next[0] = tile[0][0] = 0;
    put(&tile[0][0], i, 1);
    out[0] = next[0] + tile[0][0];
}
__global__ void outside(int* out, int i)
{
    pair.a = 1; pair.b = 2;
    second_outside[i & 15] = 2;
    put(first_outside, i, 1.0f);
    out[0] = int(second_outside[i & 15]) + sizeof first_outside + pair.a + int(pair.b);
}
__global__ void use_heap(int* out, int i)
{
    volatile int* p = static_cast<int*>(malloc(64));
    p[i] = 1;
    out[0] = p[i];
    free((void*)p);
}
}
"""


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "-arch=sm_90").image


@pytest.fixture
def code(driver, context, image):
    code = Code(driver, image)
    yield code
    code.close()


@pytest.fixture
def kernel(driver, context, image):
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
    yield lambda name: driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))
    driver.raw.cuLibraryUnload(library)


@pytest.fixture
def report(driver, kernel, capfd):
    """Return a function that stores to p[i] and returns the report, or "" without a fault."""

    def run(pointer, index):
        import ctypes

        arguments = ((int(pointer), index), (ctypes.c_void_p, ctypes.c_longlong))
        driver.cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, driver.CUstream(0), arguments, 0)
        result = driver.result("cuCtxSynchronize")
        cuda.emulator.reset()
        text = capfd.readouterr().err
        assert (result == "SUCCESS") == (text == ""), text
        return text

    return run


@pytest.fixture
def pair(driver, context):
    """Two neighbors of 400 bytes: the closest of many, because memory of earlier tests can lie between two."""
    pointers = sorted((driver.cuMemAlloc(400) for _ in range(32)), key=int)
    nearest = min(range(31), key=lambda index: int(pointers[index + 1]) - int(pointers[index]))
    yield pointers[nearest : nearest + 2]
    for pointer in pointers:
        driver.cuMemFree(pointer)


A = r"the 400 bytes of device memory of device 0 from cuMemAlloc_v2, driver call \d+"


def test_red_zone_is_wider_than_the_alignment(report, pair):
    first, second = sorted(map(int, pair))
    assert second - first > 1024
    for index in (100, 127, 128, (second - first) // 4 - 1):
        side = "before" if index <= 128 else "after"
        assert f"in the red zone {side} the 400 bytes" in report(first, index)


@pytest.mark.parametrize(("index", "words"), [(100, "just"), (103, "12 bytes"), (128, "112 bytes")])
def test_store_past_the_end_names_both_allocations(report, pair, index, words):
    text = report(min(map(int, pair)), index)
    assert re.search(rf"{words} past the end of {A}, in the red zone before {A}\n", text), text
    calls = re.findall(r"driver call (\d+)", text)
    assert len(set(calls)) == 2


def test_store_to_freed_pool_memory_names_the_allocation(report, driver, context):
    stream = driver.CUstream(0)
    pointer = driver.cuMemAllocAsync(400, stream)
    driver.cuMemFreeAsync(pointer, stream)
    text = report(pointer, 25)
    assert re.search(r"at offset 100 in the 400 bytes of .* from cuMemAllocAsync, .*, which was freed", text), text


def test_stores_within_both_allocations_are_not_reported(report, pair):
    for pointer in pair:
        assert report(pointer, 0) == report(pointer, 99) == ""


def test_store_before_the_first_allocation_is_reported(report, pair):
    text = report(min(map(int, pair)), -2)
    assert re.search(rf"8 bytes before {A}", text) or "in the red zone before" in text, text


def test_red_zone_grows_with_the_allocation(driver, report):
    pointers = sorted(int(driver.cuMemAlloc(64 << 10)) for _ in range(2))
    assert pointers[1] - pointers[0] >= 96 << 10
    text = report(pointers[0], (80 << 10) // 4)
    assert "16384 bytes past the end of the 65536 bytes" in text
    for pointer in pointers:
        driver.cuMemFree(pointer)


def test_address_far_from_all_allocations_names_the_nearest(report, pair):
    text = report(max(map(int, pair)), 1 << 26)
    # Memory of earlier tests can be closer.
    assert re.search(r"\d+ bytes (past the end of|before) the \d+ bytes of .*, the nearest allocation\n", text), text
    assert "heap" not in text


def test_device_heap_is_named_for_its_own_memory_only(code, driver, report, pair, capfd):
    code("use_heap", 1, 1, np.zeros(1, np.int32), 0)
    cuda.emulator.reset()
    with pytest.raises(Exception, match="ILLEGAL_ADDRESS"):
        code("use_heap", 1, 1, np.zeros(1, np.int32), 16)
    assert "just past the end of the 64 bytes of a malloc() in a kernel" in capfd.readouterr().err
    cuda.emulator.reset()
    assert "heap" not in report(max(map(int, pair)), 100)


def run_shared(code, name, index, capfd):
    out = np.zeros(1, np.int32)
    try:
        code(name, 1, 1, out, index)
    except Exception:
        cuda.emulator.reset()
        return capfd.readouterr().err
    assert capfd.readouterr().err == ""
    return int(out[0])


@pytest.mark.parametrize(
    ("name", "index", "words"),
    [
        ("inside", 16, "just past the end of the 64 bytes of __shared__ {}"),
        ("inside", 23, "28 bytes past the end of the 64 bytes of __shared__ {}"),
        ("inside", -1, "4 bytes before the 64 bytes of __shared__ {}"),
        ("outside", -1, "4 bytes before the 64 bytes of __shared__ {}_outside"),
        ("outside", 16, "just past the end of the 64 bytes of __shared__ {}_outside"),
        ("outside", 24, "32 bytes past the end of the 64 bytes of __shared__ {}_outside"),
        ("large", 32 * 33 + 1, "132 bytes past the end of the 4096 bytes of __shared__ tile"),
    ],
)
def test_store_beside_a_shared_array_is_reported(code, capfd, name, index, words):
    text = run_shared(code, name, index, capfd)
    assert isinstance(text, str), text
    assert words.format("first") in text


def test_store_past_a_shared_array_also_names_next_array(code, capfd):
    texts = [run_shared(code, name, 16, capfd) for name in ("inside", "outside")]
    assert any("in the red zone before the" in text for text in texts), texts


@pytest.mark.parametrize(("name", "result"), [("inside", 2), ("outside", 69), ("large", 0)])
def test_stores_within_shared_arrays_are_not_reported(code, capfd, name, result):
    assert run_shared(code, name, 15, capfd) == result
