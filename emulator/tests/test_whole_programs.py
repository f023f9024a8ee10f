# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``benchmarks/programs.py``: whole CUDA programs, split into a part for the host and a part for the device."""

import os
import re
import runpy
import subprocess
import sys

import pytest

from support.paths import PAGES, ROOT

TOOL = ROOT / "benchmarks" / "programs.py"
PROGRAMS = TOOL.with_suffix("")

pytestmark = pytest.mark.requires(compiler=True, source=True)

FEATURES = """\
#include <stdio.h>
#include <string>
#include <vector>
#include "twice.h"
using namespace std;
#define CHECK(call) do { if ((call) != cudaSuccess) { printf("line %d\\n", __LINE__); exit(9); } } while (0)
const int COUNT = sizeof(float) / 2;
static __device__ int calls[COUNT], last = 3;
namespace geometry {
__constant__ float factor = 2;
struct Named { string name; vector<int> sizes; explicit Named(int n) : name{"x"}, sizes(n) {} };
struct Point {
    float a{1};
    int b = 2;
    __host__ __device__ Point(float x) : a{x} { b = 3; }
    __device__ float doubled() const { return twice(a); }
    float on_host() const { return a; }
};
template <class T>
__global__ void __launch_bounds__(64) scale(T* x) { x[threadIdx.x] *= T(factor) * Point(1).doubled(); }
__global__ void add(float (*x)[2], const Point q);
__global__ void add(float (*x)[2], const Point q) { x[0][threadIdx.x] += q.a; }
}  // namespace geometry
template <class F, int N>
__global__ void apply(F f, float* x)
{
    extern __shared__ float values[];
    values[threadIdx.x] = f(x[threadIdx.x]);
    __syncthreads();
    x[threadIdx.x] = values[N - 1 - threadIdx.x];
    if (threadIdx.x == 0) atomicAdd(&calls[N - 1], 1);
}
struct Plus { float y; __device__ float operator()(float x) const { return x + y; } };
extern "C" __global__ void arch(int* out) { *out = side(); }
int main(int argc, char** argv)
{
    float h[COUNT] = {1, 2}, *d, three = 3, after[1];
    int counts[COUNT], *side_d, side_h, extra;
    CHECK(cudaMalloc(&d, sizeof h));
    CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    geometry::scale<float><<<1, 2>>>(d);
    ::geometry::add<<<dim3(1), dim3(2)>>>((float(*)[2])d, geometry::Point(1));
    apply<Plus, 2><<<1, COUNT, COUNT * sizeof(float)>>>({10}, d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyToSymbol(geometry::factor, &three, sizeof three));
    geometry::scale<<<1, 2>>>(d);
    CHECK(cudaMemcpy(after, d, sizeof after, cudaMemcpyDefault));
    CHECK(cudaMemcpyFromSymbol(counts, calls, sizeof calls));
    CHECK(cudaMemcpyFromSymbol(&extra, last, sizeof last));
    CHECK(cudaMalloc((void**)&side_d, sizeof(int)));
    arch<<<1, 1, 0, 0>>>(side_d);
    CHECK(cudaMemcpy(&side_h, side_d, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%g %g %g, %d %d %d, %d %d, ", h[0], h[1], after[0], counts[0], counts[1], extra, side(), side_h);
    printf("%s %d\\n", geometry::Named(argc).name.c_str(), (int)geometry::Named(argc).sizes.size());
    arch<<<1, 5000>>>(side_d);
    printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
    printf("%s\\n", cudaGetErrorName(cudaMemcpy(d, h, 1, (cudaMemcpyKind)7)));
    return argc;
}
"""
HEADER = """\
#pragma once
__host__ __device__ inline float twice(float x) { return 2 * x; }
#ifdef __CUDA_ARCH__
__device__ int side() { return __CUDA_ARCH__ / 100; }
#else
int side() { return SIDE; }
#endif
"""
KERNEL = "__global__ void set(int* x) { *x = 1; }\n"


def run(*arguments, **settings):
    environment = os.environ | {"CUDA_CORE_DEVICE": "software"} | settings
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def write(tmp_path, text, name="program.cu"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_program_verifies_its_result():
    result = run(PROGRAMS / "rodinia" / "heartwall.cu")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith(": PASS\n")


def test_host_and_device_code_share_a_file(tmp_path):
    (tmp_path / "include").mkdir()
    write(tmp_path / "include", HEADER, "twice.h")
    result = run(write(tmp_path, FEATURES), "-I", tmp_path / "include", "-D", "SIDE=7", "--", "one", "two")
    assert (result.returncode, result.stderr) == (3, "")
    assert result.stdout.splitlines() == [
        "19 15 114, 0 1 3, 7 9, x 3",
        "invalid configuration argument",
        "cudaErrorInvalidMemcpyDirection",
    ]


def test_program_has_several_files(tmp_path):
    launch = KERNEL + "void launch(int* x) { set<<<1, 1>>>(x); }\n"
    main = """#include <stdio.h>
    void launch(int* x);
    int main() { int* x; cudaMallocManaged(&x, 4); launch(x); cudaDeviceSynchronize(); printf("%d", *x); }
    """
    result = run(write(tmp_path, main), write(tmp_path, launch, "launch.cu"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "1", "")


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n__global__ void f() { wrong(); }\nint main() {}", r'program\.cu\(2\): error: identifier "wrong" is undef'),
        (KERNEL + "\nint main() { cudaGraph_t wrong; }", r"program\.cu:3:\d+: error: .cudaGraph_t. was not declared"),
        (KERNEL, "the program has no main"),
    ],
)
def test_errors_name_the_file_line(tmp_path, text, message):
    result = run(write(tmp_path, text + "\n"))
    assert result.returncode == 1 and re.search(message, result.stderr)


def test_fault_names_the_file_line(tmp_path):
    main = (
        KERNEL
        + "int main() { int* x; cudaMalloc(&x, 4); set<<<1, 1>>>(x + 1); return cudaDeviceSynchronize() == 700; }"
    )
    result = run(write(tmp_path, "#include <vector>\n\n" + main))
    assert result.returncode == 1
    assert "just past the end of the 4 bytes" in result.stderr and "program.cu:3 in set(int*)" in result.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("__managed__ int x;", "2: __managed__ variables are not supported"),
        ("static texture<float, 1> t;", "2: texture references are not supported"),
        ("namespace {\n__global__ void f() {}\n}", "3: kernels and device variables in unnamed namespaces"),
        ("namespace {\n__device__ int x;\n}", "3: kernels and device variables in unnamed"),
        ("__global__ void f(float*);", "2: kernel parameters without a name are not supported"),
        ("template <class... A> __global__ void f(A... a) {}", "2: kernels with parameter packs are not supported"),
        ("void f() {\nauto g = [] __device__ (int x) { return x; };\n}", "3: device lambdas and local classes with"),
        ("void f() {\n(g)<<<1, 1>>>();\n}", "3: only the name of a kernel can stand before <<<"),
        ("void f() { g<<<1, 1; }", "2: <<< without >>>"),
        ("void f() { a > <<<1, 1>>>(); }", "2: unbalanced >"),
        ("template <int N void f();", "2: unbalanced <"),
        ("void f() {}\n}", "3: unbalanced braces"),
        ("void f() {", "2: unbalanced {"),
        ("int x", "2: this declaration has no end"),
    ],
)
def test_unsupported_code_is_named_with_its_line(tmp_path, text, message):
    tool = runpy.run_path(str(TOOL))
    path = write(tmp_path, f"\n{text}\n")
    with pytest.raises(tool["Unsupported"]) as caught:
        tool["Splitter"](tool["preprocess"](path, []))
    assert str(caught.value).startswith(f"{path}:{message}")


def test_unsupported_code_ends_the_tool(tmp_path):
    result = run(write(tmp_path, "__managed__ int x;\nint main() {}\n"))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"{tmp_path}/program.cu:1: __managed__ variables are not supported\n"


@pytest.mark.requires(pages=True)
@pytest.mark.parametrize("suite", ["PolyBench-GPU", "Rodinia"])
def test_guide_lists_the_programs(suite):
    page = (PAGES / "guide" / "software-device-reference.md").read_text()
    listed, written = re.search(rf"^\| {suite}: (.+?) \| (\d+) \|", page, re.MULTILINE).groups()
    folder = PROGRAMS / suite.partition("-")[0].lower()
    assert sorted(listed.lower().split(", ")) == sorted(path.stem.lower() for path in folder.glob("*.cu"))
    assert len(listed.split(", ")) == int(written)
