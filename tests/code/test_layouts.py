# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records of NumPy, ctypes and dataclasses are compared with structures field by field."""

import ctypes
import dataclasses
import functools

import numpy as np
import pytest

from cuda.core import LaunchConfig, Program, launch
from cuda.core._code._layouts import builtin_layout, byte_order_problem, numpy_type
from cuda.core._kernel_arg_handler import pack_arguments

pytestmark = pytest.mark.requires(cuda=(12, 4))
ONE = LaunchConfig(grid=1, block=1)

SOURCE = """
struct Pair { int a; float b; };
struct Wide { char c; int4 v; int e; };
struct Both { Pair pair; Pair pairs[2]; const float* p; };
union Bits { unsigned u; float f; };
struct Mixed { bool on; char c; unsigned char u; short s; unsigned long n; double d; enum { A } kind; };
struct Opaque { struct { int x, y; } inner; int last : 3; };
struct Calls { void (*call)(int); int (*rows)[4]; char end; };
#pragma pack(push, 1)
struct Packed { char c; double d; };
#pragma pack(pop)
struct Base { int a; };
struct Derived : Base { };
extern "C" __global__ void pair(Pair x, double* o) { o[0] = x.a; o[1] = x.b; }
extern "C" __global__ void wide(Wide x, double* o) { o[0] = x.c; o[1] = x.v.y; o[2] = x.e; }
extern "C" __global__ void both(Both x, double* o) { o[0] = x.pair.b; o[1] = x.pairs[1].a; o[2] = x.p != 0; }
extern "C" __global__ void bits(Bits x, double* o) { o[0] = x.u; }
extern "C" __global__ void mixed(Mixed x, double* o) { o[0] = x.on + x.c + x.u + x.s + x.n + x.d; }
extern "C" __global__ void opaque(Opaque x, double* o) { o[0] = x.inner.y; }
extern "C" __global__ void vector(float4 x, double* o) { o[0] = x.y; }
extern "C" __global__ void scalar(int x, double* o) { o[0] = x; }
__global__ void plain(Pair x, double* o) { o[0] = x.a; o[1] = x.b; }
"""


@functools.cache
def compiled(arch):
    return Program(SOURCE, "c++").compile("cubin", name_expressions=["plain"])


@pytest.fixture
def code(device):
    return compiled(device.arch)


def result(device, stream, code, name, record, count=1):
    out = device.zeros(3, np.float64, stream=stream)
    launch(stream, ONE, code.get_kernel(name), record, out)
    return out.to_host(stream=stream).tolist()[:count]


def record(fields, values=None, **how):
    dtype = np.dtype(fields, **how)
    return np.zeros((), dtype)[()] if values is None else np.array(values, dtype)[()]


class CPair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_float)]


class CSwapped(ctypes.Structure):
    _fields_ = [("b", ctypes.c_float), ("a", ctypes.c_int)]


class CBig(ctypes.BigEndianStructure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_float)]


class CBits(ctypes.Union):
    _fields_ = [("u", ctypes.c_uint), ("f", ctypes.c_float)]


class CBoth(ctypes.Structure):
    _fields_ = [("pair", CPair), ("pairs", CPair * 2), ("p", ctypes.c_void_p)]


@dataclasses.dataclass
class DPair:
    a: np.int32
    b: np.float32


@dataclasses.dataclass
class DSwapped:
    b: np.float32
    a: np.int32


@pytest.mark.parametrize("name", ["pair", "plain"])
@pytest.mark.parametrize(
    "value",
    [
        record([("a", "i4"), ("b", "f4")], (3, 2.5)),
        record([("first", "i4"), ("second", "f4")], (3, 2.5)),
        np.array((3, 2.5), [("a", "i4"), ("b", "f4")]),
        record([("all", "V8")], (np.array((3, 2.5), "i4,f4").tobytes(),)),
        np.void(np.array((3, 2.5), "i4,f4").tobytes()),
        np.array((3, 2.5), "i4,f4").tobytes(),
        CPair(3, 2.5),
        DPair(3, 2.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_record_of_the_layout_is_passed(device, stream, code, name, value):
    for _ in range(2):  # the second time, the dtype or class is known
        assert result(device, stream, code, name, value, 2) == [3, 2.5]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("pair", record([("b", "f4"), ("a", "i4")]), "its field 'b' is at offset 0, but at 4 in Pair"),
        ("plain", record([("b", "f4"), ("a", "i4")]), "its field 'b' is at offset 0, but at 4 in Pair"),
        ("pair", record([("a", "f4"), ("b", "i4")]),
         "'a' is float32 at offset 0, where Pair has 'a', int32 at offset 0"),
        ("pair", record([("x", "f4"), ("y", "i4")]), "'x' is float32 at offset 0, where Pair has 'a', int32"),
        ("pair", record([("a", "u4"), ("b", "f4")]), "'a' is uint32 at offset 0, where Pair has 'a', int32"),
        ("pair", record([("a", "i8")]), "'a' is int64 at offset 0, where Pair has 'a', int32 at offset 0"),
        ("pair", record([("a", "i2"), ("c", "i2"), ("b", "f4")]), "'a' is int16 at offset 0, where"),
        ("pair", record({"names": ["a"], "formats": ["i4"], "itemsize": 8}), "it has no field 'b' of Pair at offset 4"),
        ("pair", record([("a", ">i4"), ("b", "f4")]), "its field 'a' has the other byte order"),
        ("pair", CSwapped(1, 2), "its field 'b' is at offset 0, but at 4 in Pair"),
        ("pair", CBig(1, 2), "its field 'a' has the other byte order"),
        ("pair", (ctypes.c_float * 2)(1, 2), r"its field '\[0\]' is float32 at offset 0, where Pair has 'a', int32"),
        ("pair", DSwapped(1, 2), "its field 'b' is at offset 0, but at 4 in Pair"),
        ("wide", record([("c", "i1"), ("v", "i4", 4), ("e", "i4"), ("rest", "i4", 6)], align=True),
         r"its field 'v\[0\]' is at offset 4, but at 16 in Wide"),
        ("wide", record([("c", "i1"), ("v", "i4", 4), ("e", "i4")], align=True),
         r"has 48 bytes, but the void given has 24; its field 'v\[0\]' is at offset 4, but at 16 in Wide"),
        ("both", record([("pair", "i4,f4"), ("pairs", "f4,i4", 2), ("p", "u8")]),
         r"'pairs\[0\].f0' is float32 at offset 8"),
        ("both", record([("pair", "i4,f4"), ("pairs", "i4,f4", 2), ("p", "f8")]), "'p' is float64 at offset 24, where"),
        ("bits", record([("x", "i4")]), "its field 'x' is int32 at offset 0, where Bits has 'u', uint32"),
        ("vector", record([("x", "i4", 4)]),
         r"its field 'x\[0\]' is int32 at offset 0, where float4 has '\[0\]', float32"),
        ("scalar", record([("x", "f4")]), "its field 'x' is float32 at offset 0, where int has '', int32"),
        ("mixed", record([("on", "?"), ("c", "i1"), ("u", "i1"), ("s", "i2"), ("n", "u8"), ("d", "f8"), ("k", "i4")],
                         align=True), "'u' is int8 at offset 2, where Mixed has 'u', uint8"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_record_of_another_layout_is_rejected(device, stream, code, name, value, problem):
    out = device.zeros(3, np.float64, stream=stream)
    for _ in range(2):
        with pytest.raises(TypeError, match=problem):
            launch(stream, ONE, code.get_kernel(name), value, out)
    stream.sync()


def test_records_of_nested_and_aligned_structures_are_passed(device, stream, code):
    wide = {"names": ["c", "v", "e"], "formats": ["i1", ("i4", 4), "i4"], "offsets": [0, 16, 32], "itemsize": 48}
    assert result(device, stream, code, "wide", record(wide, (1, [2, 3, 4, 5], 6)), 3) == [1, 3, 6]
    wide |= {
        "names": ["c", "x", "y", "z", "w", "e"],
        "formats": ["i1"] + ["i4"] * 5,
        "offsets": [0, 16, 20, 24, 28, 32],
    }
    assert result(device, stream, code, "wide", record(wide, (1, 2, 3, 4, 5, 6)), 3) == [1, 3, 6]
    pair = [("a", "i4"), ("b", "f4")]
    both = record([("pair", pair), ("pairs", pair, 2), ("p", "u8")], ((1, 2.5), [(3, 4), (5, 6)], 7))
    assert result(device, stream, code, "both", both, 3) == [2.5, 5, 1]
    assert result(device, stream, code, "both", CBoth(CPair(1, 2.5), (CPair(3, 4), CPair(5, 6)), 7), 3) == [2.5, 5, 1]
    for bits in (CBits(7), record([("u", "u4")], (7,)), np.uint32(7)):
        assert result(device, stream, code, "bits", bits) == [7]
    mixed = record(
        [("on", "?"), ("c", "u1"), ("u", "u1"), ("s", "i2"), ("n", "u8"), ("d", "f8"), ("kind", "i4")],
        (True, 2, 3, 4, 5, 6, 0), align=True,
    )  # fmt: skip
    assert result(device, stream, code, "mixed", mixed) == [21]
    assert result(device, stream, code, "opaque", record("i4,i4,i4", (1, 2, 3))) == [2]
    assert result(
        device, stream, code, "vector", record([("x", "f4"), ("y", "f4"), ("z", "f4", 2)], (1, 2, [3, 4]))
    ) == [2]


def test_other_byte_order_is_rejected_whatever_the_type_is():
    for value in (
        record([("a", ">f4"), ("b", "i4")]),
        record([("a", "i4"), ("b", [("c", ">i2"), ("d", "i2")])]),
        record([("a", "i4"), ("b", ">f2", 2)]),
        CBig(1, 2),
        (ctypes.c_int.__ctype_be__ * 2)(),
    ):
        assert byte_order_problem(value).endswith("has the other byte order")
        for types in (None, ["long"]):
            with pytest.raises(TypeError, match="has the other byte order"):
                pack_arguments([(0, 8)], [value], types)
    assert (
        byte_order_problem(CPair())
        is byte_order_problem(record("i4,f4"))
        is byte_order_problem((ctypes.c_char * 8)())
        is None
    )


def test_bit_fields_and_pointers_of_ctypes_are_compared():
    class Bits(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint, 3), ("high", ctypes.c_uint, 29), ("p", ctypes.POINTER(ctypes.c_int))]

    class Derived(CPair):
        _fields_ = [("c", ctypes.c_long)]

    assert builtin_layout("ulong2").problem(Bits()) == (
        "its field 'p' is pointer at offset 8, where ulong2 has '[1]', uint64 at offset 8"
    )
    assert builtin_layout("ulong2").problem(Derived()).startswith("its field 'a' is int32 at offset 0")
    assert builtin_layout("Pair") is None


class Longs(ctypes.Structure):
    _fields_ = [("a", ctypes.c_longdouble)]


ATTACKS = {
    "names of components": (
        "float4",
        record([("y", "f4"), ("x", "f4"), ("z", "f4"), ("w", "f4")]),
        "its field 'y' is at",
    ),
    "long double": ("ulong2", record([("a", "g")]), "a type that C on the device does not have at offset 0"),
    "long double of ctypes": ("ulong2", Longs(), "a type that C on the device does not have at offset 0"),
    "objects": ("ulong1", np.array((5,), [("a", "O")])[()], "a type that C on the device does not have"),
    "date for a float": ("double1", record([("a", "M8[s]")]), "is int64 at offset 0, where double1 has"),
}


@pytest.mark.parametrize("kind", ATTACKS)
def test_record_that_no_vector_has_is_rejected(kind):
    c_type, value, problem = ATTACKS[kind]
    assert problem in builtin_layout(c_type).problem(value)
    assert builtin_layout("ulong1").problem(record([("a", "u8")])) is None


FIELDS = {
    "enumeration": ("enum E { X }; struct P { E a; int b; };", [("a", "u4"), ("b", "i4")], [("a", "f4"), ("b", "i4")]),
    "enumeration with a sign": ("enum class E : short { X }; struct P { E a; short b; };",
                                [("a", "i2"), ("b", "i2")], [("a", "f2"), ("b", "i2")]),
    "enumeration of characters": ("enum class E : char { X }; struct P { E a; char b; };",
                                  [("a", "i1"), ("b", "u1")], [("a", "?"), ("b", "i1")]),
    "condition": ("struct P { int a;\n#if 0\nint c;\n#endif\nfloat b; };",
                  [("a", "i4"), ("b", "f4")], [("b", "f4"), ("a", "i4")]),
    "empty base": ("struct Q { }; struct P : Q { int a; float b; };",
                   [("a", "i4"), ("b", "f4")], [("b", "f4"), ("a", "i4")]),
    "alignas": ("struct P { int a; alignas(8) float b; };",
                {"names": ["a", "b"], "formats": ["i4", "f4"], "offsets": [0, 8], "itemsize": 16},
                [("a", "i4"), ("b", "f4"), ("rest", "V8")]),
    "many fields": ("struct P { " + " ".join(f"short s{i};" for i in range(30)) + "};",
                    [(f"s{i}", "i2") for i in range(30)], [(f"s{i}", "i2") for i in reversed(range(30))]),
}  # fmt: skip


@pytest.mark.parametrize("kind", FIELDS)
def test_fields_of_every_kind_are_compared(kind, device, stream):
    source, right, wrong = FIELDS[kind]
    source += '\nextern "C" __global__ void f(P p, double* o) { *o = (int)p.FIRST; }'
    source = source.replace("FIRST", np.dtype(right).names[0])
    code = Program(source, "c++").compile("cubin")
    assert result(device, stream, code, "f", np.ones((), right)[()]) == [1]
    assert code.struct("P").itemsize == np.dtype(right).itemsize
    out = device.zeros(1, np.float64, stream=stream)
    with pytest.raises(TypeError, match=r"f\(\) parameter 1 'p' is a P; got void: its field"):
        launch(stream, ONE, code.get_kernel("f"), np.ones((), wrong)[()], out)


@pytest.mark.parametrize("name", ["Pair", "Wide", "Both", "Bits", "Mixed", "Opaque"])
def test_dtype_of_a_structure_is_accepted_for_it(device, stream, code, name):
    dtype = code.struct(name)
    assert dtype == code.get_kernel(name.lower()).dtype("x") == code.get_kernel(name.lower()).dtype(0)
    assert result(device, stream, code, name.lower(), np.zeros((), dtype)[()]) == [0]


def test_dtypes_of_structures_have_the_offsets_of_the_compiler(code):
    wide = code.struct("Wide")
    assert {name: offset for name, (_, offset) in wide.fields.items()} == {"c": 0, "v": 16, "e": 32}
    assert (wide.itemsize, wide["v"].shape, wide["v"].base) == (48, (4,), np.dtype("i4"))
    both = code.struct("Both")
    assert (both["pair"], both["pairs"].base, both["p"]) == (code.struct("Pair"), code.struct("Pair"), np.dtype("u8"))
    assert code.struct("Mixed")["kind"] == np.dtype("V4")
    assert code.struct("Packed") == np.dtype([("c", "i1"), ("d", "f8")])
    assert [code.struct("Calls").fields[name][1] for name in ("call", "rows", "end")] == [0, 8, 16]
    with pytest.raises(ValueError, match="the layout of 'Derived' is unknown"):
        code.struct("Derived")


def test_dtypes_of_other_parameters_are_those_of_their_values(code):
    assert code.get_kernel("vector").dtype("x") == np.dtype(("f4", 4))
    assert code.get_kernel("vector").dtype("o") == np.dtype("u8")
    assert code.get_kernel("scalar").dtype("x") == np.dtype("i4")
    for c_type, dtype in [
        ("bool", "?"), ("char", "i1"), ("unsigned long", "u8"), ("__half", "f2"), ("__nv_bfloat16", "u2"),
        ("std::complex<double>", "c16"), ("__int128", "V16"), ("float1", "f4"),
    ]:  # fmt: skip
        assert numpy_type(c_type, np.dtype(dtype).itemsize) == np.dtype(dtype)


def test_unknown_parameters_and_structures_are_errors(device, code):
    kernel = code.get_kernel("pair")
    for parameter in ("y", 2, -1, 10**5000):
        with pytest.raises(ValueError, match=r"pair\(\) has no parameter .*; the names are x, o"):
            kernel.dtype(parameter)
    with pytest.raises(TypeError, match="parameter must be a str or an int, not float"):
        kernel.dtype(1.0)
    with pytest.raises(ValueError, match="the layout of 'Pairs' is unknown; known are .*Pair"):
        code.struct("Pairs")
    with pytest.raises(TypeError, match="name must be a str, not int"):
        code.struct(1)
    source = 'class P { int x; }; extern "C" __global__ void f(P p) {}'
    private = Program(source, "c++").compile("cubin")
    with pytest.raises(ValueError, match="the layout of 'P' is unknown; none is known"):
        private.struct("P")
    with pytest.raises(ValueError, match=r"the layout of parameter 'p' of f\(\) is unknown"):
        private.get_kernel("f").dtype("p")
    bare = type(private).from_cubin(private.code)
    with pytest.raises(ValueError, match="none is known"):
        bare.struct("P")
    with pytest.raises(ValueError, match="the names are unknown"):
        bare.get_kernel("f").dtype("p")


def test_structure_named_like_a_type_we_know_is_its_own(device, stream):
    source = """struct __half { double x; }; extern "C" __global__ void f(__half x, double* o) { o[0] = x.x; }
    extern "C" __global__ void g(__half* x, double* o) { o[0] = x != 0; }"""
    code = Program(source, "c++").compile("cubin")
    assert result(device, stream, code, "f", record([("x", "f8")], (2.5,))) == [2.5]
    out = device.zeros(1, np.float64, stream=stream)
    with pytest.raises(TypeError, match="is a __half; got float"):
        launch(stream, ONE, code.get_kernel("f"), 2.5, out)
    with pytest.raises(TypeError, match="its field 'x' is float16"):
        launch(stream, ONE, code.get_kernel("f"), record([("x", "f2"), ("y", "f2", 3)]), out)
    launch(stream, ONE, code.get_kernel("g"), out, out)
    assert out.to_host(stream=stream).tolist() == [1]


@pytest.mark.parametrize(
    "definition",
    ["enum __half : short { A };", "enum class __half : unsigned short { A };", "typedef struct { short x; } __half;",
     "#if 1\nstruct __half { short x; };\n#endif\n#if 0\nextern \"C\" __global__ void g(int x) {}\n#endif",
     "union __half { short x; };"],
)  # fmt: skip
def test_numbers_are_rejected_for_a_type_that_hides_ours(definition, device, stream):
    source = f'{definition}\nextern "C" __global__ void f(__half x) {{}} __global__ void g(int n, __half x) {{}}'
    code = Program(source, "c++").compile("cubin", name_expressions=["(void(*)(int, __half))g"])
    for name, arguments in [("f", (2,)), ("(void(*)(int, __half))g", (1, 2))]:
        with pytest.raises(TypeError, match="is a __half; got int"):
            launch(stream, ONE, code.get_kernel(name), *arguments)


def test_types_of_other_libraries_are_not_ours(device, stream):
    source = """namespace thrust { struct float2 { int x, y; }; } namespace std { struct int2 { float x, y; }; }
    extern "C" __global__ void f(thrust::float2 a, std::int2 b, double* o) { o[0] = a.y; o[1] = b.y; }"""
    kernel = Program(source, "c++").compile("cubin").get_kernel("f")
    out = device.zeros(2, np.float64, stream=stream)
    with pytest.raises(TypeError, match=r"is a thrust::float2; got tuple"):
        launch(stream, ONE, kernel, (1, 2), (3, 4), out)
    launch(stream, ONE, kernel, record("i4,i4", (1, 2)), record("f4,f4", (3, 4)), out)
    assert out.to_host(stream=stream).tolist() == [2, 4]


def test_numbers_are_rejected_for_a_class_with_private_fields(device, stream):
    source = 'class P { int x; }; extern "C" __global__ void f(P p) {}'
    with pytest.raises(TypeError, match="is a P; got int; pass bytes, numpy.void"):
        launch(stream, ONE, Program(source, "c++").compile("cubin").get_kernel("f"), 5)
