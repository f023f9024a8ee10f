# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The ``initialized`` check reports reads of unwritten memory, but not the corrected twins of such kernels."""

import re

import pytest

from support.check_runs import run_cases
from support.kernel_files import cccl_folder

pytestmark = pytest.mark.requires(software=True)

SOURCE = r"""
struct Padded { char a; double b; };
struct Both { int first, second; };
__device__ int table[4];
__shared__ int outside[8];
extern "C" {
// Global memory that nothing has written.
__global__ void global_read(int* x, int* out, int bad)
{
    if (!bad) x[threadIdx.x] = 1;
    out[threadIdx.x] = x[threadIdx.x]; // at global_read
}
// The last element is left out.
__global__ void short_loop(int* x, int* out, int bad)
{
    int n = blockDim.x - bad;
    if (threadIdx.x < n) x[threadIdx.x] = 2;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < blockDim.x; ++i)
            out[0] += x[i]; // at short_loop
}
__global__ void static_shared(int* x, int* out, int bad)
{
    __shared__ int sums[32];
    if (!bad) sums[threadIdx.x] = 0;
    sums[threadIdx.x] += 1; // at static_shared
    out[threadIdx.x] = sums[threadIdx.x];
}
__global__ void dynamic_shared(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    if (threadIdx.x < 32 - bad) values[threadIdx.x] = 3;
    __syncthreads();
    out[threadIdx.x] = values[31 - threadIdx.x]; // at dynamic_shared
}
// What an earlier block wrote into its shared memory is not there for the next.
__global__ void other_block(int* x, int* out, int bad)
{
    __shared__ int flag;
    if (threadIdx.x == 0 && (blockIdx.x == 0 || !bad)) flag = 1;
    __syncthreads();
    out[threadIdx.x] = flag; // at other_block
}
__global__ void heap_read(int* x, int* out, int bad)
{
    int* p = static_cast<int*>(malloc(16));
    if (!bad) p[3] = 1;
    out[0] = __ldcv(p + 3); // at heap_read
    free(p);
}
__global__ void wide_load(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    if (!bad) reinterpret_cast<int4*>(x)[0] = make_int4(1, 2, 3, 4);
    int4 value = reinterpret_cast<int4*>(x)[0]; // at wide_load
    out[0] = value.x + value.w;
}
__global__ void copied(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    if (!bad) memset(x, 0, 4 * blockDim.x);
    memcpy(out, x, 4 * blockDim.x); // at copied
}
// The element that is written has a constant index, the others have not.
__global__ void constant_index(int* x, int* out, int bad)
{
    __shared__ int values[32];
    if (threadIdx.x == 0) {
        values[0] = 1;
        if (!bad) values[1] = 1;
    }
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x % 2]; // at constant_index
}
__global__ void local_array(int* x, int* out, int bad)
{
    int values[8];
    for (int i = 0; i < 8 - bad; ++i) values[i] = i;
    for (int i = 0; i < 8; ++i)
        out[0] += values[i]; // at local_array
}
__device__ __noinline__ long long twice(const long long* value)
{
    return 2 * *value; // at local_address
}
__global__ void local_address(int* x, int* out, int bad)
{
    long long value;
    if (!bad) value = 1;
    out[threadIdx.x] = twice(&value);
}
// Silent: padding, atomics, module variables, values that are written by parts, local arrays that are partly used.
__global__ void silent(int* x, int* out, int bad)
{
    __shared__ Padded pair;
    __shared__ int counter;
    outside[1] = 4;
    if (threadIdx.x == 0) {
        pair.a = 1;
        pair.b = 2;
        atomicExch(&counter, 0);
        Padded copy = pair;
        reinterpret_cast<Padded*>(x)[0] = copy;
        Padded back = reinterpret_cast<Padded*>(x)[0];
        out[0] = back.a + int(back.b) + table[2];
    }
    __syncthreads();
    atomicAdd(&counter, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        out[1] = counter + outside[threadIdx.x + 1];
    int some[8];
    Both both[2];
    for (int i = 0; i < 4; ++i) some[i] = out[i];
    both[threadIdx.x % 2].second = some[threadIdx.x % 4];
    reinterpret_cast<Both*>(x)[2] = both[threadIdx.x % 2];
}
}
"""
BUGS = {
    "global_read": r"load of 4 bytes at .* in the 128 bytes of device memory of device 0 from cuMemAlloc_v2, .* \d+\n",
    "short_loop": "load of 4 bytes at .* at offset 124 in the 128 bytes of device memory",
    "static_shared": "load of 4 bytes at .* at offset 0 in the 128 bytes of __shared__ sums",
    "dynamic_shared": "load of 4 bytes at .* at offset 124 in the 128 bytes of dynamic shared memory",
    "other_block": "load of 4 bytes at .* at offset 0 in the 4 bytes of __shared__ flag",
    "heap_read": r"load of 4 bytes at .* at offset 12 in the 16 bytes of a malloc\(\) in a kernel",
    "wide_load": "load of (4|16) bytes at .* at offset 0 in the 128 bytes of device memory",
    "constant_index": "load of 4 bytes at .* at offset 4 in the 128 bytes of __shared__ values",
    "local_array": "load of 4 bytes at .*: in a local variable of the thread",
    "local_address": "load of 8 bytes at .*: in a local variable of the thread",
    "copied": "load of 128 bytes at .* at offset 0 in the 128 bytes of device memory",
}


@pytest.fixture(scope="module")
def reports():
    return run_cases(SOURCE, [*BUGS, "silent"], "initialized", grid=2)


@pytest.mark.parametrize("bug", BUGS)
def test_uninitialized_read_is_reported_with_its_line(reports, bug):
    text = reports[bug, 1]
    line = next(i for i, row in enumerate(SOURCE.splitlines(), 1) if row.endswith(f"// at {bug}"))
    assert re.search(rf"kernel {bug}: uninitialized read: {BUGS[bug]}", text), text
    assert f"bugs.cu:{line} in {'twice' if bug == 'local_address' else bug}" in text
    assert re.search(r"block \(\d, 0, 0\) of \(2, 1, 1\), thread \(\d+, 0, 0\) of \(32, 1, 1\)", text)


@pytest.mark.parametrize("bug", [*BUGS, "silent"])
def test_kernel_without_the_bug_is_not_reported(reports, bug):
    assert reports[bug, 0] == ""


HOST = """
import numpy as np
from cuda.core import Device, LaunchConfig, Program, launch
import cuda.emulator
device = Device(); device.set_current()
stream = device.create_stream()
source = '''extern "C" __global__ void sum(int* x, int n, int* out)
{ for (int i = 0; i < n; ++i) *out += x[i]; }'''
kernel = Program(source, "c++").compile("cubin").get_kernel("sum")
a, b, out = (device.allocate(64, stream=stream) for _ in range(3))
out.fill(0, stream=stream)
def run(buffer, n=16):
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, np.int32(n), out)
    try:
        stream.sync()
        print("silent")
    except Exception as error:
        cuda.emulator.reset()
        print("uninitialized read" in str(error))
run(a)
a.copy_from(np.ones(16, np.int32), stream=stream); run(a)
run(b)
b.copy_from(a, stream=stream); run(b)
a.close(stream=stream)
c = device.allocate(64, stream=stream)
run(c)
b.copy_from(c, stream=stream); run(b)
b.fill(0, stream=stream); run(b)
c.copy_from(np.ones(16, np.int32)[:16], stream=stream); run(c, 16)
"""


def test_host_copies_initialize_and_device_copies_propagate(child):
    out = child(HOST, CHECK="initialized", CACHE_DIR="none")
    results = [line for line in out.splitlines() if line in ("silent", "True", "False")]
    assert results == ["True", "silent", "True", "silent", "True", "True", "silent", "silent"], out


LOCAL = """
from cuda.core import Device, LaunchConfig, Program, launch
device = Device(); device.set_current()
stream = device.create_stream()
source = '''extern "C" __global__ void f(int* x)
{
    int k;
    if (threadIdx.x < BOUND) k = threadIdx.x;
    x[k] = 1;
}'''
x = device.allocate(128, stream=stream)
for bound in ("32", "31"):
    kernel = Program(source.replace("BOUND", bound), "c++").compile("cubin").get_kernel("f")
    launch(stream, LaunchConfig(grid=1, block=32), kernel, x)
    try:
        stream.sync()
        print("silent")
    except Exception as error:
        print(error)
"""


def test_uninitialized_local_variables_have_values_out_of_range(child):
    out = child(LOCAL, CHECK="initialized")
    assert out.startswith("silent"), out
    assert "kernel f: illegal address: store of 4 bytes" in out
    assert "default_program:5 in f" in out
    assert "thread (31, 0, 0)" in out


def test_without_the_check_uninitialized_reads_are_not_reported(child):
    out = child(HOST, CHECK="memory")
    assert {line for line in out.splitlines() if line} == {"silent"}


OBJECTS = r"""
struct Shape { __device__ virtual int area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
__device__ __noinline__ int area_of(const Shape* shape) { return shape->area(); } // at the call
extern "C" __global__ void objects(int* x, int* out, int bad)
{
    Shape* shape = new Square(threadIdx.x);
    if (bad) delete shape;
    out[threadIdx.x] = area_of(shape);
    if (!bad) delete shape;
}
"""


@pytest.mark.parametrize("checks", ["initialized", "all"])
def test_constructors_initialize_virtual_function_pointer(checks):
    reports = run_cases(OBJECTS, ["objects"], checks)
    assert reports["objects", 0] == ""
    line = next(i for i, row in enumerate(OBJECTS.splitlines(), 1) if row.endswith("// at the call"))
    assert "illegal address: load of 8 bytes" in reports["objects", 1] and f"bugs.cu:{line} " in reports["objects", 1]


# The forgotten memset: what each atomic operation uses is the earlier value.
ATOMICS = {
    "add": "atomicAdd(p, 1)",
    "add_unsigned": "atomicAdd((unsigned*)p, 1u)",
    "add_float": "atomicAdd((float*)p, 1.f)",
    "add_wide": "atomicAdd((unsigned long long*)p, 1ull)",
    "add_block": "atomicAdd_block(p, 1)",
    "sub": "atomicSub(p, 1)",
    "and_": "atomicAnd(p, 1)",
    "or_": "atomicOr(p, 1)",
    "xor_": "atomicXor(p, 1)",
    "min": "atomicMin(p, 1)",
    "max": "atomicMax(p, 1)",
    "inc": "atomicInc((unsigned*)p, 7u)",
    "cas": "atomicCAS(p, 0, 1)",
    "fetch": "__nv_atomic_fetch_add(p, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)",
    "compare": "int e = 0; __nv_atomic_compare_exchange_n(p, &e, 1, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)",
    "ptx_red": 'asm volatile("red.global.add.s32 [%0], 1;" :: "l"(p) : "memory")',
    "ptx_atom": 'int r; asm volatile("atom.add.s32 %0, [%1], 1;" : "=r"(r) : "l"(p) : "memory")',
}
STORES = {
    "exchange": "atomicExch(p, 1)",
    "store": "__nv_atomic_store_n(p, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)",
}
GLOBAL_ATOMIC = 'extern "C" __global__ void {name}(int* x, int* out, int bad) {{ int* p = bad ? x : out; {call}; }}\n'
SHARED_ATOMIC = (
    'extern "C" __global__ void shared_{name}(int* x, int* out, int bad)\n'
    "{{ __shared__ int s[2]; int* p = s; if (!bad && threadIdx.x == 0) s[0] = s[1] = 0; __syncthreads(); {call}; }}\n"
)


@pytest.mark.parametrize("checks", ["initialized", "memory,races,initialized"])
def test_atomic_operations_read_the_earlier_value(checks):
    calls = {**ATOMICS, **STORES}
    source = "".join(GLOBAL_ATOMIC.format(name=name, call=call) for name, call in calls.items())
    source += "".join(SHARED_ATOMIC.format(name=n, call=call) for n, call in calls.items() if n != "ptx_red")
    names = [name for name in calls] + [f"shared_{name}" for name in calls if name != "ptx_red"]
    reports = run_cases(source, names, checks)
    for name in names:
        is_bug = name.removeprefix("shared_") in ATOMICS
        assert reports[name, 0] == "", reports[name, 0]
        assert (f"kernel {name}: uninitialized read: load of" in reports[name, 1]) is is_bug, (name, reports[name, 1])


# What writes more than one element at once: the compiler replaces such calls by code of its own.
COPIES = {
    "constant": "memcpy(s, x, 16)",
    "longer": "memcpy(s, x, 64)",
    "whole": "memcpy(s, x, 128)",
    "bounded": "memcpy(s, x, bad < 16 ? 128 : 64)",
    "moved": "memmove(s, x, 48)",
    "set": "memset(s, 0, 64)",
    "set_bounded": "memset(s, 0, bad < 16 ? 128 : 64)",
    "structure": "struct S { int v[16]; }; *(S*)s = *(S*)x",
    "vector": "*(int4*)s = *(int4*)x",
    "cp_async": 'asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x))',
    "cp_async_size": 'asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(x), "r"(bad + 16))',
    "cp_async_hint": (
        'asm volatile("{ .reg .b64 p; createpolicy.fractional.L2::evict_first.b64 p, 1.0;'
        ' cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, p; }" :: "r"(to), "l"(x))'
    ),
    "cp_async_size_hint": (
        'asm volatile("{ .reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0;\\n'
        ' cp.async.ca.shared.global.L2::cache_hint.L2::128B [%0], [%1], 4, %2, p; }" :: "r"(to), "l"(x), "r"(bad + 4))'
    ),
}
COPY = """
extern "C" __global__ void {name}(int* x, int* out, int bad)
{{
    __shared__ __align__(16) int s[32]; unsigned to = (unsigned)__cvta_generic_to_shared(s); (void)to;
    if (threadIdx.x == 0) {{
        for (int i = 0; i < 32; ++i) x[i] = i;
        if (!bad) {{ {call}; asm volatile("cp.async.wait_all;"); }}
    }}
    __syncthreads();
    out[threadIdx.x] = s[0];
}}
"""


@pytest.mark.parametrize("checks", ["initialized", "memory,races,initialized"])
def test_copied_memory_is_written_memory(checks):
    source = "".join(COPY.format(name=name, call=call) for name, call in COPIES.items())
    reports = run_cases(source, list(COPIES), checks)
    for name in COPIES:
        assert reports[name, 0] == "", reports[name, 0]
        assert f"kernel {name}: uninitialized read" in reports[name, 1]


LIBRARY = {
    "frexpf": "frexpf(4.f, x + at)",
    "frexp": "frexp(4.0, x + at)",
    "modff": "modff(4.5f, (float*)x + at)",
    "modf": "modf(4.5, (double*)x + at / 2)",
    "remquof": "remquof(7.f, 2.f, x + at)",
    "remquo": "remquo(7.0, 2.0, x + at)",
    "sincosf": "sincosf(1.f, (float*)x, (float*)x + at)",
    "sincos": "sincos(1.0, (double*)x + at / 2, (double*)x)",
    "sincospif": "sincospif(1.f, (float*)x + at, (float*)x)",
    "sincospi": "sincospi(1.0, (double*)x, (double*)x + at / 2)",
}


@pytest.mark.parametrize("checks", ["memory", "all"])
def test_stores_of_library_functions_are_checked(checks):
    kernel = 'extern "C" __global__ void store_{}(int* x, int* out, int bad) {{ int at = 32 * bad; {}; *out = *x; }}\n'
    source = "".join(kernel.format(name, call) for name, call in LIBRARY.items())
    reports = run_cases(source, [f"store_{name}" for name in LIBRARY], checks, block=1)
    for number, name in enumerate(LIBRARY, 1):
        assert reports[f"store_{name}", 0] == "", name
        assert f"kernel store_{name}: illegal address: store of " in reports[f"store_{name}", 1]
        assert f"at bugs.cu:{number} in store_{name}" in reports[f"store_{name}", 1]


COMPARISONS = """
extern "C" __global__ void compare_too_much(int* x, int* out, int bad)
{
    out[1] = memcmp(out + 16, out, 64 + bad);
}
extern "C" __global__ void compare_unwritten(int* x, int* out, int bad)
{
    out[1] = memcmp(bad ? x : out, out, 4);
}
extern "C" __global__ void compare_until_the_first_difference(int* x, int* out, int bad)
{
    *x = 5;
    out[0] = memcmp(x, out, bad ? 500 : 128) != 5;
    if (bad) out[33] = 1;
}
"""


@pytest.mark.parametrize("checks", ["memory", "all"])
def test_compared_bytes_are_checked(checks):
    names = ["compare_too_much", "compare_until_the_first_difference"]
    names += ["compare_unwritten"] * (checks == "all")
    reports = run_cases(COMPARISONS, names, checks, block=1)
    assert [reports[name, 0] for name in names] == [""] * len(names)
    words = ["load of 65 bytes", "store of 4 bytes", "uninitialized read: load of 1 byte"]
    assert all(word in reports[name, 1] for name, word in zip(names, words, strict=False))


PARTIAL_TILES = r"""
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
template <class T> __device__ void scan(const T* x, T* out, int count)
{
    __shared__ typename cub::BlockScan<T, 32>::TempStorage shared;
    T items[2];
    for (int i = threadIdx.x; i < 8; i += 32) const_cast<T*>(x)[i] = T(i);
    __syncthreads();
    cub::LoadDirectBlocked(threadIdx.x, x, items, count);
    cub::BlockScan<T, 32>(shared).InclusiveSum(items, items);
    cub::StoreDirectBlocked(threadIdx.x, out, items, count);
}
extern "C" {
__global__ void integers(int* x, int* out, int bad) { scan(x, out, 7); }
__global__ void numbers(float* x, float* out, int bad) { scan(x, out, 7); }
__global__ void doubles(double* x, double* out, int bad) { scan(x, out, 7); }
}
"""


@pytest.mark.requires(cccl=True)
@pytest.mark.parametrize("checks", ["initialized", "all"])
def test_partial_tiles_of_cub_are_silent(checks):
    options = (f"-I{cccl_folder()}", "-std=c++17")
    reports = run_cases(PARTIAL_TILES, ["integers", "numbers", "doubles"], checks, options=options)
    assert set(reports.values()) == {""}
