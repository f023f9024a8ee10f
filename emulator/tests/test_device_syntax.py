# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Lambdas, special registers and casts, which a host compiler would treat differently from a compiler for GPUs."""

import re

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
    auto add = [](int v) { atomicAdd(&second, v); };
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
    if (blockIdx.y != 1 || tid != 40) return;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time[0]));
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
    "text",
    [
        'asm("movmatrix.sync.aligned.m8n8.trans.b8 %0, %1;" : "=r"(a) : "r"(1));',
        'asm("mov.u32 %0, %envreg3;" : "=r"(a));',
    ],
)
def test_other_inline_assembly_is_rejected_by_name(driver, text):
    log = Program(f'extern "C" __global__ void k(int* x) {{ unsigned a; {text} x[0] = a; }}').log
    assert "default_program(1): error: inline PTX is not supported" in log
    assert text[5 : text.index(";")] in log


DEFINED = r"""
__device__ unsigned long long __globaltimer()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time | 1;
}
template <class T> __global__ void preview(T* out) { out[0] = preview_of(1.0f) + PREVIEW_GAIN + Unknown<T>(2); }
template <class T> __device__ T twice(T x)
{ asm("movmatrix.sync.aligned.m8n8.trans.b8 %0, %1;" : "=r"(x) : "r"(x)); return x; }
extern "C" __global__ void odd(unsigned long long* x) { x[0] = __globaltimer(); }
"""


def test_program_can_define_timer_and_unused_templates(driver, context):
    code, x = Code(driver, Program(DEFINED, "-arch=sm_90").image), np.zeros(1, np.uint64)
    code("odd", 1, 1, x)
    assert x[0] % 2 == 1
    code.close()


IMPLICIT = r"""
struct Three { int v[3]; };
template <class T> __device__ auto begin(T& x) -> decltype(&x.v[0]) { return x.v; }
template <class T> __device__ auto end(T& x) -> decltype(&x.v[0]) { return x.v + 3; }
extern "C" __global__ void sum(int* x) { Three three{{1, 2, 4}}; for (int one : three) x[0] += one; }
"""


def test_templates_called_implicitly_count_as_used(driver, context):
    code, x = Code(driver, Program(IMPLICIT, "-arch=sm_90").image), np.zeros(1, np.int32)
    code("sum", 1, 1, x)
    assert x[0] == 7
    code.close()


def test_used_template_is_checked(driver):
    log = Program(DEFINED, "-arch=sm_90", names=["preview<int>"]).log
    assert 'identifier "PREVIEW_GAIN" is undefined' in log


UNUSED_MEMBERS = r"""
template <class T> struct A
{
    __device__ T used() { return 5; }
    __device__ T largest() const noexcept { return std::numeric_limits<T>::max(); }
    static __device__ auto lookup(T x) -> T { auto find = [](T y) { return missing(y); }; return find(x); }
    struct Inner { __device__ T first() { return missing(1); } };
};
template <class T> struct A<T*> { __device__ T pointed() { return missing(1); } };
struct B { template <class T> __device__ T converted() { return missing(1); } };
extern "C" __global__ void k(int* x) { A<int> a; x[0] = a.used(); }
"""


def test_unused_class_template_members_are_not_looked_up(driver, context):
    code, x = Code(driver, Program(UNUSED_MEMBERS, "-arch=sm_90").image), np.zeros(1, np.int32)
    code("k", 1, 1, x)
    assert x[0] == 5
    code.close()


@pytest.mark.parametrize(
    "text",
    [
        "struct A { __device__ int f() { return missing(1); } };",
        "template <class T> struct A; template <> struct A<int> { __device__ int f() { return missing(1); } };",
        "template <class T> struct A { __device__ T f() { return missing(1); } }; template struct A<int>;",
        "template <class T> struct A { virtual __device__ T f() { return missing(1); } }; __device__ A<int> a;",
        "template <class T> struct A { friend __device__ int f(A) { return missing(1); } }; __device__ A<int> a;",
        "template <class T> struct A { __device__ T f() { return missing(1); } };"
        " __device__ int g(A<int> a) { return a.f(); }",
    ],
)
def test_names_in_compiled_members_are_looked_up(driver, text):
    assert re.search("error: .*missing", Program(text).log)


CLASS = "struct A { int v; __device__ A() { v = clock(); } __device__ A(int n) { v = n + clock(); } };"
STATICS = {
    "__device__ A a;": '"a"',
    "__constant__ A a;": '"a"',
    "__device__ A a(3);": '"a"',
    "struct S { static __device__ A a; }; __device__ A S::a;": '"S::a"',
    "__device__ int number = clock();": '"number"',
    "__device__ void f() { static A inner; }": '"inner"',
    "__device__ int f() { static const int first = clock(); return first; }": '"first"',
}


@pytest.mark.parametrize("text", STATICS)
def test_static_variable_that_needs_a_constructor_is_rejected(driver, text):
    program = Program(CLASS + text, "-arch=sm_90")
    assert program.result == "COMPILATION"
    assert f"dynamic initialization is not supported for a __device__ variable {STATICS[text]}\n" in program.log


@pytest.mark.parametrize(
    "text",
    [
        "__device__ A several[2];",
        "__constant__ A several[2][3];",
        "struct B { A a; }; __device__ B several[2];",
        "__device__ void f() { static A several[2]; }",
    ],
)
def test_array_of_classes_with_constructors_is_rejected(driver, text):
    program = Program(CLASS + text, "-arch=sm_90")
    assert program.result == "COMPILATION"
    assert "dynamic initialization is not supported for a __device__ variable: several" in program.log


def test_static_variable_with_a_destructor_is_rejected_by_name(driver):
    log = Program("struct A { __device__ ~A() {} }; __device__ A left;", "-arch=sm_90").log
    assert "a __device__ variable cannot have a destructor: left" in log


TRIVIAL = r"""
struct Plain { int v; Plain() = default; };
union Either { int i; float f; };
struct Known { int v; __device__ constexpr Known(int n) : v(n) {} };
__device__ Plain plain, plains[2], grid[2][2];
__device__ Known *pointers[2];
__device__ dim3 sizes[2];
__device__ Either either;
__device__ dim3 size;
__constant__ Known known(3), listed{4};
extern "C" __global__ void sum(int* x)
{
    static Plain inner;
    static int count = 5;
    static Plain inners[2];
    static const int table[2] = {1, 2};
    x[0] = plain.v + plains[1].v + either.i + size.x + known.v + listed.v + inner.v + count + table[1];
    x[0] += inners[0].v + sizes[1].y;
}
"""


def test_static_variables_with_constant_values_are_accepted(driver, context):
    code, x = Code(driver, Program(TRIVIAL, "-arch=sm_90").image), np.zeros(1, np.int32)
    code("sum", 1, 1, x)
    assert x[0] == 1 + 3 + 4 + 5 + 2 + 1
    code.close()


SHUFFLES = r"""
extern "C" {
__global__ void behind_the_end(int* x) { x[threadIdx.x] = __shfl_down_sync(0xffffffff, threadIdx.x + 1, 4); }
__global__ void after_exit(int* x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x + 1, threadIdx.x ^ 16);
}
__global__ void outside_of_the_mask(int* x)
{
    if (threadIdx.x < 8)
        x[threadIdx.x] = __shfl_xor_sync(0xff, threadIdx.x + 1, 8);
}
__global__ void sum_of_eight_lanes(int* x)
{
    int sum = threadIdx.x + 1;
    if (threadIdx.x < 8)
        for (int offset = 16; offset; offset /= 2)
            sum += __shfl_down_sync(0xff, sum, offset);
    if (threadIdx.x == 0)
        x[0] = sum - 36;
}
__global__ void complete(int* x) { x[threadIdx.x] = __shfl_down_sync(0xffffffff, threadIdx.x + 1, 4); }
}
"""
UNDEFINED = {
    "behind_the_end": (
        24,
        "__shfl_down_sync(mask 0xffffffff): lane 20 reads lane 24, which has exited or does not exist",
    ),
    "after_exit": (32, "__shfl_sync(mask 0xffffffff): lane 0 reads lane 16, which has exited or does not exist"),
    "outside_of_the_mask": (32, "__shfl_xor_sync(mask 0xff): lane 0 reads lane 8, which is not in the mask"),
    "sum_of_eight_lanes": (32, "__shfl_down_sync(mask 0xff): lane 0 reads lane 16, which is not in the mask"),
    "complete": (32, ""),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_shuffle_from_absent_lane_is_reported_once(driver, context, capfd, name):
    code, x = Code(driver, Program(SHUFFLES, "-arch=sm_90", name="k.cu").image), np.zeros(32, np.int32)
    threads, report = UNDEFINED[name]
    for _ in range(2):
        code(name, 3, threads, x)
    code.close()
    ranges = {"behind_the_end": range(20, 24), "after_exit": range(16), "outside_of_the_mask": range(8)}
    ranges["sum_of_eight_lanes"] = range(1)
    assert not any(x[lane] for lane in ranges.get(name, ()))
    out = capfd.readouterr().err
    assert out.count(f"kernel {name}: {report}") == (report != "") and out.count("cuda.emulator") == (report != "")
    assert not report or "k.cu:" in out


NAMED = "template <typename A, typename T> constexpr bool is_same = true;\nconstexpr int N = 3;\n"
VALUES = (
    "template <typename Op, typename T> constexpr bool q = is_same<Op, T>;",
    "template <typename Op, typename T> constexpr bool q = true && is_same<Op, T>;",
    "template <typename Op, typename T> constexpr bool q = sizeof(T) <= 4 && is_same<Op, T>;",
    "template <typename Op, typename T> constexpr bool q = (is_same<Op, T>) || is_same<T, Op>;",
    "template <typename Op, typename T> constexpr bool q = 86 >= 80 && is_same<Op, T>;",
    "template <typename Op, typename T> constexpr bool q = !is_same<Op, T>;",
    "constexpr bool less = N < 4, q = N > 2;",
)


@pytest.mark.parametrize("value", VALUES)
def test_types_in_values_are_no_variables(driver, value):
    body = "{ __shared__ int s[32]; s[threadIdx.x] = 1; o[0] = s[3]; }"
    kernel = f"template <typename T> __global__ void g(T* o) {body}\n"
    after = "template <int I> __global__ void h(int* o) { constexpr bool b(less && q); o[0] = b; }\n"
    source = NAMED + value.replace(";", ";") + "\n" + kernel + (after if "less" in value else "")
    program = Program(source, "-arch=sm_90", names=("g<int>",))
    assert program.result == "SUCCESS", program.log


def test_tables_of_function_addresses_are_constant(driver):
    text = "typedef int (*F)(); __device__ int f() { return 1; } __device__ F table[2] = {&f, 0};"
    assert Program(text, "-arch=sm_90").result == "SUCCESS"


CASTS = {
    "float* p = (float*)&x;": "SUCCESS",
    "float* p = reinterpret_cast<float*>(&x[1]);": "SUCCESS",
    "char* p = (char*)&x + 1;": "SUCCESS",
    "void* p = (void*)((char*)&x + 4);": "SUCCESS",
    "int* p = &((S*)&s)->b;": "SUCCESS",
    "int p = (int)(long long)&x[0];": "COMPILATION",
    "int p = *reinterpret_cast<int*>(&s);": "COMPILATION",
}


@pytest.mark.parametrize("text", CASTS)
def test_cast_of_an_address_is_a_constant_as_for_nvrtc(driver, text):
    program = Program("__device__ int x[4]; struct S { int a, b; }; __device__ S s; __device__ " + text, "-arch=sm_90")
    assert program.result == CASTS[text], program.log
