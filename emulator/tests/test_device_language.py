# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The language of kernels: C++, built-in variables and functions, cooperative groups and atomics."""

import numpy as np
import pytest

from support.compiled import Code, Program

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
namespace cg = cooperative_groups;

namespace util {
template <typename T> struct Shape { __device__ virtual T area() const = 0; __device__ virtual ~Shape() {} };
template <typename T> struct Square : Shape<T> {
    T s;
    __device__ Square(T s) : s(s) {}
    __device__ T area() const override { return s * s; }
};
namespace { __device__ int thrice(int a) { return a * 3; } }
enum class Op { add, mul };
template <Op op, int K = 4> __device__ __forceinline__ int apply(int a)
{ if constexpr (op == Op::add) return a + K; else return a * K; }
}
__device__ __constant__ int table[4] = {1, 2, 3, 4};
static __device__ int counter = 7, other[3] = {1, 2, 3};
__device__ int (*pointer)(int) = util::thrice;
extern __shared__ unsigned char raw[];

template <typename T, int B> __device__ T block_sum(T v)
{
    __shared__ T buffer[B];
    buffer[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int o = B / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o) buffer[threadIdx.x] += buffer[threadIdx.x + o];
        __syncthreads();
    }
    return buffer[0];
}
extern "C" {
__global__ void __launch_bounds__(64, 2) sums(double* x)
{ double s = block_sum<double, 64>(x[threadIdx.x]); x[threadIdx.x] = s; }
__global__ void dynamic(int* x, int n)
{
    float* f = (float*)raw;
    int* q = reinterpret_cast<int*>(f + n);
    extern __shared__ float again[];
    again[threadIdx.x] = threadIdx.x * 0.5f; q[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = f[n - 1 - threadIdx.x] * 2 + q[threadIdx.x];
}
__global__ void language(int* x)
{
    int i = threadIdx.x;
    auto square = [=](int a) { return a * a + i; };
    auto least = [](auto a, auto b) { return a < b ? a : b; };
    util::Square<int> s(4);
    util::Shape<int>* p = &s;
    switch (i) {
    case 0: x[0] = square(3); break;
    case 1: { __shared__ int tmp; tmp = 9; x[1] = tmp; } break;
    case 2: x[2] = p->area(); break;
    case 3: x[3] = util::apply<util::Op::add>(1) + util::apply<util::Op::mul, 10>(2); break;
    case 4: x[4] = pointer(5); break;
    case 5: x[5] = atomicAdd(&counter, 0) + other[1] + table[3]; break;
    case 6: x[6] = least(5, 3); break;
    case 7: { int* h = new int[4]; h[3] = 11; x[7] = h[3]; delete[] h; } break;
    case 8: { int a[4] = {1, 2, 3, 4}; int t = 0; for (int v : a) t += v; x[8] = t; } break;
    case 9: { char* m = (char*)malloc(100); m[99] = 3; x[9] = m[99]; free(m); } break;
    case 10: x[10] = 1'000 + 0b101 + 0x1F; break;
    case 11: { asm volatile("" ::: "memory"); x[11] = static_cast<int>(pow(2.0, 3)); } break;
    case 12: { static int calls = 5; x[12] = ++calls; } break;
    case 13: { constexpr int list[] = {4, 5, 6}; x[13] = list[i - 11]; } break;
    case 14: { int k = 0; again: if (++k < 5) goto again; x[14] = k; } break;
    case 15: { dim3 g(2, 3); x[15] = g.x * 100 + g.y * 10 + g.z; } break;
    case 16: { float4 b = make_float4(1, 2, 3, 4); x[16] = make_int2(1, 2).y + b.w; } break;
    case 17: x[17] = sizeof(uint64_t) + cuda::std::numeric_limits<unsigned char>::max(); break;
    case 18: x[18] = warpSize + blockDim.x + gridDim.x; break;
    }
}
__global__ void groups(int* x)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int rank = block.thread_rank();
    int sum = cg::reduce(tile, rank, cg::plus<int>());
    x[rank] = sum + 1000 * cg::inclusive_scan(tile, 1) + 100000 * tile.meta_group_rank();
}
__device__ int add_together(int* counter)
{
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}
__global__ void coalesced(int* x, int* counters)
{
    int i = threadIdx.x;
    for (int round = 0; round < 3; ++round) {
        if (i % 3 == 0) x[i] = add_together(&counters[0]);
        else if (i % 3 == 1) x[i] = __popc(__activemask());
    }
}
__global__ void grid(int* x, int n)
{
    cg::grid_group all = cg::this_grid();
    for (int round = 0; round < 5; ++round) {
        if (all.thread_rank() == 0) x[n] += 1;
        all.sync();
        x[all.thread_rank()] += x[n];
        all.sync();
    }
}
__global__ void atomics(int* x, unsigned* u, unsigned long long* l, float* f, double* d)
{
    int i = threadIdx.x;
    atomicAdd(&x[0], i); atomicSub(&x[1], i); atomicMin(&x[2], -i); atomicMax(&x[3], i); atomicOr(&x[4], 1 << (i % 8));
    atomicAnd(&x[5], ~(1 << (i % 8))); atomicXor(&x[6], i); atomicExch(&x[7], 5); atomicCAS(&x[8], 0, i + 1);
    atomicInc(&u[0], 9); atomicDec(&u[1], 9); atomicAdd_block(&u[2], 2u); atomicMax_system(&u[3], 4000000000u);
    atomicAdd(&l[0], 1ull << 40); atomicMax(&l[1], (unsigned long long)i); atomicCAS(&l[2], 0ull, 7ull);
    atomicAdd(&f[0], 0.5f); atomicAdd(&d[0], 0.25); atomicExch(&f[1], 2.0f);
}
__global__ void warps(unsigned* o)
{
    unsigned i = threadIdx.x, all = 0xffffffffu;
    unsigned r[] = {__ballot_sync(all, i & 1), unsigned(__all_sync(all, i < 32)), unsigned(__any_sync(all, i == 3)),
                    __shfl_sync(all, i, 5), __shfl_up_sync(all, i, 1), __shfl_down_sync(all, i, 1, 8),
                    __shfl_xor_sync(all, i, 3), __match_any_sync(all, i / 16),
                    __reduce_add_sync(all, i), __reduce_max_sync(all, i),
                    unsigned(__shfl_sync(all, i * 0.5, 3) * 2), unsigned(__reduce_min_sync(all, int(i) - 40) + 100)};
    for (int k = 0; k < 12; ++k) o[k * 32 + i] = r[k];
}
__global__ void prints(int n, float f, const char* unused)
{ printf("%d %5.2f %s %c %x %lld%%\n", n, f, "text", 'c', 255, 1ll << 40); }
}
template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
template __global__ void twice<float>(float*);
"""


@pytest.fixture(scope="module")
def code(driver):
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    code = Code(driver, Program(SOURCE, "-arch=sm_90", names=["twice<short>"]).image)
    yield code
    code.close()
    driver.cuDevicePrimaryCtxRelease(0)


def test_kernels_use_the_features_of_cpp(context, code):
    x = np.zeros(32, np.int32)
    code("language", 1, 32, x)
    assert x[:19].tolist() == [9, 9, 16, 25, 15, 13, 3, 11, 10, 3, 1036, 8, 6, 6, 5, 231, 6, 263, 65]


def test_shared_memory_can_be_static_or_dynamic(context, code):
    x = np.arange(64.0)
    code("sums", 1, 64, x)
    assert (x == 64 * 63 / 2).all()
    y = np.zeros(32, np.int32)
    code("dynamic", 1, 32, y, 32, shared=256)
    assert (y == 31).all()


def test_structures_of_any_size_are_passed_by_value(child):
    text = child("""
import ctypes
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
device = Device(); device.set_current(); stream = device.create_stream()
class Large(ctypes.Structure): _fields_ = [("values", ctypes.c_int * 250)]
code = '''struct Large { int values[250]; };
extern "C" __global__ void take(Large large, int* out) { out[threadIdx.x] = large.values[threadIdx.x]; }'''
kernel = Program(code, "c++").compile("cubin").get_kernel("take")
large, out = Large((ctypes.c_int * 250)(*range(250))), LegacyPinnedMemoryResource().allocate(1000)
launch(stream, LaunchConfig(grid=1, block=250), kernel, large, out); stream.sync()
print((np.asarray(out.view((250,), np.int32)) == np.arange(250)).all())
""")
    assert text.split() == ["True"]


def test_templates_are_instantiated_by_name_or_explicitly(context, code):
    for name, kind in (("_Z5twiceIfEvPT_", np.float32), ("_Z5twiceIsEvPT_", np.int16)):
        x = np.arange(4, dtype=kind)
        code(name, 1, 4, x)
        assert x.tolist() == [0, 2, 4, 6]


def test_tiles_of_threads_reduce_and_scan(context, code):
    x, rank = np.zeros(64, np.int32), np.arange(64)
    code("groups", 1, 64, x)
    sums = (rank // 8 * 8) * 8 + 28
    assert (x == sums + 1000 * (rank % 8 + 1) + 100000 * (rank // 8)).all()


def test_threads_of_a_branch_form_a_group(context, code):
    x, counters, i = np.zeros(64, np.int32), np.zeros(1, np.int32), np.arange(64)
    code("coalesced", 1, 64, x, counters)
    assert counters[0] == 3 * 22
    assert sorted(x[i % 3 == 0]) == list(range(44, 66))
    assert x[(i % 3 == 1) & (i < 32)].tolist() == [11] * 11


def test_cooperative_grid_synchronizes(context, code):
    x = np.zeros(257, np.int32)
    code("grid", 4, 64, x, 256, cooperative=True)
    assert (x[:256] == 15).all()


def test_atomics_return_exact_results(context, code):
    x, u, w = np.zeros(9, np.int32), np.zeros(4, np.uint32), np.zeros(3, np.uint64)
    f, d = np.zeros(2, np.float32), np.zeros(1)
    x[5] = 255
    code("atomics", 1, 64, x, u, w, f, d)
    assert x[:8].tolist() == [2016, -2016, -63, 63, 255, 0, 0, 5] and 1 <= x[8] <= 64
    assert u.tolist() == [4, 6, 128, 4000000000]
    assert w.tolist() == [64 << 40, 63, 7] and f.tolist() == [32, 2] and d[0] == 16


def test_warps_vote_shuffle_match_and_reduce(context, code):
    o, i = np.zeros((12, 32), np.uint32), np.arange(32)
    code("warps", 1, 32, o)
    expected = [
        i * 0 + 0xAAAAAAAA, i * 0 + 1, i * 0 + 1, i * 0 + 5, np.maximum(i - 1, 0), np.where(i % 8 == 7, i, i + 1),
        i ^ 3, np.where(i < 16, 0xFFFF, 0xFFFF0000), i * 0 + 496, i * 0 + 31, i * 0 + 3, i * 0 + 60,
    ]  # fmt: skip
    np.testing.assert_array_equal(o, np.array(expected))


def test_printf_writes_to_the_standard_output(context, code, capfd):
    code("prints", 1, 1, 42, 1.5, np.zeros(1))
    assert capfd.readouterr().out == "42  1.50 text c ff 1099511627776%\n"


def test_launch_attributes_come_from_the_source(driver, context, code):
    kernel = driver.cuLibraryGetKernel(code.library, b"sums")
    attribute = driver.raw.CUfunction_attribute

    def get(name):
        row = getattr(attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return driver.cuKernelGetAttribute(row, kernel, driver.CUdevice(0))

    assert get("MAX_THREADS_PER_BLOCK") == 64
    assert get("SHARED_SIZE_BYTES") == 512
    kernel = driver.cuLibraryGetKernel(code.library, b"atomics")
    assert get("SHARED_SIZE_BYTES") == 0


MOVES = r"""
template <class T> struct Box {
    T value;
    __device__ explicit Box(T&& given) : value(std::forward<T>(given)) {}
    Box(Box&&) = default;
};
extern "C" __global__ void moves(int* x) { Box<int> one(3); Box<int> two = std::move(one); x[0] = two.value; }
"""
OWN = r"""
namespace std { template <class T> __device__ T&& move(T& x) { return static_cast<T&&>(x); } }
extern "C" __global__ void moves(int* x) { int a = 4; x[0] = std::move(a); }
"""


@pytest.mark.parametrize(
    ("source", "options", "expected"), [(MOVES, (), 3), (OWN, ("-builtin-move-forward=false",), 4)]
)
def test_move_and_forward_work_without_header(driver, context, source, options, expected):
    x = np.zeros(1, np.int32)
    moves = Code(driver, Program(source, "-arch=sm_90", *options).image)
    moves("moves", 1, 1, x)
    moves.close()
    assert x[0] == expected
