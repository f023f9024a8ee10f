# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of CUDA C++ in the guide: each row is compiled here and, if it works, by NVIDIA's compiler."""

import functools
import re

import pytest

from support.compiled import Program
from support.paths import PAGES

pytestmark = pytest.mark.requires(pages=True)

SAMPLES = {
    "templates, classes, virtual functions, recursion, lambdas": """
        struct Shape { __device__ virtual int area() const { return 1; } };
        struct Square : Shape { int side; __device__ int area() const override { return side * side; } };
        template <int n> __device__ int power(int x) {
            if constexpr (n == 0) return 1; else return x * power<n - 1>(x); }
        __device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
        KERNEL(int* out) {
            Square square; square.side = 4; const Shape* shape = &square;
            auto add = [&](int i) { out[i] += power<3>(i) + factorial(i); };
            add(1); out[0] = shape->area();
        }""",
    "function pointers": "__device__ int f(int x) { return x; } KERNEL(int* out) { int (*g)(int) = f; *out = g(3); }",
    "`printf`, `assert`, `malloc`, `new`": """
        KERNEL(int n) { assert(n); int* x = new int[n]; x[0] = n; printf("%d\\n", x[0]);
            delete[] x; free(malloc(8)); }""",
    "`__constant__`, `__device__`, `__managed__` variables": """
        __constant__ float c[4]; __device__ int d; __managed__ int m; KERNEL(float* out) { *out = c[d] + m; }""",
    "static and dynamic shared memory": """
        KERNEL(int* out) { __shared__ int a[32]; extern __shared__ int b[]; a[threadIdx.x] = b[threadIdx.x];
            __syncthreads(); out[threadIdx.x] = a[31 - threadIdx.x] + __syncthreads_count(1); }""",
    "warp functions": """
        KERNEL(int* out) { int x = __shfl_xor_sync(~0u, *out, 1) + __ballot_sync(~0u, 1) + __match_any_sync(~0u, 2);
            *out = x + __reduce_add_sync(~0u, x); __syncwarp(); }""",
    "atomic functions, also with `_block` and `_system`": """
        KERNEL(int* x, double* y, float4* z) { atomicAdd(x, 1); atomicCAS_block(x, 1, 2); atomicMax_system(x, 3);
            atomicAdd(y, 1.0); atomicAdd(z, make_float4(1, 2, 3, 4)); }""",
    "`__launch_bounds__`, `__maxnreg__`": """
        __global__ void __maxnreg__(32) j() {}
        __global__ void __launch_bounds__(128, 2) k() {}""",
    "`__grid_constant__`": "struct P { int a[9]; }; KERNEL(const __grid_constant__ P p, int* out) { *out = p.a[3]; }",
    "clusters": "KERNEL(int* out) { *out = __clusterDim().x; }",
    "SIMD, DPX, dot product and funnel shift intrinsics": """
        KERNEL(int* x) { *x = __vadd4(*x, 1) + __viaddmax_s32(1, 2, *x) + __dp4a(1, 2, *x);
            x[1] = __funnelshift_l(1, *x, 3); }""",
    "texture and surface objects": """
        KERNEL(cudaTextureObject_t t, cudaSurfaceObject_t s, float* x) {
            *x = tex2D<float>(t, 1, 2) + tex2DLayered<float>(t, 1, 2, 0); surf2Dwrite(*x, s, 0, 0); }""",
    "loads and stores with cache hints": "KERNEL(int* x) { __stcs(x, __ldcs(x + 1)); __stwt(x, __ldg(x + 2)); }",
    "structured bindings, deduction guides, C++20 concepts": """
        template <class T> concept Small = sizeof(T) <= 4; template <Small T> __device__ T twice(T x) { return x + x; }
        struct Pair { int a, b; }; KERNEL(int* out) { auto [a, b] = Pair{1, 2}; *out = twice(a) + b; }""",
    "half precision, bfloat16": """
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        KERNEL(__half2* x, __nv_bfloat16* y) { *x = __hfma2(*x, *x, *x); *y = *y * *y; }""",
    "formats of 8 bits": """
        #include <cuda_fp8.h>
        KERNEL(__nv_fp8_e4m3* x, float y) { *x = __nv_fp8_e4m3(y); }""",
    "formats of 6 and 4 bits": """
        #include <cuda_fp6.h>
        #include <cuda_fp4.h>
        KERNEL(__nv_fp6_e3m2* x, __nv_fp4x2_e2m1* y, float2 z) { *x = __nv_fp6_e3m2(z.x); *y = __nv_fp4x2_e2m1(z); }""",
    "cooperative groups": """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        KERNEL(int* x) { auto tile = cg::tiled_partition<32>(cg::this_thread_block());
            *x = cg::reduce(tile, *x, cg::plus<int>()); cg::this_grid().sync(); }""",
    "`<cuda_pipeline.h>`": """
        #include <cuda_pipeline.h>
        KERNEL(const int4* x, int* out) { __shared__ int4 s; __pipeline_memcpy_async(&s, x, 16); __pipeline_commit();
            __pipeline_wait_prior(0); *out = s.x; }""",
    "`setmaxnreg`": 'KERNEL() { asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); }',
    "launching kernels from kernels": "__global__ void j() {} KERNEL() { j<<<1, 1>>>(); }",
    "`wgmma`": 'KERNEL() { asm volatile("wgmma.fence.sync.aligned;"); }',
    "`tcgen05`": 'KERNEL() { asm volatile("tcgen05.fence::before_thread_sync;"); }',
    "`__nv_atomic_add` and the other atomic functions with orders and scopes": """
        KERNEL(int* x) { __nv_atomic_add(x, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
            x[1] = __nv_atomic_load_n(x, __NV_ATOMIC_ACQUIRE); }""",
    "`__cluster_barrier_arrive` and `__cluster_barrier_wait`, `mapa` and `getctarank` in PTX": """
        KERNEL(long long* x) { __cluster_barrier_arrive(); __cluster_barrier_wait();
            asm("mapa.u64 %0, %1, 0;" : "=l"(x[0]) : "l"(x[1])); unsigned y = x[1];
            asm("mapa.shared::cluster.u32 %0, %0, 0; ld.shared::cluster.u32 %0, [%0];" : "+r"(y)); x[0] += y; }""",
    "`<cuda_awbarrier_primitives.h>`": """
        #include <cuda_awbarrier_primitives.h>
        KERNEL() { __shared__ __mbarrier_t b; __mbarrier_init(&b, 1);
            __mbarrier_token_pending_count(__mbarrier_arrive(&b));
            __mbarrier_test_wait(&b, __mbarrier_arrive(&b)); __mbarrier_arrive_and_drop(&b); }""",
    "`__isGlobal`, `__isShared`, `__isLocal`, `__isConstant`, `__isClusterShared`": """
        KERNEL(int* x) { *x = __isGlobal(x) + __isShared(x) + __isLocal(&x) + __isConstant(x);
            *x += __isClusterShared(x); }""",
    "`__isGridConstant`": "KERNEL(const __grid_constant__ int x, int* out) { *out = __isGridConstant(&x); }",
    "video instructions in PTX, also of 2 and 4 parts": """
        KERNEL(int* x) { asm("vadd4.s32.s32.s32.sat %0.b20, %1.b3021, %2, %3;"
            "vmad.s32.s32.s32.sat.shr7 %0, %1, %2.h1, -%3;" : "=r"(x[0]) : "r"(x[1]), "r"(x[2]), "r"(x[3])); }""",
    "reductions of named barriers in PTX": """
        KERNEL(int* x) { asm("{ .reg .pred p; setp.eq.u32 p, %0, 1; barrier.red.popc.u32 %0, 2, 64, p; }"
            : "+r"(*x)); }""",
    "conversions of `e4m3x2`, `e5m2x2` and `tf32` in PTX": """
        KERNEL(unsigned short* x, float y) { asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(*x) : "f"(y));
            asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*(int*)(x + 2)) : "f"(y)); }""",
    "conversions of `e2m3x2`, `e3m2x2` and `e2m1x2` in PTX": """
        KERNEL(unsigned short* x, float y) { asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %1;" : "=h"(*x) : "f"(y)); }""",
    "`dynamic_cast`": """
        struct A { __device__ virtual int f() { return 1; } }; struct B : A {};
        KERNEL(A* a) { dynamic_cast<B*>(a)->f(); }""",
}


@functools.cache
def rows():
    """Return the second cell of each row of the table by the first one."""
    guide = (PAGES / "guide" / "software-device-reference.md").read_text()
    table = re.search(r"## CUDA C\+\+, feature by feature\n.*?\n(\| Feature .*?)\n\n", guide, re.S)[1]
    return dict([cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:])


def source_of(feature):
    text = re.sub(r"\n +", "\n", SAMPLES[feature]).lstrip("\n")
    return text.replace("KERNEL", 'extern "C" __global__ void k')


def test_table_has_a_row_for_each_sample():
    assert list(rows()) == list(SAMPLES)


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("feature", SAMPLES)
def test_software_device_matches_row(driver, feature):
    program = Program(source_of(feature), "-std=c++20", "-arch=sm_90a")
    support = rows()[feature]
    if not support.startswith("rejected"):
        assert support.startswith("works")
        assert program.result == "SUCCESS", program.log
    else:
        sentence = re.fullmatch(r'rejected: "(.*)"', support)[1]
        assert program.result == "COMPILATION" and sentence in program.log


@pytest.mark.requires(nvidia_compiler=True)
def test_nvidias_compiler_accepts_supported_features(child):
    # Those need a library of the runtime, and another architecture.
    others = ("launching kernels from kernels", "`tcgen05`", "conversions of `e2m3x2`, `e3m2x2` and `e2m1x2` in PTX")
    sources = {feature: source_of(feature) for feature in SAMPLES if feature not in others}
    code = f"""
from cuda.core import Program, ProgramOptions
from cuda.bindings import nvrtc
from support.kernel_files import header_folders
is_old = nvrtc.nvrtcVersion()[1:] < (13, 1)  # breaks on virtual functions
options = ProgramOptions(arch="sm_90a", std="c++20", disable_warnings=True, include_path=header_folders() or None)
for feature, source in {sources!r}.items():
    if ("#include" not in source or header_folders()) and not (is_old and "virtual" in source):
        assert Program(source, "c++", options).compile("ptx").code, feature
print("compiled")
"""
    assert "compiled\n" in child(code, device=False)
