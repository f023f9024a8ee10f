# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilation with the options of nvcc: headers, the cache, kept files, and an nvcc named by the caller."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core import ProgramOptions
from cuda.core.driver import _compilation
from cuda.core.driver._compilation import (
    _HEADERS,
    UnknownOptionError,
    arch_of,
    needs_other_headers,
    program_cache,
    split_options,
    translate,
    wrapped,
)
from cuda.core.driver.compiler import DEFAULT_NVCC_FLAGS, SourceModule, compile, get_nvcc_version, preprocess_source
from cuda.core.utils import InMemoryProgramCache
from support.interpreter import run

INCLUDE = Path(_HEADERS[0])
HOST = Path(_HEADERS[1])
HEADERS = sorted(
    [path.name for path in INCLUDE.iterdir() if path.is_file()]
    + [path.relative_to(HOST).as_posix() for path in HOST.rglob("*") if path.is_file()]
)
KERNEL = "__global__ void f(float *x) { x[0] = sqrtf(x[1]); }"
# Relies on what host compilers offer without an include, and on standard headers.
HOST_STYLE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <stdint.h>
#include <limits>
#include <type_traits>
#include <cstddef>
#include <cuda_runtime.h>
#include <cuComplex.h>
typedef unsigned int uint;
#define M_PI 3.0
int N = 10;
int helper(int x) { return x + N; }
extern "C++" { template <class T> std::enable_if_t<std::is_integral<T>::value, T> next(T x) { return x + 1; } }
__global__ void f(double *x, uint n, std::size_t m)
{
    register int k = 3;
    x[0] = M_PI + M_E * 0 + helper(1) + next(k);
    x[1] = std::sqrt(16.0) + std::abs(-2.0f) + (std::isnan(x[0]) ? 1 : 0);
    x[2] = INT_MAX == 2147483647 && UINT32_MAX == UINT_MAX && RAND_MAX > 0 && isinf(INFINITY) && isnan(NAN);
    x[3] = std::numeric_limits<float>::max() > 1e38 && std::numeric_limits<int>::min() < 0;
    x[4] = offsetof(float4, y) + sizeof(int64_t) + sizeof(ushort);
    x[5] = cuCreal(cuCmul(make_cuDoubleComplex(1, 2), cuConj(make_cuDoubleComplex(1, 2))));
    assert(n == m);
}
"""


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_compiles_inside_extern_c(header):
    assert compile(f"#include <{header}>\n#include <{header}>\n{KERNEL}", arch="sm_90", cache_dir=False)


def test_host_and_runtime_headers_are_available():
    assert {"cmath", "cuComplex.h", "cuda_runtime.h", "math.h", "stdint.h", "stdio.h", "sys/types.h"} <= set(HEADERS)


def test_code_in_the_style_of_host_compilers_compiles():
    assert compile(HOST_STYLE, arch="sm_90", cache_dir=False)


def test_code_in_host_compiler_style_computes_right_results(context):
    x = np.zeros(6)
    SourceModule(HOST_STYLE, cache_dir=False).get_function("f")(drv.Out(x), np.uint32(3), np.uint64(3), block=(1, 1, 1))
    assert x.tolist() == [3 + 11 + 4, 6, 1, 1, 4 + 8 + 2, 5]


@pytest.mark.parametrize("standard", ["c++03", "c++11", "c++14", "c++17", "c++20"])
def test_older_and_newer_standards_compile(standard):
    source = "#include <math.h>\n#include <stdint.h>\n__global__ void f(double *x) { x[0] = M_PI; }"
    assert compile(source, options=[f"-std={standard}"], arch="sm_90", cache_dir=False)


def test_complex_numbers_have_their_operators(context):
    source = """
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<double> z;
    __global__ void f(z *out, pycuda::complex<float> *small, z a, z b, double r)
    {
        small[0] = pycuda::complex<float>(1, 2) * 2.0f;
        z c = a; c += b; c -= r; c *= b; c /= a;
        z results[] = { a + b, a - b, a * b, a / b, a + r, r - a, r * a, a / r, -a, +a, conj(a), c, exp(a), log(a),
            log10(a), sqrt(a), sin(a), cos(a), tan(a), sinh(a), cosh(a), tanh(a), pow(a, 3), pow(a, -2), pow(a, r),
            pow(a, b), z(real(a), imag(b)), z(abs(a), arg(a)), z(norm(a)), pycuda::polar(r, 0.5), z(a == a, a != b),
            z(a == r, a.real() == a._M_re), small[0], sqrt(-a) };
        for (int i = 0; i < sizeof(results) / sizeof(z); i++) out[i] = results[i];
    }
    """
    a, b, r = np.complex128(1.5 + 2.5j), np.complex128(-0.5 + 1j), 3.0
    expected = [
        a + b, a - b, a * b, a / b, a + r, r - a, r * a, a / r, -a, a, a.conjugate(), (a + b - r) * b / a, np.exp(a),
        np.log(a), np.log10(a), np.sqrt(a), np.sin(a), np.cos(a), np.tan(a), np.sinh(a), np.cosh(a), np.tanh(a), a**3,
        a**-2, a**r, a**b, complex(1.5, 1), complex(abs(a), np.angle(a)), abs(a) ** 2, r * np.exp(0.5j), 1 + 1j,
        1j, 2 + 4j, np.sqrt(-a),
    ]  # fmt: skip
    out, small = np.zeros(len(expected), complex), np.zeros(1, np.complex64)
    function = SourceModule(source, cache_dir=False).get_function("f")
    function(drv.Out(out), drv.Out(small), a, b, np.float64(r), block=(1, 1, 1))
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert small[0] == 2 + 4j


def test_value_initialized_complex_numbers_are_zero(context):
    source = """
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<float> z;
    static_assert(__is_trivially_constructible(z), "z() must not set anything itself, so that C++ zeroes it");
    __global__ void f(z *out) { out[0] = z(); __shared__ z unset[4]; unset[0] = z(1, 2); out[1] = unset[0]; }
    """
    out = np.ones(2, np.complex64)
    SourceModule(source, cache_dir=False).get_function("f")(drv.InOut(out), block=(1, 1, 1))
    assert out.tolist() == [0, 1 + 2j]


def test_only_headers_that_the_package_lacks_need_the_toolkit():
    assert not needs_other_headers(KERNEL)
    assert not needs_other_headers('#include <stdio.h>\n # include "math.h"')
    assert needs_other_headers("#include <mma.h>")


def test_lines_keep_their_numbers():
    for source in (f"\n\n{KERNEL} x", f"{KERNEL}\n\nint y = x;"):
        with pytest.raises(drv.CompileError, match=r"kernel\.cu\(3\): error"):
            compile(source, arch="sm_90", cache_dir=False)
    assert wrapped("text", True) == "text"


def test_headers_are_found_in_the_callers_directories(tmp_path, context):
    (tmp_path / "mine.h").write_text("#define VALUE 42\n")
    source = '#include "mine.h"\n__global__ void f(int *x) { x[0] = VALUE; }'
    for given in ({"include_dirs": [tmp_path]}, {"options": ["-I", str(tmp_path)]}, {"include_dirs": str(tmp_path)}):
        x = np.zeros(1, np.int32)
        SourceModule(source, cache_dir=False, **given).get_function("f")(drv.Out(x), block=(1, 1, 1))
        assert x[0] == 42
    with pytest.raises(drv.CompileError, match=r"mine\.h"):
        compile(source, arch="sm_90", cache_dir=False)


@pytest.mark.parametrize(
    "options", [["-Xcompiler=-Wall", "-O3", "--use_fast_math"], ["-lineinfo -O2"], ["-DX=1", "-w", "-std=c++14"]]
)
def test_options_of_nvcc_are_accepted(options):
    assert compile(KERNEL, options=options, arch="sm_90", cache_dir=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arch": "sm_90", "options": ["--no-such-thing"]}, "unrecognized option"),
        ({"options": ["-arch=sm_52"]}, "75, 80"),
        ({"arch": "sm_35"}, "75, 80"),
        ({"arch": "sm_90", "options": ["-std=c++99"]}, r"std"),
    ],
)
def test_options_unknown_to_the_compiler_raise_compile_errors(given, message):
    with pytest.raises(drv.CompileError, match=message) as caught:
        compile(KERNEL, **given, cache_dir=False)
    assert caught.value.command_line


def test_ptx_is_a_target_and_fat_binaries_are_rejected():
    assert compile(KERNEL, arch="sm_90", cache_dir=False, target="ptx")
    with pytest.raises(drv.CompileError, match="use nvcc for fat binaries"):
        compile(KERNEL, arch="sm_90", target="fatbin")
    with pytest.raises(TypeError, match="source must be a str, not bytes"):
        compile(b"x", arch="sm_90")


def test_compiler_messages_on_success_become_a_warning():
    source = "__global__ void f(int *x) { int y = 1; y; x[0] = 1; }\n#warning look here\n"
    with pytest.warns(UserWarning, match="look here"):
        compile(source, arch="sm_90", cache_dir=False)


def test_keep_leaves_the_files_of_a_compilation(capsys, own_tempdir):
    code = compile(KERNEL, arch="sm_90", keep=True, cache_dir=False)
    directory = Path(capsys.readouterr().out.split(" in ")[1].strip())
    assert (directory / "kernel.cubin").read_bytes() == code
    assert KERNEL in (directory / "kernel.cu").read_text()
    assert (directory / "kernel.ptx").stat().st_size and (directory / "kernel.log").exists()
    with pytest.raises(drv.CompileError):
        compile("int x = y;", arch="sm_90", keep=True, cache_dir=False)
    directory = Path(capsys.readouterr().out.split(" in ")[1].strip())
    assert "y" in (directory / "kernel.log").read_text() and not (directory / "kernel.cubin").exists()


def test_set_debugging_keeps_files_and_disables_the_cache(capsys, tmp_path, own_tempdir):
    drv.set_debugging()
    try:
        compile(KERNEL, arch="sm_90", cache_dir=str(tmp_path / "cache"))
    finally:
        drv.set_debugging(False)
    assert "compiler output in" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()


# --- The cache -------------------------------------------------------------------------------------


@pytest.fixture
def plain_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("PYCUDA_", "CUDA_CORE_CACHE", "CUDA_CORE_DISABLE")):
            monkeypatch.delenv(name)


def test_code_is_found_in_the_cache(tmp_path, monkeypatch, plain_environment):
    code = compile(KERNEL, arch="sm_90", cache_dir=tmp_path)
    cache = program_cache(tmp_path)
    hits = cache.hits
    assert compile(KERNEL, arch="sm_90", cache_dir=tmp_path) == code
    assert cache.hits > hits


@pytest.mark.parametrize("name", ["CUDA_CORE_CACHE_DIR", "PYCUDA_CACHE_DIR"])
def test_environment_names_the_cache(tmp_path, monkeypatch, plain_environment, name):
    monkeypatch.setenv(name, str(tmp_path / "here"))
    compile(KERNEL, arch="sm_90")
    assert (tmp_path / "here" / "entries").is_dir()


@pytest.mark.parametrize("name", ["CUDA_CORE_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"])
def test_environment_switches_the_cache_off(tmp_path, monkeypatch, plain_environment, name):
    assert program_cache(tmp_path) is not None
    monkeypatch.setenv(name, "")
    assert program_cache(tmp_path) is None and program_cache(None) is None


def test_no_cache_is_used_where_none_is_wanted(plain_environment):
    assert program_cache(False) is None
    assert program_cache(None) is program_cache(None)


@pytest.mark.parametrize("newer", [{}, {"CUDA_CORE_DEFAULT_NVCC_FLAGS": "--no-such -G"}])
def test_default_options_come_from_the_environment(newer):
    code = (
        "from cuda.core.driver import CompileError, compiler\n"
        "try: compiler.compile('', arch='sm_90', cache_dir=False)\nexcept CompileError as error: print(error)"
    )
    found = run(code, PYCUDA_DEFAULT_NVCC_FLAGS="--no-such-old -w", **newer)
    assert ("no-such-old" in found) == (not newer) and "no-such" in found
    assert isinstance(DEFAULT_NVCC_FLAGS, list)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (["-use_fast_math"], {"use_fast_math": True}),
        (["--use_fast_math"], {"use_fast_math": True}),
        (["-w", "-lineinfo", "-G", "-g"], {"disable_warnings": True, "lineinfo": True, "debug": True}),
        (["-O3"], {"ptxas_options": ["-O3"]}),
        (["--optimize=2"], {"ptxas_options": ["-O2"]}),
        (["-I", "/a", "-I/b", "-isystem", "/c", "--include-path=/d"], {"include_path": ["/a", "/b", "/c", "/d"]}),
        (["-DN=4", "-D", "M", "--define-macro=K=a=b", "-UX"],
         {"define_macro": ["N=4", "M", "K=a=b"], "undefine_macro": ["X"]}),
        (["-include", "a.h"], {"pre_include": ["a.h"]}),
        (["-std=c++11"], {"std": "c++11"}),
        (["-std", "c++14"], {"std": "c++14"}),
        (["--std=gnu++17"], {"std": "c++17"}),
        (["-arch=sm_52"], {"arch": "sm_52"}),
        (["-arch", "compute_90"], {"arch": "sm_90"}),
        (["-gencode", "arch=compute_70,code=sm_75"], {"arch": "sm_75"}),
        (["-gencode=arch=compute_80,code=[sm_80,compute_80]"], {"arch": "sm_80"}),
        (["-code=sm_86"], {"arch": "sm_86"}),
        (["-maxrregcount=32"], {"max_register_count": 32}),
        (["--maxrregcount", "16"], {"max_register_count": 16}),
        (["-ftz=true", "-prec-div", "false", "-prec-sqrt=false", "-fmad=false"],
         {"ftz": True, "prec_div": False, "prec_sqrt": False, "fma": False}),
        (["-Xptxas", "-v,-dlcm=ca", "--ptxas-options=-O1"], {"ptxas_options": ["-v", "-dlcm=ca", "-O1"]}),
        (["--resource-usage"], {"ptxas_options": ["-v"]}),
        (["-diag-suppress", "177,20012"], {"diag_suppress": [177, 20012]}),
        (["-rdc=true"], {"relocatable_device_code": True}),
        (["-dc", "-dlto", "-restrict", "-default-device"],
         {"relocatable_device_code": True, "link_time_optimization": True, "restrict": True,
          "device_as_default_execution_space": True}),
        (["-dopt=on"], {"device_code_optimize": True}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_become_fields(given, fields):
    assert translate(given) == fields
    ProgramOptions(**fields)


@pytest.mark.parametrize(
    "given",
    [
        ["-Xcompiler=-Wall"], ["-Xcompiler", "-Wall"], ["--compiler-options", "-fPIC"], ["-m64"], ["-lcudadevrt"],
        ["-L/usr/lib"], ["-l", "m"], ["--expt-relaxed-constexpr", "--extended-lambda"], ["-ccbin", "g++-9"], ["--keep"],
        ["-Wno-deprecated-gpu-targets"], ["-Wall"], ["-Werror", "all-warnings"], ["-cudart", "static"], ["-x", "cu"],
        ["--default-stream", "per-thread"], ["-t", "4"], ["--verbose"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_for_the_host_have_no_effect(given):
    assert translate(given) == {}


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (["-lineinfo -O2"], ["-lineinfo", "-O2"]),
        (["-Xptxas -v"], ["-Xptxas", "-v"]),
        (["-I /some/where"], ["-I", "/some/where"]),
        (["-I/with a blank"], ["-I/with", "a", "blank"]),
        ("-w", ["-w"]),
        (["", " -w "], ["-w"]),
        (["-I", "/with a blank"], ["-I", "/with a blank"]),
        (['-DNAME="a b" -w'], ["-DNAME=a b", "-w"]),
    ],
)
def test_several_options_in_one_string_are_split(given, parts):
    assert split_options(given) == parts


def test_options_must_be_strings():
    with pytest.raises(TypeError, match="each of options must be a str, not int"):
        split_options(["-w", 3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--no-such-thing"], "unrecognized option '--no-such-thing'"),
        (["kernel.cu"], "must begin with '-', got 'kernel.cu'"),
        (["-I"], "'-I' requires a value"),
        (["-maxrregcount"], "requires a value"),
        (["-ftz=1"], "must be true or false, not '1'"),
    ],
)
def test_unknown_options_are_named_in_the_error(given, message):
    with pytest.raises(UnknownOptionError, match=message):
        translate(given)


def test_first_architecture_of_a_list_is_taken():
    assert arch_of("compute_90,sm_80") == "sm_90"


NVCC = """#!{python}
import sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    print(arguments, file=log)
if "--version" in arguments:
    print("release 1.2")
elif "--preprocess" in arguments:
    print("preprocessed " + open(arguments[-1]).read())
else:
    source = open(arguments[-1]).read()
    if "wrong" in source:
        print("some output")
        print("error: wrong", file=sys.stderr)
        raise SystemExit(2)
    open(arguments[arguments.index("-o") + 1], "w").write("code of " + source)
    print("a remark", file=sys.stderr)
"""


@pytest.fixture
def nvcc(tmp_path):
    _compilation.nvcc_version.cache_clear()
    path = tmp_path / "nvcc"
    path.write_text(NVCC.format(python=sys.executable, log=str(tmp_path / "log")))
    path.chmod(0o755)
    return str(path)


def test_named_nvcc_is_used(nvcc, tmp_path):
    with pytest.warns(UserWarning, match="a remark"):
        code = compile("source", nvcc, ["-w"], arch="sm_90", code="sm_90a", cache_dir=False, include_dirs=["/x"])
    assert code == b'code of extern "C" {\n#line 1\nsource\n}\n'
    assert "'--cubin', '-w', '-arch=sm_90', '-code=sm_90a', '-I/x', '-o'" in (tmp_path / "log").read_text()


def test_failure_of_nvcc_is_a_compile_error(nvcc):
    with pytest.raises(drv.CompileError) as caught:
        compile("wrong", nvcc, arch="sm_90", cache_dir=False)
    error = caught.value
    assert (error.msg, error.stdout, error.stderr) == ("nvcc compilation failed", "some output\n", "error: wrong\n")
    assert error.command_line[:2] == [nvcc, "--cubin"]


def test_code_of_nvcc_is_cached_unless_the_source_has_includes(nvcc, tmp_path):
    cache = InMemoryProgramCache()
    first = _compilation.run_nvcc(nvcc, "source", [], "cubin", cache)
    assert first == (b"code of source", "a remark")
    assert _compilation.run_nvcc(nvcc, "source", [], "cubin", cache) == (b"code of source", "")
    assert (tmp_path / "log").read_text().count("-o") == 1
    for _ in range(2):
        _compilation.run_nvcc(nvcc, '#include "x.h"', [], "cubin", cache)
    assert (tmp_path / "log").read_text().count("-o") == 3


def test_nvcc_that_does_not_exist_is_a_compile_error(tmp_path):
    with pytest.raises(drv.CompileError, match="nvcc compilation failed"):
        compile("source", str(tmp_path / "none"), arch="sm_90", cache_dir=False)
    with pytest.raises(drv.CompileError, match="nvcc was not found"):
        get_nvcc_version(str(tmp_path / "none"))


def test_nvcc_returns_its_version_and_preprocesses(nvcc):
    assert get_nvcc_version(nvcc) == "release 1.2\n"
    assert preprocess_source("text", ["-w"], nvcc) == "preprocessed text\n"


def test_nvrtc_does_not_preprocess():
    with pytest.raises(drv.NotSupportedError, match="pass the path of an nvcc"):
        preprocess_source("text", [], "nvcc")
