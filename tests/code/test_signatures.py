# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The types and names of parameters, read from sources and demangled symbols; a type that might be wrong is unknown."""

import pickle

import pytest

from cuda.core._code._signatures import C_TYPES, Declarations, parameters_of, size_of


def kernels(*sources, arguments=()):
    return Declarations(*[(source, arguments) for source in sources]).kernels()


def types(parameters, before="", arguments=()):
    found = kernels(f'{before}\nextern "C" __global__ void f({parameters}) {{}}', arguments=arguments).get("f")
    return None if found is None else [c_type for _, c_type in found]


@pytest.mark.parametrize(
    ("parameter", "name", "c_type"),
    [
        ("float x", "x", "float"),
        ("const float x", "x", "float"),
        ("float", None, "float"),
        ("unsigned n", "n", "unsigned int"),
        ("unsigned", None, "unsigned int"),
        ("signed n", "n", "int"),
        ("long int unsigned n", "n", "unsigned long"),
        ("unsigned long long int n", "n", "unsigned long long"),
        ("short n", "n", "short"),
        ("signed char n", "n", "signed char"),
        ("char n", "n", "char"),
        ("long double x", "x", None),
        ("size_t n", "n", "unsigned long"),
        ("std::size_t n", "n", "unsigned long"),
        ("::std::uint8_t n", "n", "unsigned char"),
        ("cuda::std::int64_t n", "n", "long"),
        ("half h", "h", None),
        ("__half h", "h", "__half"),
        ("float4 v", "v", "float4"),
        ("cuda::std::complex<float> z", "z", "std::complex<float>"),
        ("thrust::complex<double> z", "z", "std::complex<double>"),
        ("cudaTextureObject_t t", "t", "unsigned long long"),
        ("float* x", "x", "float*"),
        ("const float* __restrict__ x", "x", "const float*"),
        ("float const *const x", "x", "const float*"),
        ("float **x", "x", "float**"),
        ("void *x", "x", "void*"),
        ("float x[]", "x", "float*"),
        ("const int x[4]", "x", "const int*"),
        ("float *", None, "float*"),
        ("Pair p", "p", "Pair"),
        ("struct Pair p", "p", "Pair"),
        ("const Pair *p", "p", "const Pair*"),
        ("ns::Pair<int, 3> p", "p", "ns::Pair<int,3>"),
        ("const __grid_constant__ CUtensorMap map", "map", "CUtensorMap"),
        ("void (*call)(int, float)", None, "void ( * call ) ( int , float )"),
        ("float &x", None, "float & x"),
        ("int n = 1'000", "n", "int"),
        ("float * RESTRICT x", "x", None),
    ],
)
def test_parameter_is_read_from_its_declaration(parameter, name, c_type):
    found = kernels(f'extern "C" __global__ void f(int first, {parameter}) {{}}')["f"]
    assert found == [("first", "int"), (name, c_type)]


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" __global__ void f',
        'extern "C" __global__ void __launch_bounds__(256, 2) f',
        'extern "C" __global__ __launch_bounds__(N) void f',
        'extern "C" void __global__ f',
        'extern "C" __global__ __attribute__((noinline)) [[maybe_unused]] void f',
        'extern "C" static __global__ void f',
        '// "{"\nextern "C" { int x; void g() {} __global__ void f',
        'namespace a { extern "C" __global__ void f',
        'const char* s = R"x(extern "C" __global__ void f(int))x"; extern "C" __global__ /* ( */ void f',
    ],
)
def test_definition_is_found_after_other_words(head):
    assert kernels(f"{head}(float x) {{}}")["f"] == [("x", "float")]


@pytest.mark.parametrize(
    ("before", "c_type"),
    [
        ("typedef float real;", "float"),
        ("using real = unsigned int;", "unsigned int"),
        ("using base = double; using real = base;", "double"),
        ("typedef float* real;", "float*"),
        ("struct real { float x; };", "struct real"),
        ("enum class real : int { A };", "real"),
        ("#include <types.h>", "real"),
        ("namespace a { using real = float; }", "real"),
        ("using real = float; namespace a { using real = double; }", "real"),
        ("#ifdef X\nusing real = float;\n#endif", "real"),
        ("typedef float other, real;", "real"),
        ("#define base float\nusing real = base;", "real"),
    ],
)
def test_alias_counts_only_if_there_is_one_at_file_scope(before, c_type):
    found = types("real x", before)
    assert found == [c_type] or found == ["real"]
    assert (found == [c_type]) or c_type not in C_TYPES
    assert found[0] not in C_TYPES or found[0] == c_type


@pytest.mark.parametrize("name", ["float2", "size_t", "half"])
def test_local_type_of_a_usual_name_is_unknown(name):
    assert types(f"{name} x", f"struct {name} {{ double content; }};") == [None]


@pytest.mark.parametrize(
    "source",
    [
        '#define real float\nextern "C" __global__ void f(real x) {}',
        '#define float double\nextern "C" __global__ void f(float x) {}',
        'extern "C" __global__ void f(float x) {}\n#define f g',
        '#define KERNEL(T) extern "C" __global__ void f(T x) {}\nKERNEL(float)',
        '#define KERNEL(T) \\\n extern "C" __global__ void f(T x) {}\nKERNEL(float)',
        '#ifdef X\nextern "C" __global__ void f(float x) {}\n#endif',
        'extern "C" __global__ void f(float x\n#ifdef X\n, int y\n#endif\n) {}',
        '// extern "C" __global__ void f(float x) {}',
        '/* extern "C" __global__ void f(float x) {} */',
        '#if 0\nextern "C" __global__ void f(float x) {}\n#else\nextern "C" __global__ void f(int x) {}\n#endif',
        'extern "C" __global__ void f(float x);',
        "__global__ void f(float x) {}",
        "namespace f { __global__ void g(float x) {} }",
        'extern "C" __global__ BOUNDS(256) void f(float x) {}',
        'extern "C" void f(float x) {}',
        'extern "C" __global__ void f(float x',
        'extern "C" __global__',
        "",
    ],
)
def test_kernel_that_might_be_another_is_unknown(source):
    assert "f" not in kernels(source)


def test_macros_of_the_options_make_a_kernel_unknown():
    assert types("real x", arguments=(b"-arch=sm_90", b"--define-macro=real=float")) is None
    assert types("float x", arguments=(b"--define-macro=float",)) is None
    assert types("float x", arguments=(b"--define-macro=N=float",)) == ["float"]


def test_kernels_of_one_name_that_differ_are_unknown():
    first, second = (f'extern "C" __global__ void f({c_type} x) {{}}' for c_type in ("int", "float"))
    assert "f" in kernels(first, first)
    assert "f" not in kernels(first, second)
    assert "f" not in kernels(first + "namespace a { " + second + "}")
    assert "f" in kernels(first, "")


def test_declarations_are_kept_by_links_and_pickles():
    inner = Declarations(('extern "C" __global__ void f(int x) {}', ()))
    outer = Declarations(inner, Declarations(('extern "C" __global__ void g() {}', ())))
    copy = pickle.loads(pickle.dumps(outer))
    assert copy.kernels() == outer.kernels() == {"f": [("x", "int")], "g": []}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("k(int)", ["int"]),
        ("k()", []),
        ("saxpy(float const*, float*, float, unsigned long)", ["const float*", "float*", "float", "unsigned long"]),
        ("void scale<float>(float*, float)", ["float*", "float"]),
        ("void ns::scale<__half, 3>(__half*, __half)", ["__half*", "__half"]),
        ("outer::inner(double, long long)", ["double", "long long"]),
        ("(anonymous namespace)::k(float)", ["float"]),
        ("k(Pair, Pair*, void (*)(int, float))", ["Pair", "Pair*", "void ( * ) ( int , float )"]),
        ("k(std::array<int, 3ul>, float&, bool)", ["std::array<int,3ul>", "float &", "bool"]),
        ("k(cuda::std::__4::complex<float>, float2)", ["std::complex<float>", "float2"]),
        ("k(complex<float>, mine::complex<float>)", ["complex<float>", "mine::complex<float>"]),
        ("void k<Op<int, float> >(Op<int, float>, char)", ["Op<int,float>", "char"]),
        ("variable", None),
        ("k(float) [clone .0]", None),
        ("(float)", None),
    ],
)
def test_types_are_read_from_demangled_names(function, expected):
    found = parameters_of("_Z", function, None)
    assert (found if found is None else [c_type for _, c_type in found]) == expected


def test_names_of_cpp_kernels_come_from_the_source():
    source = """
    template <class T, int N> __global__ void scale(T* data, T factor) {}
    __global__ void twice(int a) {} __global__ void twice(float c) {} namespace b { __global__ void twice(int b) {} }
    """
    declarations = Declarations((source, ()))
    found = parameters_of("_Z", "void scale<float, 3>(float*, float)", declarations)
    assert found == [("data", "float*"), ("factor", "float")]
    assert parameters_of("_Z", "twice(int)", declarations) == [(None, "int")]
    assert parameters_of("_Z", "scale(int)", declarations) == [(None, "int")]
    assert parameters_of("_Z", "b::twice(int)", declarations) == [("b", "int")]


def test_names_do_not_come_from_another_function():
    source = """
    namespace a { inline namespace v { __global__ void f(int x, float y) {} } }
    namespace { __global__ void g(int z) {} }
    """
    declarations = Declarations((source, ()))
    assert parameters_of("_Z", "a::v::f(int, float)", declarations) == [("x", "int"), ("y", "float")]
    assert parameters_of("_Z", "(anonymous namespace)::g(int)", declarations) == [("z", "int")]
    for function in ("b::f(int, float)", "f(int, float)", "a::v::f(float, int)", "g(int, int)"):
        assert {name for name, _ in parameters_of("_Z", function, declarations)} == {None}


@pytest.mark.parametrize(("name", "header"), [("half", "cuda_fp16.h"), ("nv_bfloat16", "cuda_bf16.h")])
def test_short_type_name_counts_only_with_its_header(name, header):
    assert types(f"{name} x") == [None]
    assert types(f"{name} x", f"#include <{header}>") == [f"__{name}"]
    assert types(f"{name} x", f"typedef unsigned short {name};") == ["unsigned short"]


def test_sizes_of_types():
    expected = {
        "char": 1,
        "__half": 2,
        "float3": 12,
        "double4": 32,
        "__int128": 16,
        "dim3": 12,
        "std::complex<float>": 8,
    }
    assert {c_type: size_of(c_type) for c_type in expected} == expected
    assert size_of("Pair*") == 8
    assert size_of("Pair") is None
