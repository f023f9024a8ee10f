# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilation in the manner of nvcc: headers, options, the cache, and the files that keep leaves."""

import os
from pathlib import Path

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _compilation
from cuda.core.driver._compilation import _HEADERS, cache_of, needs_other_headers, wrapped
from cuda.core.driver.compiler import SourceModule, compile

HEADERS = sorted(path.relative_to(_HEADERS).as_posix() for path in Path(_HEADERS).rglob("*") if path.is_file())
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


def test_code_in_the_style_of_host_compilers_compiles():
    assert compile(HOST_STYLE, arch="sm_90", cache_dir=False)


def test_code_in_the_style_of_host_compilers_gives_the_right_results(context):
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


def test_a_complex_number_without_a_value_is_zero_where_c_makes_it_so(context):
    source = """
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<float> z;
    static_assert(__is_trivially_constructible(z), "z() must set nothing of its own, so that C++ makes it zero");
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


def test_headers_are_found_in_directories_of_the_caller(tmp_path, context):
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
def test_options_that_the_compiler_does_not_know_are_compile_errors(given, message):
    with pytest.raises(drv.CompileError, match=message) as caught:
        compile(KERNEL, **given, cache_dir=False)
    assert caught.value.command_line


def test_ptx_is_a_target_and_fat_binaries_are_refused():
    assert compile(KERNEL, arch="sm_90", cache_dir=False, target="ptx")
    with pytest.raises(drv.CompileError, match="fat binaries need nvcc"):
        compile(KERNEL, arch="sm_90", target="fatbin")
    with pytest.raises(TypeError, match="source must be a str, not bytes"):
        compile(b"x", arch="sm_90")


def test_compiler_messages_on_success_become_a_warning():
    source = "__global__ void f(int *x) { int y = 1; y; x[0] = 1; }\n#warning look here\n"
    with pytest.warns(UserWarning, match="look here"):
        compile(source, arch="sm_90", cache_dir=False)


def test_keep_leaves_the_files_of_a_compilation(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(_compilation.tempfile, "tempdir", str(tmp_path))
    code = compile(KERNEL, arch="sm_90", keep=True, cache_dir=False)
    directory = Path(capsys.readouterr().out.split(" in ")[1].strip())
    assert (directory / "kernel.cubin").read_bytes() == code
    assert KERNEL in (directory / "kernel.cu").read_text()
    assert (directory / "kernel.ptx").stat().st_size and (directory / "kernel.log").exists()
    with pytest.raises(drv.CompileError):
        compile("int x = y;", arch="sm_90", keep=True, cache_dir=False)
    directory = Path(capsys.readouterr().out.split(" in ")[1].strip())
    assert "y" in (directory / "kernel.log").read_text() and not (directory / "kernel.cubin").exists()


def test_set_debugging_keeps_files_and_disables_the_cache(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(_compilation.tempfile, "tempdir", str(tmp_path))
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
    cache = cache_of(tmp_path)
    hits = cache.hits
    assert compile(KERNEL, arch="sm_90", cache_dir=tmp_path) == code
    assert cache.hits > hits


@pytest.mark.parametrize("name", ["CUDA_CORE_CACHE_DIR", "PYCUDA_CACHE_DIR"])
def test_the_environment_names_the_cache(tmp_path, monkeypatch, plain_environment, name):
    monkeypatch.setenv(name, str(tmp_path / "here"))
    compile(KERNEL, arch="sm_90")
    assert (tmp_path / "here" / "entries").is_dir()


@pytest.mark.parametrize("name", ["CUDA_CORE_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"])
def test_the_environment_switches_the_cache_off(tmp_path, monkeypatch, plain_environment, name):
    assert cache_of(tmp_path) is not None
    monkeypatch.setenv(name, "")
    assert cache_of(tmp_path) is None and cache_of(None) is None


def test_no_cache_is_used_where_none_is_wanted(plain_environment):
    assert cache_of(False) is None
    assert cache_of(None) is cache_of(None)


def test_default_options_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PYCUDA_DEFAULT_NVCC_FLAGS", "-w -O3")
    assert _compilation._default_flags() == ["-w", "-O3"]
    monkeypatch.setenv("CUDA_CORE_DEFAULT_NVCC_FLAGS", "-G")
    assert _compilation._default_flags() == ["-G"]
    monkeypatch.setattr(_compilation, "DEFAULT_NVCC_FLAGS", ["--no-such-thing"])
    with pytest.raises(drv.CompileError, match="no-such-thing"):
        compile(KERNEL, arch="sm_90", cache_dir=False)
