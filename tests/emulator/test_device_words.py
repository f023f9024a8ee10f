# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Lambdas, special registers and casts, which a host compiler would treat differently from a compiler for GPUs."""

import numpy as np
import pytest

from support.compiled import Code, Program

SOURCE = r"""
extern "C" {
__global__ void lambdas(int* x)
{
    __shared__ int first[32], second;
    extern __shared__ int dynamic[];
    int i = threadIdx.x, n = blockDim.x;
    if (i == 0) second = 0;
    __syncthreads();
    auto put = [=](int v) { first[i] = v; dynamic[n - 1 - i] = v; };
    auto add = [] __device__ (int v) { atomicAdd(&second, v); };
    auto nested = [n] { return [=](int k) { return first[k] + dynamic[n - 1 - k] + second; }; };
    auto unrelated = [](int first) { return first + 1; };
    put(i + 1);
    add(1);
    __syncthreads();
    int k = n - 1 - i;
    x[i] = nested()(k) + unrelated(dynamic[([] { return 0; })()] * 0 - 1);
}
__global__ void registers(unsigned int* x, unsigned long long* time)
{
    unsigned int tid, ntid, ctaid, nctaid, lane, warp, cluster, blocks, eq;
    asm("mov.u32 %0, %tid.x;" : "=r"(tid));
    asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(ntid));
    asm("mov.u32 %0, %ctaid.y;" : "=r"(ctaid));
    asm("mov.u32\t%0, %%nctaid.y;\n\t" : "=r"(nctaid) : : "memory");
    asm("mov.u32 %0, %laneid;"
        : "=r"(lane));
    asm("mov.u32 %0, %warpid;" : "=r"(warp) :: "memory");
    asm("mov.u32 %0, %cluster_ctaid.x;" : "=r"(cluster));
    asm("mov.u32 %0, %nclusterid.x;" : "=r"(blocks));
    asm("mov.u32 %0, %lanemask_eq;" : "=r"(eq));
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time[0]));
    if (blockIdx.y != 1 || tid != 40) return;
    x[0] = tid, x[1] = ntid, x[2] = ctaid, x[3] = nctaid, x[4] = lane, x[5] = warp, x[6] = cluster;
    x[7] = blocks, x[8] = eq;
    asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(x[9]));
}
__global__ void casts(const float* f, const double* d, int* i, long long* l, unsigned long long* u)
{
    int k = threadIdx.x, n = blockDim.x;
    i[k] = (int)f[k], i[k + n] = static_cast<int>(d[k]);
    l[k] = (long long)f[k], l[k + n] = (long long)d[k];
    u[k] = (unsigned long long)f[k];
}
}
"""


@pytest.fixture(scope="module")
def program(driver):
    return Program(SOURCE, "-arch=sm_90")


@pytest.fixture
def code(driver, context, program):
    code = Code(driver, program.image)
    yield code
    driver.cuLibraryUnload(code.library)


def test_lambdas_use_shared_variables_and_do_not_copy_them(code):
    x = np.zeros(32, np.int32)
    code("lambdas", 1, 32, x, shared=128)
    assert x.tolist() == [2 * (31 - i + 1) + 32 for i in range(32)]


def test_inline_assembly_reads_special_registers(code):
    x, time = np.zeros(10, np.uint32), np.zeros(1, np.uint64)
    code("registers", (1, 3), 64, x, time, shared=48)
    assert x.tolist() == [40, 64, 1, 3, 8, 1, 0, 1, 1 << 8, 48]
    assert time[0] > 0


def test_casts_out_of_range_saturate(code):
    values = [0.0, -1.5, 2.9, 1e10, -1e10, 1e30, -1e30, np.inf, -np.inf, np.nan, 2147483647.0, -2147483648.0]
    f, d = np.array(values, np.float32), np.array(values)
    n = len(values)
    i, long, unsigned = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int64), np.zeros(n, np.uint64)
    code("casts", 1, n, f, d, i, long, unsigned)

    def expected(x, low, high):
        return 0 if np.isnan(x) else int(min(max(x, low), high)) if abs(x) < 1e18 else low if x < 0 else high

    i32, i64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
    assert i.tolist() == [expected(float(x), *i32) for x in [*f, *d]]
    assert long[:n].tolist() == [expected(float(x), *i64) for x in f]
    assert long[n:].tolist() == [expected(x, *i64) if x == x else -(2**63) for x in values]
    assert [int(x) for x, y in zip(unsigned, values, strict=False) if not y < 0] == [
        expected(float(x), 0, 2**64 - 1) for x in f if not x < 0
    ]


@pytest.mark.parametrize(
    "text", ['asm("bfind.u32 %0, %1;" : "=r"(a) : "r"(1));', 'asm("mov.u32 %0, %envreg3;" : "=r"(a));']
)
def test_other_inline_assembly_is_refused_with_its_text(driver, text):
    log = Program(f'extern "C" __global__ void k(int* x) {{ unsigned a; {text} x[0] = a; }}').log
    assert "default_program(1): error: inline PTX is not supported" in log
    assert text[5 : text.index(";")] in log
