# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The ``initialized`` check reports stores of local variables that were never written, and nothing else about them."""

import re

import pytest

from support.check_runs import run_cases

pytestmark = pytest.mark.requires(software=True)

# Each kernel gets the 128 bytes x, of which it writes what it reads, and `out`.
BUGS = r"""
struct Row { float scale; __device__ float value(int bad) const { float v; if (!bad) v = scale; return v; } };
template <class T> __device__ T chosen(T a, int bad)
{
    T value;
    if (!bad) value = a;
    return value;
}
__device__ void find(const float* from, int n, float limit, float& found)
{
    for (int i = 0; i < n; ++i)
        if (from[i] < limit) found = from[i];
}
extern "C" {
// The last lanes are left out.
__global__ void one_branch(float* x, float* out, int bad)
{
    float value;
    if (threadIdx.x < 32 - bad) value = 7;
    out[threadIdx.x] = value; // at one_branch
}
__global__ void accumulator(float* x, float* out, int bad)
{
    float sum;
    if (!bad) sum = 0;
    for (int i = 0; i < 8; ++i) sum += i * 0.5f;
    out[threadIdx.x] = sum; // at accumulator
}
__global__ void never(float* x, float* out, int bad)
{
    float sum, zero = 0;
    for (int i = 0; i < 8; ++i) sum = bad ? sum + i : zero;
    *(out + threadIdx.x) = 2 * sum - 1; // at never
}
__global__ void in_double(double* x, double* out, int bad)
{
    double a = 1, b;
    switch (bad) { case 0: b = 3; break; case 2: b = 5; }
    if (threadIdx.x < 16) out[threadIdx.x] = sqrt(a / b); // at in_double
}
__global__ void count_64(unsigned long long* x, unsigned long long* out, int bad)
{
    unsigned long long count;
    if (!bad) count = 0;
    for (int i = 0; i < threadIdx.x; ++i) ++count;
    if (threadIdx.x < 16) out[threadIdx.x] = count; // at count_64
}
__global__ void in_loop(float* x, float* out, int bad)
{
    for (int i = 0; i < 4; ++i) {
        float v;
        if (i < 4 - bad) v = i;
        out[i] = fabsf(v) + 1; // at in_loop
    }
}
__global__ void member(float* x, float* out, int bad)
{
    Row row = {2};
    out[threadIdx.x] = row.value(bad); // at member
}
__global__ void in_template(int* x, long long* out, int bad)
{
    if (threadIdx.x < 16) out[threadIdx.x] = chosen<long long>(5, bad); // at in_template
}
__global__ void in_lambda(float* x, float* out, int bad)
{
    auto scaled = [=](float by) { float v; if (!bad) v = 2; return v * by; };
    out[threadIdx.x] = scaled(3); // at in_lambda
}
__global__ void by_reference(float* x, float* out, int bad)
{
    float found;
    const float values[] = {1, 2, 3, 4};
    find(values, 4, 3.5f - 3 * bad, found);
    out[threadIdx.x] = found; // at by_reference
}
__global__ void through_shared(float* x, float* out, int bad)
{
    __shared__ float values[32];
    float v;
    if (threadIdx.x < 32 - bad) v = 1;
    values[threadIdx.x] = v;
    __syncthreads();
    for (int s = 16; s; s /= 2) {
        if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
        __syncthreads();
    }
    if (!threadIdx.x) out[0] = values[0]; // at through_shared
}
__global__ void shuffled(float* x, float* out, int bad)
{
    float v;
    if (threadIdx.x < 16 || !bad) v = 1;
    for (int s = 16; s; s /= 2) v += __shfl_down_sync(~0u, v, s);
    if (!threadIdx.x) out[0] = v; // at shuffled
}
__global__ void added(float* x, float* out, int bad)
{
    float v;
    if (threadIdx.x < 32 - bad) v = 1;
    atomicAdd(out, v); // at added
}
__global__ void updated(float* x, float* out, int bad)
{
    float v;
    if (!bad) v = 1;
    out[threadIdx.x] += v; // at updated
}
__global__ void by_ptx(float* x, float* out, int bad)
{
    float v, w;
    if (!bad) v = 1;
    asm("add.f32 %0, %1, 0f3F800000;" : "=f"(w) : "f"(v));
    if (!threadIdx.x) __stcg(out, w); // at by_ptx
}
}
"""
# Nothing ever writes these.
ACCUMULATORS = r"""
extern "C" {
__global__ void in_float(float* x, float* out, int bad)
{
    float sum;
    for (int i = 0; i < 8; ++i) sum += 2 * i;
    out[threadIdx.x] = sum; // at in_float
}
__global__ void in_long(long long* x, long long* out, int bad)
{
    unsigned long long int sum;
    for (int i = 0; i < 8; ++i) sum += i;
    if (threadIdx.x < 16) out[threadIdx.x] = sum; // at in_long
}
__global__ void two_at_once(double* x, double* out, int bad)
{
    double first = 1, second;
    for (int i = 0; i < 8; ++i) second += first, first *= 2;
    if (threadIdx.x < 16) out[threadIdx.x] = second; // at two_at_once
}
}
"""
NAMES = re.findall(r"__global__ void (\w+)", BUGS)

# Correct, although they copy, pass and compute with variables that some lanes have not written.
CORRECT = r"""
struct Pair { float first; int second; };
struct Empty {};
__device__ int read(int& error) { error = 1; return 2; }
__device__ float sum_of(float v, int valid)
{
    for (int s = 16; s; s /= 2) {
        float other = __shfl_down_sync(~0u, v, s);
        if ((threadIdx.x & 31) + s < valid) v += other;
    }
    return v;
}
__device__ constexpr int twice(int a) { int b = a; return b + b; }
extern "C" {
__global__ void guarded(float* x, float* out, int bad)
{
    float v;
    if (threadIdx.x < 20) v = threadIdx.x;
    v = v * 2 + 1;
    float w = v;
    float most = w > 3 ? w : 3;
    if (threadIdx.x < 20) out[threadIdx.x] = w + most;
}
__global__ void idle_lanes(float* x, float* out, int bad)
{
    float v;
    if (threadIdx.x < 20) v = 1;
    float sum = sum_of(v, 20);
    if (threadIdx.x == 0) out[0] = sum;
}
__global__ void scratch(float* x, float* out, int bad)
{
    float* buffer = new float[2];
    float v;
    if (threadIdx.x < 20) v = 1;
    buffer[0] = v;
    v = buffer[0];
    delete[] buffer;
    if (threadIdx.x < 20) out[threadIdx.x] = v;
}
__global__ void shared_tail(int* x, int* out, int bad)
{
    __shared__ int values[32];
    int v;
    if (threadIdx.x < 20) v = 1;
    values[threadIdx.x] = v;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 20; ++i) sum += values[i];
    out[threadIdx.x] = sum;
}
__global__ void masked(float* x, float* out, int bad)
{
    int n; float v; bool flag = threadIdx.x & 1;
    if (flag) n = 3, v = 2;
    float sum = 1;
    sum += flag ? v : 0;
    int mixed = flag * n | 0;
    if (flag && n > 2) sum += n;
    out[threadIdx.x] = sum + (flag ? mixed : 0);
}
__global__ void hoisted(float* x, float* out, int bad)
{
    float v, sum = 0;
    bool flag = threadIdx.x & 1;
    if (flag) v = 1;
    for (int i = 0; i < 8; ++i)
        if (flag) sum += v;
    out[threadIdx.x] = sum;
}
__global__ void parts(float* x, float* out, int bad)
{
    float4 v, w;
    v.x = 1;
    w = v;
    Pair pair, other;
    pair.first = 2;
    other = pair;
    Empty empty, copy = empty;
    float f; double d; int e, i; unsigned u; long long l;
    frexp(3.0, &e);
    modff(2.5f, &f);
    sincos(0.5, &d, new (x) double);
    asm("mov.u32 %0, %%laneid;" : "=r"(u));
    asm volatile("mov.s64 %0, 5;" : "=l"(l));
    i = e = e + 1;
    out[threadIdx.x] = w.x + other.first + e + f + d + u + i + l + twice(2);
}
__global__ void by_bits(unsigned* x, unsigned* out, int bad)
{
    unsigned v, old, assumed;
    for (int i = 0; i < 4; ++i) v = (v << 8) | i;
    old = out[0];
    do {
        assumed = old;
        old = atomicCAS(out, assumed, 7u);
    } while (assumed != old);
    out[1 + threadIdx.x % 2] = v;
}
// Values that equal those of fresh memory, of the compiler's fill, and other NaNs.
__global__ void values(unsigned* x, unsigned* out, int bad)
{
    unsigned v; float f; unsigned long long w;
    switch (threadIdx.x % 4) {
    case 0: v = 0xfefefefe; f = __int_as_float(0x7fffffff); w = 0xfefefefefefefefeull; break;
    case 1: v = 0xfdfdfdfd; f = nanf(""); w = ~0ull; break;
    default: v = threadIdx.x; f = __int_as_float(0xffc00000); w = 0;
    }
    out[threadIdx.x] = v;
    __syncthreads();
    out[threadIdx.x] = __float_as_uint(f);
    __syncthreads();
    if (threadIdx.x < 16) reinterpret_cast<unsigned long long*>(out)[threadIdx.x] = w;
}
__global__ void declarations(int* x, int* out, int bad)
{
    struct Local { int a; float b; __device__ int sum() const { int s; s = a; return s + int(b); } } local = {1, 2};
    union { float f; unsigned u; } bits;
    enum Kind { first, second } kind;
    int a, *p, b[2], &r = a, c = 2;
    a = 1, p = &a, b[0] = b[1] = *p;
    bits.f = 1;
    kind = second;
    using T = int;
    T t; T const constant = 3;
    t = 2;
    switch (a) { int inner; case 1: inner = 4; c += inner; break; default: { long last; last = 1; c += last; } }
    for (int i = 0, j; i < 2; ++i) { j = i; c += j; }
    if (int k = c) { int q; q = k; c += q; } else return;
    int error, size = read(error), again = error;
    c += error + size + again;
    auto next = [&](auto v) mutable { decltype(v) w; w = v; t = w; return w; };
    out[threadIdx.x] = a + *p + b[1] + r + c + local.sum() + int(bits.u >> 31) + kind + t + constant + next(1);
}
}
"""
CORRECT_NAMES = re.findall(r"__global__ void (\w+)", CORRECT)
CHECKS = ["initialized", "all"]


@pytest.fixture(scope="module", params=CHECKS)
def reports(request):
    return run_cases(BUGS, NAMES, request.param)


def assert_reports(text, name, source):
    line = next(i for i, row in enumerate(source.splitlines(), 1) if row.endswith(f"// at {name}"))
    pattern = rf"kernel {name}: uninitialized read: store of [48] bytes at .* in the 128 bytes of device memory"
    assert re.search(pattern, text), text
    assert "which stores the value of a local variable that was never written" in text
    assert f"bugs.cu:{line} in {name}" in text


@pytest.mark.parametrize("bug", NAMES)
def test_store_of_unwritten_variable_is_reported(reports, bug):
    assert_reports(reports[bug, 1], bug, BUGS)


@pytest.mark.parametrize("bug", NAMES)
def test_store_of_written_variable_is_silent(reports, bug):
    assert reports[bug, 0] == ""


@pytest.mark.parametrize("checks", CHECKS)
def test_unwritten_variables_of_idle_lanes_are_silent(checks):
    reports = run_cases(CORRECT, CORRECT_NAMES, checks)
    assert {key: text for key, text in reports.items() if text} == {}


@pytest.mark.parametrize("checks", CHECKS)
def test_accumulators_that_nothing_writes_are_reported(checks):
    names = re.findall(r"__global__ void (\w+)", ACCUMULATORS)
    reports = run_cases(ACCUMULATORS, names, checks)
    for name in names:
        assert_reports(reports[name, 0], name, ACCUMULATORS)
