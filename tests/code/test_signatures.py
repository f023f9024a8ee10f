# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The types and names of parameters, from symbols, the compiler's answer and the source."""

import pickle

import pytest

from cuda.core import Program, ProgramOptions
from cuda.core._code._signatures import Declarations, function_of, parameters_of, types_of


def declarations_of(source):
    return Program(source, "c++", ProgramOptions(arch="sm_90")).compile("ptx").__reduce__()[1][-1]


@pytest.mark.parametrize(
    ("function", "name", "types"),
    [
        ("k(int)", "k", ["int"]),
        ("k()", "k", []),
        ("saxpy(float const*, float*, float, unsigned long)", "saxpy",
         ["const float*", "float*", "float", "unsigned long"]),
        ("void scale<float>(float*, float)", "scale", ["float*", "float"]),
        ("void ns::scale<__half, 3>(__half*, __half)", "ns::scale", ["__half*", "__half"]),
        ("outer::inner(double, long long)", "outer::inner", ["double", "long long"]),
        ("(anonymous namespace)::k(float)", "(anonymous namespace)::k", ["float"]),
        ("k(Pair, Pair*, void (*)(int, float))", "k", ["Pair", "Pair*", "void ( * ) ( int , float )"]),
        ("k(std::array<int, 3ul>, float&, bool)", "k", ["std::array<int,3ul>", "float &", "bool"]),
        ("k(cuda::std::__4::complex<float>, float2)", "k", ["std::complex<float>", "float2"]),
        ("k(complex<float>, mine::complex<float>)", "k", ["complex<float>", "mine::complex<float>"]),
        ("void k<Op<int, float> >(Op<int*, float>, char)", "k", ["Op<int*,float>", "char"]),
        ("k((anonymous namespace)::P const*, float const* const*)", "k",
         ["const (anonymous namespace)::P*", "const float**"]),
    ],
)  # fmt: skip
def test_types_are_read_from_demangled_names(function, name, types):
    found, text = function_of(function)
    assert (found, types_of(text)) == (name, types)


@pytest.mark.parametrize("symbol", ["variable", "k(float) [clone .0]", "(float)"])
def test_other_demangled_names_are_no_functions(symbol):
    assert function_of(symbol)[0] is None


def test_names_of_cpp_kernels_come_from_the_source():
    source = "template <class T, int N> __global__ void scale(T* data, T factor) {} __global__ void twice(int a) {}"
    declarations = declarations_of(source)
    assert parameters_of("_Z5scaleIfLi3EEvPT_S0_", declarations) == [("data", "float*"), ("factor", "float")]
    assert parameters_of("_Z5twicei", declarations) == [("a", "int")]
    assert parameters_of("_Z5twiceii", declarations) == [(None, "int"), (None, "int")]
    assert parameters_of("_Z5other", declarations) is None
    assert parameters_of("other", declarations) is None
    assert parameters_of("_Z5twicei", None) == [(None, "int")]


def test_structures_are_known_by_their_names():
    declarations = declarations_of(
        "struct P { int a; float b[2][3]; }; namespace n { struct Q { P p; char* c; }; struct R { private: int x; }; }"
        "__global__ void f(P p) {}"
    )
    assert declarations.structures() == ["P", "n::Q", "n::R"]
    layout = declarations.layout("P")
    assert (layout.size, layout.alignment) == (28, 4)
    assert layout.fields == [("a", "int", (), 0, 4), ("b", "float", (2, 3), 4, 24)]
    assert declarations.layout("n::Q").fields == [("p", "P", (), 0, 28), ("c", "char*", (), 32, 8)]
    assert declarations.layout("n::R").fields is None
    assert declarations.layout("Q") is None


def test_declarations_are_kept_by_links_and_pickles():
    first = declarations_of('extern "C" __global__ void f(int x) {}')
    second = declarations_of('struct P { int a; }; extern "C" __global__ void g(P p) {}')
    copy = pickle.loads(pickle.dumps(Declarations(first, second)))
    assert (copy.types("f"), copy.types("g")) == (["int"], ["P"])
    assert (copy.names("f"), copy.names("g")) == (("x",), ("p",))
    assert copy.layout("P").size == 4


def test_what_sources_contradict_is_unknown():
    first = declarations_of('struct P { int a; }; extern "C" __global__ void f(P x) {}')
    second = declarations_of('struct P { float a; }; extern "C" __global__ void g(P f) {} __global__ void f(P y) {}')
    both = Declarations(first, second)
    assert (both.names("f"), both.layout("P"), both.types("f")) == (None, None, ["P"])


def test_pickles_of_earlier_versions_know_nothing():
    declarations = Declarations({"f": [("x", "int")]})
    assert (declarations.types("f"), declarations.names("f"), declarations.layout("P")) == (None, None, None)
