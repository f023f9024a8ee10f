# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""<cuda/barrier> and <cuda/ptx> on the software device, in programs that copy tiles as on Hopper."""

import re

import numpy as np
import pytest

from support.compiled import Code, Program
from support.tensor_maps import MappedArray

pytestmark = pytest.mark.requires(software=True)

BARRIERS = r"""
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/std/utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

extern "C" __global__ void add(const __grid_constant__ CUtensorMap map, int x, int y)
{
    __shared__ alignas(128) int tile[4][32];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else {
        token = bar.arrive();
    }
    bar.wait(cuda::std::move(token));
    for (int row = 0; row < 4; ++row)
        tile[row][threadIdx.x] += threadIdx.x;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
        (&bar)->~barrier();
    }
}

// Two buffers in turn: waits by parity, and copies that count their bytes on the barrier.
extern "C" __global__ void sum(const int* in, int* out, int parts)
{
    __shared__ alignas(16) int buffer[2][64];
    __shared__ barrier bars[2];
    if (threadIdx.x == 0)
        for (barrier& one : bars)
            init(&one, 1);
    __syncthreads();
    auto fetch = [&](int part) {
        if (threadIdx.x == 0) {
            barrier& bar = bars[part % 2];
            cuda::device::memcpy_async_tx(buffer[part % 2], in + 64 * part, cuda::aligned_size_t<16>(256), bar);
            (void)cuda::device::barrier_arrive_tx(bar, 1, 256);
        }
    };
    int total = 0;
    fetch(0);
    for (int part = 0; part < parts; ++part) {
        if (part + 1 < parts)
            fetch(part + 1);
        bars[part % 2].wait_parity(part / 2 % 2);
        total += buffer[part % 2][threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = total;
}

extern "C" __global__ void plain(const int* in, int* out)
{
    __shared__ int buffer[64];
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(buffer + threadIdx.x, in + threadIdx.x, sizeof(int), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = buffer[63 - threadIdx.x];
}
"""

PTX = r"""
#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

template <int Axes> __device__ void transfer(const CUtensorMap& from, const CUtensorMap& to, const int (&place)[Axes])
{
    __shared__ alignas(128) float tile[2 * 4 * 16];
    __shared__ alignas(8) unsigned long long bar;
    bool elected = ptx::elect_sync(~0u);
    if (elected) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &from, place, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
    }
    __syncwarp();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    for (int i = threadIdx.x; i < 128; i += 32) tile[i] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();
    if (elected) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, place, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        ptx::mbarrier_inval(&bar);
    }
}

extern "C" __global__ void twice_3d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    const int place[] = {16, 4, 1};
    transfer(from, to, place);
}

extern "C" __global__ void bytes(const int* in, int* out)
{
    __shared__ alignas(16) int buffer[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 2);
        ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 256);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer, in, 256, &bar);
        auto state = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 2);
        while (!ptx::mbarrier_try_wait(&bar, state)) {}
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, buffer, 256);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}
"""


@pytest.fixture(scope="module")
def images(driver):
    return {source: Program(source, "-arch=sm_90", "-std=c++17").image for source in (BARRIERS, PTX)}


@pytest.fixture
def run(driver, context, images):
    """Return a function that runs a kernel with one block."""

    def run(source, name, block, *arguments):
        code = Code(driver, images[source])
        code(name, 1, block, *arguments)
        code.close()

    return run


def test_barrier_waits_for_tile(driver, run):
    array = np.arange(64 * 96, dtype=np.int32).reshape(64, 96)
    mapped = MappedArray(driver, array)
    run(BARRIERS, "add", 32, mapped.tile((4, 32)), 64, 8)
    array[8:12, 64:96] += np.arange(32)
    assert np.array_equal(mapped.read(), array)


def test_barriers_can_be_waited_for_by_parity(run):
    values, result = np.arange(64 * 7, dtype=np.int32), np.empty(64, np.int32)
    run(BARRIERS, "sum", 64, values, result, 7)
    assert np.array_equal(result, values.reshape(7, 64).sum(axis=0))


def test_all_threads_arrive_and_wait(run):
    values, result = np.arange(64, dtype=np.int32), np.empty(64, np.int32)
    run(BARRIERS, "plain", 64, values, result)
    assert np.array_equal(result, values[::-1])


def test_ptx_copies_tiles(driver, run):
    array = np.random.default_rng(5).random((4, 16, 48), dtype=np.float32)
    source, target = MappedArray(driver, array), MappedArray(driver, np.zeros_like(array))
    run(PTX, "twice_3d", 32, source.tile((2, 4, 16)), target.tile((2, 4, 16)))
    expected = np.zeros_like(array)
    expected[1:3, 4:8, 16:32] = 2 * array[1:3, 4:8, 16:32]
    assert np.array_equal(target.read(), expected)
    assert np.array_equal(source.read(), array)


def test_ptx_copies_bytes(run):
    values, result = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(PTX, "bytes", 1, values, result)
    assert np.array_equal(result, values)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("__shared__ cuda::barrier<cuda::thread_scope_device> b;", "only has barriers with thread_scope_block"),
        ("__shared__ cuda::barrier<cuda::thread_scope_block> b; b.arrive_and_drop();", "arrive_and_drop"),
        ("__shared__ int b; cuda::ptx::mbarrier_init(&b, 1);", "an mbarrier has 8 bytes"),
        ("cuda::ptx::cp_reduce_async_bulk();", "cp_reduce_async_bulk"),
    ],
)
def test_unavailable_functions_are_named(driver, body, message):
    source = f"#include <cuda/barrier>\n#include <cuda/ptx>\n__global__ void k() {{ {body} }}"
    log = Program(source, "-arch=sm_90").log
    assert message in log and "error" in log


def test_misuse_is_reported_with_program_line(driver, context, capfd):
    source = (
        "#include <cuda/barrier>\n"
        'extern "C" __global__ void k() {\n'
        "__shared__ cuda::barrier<cuda::thread_scope_block> b;\n"
        "b.arrive_and_wait(); }"
    )
    code = Code(driver, Program(source, "-arch=sm_90").image)
    with pytest.raises(driver.Error):
        code("k", 1, 1)
    code.close()
    report = capfd.readouterr().err
    assert "an mbarrier is used before it is initialized" in report
    assert re.search(r"default_program:4", report), report
