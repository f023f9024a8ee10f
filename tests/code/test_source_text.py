# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What the text of a source suggests: candidates for the compiler, and the names of parameters."""

import pytest

from cuda.core._code._source_text import NO_FIELD, SourceText


def names(source, arguments=()):
    return SourceText(source, arguments).names


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ("float x", "x"), ("const float x", "x"), ("float", None), ("unsigned n", "n"), ("unsigned", None),
        ("unsigned long long int n", "n"), ("std::size_t n", "n"), ("ns::size", None), ("float* x", "x"),
        ("const float* __restrict__ x", "x"), ("float const *const x", "x"), ("float **x", "x"), ("float x[]", "x"),
        ("const int x[4]", "x"), ("float *", None), ("struct Pair p", "p"), ("struct Pair", None),
        ("ns::Pair<int, 3> p", "p"), ("const __grid_constant__ CUtensorMap map", "map"), ("int n = 1'000", "n"),
        ("void (*call)(int, float)", None), ("float &x", "x"), ("typename T::type x", "x"), ("float4 = make(1)", None),
    ],
)  # fmt: skip
def test_name_is_read_from_its_declaration(parameter, name):
    assert names(f'extern "C" __global__ void f(int first, {parameter}) {{}}')["f"] == ("first", name)


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" __global__ void f',
        'extern "C" __global__ void __launch_bounds__(256, 2) f',
        'extern "C" __global__ __launch_bounds__(N) void f',
        'extern "C" void __global__ f',
        'extern "C" __global__ __attribute__((noinline)) [[maybe_unused]] void f',
        'extern "C" __global__ BOUNDS(256) void f',
        '// "{"\nextern "C" { int x; void g() {} __global__ void f',
        'namespace a { extern "C" __global__ void f',
        'struct S { void g() {} }; enum E { A }; int a[] = { 1 }; extern "C" __global__ void f',
        'const char* s = R"x(extern "C" __global__ void f(int))x"; extern "C" __global__ /* ( */ void f',
    ],
)
def test_definition_is_found_after_other_words(head):
    text = SourceText(f"{head}(float x) {{}}")
    assert text.names["f"] == ("x",)
    assert text.kernels == ["a::f" if "namespace" in head else "f"]


@pytest.mark.parametrize(
    "source",
    [
        "#if 1\n__global__ void f(int a, int b) {}\n#endif",
        "__global__ void f(int a, int b) {} __global__ void f(int b, float a) {}",
        "__global__ void f(int a, int b) {} namespace n { __global__ void f(int b, int a) {} }",
        "template <class T> __global__ void f(T a) {} template <> __global__ void f(int b) {}",
        "template <class T> __global__ void f(T a) {} template <> __global__ void f<int>(int a) {}",
        "__global__ void f(int, int); __global__ void f(int a, int b) {}",
        "#define A a\n__global__ void f(int A) {}",
        "#define K __global__ void\n__global__ void f(int a, int b) {} K f(float b, int a) {}",
        "__global__ void f(int a, int b) {} OTHER(f)(float b, float a) {}",
        "__global__ void f(int a, int b) {}\n#define f(x) x",
    ],
)
def test_kernel_that_might_be_another_has_no_names(source):
    assert names(source)["f"] is None


def test_macros_of_the_options_hide_names():
    source = "__global__ void f(real x) {}"
    assert names(source)["f"] == ("x",)
    assert names(source, (b"-arch=sm_90", b"--define-macro=real=float"))["f"] is None
    assert names(source, (b"--define-macro=K=__global__ void",))["f"] is None


def test_equal_declarations_and_instances_keep_names():
    source = """
    __global__ void f(int a, int b); __global__ void f(int a, int b) { f; }
    template <class T> __global__ void g(T* data, T factor) {}
    template __global__ void g<float>(float*, float);
    """
    assert names(source) == {"f": ("a", "b"), "g": ("data", "factor")}


def test_text_without_kernels_is_not_read():
    text = SourceText("struct P { int a; };")
    assert (text.kernels, text.structures, text.names) == ([], {}, {})


def test_text_of_trigraphs_has_no_names():
    text = SourceText('const char* s = "??="; // ??/\nextern "C" __global__ void f(int x) {}')
    assert (text.kernels, text.names) == (["f"], {"f": None})


@pytest.mark.parametrize(
    ("macro", "use", "kernels"),
    [
        ('MK(n, t) extern "C" __global__ void n(t a)', "MK(f, int) {} MK(g, float) {}", ["f", "g"]),
        ('MK(n, t) extern "C" __global__ void n##_##t(t a)', "MK(f, int) {}", ["f_int"]),
        ('MK(t) extern "C" __global__ __launch_bounds__(32) void f(t a)', "MK(int) {}", ["f"]),
        ('MK(n) extern "C" __global__ void n', "MK(f)(int a) {}", ["f"]),
        ('MK(n, ...) extern "C" __global__ void n(__VA_ARGS__)', "MK(f, int a, float b) {}", ["f"]),
        ("MK(n) __global__ __launch_bounds__(n)", 'extern "C" { MK(32) void f(int a) {} }', ["f"]),
        ('MK(n) extern "C" __global__ __launch_bounds__(n) void', "MK(32) f(int a) {}", ["f"]),
        ("MK(n, t) __global__ void n(t a)", 'extern "C" { MK(f, int) {} } MK(g, int) {}', ["f"]),
        ('MK(n, t) extern "C" __global__ void n(t a)', "namespace s { MK(f, int) {} }", ["s::f"]),
        ('MK(n, t) extern "C" __global__ void NAME(n)(t a)', "MK(f, int) {} int MK;", []),
        ('C extern "C"', "C __global__ void f(int a) {}", ["f"]),
        ('ALL X(f, int) X(g, int)\n#define X(n, t) extern "C" __global__ void n(t a) {}', "ALL", ["f", "g"]),
        ('TWO(n, t) extern "C" __global__ void n(t a) {}\n#define ONE(n) TWO(n, int)', "ONE(f) ONE(g)", ["f", "g"]),
        ('MK(n) extern "C" __global__ void n(const char* s = #n) {}', "MK(f)\n#undef MK\nMK(g)", ["f"]),
    ],
)
def test_kernels_of_macros_are_candidates(macro, use, kernels):
    text = SourceText(f"#define {macro}\n{use}")
    assert (text.kernels, text.names.get("f")) == (kernels, None)


@pytest.mark.parametrize("tail", ["-> void {}", "noexcept {}", "{}", ";"])
def test_words_after_the_parameters_are_accepted(tail):
    head = "auto" if "->" in tail else "void"
    text = SourceText(f'struct f {{ int x; }}; extern "C" __global__ {head} f(float a) {tail}')
    assert (text.kernels, text.structures, text.names) == (["f"], {}, {"f": None})


def test_conditions_and_bases_leave_fields():
    source = """struct A { int a;
    #if 0
    int b;
    #endif
    MACRO(c) };
    struct Empty { }; struct B : Empty { int a; alignas(8) float b; }; struct C : B { };
    __global__ void f(A a) {}"""
    fields = SourceText(source).structures
    assert fields == {"A": ("?a", "?b", NO_FIELD), "Empty": (), "B": ("a", "b"), "C": (NO_FIELD,)}


def test_fields_of_structures_are_found():
    source = """
    struct __align__(16) A { int a, *b, c[3]; union { float u; int v; }; struct { int z; } anon; int last = 3; };
    class B final { public: float4 x; static int s; int bit : 3; using T = int; __device__ int g() { return 1; } T y; };
    typedef struct { int a; float b; } Old, *Pointer;
    typedef struct Tag { int a; } Other;
    namespace n { union U { int i; float f; }; struct V { struct In { int k; } in; enum { E } e; void (*call)(int); }; }
    template <class T> struct Two { T a; };
    struct Declared; enum E { F }; struct W { int a;
    #if 1
    int b;
    #endif
    };
    namespace { struct Hidden { int a; }; }
    __global__ void f(A a) {}
    """
    assert SourceText(source).structures == {
        "A": ("a", "b", "c", "u", "v", "*anon", "last"), "B": ("x", "y"), "Old": ("a", "b"), "Tag": ("a",),
        "n::U": ("i", "f"), "n::V::In": ("k",), "n::V": ("in", "*e", "call"), "W": ("?a", "?b"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "struct B { int b; }; struct S : B { };",
        "#define TWO int a; int b\nstruct S { TWO; };",
        "#define NAMES a, b\nstruct S { int NAMES; };",
        "struct S { int a; HIDDEN; };",
        "struct S { int a; HIDDEN(int, b); };",
        "struct S { HIDDEN(int, b) };",
        "struct S { int (*calls[2])(int); };",
    ],
)
def test_fields_that_cannot_be_read_are_unknown(source):
    found = SourceText(source + "__global__ void f(S* s) {}").structures["S"]
    assert NO_FIELD in found
    clean = SourceText("#define T int\nstruct S { T a; S(); ~S(); S(int); }; __global__ void f(S* s) {}")
    assert clean.structures["S"] == ("a",)


def test_macro_of_itself_does_not_hang():
    assert SourceText("#define SELF struct S; SELF\nSELF __global__ void f(int a) {}").names == {"f": None}


def test_scopes_and_structures_of_macros_are_read():
    source = """
    #define BEGIN extern "C" {
    #define END }
    #define PAIR(n, t) struct n { t a; float b; }
    PAIR(P, int);
    BEGIN
    __global__ void f(P p) {}
    END
    __global__ void g(P p) {}
    """
    text = SourceText(source)
    assert (text.kernels, text.structures) == (["f"], {"P": ("a", "b")})
    assert text.names == {"f": ("p",), "g": ("p",)}
    assert SourceText(source, [b"--define-macro=MK=__global__ void h", b"--define-macro=Q(x)=x"]).names["f"] is None
