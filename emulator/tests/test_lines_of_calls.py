# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A fault in an inlined function of CUDA's headers is reported at the line of the program that calls the function."""

import re

import pytest

from support.check_runs import run_cases

pytestmark = pytest.mark.requires(software=True)

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda::wmma;

extern "C" {
__global__ void matrix_read_early(int* x, int* out, int bad)
{
    __shared__ alignas(32) float product[256];
    for (int i = threadIdx.x; i < 256; i += 64) product[i] = 5;
    __syncthreads();
    if (threadIdx.x < 32) {
        fragment<accumulator, 16, 16, 16, float> ones;
        fill_fragment(ones, 1.f);
        store_matrix_sync(product, ones, 16, mem_row_major); // at matrix_read_early
    }
    if (!bad) __syncthreads();
    if (threadIdx.x == 50) out[0] = (int)product[77]; // at matrix_read_early
}
__global__ void matrix_loaded_early(int* x, int* out, int bad)
{
    __shared__ alignas(16) int rows[64];
    rows[threadIdx.x] = 0;
    __syncthreads();
    rows[threadIdx.x] = threadIdx.x + 1; // at matrix_loaded_early
    if (!bad) __syncthreads();
    if (threadIdx.x < 32) {
        int part;
        unsigned row = (unsigned)__cvta_generic_to_shared(&rows[4 * (8 + threadIdx.x % 8)]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" // at matrix_loaded_early
                     : "=r"(part) : "r"(row) : "memory");
        if (threadIdx.x == 0) out[0] = part;
    }
}
__global__ void copied_too_much(int* x, int* out, int bad)
{
    auto block = cg::this_thread_block();
    __shared__ int part[32], others[32];
    others[threadIdx.x % 32] = 1;
    cg::memcpy_async(block, part, out, bad ? 256 : 128); // at copied_too_much
    cg::wait(block);
    if (part[0] + others[0] == 12345) x[0] = 1;
}
}
"""
WORDS = {
    "matrix_read_early": r"data race: (load of 4|store of \d+) bytes",
    "matrix_loaded_early": "data race: (load of 16|store of 4) bytes",
    "copied_too_much": "illegal address: load of 8 bytes .* just past the end of the 128 bytes of device memory",
}


@pytest.fixture(scope="module")
def reports():
    return run_cases(SOURCE, list(WORDS), "all", block=64)


@pytest.mark.parametrize("bug", WORDS)
def test_fault_is_reported_where_the_program_calls_the_header(reports, bug):
    assert re.search(f"kernel {bug}: {WORDS[bug]}", reports[bug, 1]), reports[bug, 1]
    marked = {number for number, line in enumerate(SOURCE.splitlines(), 1) if f"// at {bug}" in line}
    assert {int(line) for line in re.findall(r"bugs\.cu:(\d+)", reports[bug, 1])} == marked, reports[bug, 1]


@pytest.mark.parametrize("bug", WORDS)
def test_call_without_the_fault_is_silent(reports, bug):
    assert reports[bug, 0] == ""
