# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compiler interface: options, errors, warnings and names agree with NVRTC 13.5."""

import os
import re
import subprocess
import sys

import pytest

from support.compiled import Program

KERNEL = 'extern "C" __global__ void k(int* x) { x[0] = 1; }\n'

ACCEPTED = """
-arch=sm_90|-arch=compute_90|-arch sm_90|-arch=sm_90a|-dc|-rdc=true|-G|-lineinfo|-std=c++17|--std=c++20|-std=c++23
-maxrregcount=32|--ftz=true|-ftz true|-use_fast_math|-DX|-D X=1|-UX|-I/tmp|-I /tmp|-w|-default-device|-Xptxas -v
--ptxas-options=-v|-no-cache|--gen-opt-lto|--fmad=false|-prec-div=true|-split-compile=2|-ewp|--minimal|-jtd=3
--jump-table-density=3|--optimization-info=inline|--define-macro=X|--define-macro X|-Ofc=max|-diag-suppress=1,2
-Werror=all-warnings|--brief-diagnostics=true|-builtin-initializer-list=true|--device-int128|--dopt=on|-maxrregcount|-jtd|-I
"""
REJECTED = {
    "--gpu-architecture=sm_70": "invalid value for --gpu-architecture (-arch)",
    "-arch=sm_77": "invalid value for --gpu-architecture (-arch)",
    "-arch=native": "invalid value for --gpu-architecture (-arch)",
    "-arch": "invalid value for --gpu-architecture (-arch)",
    "-foo": "unrecognized option -foo found",
    "foo": "unrecognized option foo found",
    "--bogus=1": "unrecognized option --bogus=1 found",
    "-O3": "unrecognized option -O3 found",
    "-g": "unrecognized option -g found",
    "--arch=sm_90": "unrecognized option --arch=sm_90 found",
    "-gpu-architecture=sm_90": "unrecognized option -gpu-architecture=sm_90 found",
    "-std c++20": "unrecognized option -std found",
    "-time": "unrecognized option -time found",
    "-jump-table-density=10": "unrecognized option -jump-table-density=10 found",
    "--std=c++98": "invalid value for --std(-std)",
    "-std=gnu++17": "invalid value for --std(-std)",
    "-rdc=maybe": "--relocatable-device-code (-rdc) expects true or false",
    "--ftz=1": "--ftz (-ftz) expects true or false",
    "-maxrregcount=abc": "--maxrregcount (-maxrregcount) expects an integer value",
    "-use_fast_math=true": "--use_fast_math (-use_fast_math) does not accept any argument",
    "-diag-suppress=abc": "--diag-suppress expects a non-zero positive integer value",
    "-diag-error": "--diag-error expects a non-zero positive integer value",
    "-version-ident=true": "unrecognized option -version-ident=true found",
    "-uumn=1": "--uumn (-uumn) does not accept any argument",
    "--dopt=off": "invalid argument for option --dopt (-dopt): off",
    "-jtd=102": "Argument for --jump-table-density must be between [0-101]",
    "--jump-table-density=-5": "Argument for --jump-table-density must be between [0-101]",
    "-split-compile=-1": "Argument for -split-compile must be non-negative",
    "-dQ=x": "--version-ident (-dQ) expects true or false",
    "--Wreorder=1": "--Wreorder (-Wreorder) does not accept any argument",
    "-opt-info=all": "invalid optimization tag for option --optimization-info (-opt-info): all",
    "-dc -ewp": "--extensible-whole-program (-ewp) is not compatible with --device-c (-dc)",
    "-ewp -rdc=true": (
        "--extensible-whole-program (-ewp) is not compatible with --relocatable-device-code=true (-rdc=true)"
    ),
    "-dc -rdc=false": "--device-c (-dc) is not compatible with --relocatable-device-code=false (-rdc=false)",
    "-dc -dw": "Both --device-c (-dc) and --device-w (-dw) specified",
}
# NVRTC ends these messages without a newline.
REJECTED_WITHOUT_NEWLINE = {
    "-device-float128 -arch=sm_90": "option --device-float128 is not supportedon architectures earlier than sm_100",
    "--numba-debug": "option --numba-debug is only supported when --device-debug is also specified",
}


@pytest.mark.parametrize("option", ACCEPTED.replace("\n", "|").strip("|").split("|"))
def test_nvrtc_options_are_accepted(driver, option):
    program = Program(KERNEL, *option.split(" "))
    assert (program.result, program.log) == ("SUCCESS", "")


@pytest.mark.parametrize("option", REJECTED)
def test_unknown_options_are_rejected(driver, option):
    program = Program(KERNEL, *option.split(" "))
    assert (program.result, program.log) == ("INVALID_OPTION", f"nvrtc: error: {REJECTED[option]}\n")


@pytest.mark.parametrize("option", REJECTED_WITHOUT_NEWLINE)
def test_options_are_rejected_without_their_prerequisites(driver, option):
    program = Program(KERNEL, *option.split(" "))
    assert (program.result, program.log) == ("INVALID_OPTION", f"nvrtc: error: {REJECTED_WITHOUT_NEWLINE[option]}")


@pytest.mark.parametrize(
    "options", [["-ewp", "-dw"], ["-G", "-numba-debug"], ["\t-w "], ["-arch=sm_90 "], ["-dQ=true"]]
)
def test_options_are_accepted_together_and_with_blanks_around(driver, options):
    program = Program(KERNEL, *options)
    assert (program.result, program.log) == ("SUCCESS", "")


@pytest.mark.parametrize("option", ["-dopt", "--Ofast-compile"])
def test_missing_value_is_only_a_message_as_with_nvrtc(driver, option):
    program = Program(KERNEL, option)
    assert (program.result, program.log) == ("SUCCESS", f"nvrtc: error: {option} expects a value\n")


def test_missing_precompiled_header_is_a_catastrophic_error(driver):
    program = Program(KERNEL, "--use-pch=/nowhere/a.pch", name="a.cu")
    assert program.result == "COMPILATION"
    assert program.log.startswith('Catastrophic error: cannot open precompiled header file "/nowhere/a.pch"\n')


def test_precompiled_header_is_made_where_it_was_asked_for(driver, tmp_path):
    path = tmp_path / "a.pch"
    for file, status in ((path, "SUCCESS"), (tmp_path / "none" / "a.pch", "ERROR_PCH_CREATE")):
        program = Program(KERNEL, f"--create-pch={file}")
        assert program.result == "SUCCESS"
        assert program.nvrtc.nvrtcGetPCHCreateStatus(program.handle)[0].name == f"NVRTC_{status}"
    assert Program(KERNEL, f"--use-pch={path}").result == "SUCCESS"


def test_architecture_given_twice_is_a_warning(driver):
    program = Program(KERNEL, "-arch=sm_90", "-arch=sm_80")
    expected = 'nvrtc: warning: "--gpu-architecture(-arch)=90" followed by "--gpu-architecture(-arch)=80"\n'
    assert (program.result, program.log) == ("SUCCESS", expected)


@pytest.mark.parametrize(
    ("options", "outputs"),
    [
        ([], {"PTX"}),
        (["-arch=sm_90"], {"PTX", "CUBIN"}),
        (["-arch=compute_90"], {"PTX"}),
        (["-arch=sm_90", "-rdc=true"], {"PTX", "CUBIN"}),
        (["-arch=sm_90", "-dlto"], {"LTOIR"}),
    ],
)
def test_outputs_depend_on_the_architecture(driver, options, outputs):
    program = Program(KERNEL, *options)
    found = {kind for kind in ("PTX", "CUBIN", "LTOIR", "OptiXIR", "TileIR") if len(program.output(kind)) > 1}
    assert found == outputs


NOT_HOST = "A function without execution space annotations"
ERRORS = {
    "x[0] = y;": r'default_program\(1\): error: identifier "y" is undefined\n  (.*)\n {48}\^\n',
    "x[0] = 1": r'default_program\(1\): error: expected a ";"\n',
    'asm("tcgen05.wait::ld.sync.aligned;");': r"\(1\): error: inline PTX is not supported",
    "k<<<1, 1>>>(x);": r"\(1\): error: kernels cannot launch kernels",
    "__shared__ int a = 1;": r"\(1\): error: initializer not allowed for __shared__ variable",
    "int a[x[0]];": r"\(1\): error: expression must have a constant value",
    "__int128 a = 1;": r"\(1\): error: 128-bit integer type is only supported .* the \"--device-int128\" flag",
    "throw 1;": r"\(1\): error: device code does not support exception handling",
    "} int host(int a) { return a;": r"\(1\): error: " + NOT_HOST,
    "} struct S { int a; int f() { return a; }": r"\(1\): error: " + NOT_HOST,
    "} __host__ int host(int a) { return a;": r"\(1\): error: A function explicitly marked as a __host__ function",
    "} int variable; __device__ void f() {": r"\(1\): error: A namespace scope variable without memory space",
    "} __global__ int g() { return 1;": r"\(1\): error: a __global__ function must have a void return type",
    "} __device__ int f() { return 1; } __device__ int v = f(); __device__ void h() {": "dynamic initialization is not",
    "__shared__ int a[20000]; x[0] = a[x[1]];": r"'k' uses too much shared data \(0x13880 bytes, 0xc000 max\)",
    "} __device__ int far(int); __global__ void g(int* x) { x[0] = far(1);":
        r"ptxas fatal   : Unresolved extern function '_Z3fari'",
}  # fmt: skip


@pytest.mark.parametrize("body", ERRORS)
def test_errors_use_nvrtc_format(driver, body):
    program = Program('extern "C" __global__ void k(int* x) {           ' + body + " }", "-arch=sm_90")
    assert program.result == "COMPILATION"
    assert re.search(ERRORS[body], program.log)


def test_log_ends_with_the_number_of_errors(driver):
    program = Program("__global__ void k(int* x) { x[0] = y; }", name="folder/my kernel.cu")
    assert program.log.startswith('folder/my kernel.cu(1): error: identifier "y" is undefined\n')
    assert program.log.endswith('1 error detected in the compilation of "folder/my kernel.cu".\n')


def test_option_accepts_functions_without_annotation(driver):
    host = "int f(int a) { return a; }\nstruct S { int g() { return 1; } };\n"
    source = host + "__global__ void k(int* x) { x[0] = f(S().g()); }"
    assert Program(source, "-default-device").result == "SUCCESS"


def test_warnings_can_be_suppressed(driver):
    source = "__global__ void k(int* x) {\n    int unused = 3;\n    x[0] = 1;\n}"
    program = Program(source)
    assert program.result == "SUCCESS"
    assert 'default_program(2): warning #177-D: variable "unused" was declared but never referenced' in program.log
    assert Program(source, "-diag-suppress=177").log == Program(source, "-w").log == ""
    assert Program(source, "-Werror=all-warnings").result == "COMPILATION"


def test_headers_can_be_passed_as_strings(driver):
    headers = {"a.h": '#include "sub/b.h"\n__device__ int f() { return B; }\n', "sub/b.h": "#define B 5\n"}
    source = "#include <a.h>\n__global__ void k(int* x) { x[0] = f(); }"
    assert Program(source, headers=headers).result == "SUCCESS"
    broken = Program(source, headers={"a.h": "__device__ int f() {\n  return q;\n}\n"})
    assert 'a.h(2): error: identifier "q" is undefined\n    return q;\n           ^\n' in broken.log


def test_missing_headers_are_a_catastrophic_error(driver):
    program = Program('#include "nofile.h"\n')
    assert program.result == "COMPILATION"
    assert 'default_program(1): catastrophic error: cannot open source file "nofile.h"\n' in program.log
    assert program.log.endswith("Compilation terminated.\n")


def test_name_expressions_become_lowered_names(driver):
    source = """
    template <class T, int N = 2> __global__ void k(T* x) { T t[N]; x[0] = t[0]; }
    namespace n { __device__ int v; __constant__ float c[4]; template <class T> struct S { T t; };
    __global__ void over(int) {} __global__ void over(float) {} }
    """
    expected = {
        "k<int>": "_Z1kIiLi2EEvPT_",
        " k <float, 7> ": "_Z1kIfLi7EEvPT_",
        "&k<double>": "_Z1kIdLi2EEvPT_",
        "k<n::S<long>>": "_Z1kIN1n1SIlEELi2EEvPT_",
        "&n::v": "_ZN1n1vE",
        "n::c": "_ZN1n1cE",
        "(void(*)(float))n::over": "_ZN1n4overEf",
    }
    program = Program(source, names=expected)
    assert program.result == "SUCCESS", program.log
    assert {name: program.lowered(name) for name in expected} == expected
    assert program.nvrtc.nvrtcGetLoweredName(program.handle, b"k<char>")[0].name.endswith("NAME_EXPRESSION_NOT_VALID")
    assert program.nvrtc.nvrtcAddNameExpression(program.handle, b"k<char>")[0] == 8


@pytest.mark.parametrize("options", [(), ("--std=c++11",), ("--relocatable-device-code=true",)], ids=str)
def test_kernel_template_without_definition_is_lowered(driver, options):
    source = """
    namespace n { template <class...> __global__ void of(); template <class T> struct S { T t; }; }
    template <class T> __global__ void declared(T); extern "C" __global__ void f(n::S<int> s, float* x) { *x = s.t; }
    """
    expected = {
        "n::of<decltype(&f)>": "_ZN1n2ofIJPFvNS_1SIiEEPfEEEEvv",
        "n::of<int, n::S<float>>": "_ZN1n2ofIJiNS_1SIfEEEEEvv",
        "declared<char>": "_Z8declaredIcEvT_",
        "f": "f",
    }
    program = Program(source, *options, names=expected)
    assert program.result == "SUCCESS", program.log
    assert {name: program.lowered(name) for name in expected} == expected
    if "--relocatable-device-code=true" not in options:
        library = driver.cuLibraryLoadData(program.image, [], [], 0, [], [], 0)
        assert driver.cuLibraryGetKernelCount(library) == 1
        driver.cuLibraryUnload(library)


def test_wrong_name_expression_is_reported_with_its_line(driver):
    program = Program("__global__ void k() {}", names=["k", "missing"])
    assert program.result == "COMPILATION"
    assert (
        '__nv_name_map(3): error: identifier "missing" is undefined\n  #pragma nv_mangled_name missing\n' in program.log
    )


def test_program_sees_nvrtc_macros(driver):
    source = """
    static_assert(__CUDA_ARCH__ == 890 && __CUDACC__ && __CUDACC_RTC__ && __cplusplus == 201703L, "");
    #if defined(__GNUC__) || defined(__linux__) || defined(__x86_64__) || defined(__NVCC__)
    #error this is no host compiler
    #endif
    static_assert(sizeof(size_t) == 8 && sizeof(long) == 8 && alignof(float4) == 16 && alignof(float3) == 4, "");
    """
    assert Program(source, "-arch=sm_89").log == ""


def test_other_calls_return_supported_values(driver):
    nvrtc = Program(KERNEL).nvrtc
    program = Program(KERNEL, "--pch")
    assert nvrtc.nvrtcGetPCHCreateStatus(program.handle)[0] == nvrtc.nvrtcResult.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED
    assert nvrtc.nvrtcGetPCHHeapSizeRequired(program.handle)[1] == 0
    assert nvrtc.nvrtcGetBundledHeadersInfo()[1].available == 0
    assert nvrtc.nvrtcInstallBundledHeaders(b"/tmp/nothing", 0)[0] != 0
    assert nvrtc.nvrtcCompileProgram(0, 0, [])[0] == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM
    assert 90 in nvrtc.nvrtcGetSupportedArchs()[1]
    _, handle = nvrtc.nvrtcCreateProgram(b"", b"", 0, [], [])
    assert nvrtc.nvrtcDestroyProgram(handle)[0] == 0
    assert nvrtc.nvrtcDestroyProgram(handle)[0] == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM


def test_text_output_names_the_target_and_the_kernels(driver):
    program = Program(
        'template <class T> __global__ void k(T* x) {} extern "C" __global__ void plain() {}',
        "-arch=compute_90",
        names=["k<int>"],
    )
    text = program.output("PTX").decode()
    assert "It is not PTX." in text
    for line in (
        "// .target sm_90\n",
        "// .visible .entry plain(\n",
        "// .visible .entry " + program.lowered("k<int>") + "(\n",
    ):
        assert line in text


NOT_HERE = r"note: <{0}> is not available on the software device; you can include <cooperative_groups.h>, "


@pytest.mark.parametrize("name", ["nvfunctional", "cub/cub.cuh", "cuda/atomic", "vector", "curand_kernel.h"])
def test_missing_header_error_lists_available_headers(driver, name):
    log = Program(f"#include <{name}>\n" + KERNEL).log
    assert f'catastrophic error: cannot open source file "{name}"' in log
    assert re.search(NOT_HERE.format(re.escape(name)), log)


def test_error_names_headers_that_are_not_needed(driver):
    log = Program("#include <math.h>\n" + KERNEL).log
    assert "note: remove the #include: the software device already declares the parts of <math.h> that kernels" in log


def test_missing_program_header_error_has_no_note(driver):
    log = Program('#include "mine.h"\n' + KERNEL).log
    assert 'cannot open source file "mine.h"' in log
    assert "note" not in log


def test_toolkit_header_on_the_include_path_is_a_single_error(driver, tmp_path):
    (tmp_path / "cuda_awbarrier.h").write_text("struct pipeline { unknown x; };\nother y;\n" * 50)
    log = Program("\n#include <cuda_awbarrier.h>\n" + KERNEL, f"-I{tmp_path}").log
    message = (
        "a header of the CUDA toolkit, cuda_awbarrier.h, cannot be compiled for the software device; you can include"
    )
    assert log.startswith(f"default_program(2): catastrophic error: {message}")
    assert "1 catastrophic error detected" in log


@pytest.mark.parametrize(
    "form", ["(uint64_t* x) {{\n", "(int* x, int32_t n)\n{{\n", "(const uint8_t* x, int32_t* y) {{"]
)
def test_unknown_type_is_a_single_error(driver, form):
    body = "  int i = threadIdx.x;\n  if (i < 3)\n    x[i] = i;\n  while (x[i]) x[0] = 2;\n}\n"
    log = Program('extern "C" __global__ void k' + form + body).log
    errors = [line for line in log.splitlines() if "error: " in line]
    assert len(errors) == 1
    assert re.fullmatch(r'default_program\(1\): error: identifier "u?int\d+_t" is undefined', errors[0])
    assert "default_program(1): note: #include <cuda/std/cstdint> declares it\n" in log
    assert '1 error detected in the compilation of "default_program".' in log


WARNING = """\
default_program(1): warning #1105-D: #warning directive: hello there
  #warning hello there
   ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

"""
REMARK = """\
default_program(1): remark #20200-D: #pragma message: "note me"
  #pragma message("note me")
                            ^

"""


def test_volatile_assignments_cause_no_warning(driver):
    source = """
    struct Pair
    {
        int low, high;
        __device__ volatile Pair &operator=(const Pair &other) volatile
        {
            low = other.low;
            high = other.high;
            return *this;
        }
    };
    extern "C" __global__ void swap(volatile Pair *out, const Pair *in) { *out = *in; }
    """
    program = Program(source, "-Werror=all-warnings")
    assert program.result == "SUCCESS" and not program.log.strip()


FENCES = """
__global__ void k(int* x)
{
    __shared__ volatile int s[32]; // its accesses are calls of the device
    s[threadIdx.x] = *x;
    __threadfence();
    __threadfence_system();
    __threadfence_block();
    *x = s[0];
}
"""


@pytest.mark.parametrize("checks", ["memory", "races", "all"])
def test_fences_compile_without_a_warning(checks):
    program = f"import cuda.emulator; cuda.emulator.activate(); import sys; sys.path[:0] = {sys.path!r}\n"
    program += f"from support.compiled import Program; print([Program({FENCES!r}).log])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "CUDA_EMULATOR_CHECK": checks}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=100)
    assert (done.stdout, done.stderr) == ("['']\n", "")


def test_warning_directives_are_in_the_log(driver):
    source = "#warning hello there\n" + KERNEL
    assert Program(source).log.rstrip("\n") == WARNING.rstrip("\n")
    assert Program(source, "-w").log == ""
    assert Program(source, "-diag-suppress=1105").log == ""
    program = Program(source, "-Werror=all-warnings")
    assert program.result == "COMPILATION"
    assert program.log.startswith("default_program(1): error #1105-D: #warning directive: hello there\n")


def test_messages_follow_source_order(driver):
    program = Program("#warning hello there\n" + "__global__ void k(int* x) { x[0] = z; }")
    assert program.log.startswith(WARNING)
    assert 'default_program(2): error: identifier "z" is undefined' in program.log


def test_pragma_messages_are_in_the_log(driver):
    program = Program('#pragma message("note me")\n' + KERNEL)
    assert (program.result, program.log.rstrip("\n")) == ("SUCCESS", REMARK.rstrip("\n"))


def test_deduction_guides_with_conditions_are_no_host_functions(driver):
    program = Program(
        """
        template <class T> concept Small = sizeof(T) <= 4;
        template <class T> struct Box { T x; __device__ Box(T a) : x(a) {} __device__ Box(T a, int) : x(a) {} };
        template <class T> requires Small<T> Box(T, T) -> Box<long long>;
        extern "C" __global__ void size_of(int* out) { Box box(1.0f, 2.0f); out[0] = sizeof(box.x); }
        """,
        "-std=c++20",
    )
    assert program.result == "SUCCESS", program.log


@pytest.mark.parametrize(("standard", "macro"), [(14, "variable_templates"), (17, "if_constexpr"), (20, "concepts")])
def test_features_of_the_language_are_announced(driver, standard, macro):
    source = f"#if !__cpp_{macro}\n#error missing\n#endif\n" + KERNEL
    assert Program(source, f"-std=c++{standard}").result == "SUCCESS"
    assert "missing" in Program(source, f"-std=c++{standard - 3}").log
