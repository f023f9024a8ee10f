# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.emulator program.cu``: whole programs, split into a part for the host and a part for the device."""

import enum
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cuda.emulator.programs import _host
from cuda.emulator.programs._command import parse_command
from cuda.emulator.programs._host import ProgramError, preprocess
from cuda.emulator.programs._split import Splitter
from cuda.emulator.programs._tokens import tokens_of
from support.paths import PAGES, ROOT

PROGRAMS = Path(__file__).parent / "programs"
INCLUDE, DEVICE_INCLUDE = Path(_host.INCLUDE), Path(_host.DEVICE_INCLUDE)
BENCHMARKS = ROOT / "benchmarks" / "programs"

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
DECLARATIONS = """\
#include <stdio.h>
template <class T> struct Convert;
template <> struct Convert<float>;
template <> struct Convert<float> { __device__ static float f(float v) { return v; } };
template <> struct Convert<int> { __device__ static float f(int v) { return v; } };
template <class T> class Later;
template <typename T, int N = 2> struct Fixed;
template <class T> struct Box { T v; __host__ __device__ T get() const { return v; } };
template struct Box<float>;
extern template struct Box<double>;
template <class T> constexpr T pi = T(3.25);
template <class T> inline constexpr bool is_small = sizeof(T) < 4;
template <> inline constexpr bool is_small<long> = true;
template <class T> concept Number = requires(T a) { a + a; };
constexpr int offset = int(1e3);
[[maybe_unused]] constexpr int unused[2] = {1, 2};
enum class Color : int;
enum class Color : int { red = 3, green };
struct __align__(16) Aligned;
struct __align__(16) Aligned { float a, b; };
template <typename T, int N> struct Fixed { T v[N]; };
template <class T> class Later { public: Fixed<T> f; __device__ T sum() { return f.v[0] + f.v[1]; } };
template <Number T> __device__ T twice(T v) { return v * 2; }
template __device__ float twice<float>(float);
template <class T> __global__ void k(T x, float* y)
{
    Later<float> later;
    later.f = Fixed<float>{{1, 2}};
    Box<T> box{x};
    *y = Convert<T>::f(x) + later.sum() + pi<float> + (int)Color::green + box.get() + twice(1.f);
    if (is_small<long> && !is_small<T>) *y += offset;
}
template __global__ void k<int>(int, float*);
int main()
{
    float *d, h;
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(5, d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g\\n", h, Box<float>{5}.get());
    return cudaGetLastError();
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
    command = [sys.executable, "-m", "cuda.emulator", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=60)


def write(tmp_path, text, name="program.cu"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_program_verifies_its_result():
    result = run(BENCHMARKS / "rodinia" / "heartwall.cu")
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


def test_declarations_of_templates_are_in_both_parts(tmp_path):
    result = run(write(tmp_path, DECLARATIONS), "-std=c++20")
    assert (result.returncode, result.stdout, result.stderr) == (0, "1022.25 5\n", "")


def test_program_has_several_files(tmp_path):
    launch = KERNEL + "void launch(int* x) { set<<<1, 1>>>(x); }\n"
    main = """#include <stdio.h>
    void launch(int* x);
    int main() { int* x; cudaMallocManaged(&x, 4); launch(x); cudaDeviceSynchronize(); printf("%d", *x); }"""
    result = run(write(tmp_path, main), write(tmp_path, launch, "launch.cu"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "1", "")


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n__global__ void f() { wrong(); }\nint main() {}", r'program\.cu\(2\): error: identifier "wrong" is undef'),
        (KERNEL + "\nint main() { cudaWrong_t x; }", r"program\.cu:3:\d+: error: .cudaWrong_t. was not declared"),
        (KERNEL + "\nvoid other();\nint main() { other(); }", "undefined reference to .other"),
        (KERNEL, "the program has no main"),
        (
            "#include <cublas_v2.h>\nint main() {}",
            "cublas_v2.h belongs to cuBLAS, which the software device does not have",
        ),
        ("#include <curand_kernel.h>\nint main() {}", r"is in the package nvidia-curand \(pip install nvidia-curand\)"),
        ("#include <GL/glut.h>\nint main() {}", "GL/.*h belongs to OpenGL, which"),
        ("#include <mpi.h>\nint main() {}", "mpi.h belongs to MPI, which"),
        ("#include <thrust/sort.h>\nint main() {}", "thrust/sort.h belongs to Thrust, which"),
        (
            "__global__ void f(int* x) { *x = __shfl_down(*x, 1); }\nint main() { f<<<1, 1>>>(0); }",
            r"program\.cu\(1\): note: write __shfl_down_sync, whose first argument is the mask",
        ),
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
        ("static texture<float, 1> t;", "2: texture references were removed from CUDA 12: use texture objects"),
        ("__global__ void f(float*) {}", "2: the parameters of a kernel need names here"),
        ("void f() {\nauto g = [] __device__ (int x) { return x; };\n}", "3: device lambdas and local classes with"),
        ("void f() {\n3<<<1, 1>>>();\n}", "3: a kernel must stand before <<<"),
        ("void f() { g<<<1, 1>>>; }", "2: a launch without arguments in parentheses"),
        ("void f() { g<<<1, 1; }", "2: <<< without >>>"),
        ("void f() { g<< <1, 1; }", "2: <<< without >>>"),
        ("void f() { a > <<<1, 1>>>(); }", "2: unbalanced >"),
        ("template <int N void f();", "2: unbalanced <"),
        ("void f() {}\n}", "3: unbalanced braces"),
        ("void f() {", "2: unbalanced {"),
        ("int x", "2: this declaration has no end"),
        ("struct X {}", "2: this declaration has no end"),
        ("struct X { X() : a{1}, b };", "2: this function has no body"),
    ],
)
def test_unsupported_code_is_named_with_its_line(tmp_path, text, message):
    path = write(tmp_path, f"\n{text}\n")
    with pytest.raises(ProgramError) as caught:
        Splitter(tokens_of(preprocess(str(path), "c++17", [], 0), str(path)))
    assert str(caught.value).startswith(f"{path}:{message}")


def test_unsupported_code_ends_the_command(tmp_path):
    result = run(write(tmp_path, "texture<int> x;\nint main() {}\n"))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{tmp_path}/program.cu:1: texture references were removed")


@pytest.mark.parametrize(
    "options, message",
    [
        (["more.cu"], "more.cu: no such file"),
        (
            ["input.txt"],
            "input.txt: a program has files ending in .cu, .cpp, .cc, .cxx, .c; its arguments stand after --",
        ),
        (
            ["-arch=sm_80"],
            "unknown option -arch=sm_80; programs in CUDA C++ take -I DIRECTORY, -D NAME[=VALUE], -O LEVEL",
        ),
        (["--check=all"], "unknown option --check=all; programs in CUDA C++ take"),
        (["-I"], "-I needs a value"),
        (["-O", "7"], "-O7: the levels are 0, 1, 2, 3, s and fast"),
        (["-std=c++03"], "-std=c++03: the standards are c++11, c++14, c++17, c++20 and c++23"),
        (["-lcufft"], "-lcufft: the software device does not have cuFFT"),
        (["-l", "mpi"], "-lmpi: the software device does not have MPI"),
    ],
)
def test_wrong_option_is_named(tmp_path, options, message):
    with pytest.raises(ProgramError) as caught:
        parse_command([str(write(tmp_path, "int main() {}")), *options])
    assert str(caught.value).startswith(message)


def test_missing_file_is_one_line(tmp_path):
    result = run(tmp_path / "none.cu")
    expected = f"python -m cuda.emulator: there is no program '{tmp_path}/none.cu'\n"
    assert (result.returncode, result.stderr) == (2, expected)


def test_system_without_compiler_is_told(tmp_path):
    result = run(write(tmp_path, "int main() {}"), PATH=str(tmp_path), CUDA_EMULATOR_CHECK="memory")
    assert result.returncode == 1
    assert "need g++ or clang++ for their host part, and neither is installed" in result.stderr


# ------------------------------------------------------------------ programs in the manner of samples and courses


@pytest.mark.parametrize(
    "name, options, output",
    [
        ("vector_add", [], "9.0 1 1\n0 wrong\n"),
        ("matrix_mul", ["-O3"], "Result = PASS\n"),
        ("reduction", ["-std=c++14"], "no error 12502500\n"),
        ("texture", [], "0 0 2.75 7, 12 2050 8080, 254 242, 8 1 2 2\n"),
        ("histogram", ["-O", "0"], "PASS\n"),
        ("graph", [], "3 nodes, 1 63, 0 10 73 1\n"),
        ("streams", ["-lpthread", "-lcudart"], "0 wrong, 4 done, 4 calls\n"),
        ("managed", ["-std=gnu++17"], "11 7, 106 7, 16\n"),
        ("pitch", [], "10 28, 1010101 124\n"),
        ("occupancy", ["-std=c++20"], "invalid argument, no error, 63 0 PASS\n"),
        ("half_precision", [], "8.5 60.5 9.0625, 0.0999756 6 1\n"),
        ("openmp", ["-fopenmp"], "2 devices, 4 threads, 0 wrong, 1 0 12\n"),
        ("language", [], "9 36 4, 1, 102 1\n"),
        ("globals", [], "117 49 4 5 1 1 b\n"),
        ("launches", [], "12 117 118 a <<< b >>> c 119\n"),
        ("templates", [], "20.5 13 4square 5 2016 2016 2016 6 1 8\n77 7 16 12 cudaSuccess\n"),
        ("two_files", [PROGRAMS / "two_files_other.cu"], "11 122 5 0\n"),
        ("queries", [PROGRAMS / "queries_in_c.c"], "0 wrong\n"),
    ],
)
def test_program_in_the_manner_of_samples_runs(name, options, output):
    result = run("--check", "all", PROGRAMS / f"{name}.cu", *options, CUDA_EMULATOR_DEVICES="2")
    assert (result.returncode, result.stdout, result.stderr) == (0, output, "")


@pytest.mark.requires(curand_headers=True)
def test_program_draws_random_numbers_in_kernels():
    from support.kernel_files import curand_folder

    result = run(PROGRAMS / "random.cu", "-I", curand_folder())
    assert (result.returncode, result.stdout, result.stderr) == (0, "3.1\n", "")


# ------------------------------------------------------------------ the command

FAULT = (
    KERNEL
    + """
#include <cstdlib>
int main(int argc, char** argv)
{
    int* x;
    cudaMalloc(&x, 4);
    set<<<1, 1>>>(x + (argc > 1));
    exit(cudaDeviceSynchronize() / 100);
}
"""
)


def test_status_of_the_program_is_that_of_the_command(tmp_path):
    assert run(write(tmp_path, FAULT), "--", "wrong").returncode == 7
    assert run(write(tmp_path, "#include <stdlib.h>\nint main() { abort(); }")).returncode == -signal.SIGABRT


def test_host_access_to_device_memory_is_explained(tmp_path):
    result = run(write(tmp_path, KERNEL + "int main() { int* x; cudaMalloc(&x, 4); set<<<1, 0>>>(x); *x = 1; }"))
    assert result.returncode == -signal.SIGSEGV
    assert re.match(
        "cuda.emulator: the host accessed device memory at 0x[0-9a-f]+, which only kernels and", result.stderr
    )


def test_options_of_the_command_combine(tmp_path):
    path = write(tmp_path, FAULT)
    result = run("--check=all", f"--coverage={tmp_path}/out", f"--report={tmp_path}/found.json", path, "--", "wrong")
    assert result.returncode == 7
    assert f"SF:{path}" in (tmp_path / "out" / "kernels.info").read_text()
    (finding,) = json.loads((tmp_path / "found.json").read_text())
    assert "program.cu:1" in json.dumps(finding) or '"line": 1' in json.dumps(finding)


@pytest.mark.requires(command="gdb")
def test_gdb_stops_in_host_functions_and_kernels(tmp_path):
    path = write(
        tmp_path,
        FAULT.replace("int main", "int prepare_of_program(int seven) { return seven; }\nint main").replace(
            "x +", "x + 0 * prepare_of_program(7) +"
        ),
    )
    stops = "-ex 'break prepare_of_program' -ex 'kernel break program.cu:1 thread 0' -ex run -ex 'print seven'"
    result = run("--gdb", path, CUDA_EMULATOR_GDB=f"{stops} -ex continue -ex 'bt 1' -ex kill -ex quit -batch")
    assert "$1 = 7" in result.stdout and "#0  set (x=0x" in result.stdout


def test_orders_of_a_program_are_tried(tmp_path):
    result = run("--shuffle", "2", write(tmp_path, FAULT))
    assert (result.returncode, result.stderr) == (
        0,
        "python -m cuda.emulator: the program ran with 2 seeds and none failed\n",
    )


def test_output_of_host_and_kernels_is_in_order(tmp_path):
    text = """
    #include <cstdio>
    __global__ void print(int i) { printf("kernel %d\\n", i); }
    int main()
    {
        int i;
        while (scanf("%d", &i) == 1) {
            printf("host %d\\n", i);
            print<<<1, 1>>>(i);
            cudaDeviceSynchronize();
        }
    }"""
    command = [sys.executable, "-m", "cuda.emulator", write(tmp_path, text)]
    result = subprocess.run(command, input="1 2", capture_output=True, text=True, timeout=60)
    assert result.stdout.split("\n") == ["host 1", "kernel 1", "host 2", "kernel 2", ""]


def test_interrupt_ends_the_program(tmp_path):
    text = '#include <stdio.h>\nint main() { puts("ready"); fflush(stdout); for (;;) {} }'
    command = [sys.executable, "-m", "cuda.emulator", write(tmp_path, text)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT


def test_main_gets_arguments_and_environment(tmp_path):
    text = """
    #include <stdio.h>
    #include <string.h>
    int main(int argc, char** argv, char** variables)
    {
        for (int i = 1; i <= argc; ++i)
            printf("%s ", argv[i]);
        for (; *variables; ++variables)
            if (!strncmp(*variables, "COLOR=", 6))
                puts(*variables);
    }"""
    result = run(write(tmp_path, text), "--", "-I", "two words", "--", COLOR="red")
    assert result.stdout == "-I two words -- (null) COLOR=red\n"


def test_function_named_like_one_of_a_library_is_the_programs(tmp_path):
    text = """
    extern "C" int Py_IsInitialized() { return 3; }
    extern "C" int cudaMallocOfMine() { return 4; }
    int inflate = 5;
    int main() { return Py_IsInitialized() + cudaMallocOfMine() + inflate; }"""
    assert run(write(tmp_path, text)).returncode == 12


def test_nothing_is_left_behind(tmp_path):
    assert run(write(tmp_path, FAULT), TMPDIR=str(tmp_path)).returncode == 0
    assert run(write(tmp_path, "wrong"), TMPDIR=str(tmp_path)).returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["program.cu"]


def test_call_of_a_kernel_without_configuration_ends_the_program(tmp_path):
    result = run(write(tmp_path, KERNEL + "int main() { set<<<1, 0>>>(0); set(0); return 5; }"))
    assert (result.returncode, result.stderr) == (1, "cuda.emulator: a kernel was called without <<<grid, block>>>\n")


def test_managed_variables_belong_to_device_0(tmp_path):
    text = """
    __managed__ int total = 1;
    __global__ void increase() { ++total; }
    int main()
    {
        increase<<<1, 1>>>();
        cudaSetDevice(1);
        increase<<<1, 1>>>();
        cudaError_t error = cudaGetLastError();
        cudaSetDevice(0);
        cudaDeviceSynchronize();
        return error == cudaErrorNotSupported ? total : 0;
    }"""
    result = run(write(tmp_path, text), CUDA_EMULATOR_DEVICES="2")
    message = "cuda.emulator: a program with __managed__ variables can use kernels on device 0 only\n"
    assert (result.returncode, result.stderr) == (2, message)


def test_type_that_differs_in_kernels_ends_the_program(tmp_path):
    text = """
    struct Pair {
        int a;
    #ifndef __CUDA_ARCH__
        int b;
    #endif
    };
    __global__ void f(int* x, Pair pair) { *x = pair.a; }
    int main() { f<<<1, 1>>>(nullptr, Pair{}); return 5; }"""
    result = run(write(tmp_path, text))
    assert result.returncode == 1
    assert re.match(
        "cuda.emulator: parameter 1 of kernel f.int., Pair. has 8 bytes in host code and 4 in kernels", result.stderr
    )


def test_wrong_arguments_of_the_runtime_are_errors(tmp_path):
    text = """
    __device__ int x[2];
    int y;
    int main()
    {
        int v[4] = {};
        size_t size = 0;
        return cudaGetSymbolAddress(nullptr, x) != cudaErrorInvalidValue ||
               cudaGetSymbolSize(nullptr, x) != cudaErrorInvalidValue ||
               cudaGetSymbolSize(&size, y) != cudaErrorInvalidSymbol ||
               cudaMemcpyToSymbol(x, v, 12) != cudaErrorInvalidValue ||
               cudaMemcpyToSymbol(x, v, 8, 4) != cudaErrorInvalidValue ||
               cudaMemcpyToSymbol(y, v, 4) != cudaErrorInvalidSymbol ||
               cudaGetDeviceProperties(nullptr, 0) != cudaErrorInvalidValue ||
               cudaFuncGetAttributes(nullptr, (void*)main) != cudaErrorInvalidValue ||
               cudaMemcpy3D(nullptr) != cudaErrorInvalidValue || cudaMallocArray(nullptr, nullptr, 1) == cudaSuccess;
    }"""
    assert run(write(tmp_path, text)).returncode == 0


def test_unnamed_kernel_argument_is_an_invalid_function(tmp_path):
    text = "void f() {}\nint main() { return cudaLaunchKernel((void*)f, dim3(1), dim3(1), nullptr); }"
    assert run(write(tmp_path, text)).returncode == 98


@pytest.mark.requires(module="cuda.bindings")
def test_enumerators_are_those_of_the_bindings():
    from cuda.bindings import runtime

    theirs = {
        name: int(value)
        for kind in vars(runtime).values()
        if isinstance(kind, type) and issubclass(kind, enum.Enum)
        for name, value in kind.__members__.items()
    }
    theirs |= {name: value for name, value in vars(runtime).items() if isinstance(value, int)}
    wrong, count = [], 0
    for header in (INCLUDE / "cuda_enumerators.h", DEVICE_INCLUDE / "emulator_errors.h"):
        for body in re.findall(r"enum[^{;]*{([^}]*)}", header.read_text()):
            value = -1
            for name, number in re.findall(r"(cuda\w+)(?: = (-?\d+))?", body):
                value = int(number) if number else value + 1
                count += 1
                if theirs.get(name, value) != value:
                    wrong.append(name)
    assert wrong == [] and count > 400


@pytest.mark.requires(pages=True)
@pytest.mark.parametrize("suite", ["PolyBench-GPU", "Rodinia"])
def test_guide_lists_the_programs(suite):
    page = (PAGES / "guide" / "software-device-reference.md").read_text()
    listed, written = re.search(rf"^\| {suite}: (.+?) \| (\d+) \|", page, re.MULTILINE).groups()
    folder = BENCHMARKS / suite.partition("-")[0].lower()
    assert sorted(listed.lower().split(", ")) == sorted(path.stem.lower() for path in folder.glob("*.cu"))
    assert len(listed.split(", ")) == int(written)
