# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sources that fool a reader of text, with the types that the compiler knows and the names that may be used.

Each kernel is called ``f``. The types are None if the question cannot be compiled, and the names if there might be
others. As a program, this file prints those whose answer is wrong.
"""

from __future__ import annotations

C = 'extern "C" __global__ void f'

# what is hostile -> (source, types, names)
SOURCES = {
    "no trick": (f"{C}(float a, const int* b) {{}}", ["float", "const int*"], ["a", "b"]),
    "directive whose string contains a comment": (
        f'#define S "/*"\n{C}(int a, float b) {{}}\n#define E "*/"',
        ["int", "float"],
        ["a", "b"],
    ),
    "error directive with an apostrophe": (
        f"#if 0\n#error don't /* x\n */ #endif\n{C}(int a) {{}}\n#else\n{C}(float a) {{}}\n#endif",
        ["float"],
        None,
    ),
    "comment inside a directive": (
        f"#define X /* \n{C}(int b, int a) {{}} */ 1\n{C}(float a, float b) {{}}",
        ["float", "float"],
        ["a", "b"],
    ),
    "comment before the word of a directive": (
        f"# /* x */ if 0\n{C}(int a) {{}}\n#/**/else\n{C}(float a) {{}}\n# endif",
        ["float"],
        None,
    ),
    "digraph of a directive": (f"%:if 0\n{C}(int a) {{}}\n%:else\n{C}(float a) {{}}\n%:endif", ["float"], None),
    "several declarators in a typedef": (f"typedef int *P, I; typedef float F, G;\n{C}(G a, I b, P c) {{}}",
                                         ["float", "int", "int*"], ["a", "b", "c"]),
    "alias of an alias": (f"typedef float F; using G = F; typedef G H[2];\n{C}(G a, H b) {{}}",
                          ["float", "float*"], ["a", "b"]),
    "alias of a pointer that is const": (f"using P = const float*;\n{C}(P a, P const b) {{}}",
                                         ["const float*", "const float*"], ["a", "b"]),
    "alias in a condition": (f"#if 1\nusing T = float;\n#else\nusing T = int;\n#endif\n{C}(T a) {{}}",
                             ["float"], ["a"]),
    "macro for a type": (f"#define T float\n{C}(T a) {{}}", ["float"], None),
    "macro for a word of the language": (f"#define long float\n{C}(long a) {{}}", ["float"], None),
    "macro that swaps parameters": (f"#define S(a, b) b, a\n{C}(S(int a, float b)) {{}}", ["float", "int"], None),
    "macro that hides a parameter": (f"#define REST , int b\n{C}(int a REST) {{}}", ["int", "int"], None),
    "macro for a whole head": (f'#define KERNEL {C}\nKERNEL(int a) {{}}', ["int"], None),
    "macro that makes kernels": (f"#define MAKE(n, t) {C[:-2]} n(t a) {{}}\nMAKE(f, float)\nMAKE(g, int)",
                                 ["float"], None),
    "macro that makes names": (f"#define MAKE(t) {C[:-2]} f##t(float a) {{}}\nMAKE()\nMAKE(2)", ["float"], None),
    "overload of another kernel": (
        f"{C.replace(' f', ' g')}(float a) {{}} __global__ void g(int a, int b) {{}}\n{C}(float a) {{}}",
        ["float"],
        ["a"],
    ),
    "device function of the kernel's name": (
        f"__device__ float f(int b) {{ return b; }}\n{C}(float a) {{}}",
        ["float"],
        None,
    ),
    "structures that are hidden": (
        "struct S { int a; }; __device__ int S() { return 0; } class O { struct P { int a; }; public: int z; };\n"
        f"struct R {{ int a; }}; __device__ struct R R;\n{C}(float a) {{}}", ["float"], ["a"]),
    "macros that list kernels": (f"#define ALL X(f, float) X(g, int)\n#define X(n, t) {C[:-2]} n(t a) {{}}\nALL",
                                 ["float"], None),
    "macro for linkage": ('#define EXTERN_C extern "C"\nEXTERN_C __global__ void f(float a) {}', ["float"], None),
    "macros for a scope of linkage": ('#define IN extern "C" {\n#define OUT }\nIN __global__ void f(float a) {} OUT',
                                      ["float"], ["a"]),
    "macro of a name in the question": (f"#define T float\n#define kernel int\n#define at 1\n{C}(T a, kernel b) {{}}",
                                        ["float", "int"], None),
    "type after the parameters": ('extern "C" __global__ auto f(float a) -> void {}', ["float"], ["a"]),
    "structure of the kernel's name": (f"struct f {{ int a; }};\n{C}(float a) {{}}", ["float"], None),
    "trigraphs": (f'__device__ const char* s = "??=";\n{C}(float a) {{}}', ["float"], None),
    "macro for the qualifiers": ('#define K extern "C" __global__ void\nK f(int a, float b) {}',
                                 ["int", "float"], None),
    "macro that renames the kernel": (f"#define g f\n{C.replace(' f', ' g')}(float a) {{}}", None, None),
    "macro of the kernel's name afterwards": (f"{C}(float a) {{}}\n#define f g", None, None),
    "attributes between the words": (
        'extern "C" __global__ __attribute__((unused)) void __launch_bounds__(64) f([[maybe_unused]] float a, '
        "int b [[maybe_unused]]) {}",
        ["float", "int"],
        ["a", "b"],
    ),
    "attribute with a brace in a string": (
        f'[[deprecated("{{ ( ")]] __device__ void g() {{}}\n{C}(float a) {{}}',
        ["float"],
        ["a"],
    ),
    "enum named uint": (f"namespace n {{ enum uint : short {{ A }}; }} using n::uint;\n{C}(uint a) {{}}",
                        ["n::uint"], ["a"]),
    "structure named half": (f"struct half {{ double x; }};\n{C}(half a) {{}}", ["half"], ["a"]),
    "structure named __half": (f"struct __half {{ double x; }};\n{C}(__half a, __half* b) {{}}",
                               ["__half", "__half*"], ["a", "b"]),
    "enum named half": (f"enum half {{ A }};\n{C}(half a) {{}}", ["half"], ["a"]),
    "alias named half": (f"typedef unsigned short half;\n{C}(half a) {{}}", ["unsigned short"], ["a"]),
    "structure named cuComplex": (f"struct cuComplex {{ int x, y; }};\n{C}(cuComplex a) {{}}", ["cuComplex"], ["a"]),
    "alias named cuComplex": (f"typedef int2 cuComplex;\n{C}(cuComplex a) {{}}", ["int2"], ["a"]),
    "alias named size_t in a namespace": (
        f'namespace n {{ typedef float size_type; {C}(size_type a) {{}} }}',
        ["float"],
        ["a"],
    ),
    "structure named float4 in a namespace": (
        f"namespace n {{ struct float4 {{ int x; }}; {C}(float4 a) {{}} }}",
        ["n::float4"],
        ["a"],
    ),
    "alias that another one hides": (
        f"using T = int; namespace n {{ using T = float; {C}(T a) {{}} }}",
        ["float"],
        ["a"],
    ),
    "overload of another linkage": (f"{C}(int a, int b) {{}} __global__ void f(float b, float a) {{}}", None, None),
    "overload in another namespace": (
        f"namespace n {{ __global__ void f(float b, int a) {{}} }}\n{C}(int a, int b) {{}}",
        ["int", "int"],
        None,
    ),
    "kernel of C++ with the name": (
        f"__global__ void f(float b) {{}} namespace n {{ {C}(int a) {{}} }}",
        ["int"],
        None,
    ),
    "primary template with other names": (
        "template <class T> __global__ void f(T a, T b) {} "
        "template <> __global__ void f<int>(int b, int a) {}\n"
        "template __global__ void f<float>(float, float);",
        None,
        None,
    ),
    "declaration behind a condition": (
        f"#if 0\n{C}(int a, int b) {{}}\n#else\n{C}(int b, int a) {{}}\n#endif",
        ["int", "int"],
        None,
    ),
    "declaration with other names": (f"{C}(int b, int a);\n{C}(int a, int b) {{}}", ["int", "int"], None),
    "declaration with the same names": (f"{C}(int a, int b);\n{C}(int a, int b) {{}}", ["int", "int"], ["a", "b"]),
    "condition inside the parameters": (f"{C}(int a\n#if 1\n, float b\n#endif\n) {{}}", ["int", "float"], None),
    "kernel that a condition leaves out": (
        f"#if 0\n{C.replace(' f', ' g')}(int a) {{}}\n#endif\n{C}(float a) {{}}",
        ["float"],
        ["a"],
    ),
    "bracket behind a condition": (
        f"#if 0\nnamespace n {{\n#else\nnamespace m {{\n#endif\n{C}(float a) {{}} }}",
        ["float"],
        ["a"],
    ),
    "raw string with a kernel": (
        f'__device__ const char* s = R"x({C}(int b) {{}} )y" )x";\n{C}(float a) {{}}',
        ["float"],
        ["a"],
    ),
    "literal with a quote": (f"__device__ char c = '\"', d = '\\'';\n{C}(float a) {{}} // \"", ["float"], ["a"]),
    "number with a separator": (f"__device__ int n = 1'000;\n{C}(float a) {{}} // '", ["float"], ["a"]),
    "comment that a line continues": (f"// \\\n{C}(int b) {{}}\n{C}(float a) {{}}", ["float"], ["a"]),
    "word that a line continues": ('extern "C" __glo\\\nbal__ void f(flo\\\nat a) {}', ["float"], ["a"]),
    "source that ends in a comment": (f"{C}(float a) {{}} //", ["float"], ["a"]),
    "source that ends in a line to be continued": (f"{C}(float a) {{}} // \\", ["float"], ["a"]),
    "pointer to an array": (f"{C}(const int (*a)[4]) {{}}", ["int const ( * ) [ 4 ]"], [None]),
    "array of arrays": (f"{C}(float a[2][3]) {{}}", ["float ( * ) [ 3 ]"], ["a"]),
    "pointer to a function": (f"{C}(void (*a)(int, float), int b) {{}}",
                              ["void ( * ) ( int , float )", "int"], [None, "b"]),
    "type of an expression": (f"{C}(decltype(1.0f + 1) a) {{}}", ["float"], ["a"]),
    "default argument": (f"__device__ int two(int a, int b) {{ return 2; }}\n{C}(int a = two(1, 2), float b = 1) {{}}",
                         ["int", "float"], ["a", "b"]),
    "words in another order": (f"{C}(long int unsigned a, char signed b, short const c) {{}}",
                               ["unsigned long", "signed char", "short"], ["a", "b", "c"]),
    "pointer to a pointer": (f"{C}(float* const* a, const float** b) {{}}", ["float**", "const float**"], ["a", "b"]),
}  # fmt: skip

# Right on NVRTC; on the software device, the types may be unknown.
HARD_SOURCES = {
    "digraphs of brackets": (
        'extern "C" <% __global__ void f(float a, int b<:4:>) <% %> %>',
        ["float", "int*"],
        ["a", "b"],
    ),
    "type of a namespace without a name": (
        f"namespace n {{ namespace {{ struct S {{ int x; }}; }} }}\n{C}(n::S* a) {{}}",
        ["n::(anonymous namespace)::S*"],
        ["a"],
    ),
}


def known_in(source: str):
    """Return the types and the names of the kernel ``f``, as :data:`SOURCES` has them."""
    from cuda.core import Program, ProgramOptions

    code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    declarations = code.__reduce__()[1][-1]
    names = declarations.names("f")
    return declarations.types("f"), None if names is None else list(names)


def wrong_answers(sources: dict) -> list[str]:
    """Return a description of each source whose types or names are not the wanted ones."""
    found = {kind: known_in(source) for kind, (source, *_) in sources.items()}
    return [
        f"{kind}: {found[kind]}, not {tuple(wanted)}"
        for kind, (_, *wanted) in sources.items()
        if found[kind] != tuple(wanted)
    ]


if __name__ == "__main__":
    print("\n".join(wrong_answers(SOURCES | HARD_SOURCES)))
