# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments converted to the C types of parameters: nothing that does not fit is passed in silence."""

import ctypes
import dataclasses
import inspect
import math
import pickle
import re
import struct

import numpy as np
import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    Kernel,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core._code._conversions import converted
from cuda.core._code._types import C_TYPES, size_of
from cuda.core._kernel_arg_handler import pack_arguments
from cuda.core.graph import GraphDefinition
from cuda.core.utils import InMemoryProgramCache, StridedMemoryView
from support.headers import header_folders
from support.kernels import HostMemory

ONE = LaunchConfig(grid=1, block=1)


def packed(argument, c_type):
    """Return the bytes that a parameter of a C type gets."""
    size = size_of(c_type)
    return pack_arguments([(0, 1), (8, size)], [0, argument], ["char", c_type], "f")[8:]


# --- every kind of scalar for every type ---

# C type -> the NumPy type of the same bytes
SCALARS = {
    "bool": np.bool_, "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": np.int32, "unsigned int": np.uint32, "long": np.int64, "unsigned long": np.uint64, "long long": np.int64,
    "unsigned long long": np.uint64, "__half": np.float16, "float": np.float32, "double": np.float64,
    "float2": np.complex64, "double2": np.complex128, "std::complex<float>": np.complex64,
    "std::complex<double>": np.complex128,
}  # fmt: skip
KINDS = [int, float, bool, complex, np.bool_, np.int8, np.int16, np.int32, np.int64, np.longlong, np.uint8, np.uint16,
         np.uint32, np.uint64, np.ulonglong, np.float16, np.float32, np.float64, np.complex64, np.complex128,
         ctypes.c_bool, ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint16,
         ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float, ctypes.c_double]  # fmt: skip
VALUES = [0, 1, 2, -1, 100, 127, 128, -128, -129, 255, 256, 300, 32767, 32768, -32769, 65535, 65536, 2**31 - 1, 2**31,
          -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2**60, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**63) - 1,
          0.5, 2.0, 1e5, 1e30, 1e300, math.inf, -math.inf, 10**400]  # fmt: skip


def made(kind, value):
    """Return the value as an object of a kind, or None if the kind cannot hold it."""
    try:
        with np.errstate(all="ignore"):
            argument = kind(value)
        plain = argument.item() if isinstance(argument, np.generic) else getattr(argument, "value", argument)
        return argument if plain == value else None
    except (OverflowError, TypeError, ValueError):
        return None


def rank(kind):
    """Return 0 for integers, 1 for floating-point numbers and 2 for complex numbers."""
    name = kind.__name__
    return 2 if "complex" in name else 1 if "float" in name or "double" in name else 0


def reference(c_type, kind, value):
    """Return the bytes by NumPy, or the exception to expect."""
    target = SCALARS[c_type]
    if rank(kind) > rank(target) or (rank(target) == 2 and rank(kind) < 2 and "complex" not in c_type):
        return TypeError
    if rank(target) == 0:
        info = np.iinfo(target) if target is not np.bool_ else None
        fits = value in (0, 1) if info is None else info.min <= value <= info.max
        return np.array(value).astype(target).tobytes() if fits else OverflowError
    try:
        number = complex(value) if rank(target) == 2 else float(value)
    except OverflowError:
        return OverflowError
    with np.errstate(all="ignore"):
        result = target(number)
    return OverflowError if np.isinf(result) and not math.isinf(abs(value)) else result.tobytes()


@pytest.mark.parametrize("c_type", SCALARS)
def test_scalars_convert_as_numpy_converts_values_that_survive(c_type):
    count = 0
    for kind in KINDS:
        for value in VALUES:
            argument = made(kind, value)
            if argument is None:
                continue
            count += 1
            expected = reference(c_type, kind, value)
            try:
                got = packed(argument, c_type)
            except (OverflowError, TypeError) as error:
                got = type(error)
                assert str(error).startswith("f() parameter 2 is a")
            assert got == expected, (kind, value)
    assert count > 300


@pytest.mark.requires(cuda_headers=True, cuda=(12, 4))
def test_kernels_receive_values_converted_by_numpy(stream):
    names = [c_type for c_type in SCALARS if "complex" not in c_type]
    source = "#include <cuda_fp16.h>\n" + "".join(
        f'extern "C" __global__ void echo{place}({c_type} value, {c_type}* out) {{ *out = value; }}\n'
        for place, c_type in enumerate(names)
    )
    code = Program(source, "c++", ProgramOptions(include_path=header_folders())).compile("cubin")
    memory = HostMemory(16)
    count = 0
    for place, c_type in enumerate(names):
        kernel = code.get_kernel(f"echo{place}")
        for kind in KINDS:
            argument = made(kind, 1)
            expected = reference(c_type, kind, 1)
            if isinstance(expected, bytes):
                launch(stream, ONE, kernel, argument, memory.buffer)
                stream.sync()
                assert bytes(memory)[: len(expected)] == expected, (c_type, kind)
                count += 1
            else:
                with pytest.raises(expected, match=rf"echo{place}\(\) parameter 1 'value' is an? "):
                    launch(stream, ONE, kernel, argument, memory.buffer)
    assert count > 300


# --- the cases that were silent ---

SCALE = """
extern "C" __global__ void scale(float* x, float f) { x[0] *= f; }
extern "C" __global__ void wide(double* x, double f) { x[0] *= f; }
extern "C" __global__ void index(int* x, int n) { x[0] = n; }
template <class T> __global__ void times(T* x, T f) { x[0] *= f; }
struct Pair { float x, y; };
__global__ void many(const float* in, float2 v, __half* h, Pair pair, Pair* pairs, unsigned char u, bool b) {}
"""
SCALE = "struct __half;\n" + SCALE


@pytest.fixture
def code(device):
    return Program(SCALE, "c++").compile("cubin", ("times<float>", "times<double>", "many"))


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("factor", [2, 2.0, np.int64(2), np.float64(2), np.float16(2), np.uint8(2), ctypes.c_int(2)])
@pytest.mark.parametrize("name", ["scale", "wide", "times<float>", "times<double>"])
def test_numbers_become_the_type_of_a_floating_point_parameter(stream, code, name, factor):
    dtype = np.float32 if name in ("scale", "times<float>") else np.float64
    memory = HostMemory(8)
    ctypes.memmove(memory.address, dtype(3).tobytes(), dtype(3).nbytes)
    launch(stream, ONE, code.get_kernel(name), memory.buffer, factor)
    stream.sync()
    assert memory.array(dtype)[0] == 6


@pytest.mark.requires(cuda=(12, 4))
def test_true_is_one_as_a_float(stream, code):
    memory = HostMemory(4)
    ctypes.memmove(memory.address, np.float32(3).tobytes(), 4)
    for factor in (True, np.bool_(True), np.True_):
        launch(stream, ONE, code.get_kernel("scale"), memory.buffer, factor)
    stream.sync()
    assert memory.array(np.float32)[0] == 3


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("value", [2.5, 2.0, np.float32(2), np.float64(2), 1j, ctypes.c_float(2), "2", None, (2,)])
def test_non_integers_are_rejected_for_an_integer(stream, code, value):
    memory = HostMemory(4)
    name = type(value).__name__
    with pytest.raises(TypeError, match=rf"^index\(\) parameter 2 'n' is an int; got {name}$"):
        launch(stream, ONE, code.get_kernel("index"), memory.buffer, value)
    stream.sync()
    assert bytes(memory) == bytes(4)


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("value", [1e300, -1e300, 10**400, np.float64(1e39), 3.5e38])
def test_value_over_the_float_range_is_rejected(stream, code, value):
    with pytest.raises(OverflowError, match=r"^scale\(\) parameter 2 'f' is a float; .* does not fit$"):
        launch(stream, ONE, code.get_kernel("scale"), None, value)


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("value", ["2", 1j, None, [2.0], b"2", Buffer.from_handle(64, 8), np.complex64(1), len])
def test_non_real_numbers_are_rejected_for_a_float(stream, code, value):
    with pytest.raises(TypeError, match=r"is a float; got|has 4 bytes, but the bytes given has 1"):
        launch(stream, ONE, code.get_kernel("scale"), None, value)


@pytest.mark.requires(cuda=(12, 4))
def test_messages_name_the_function_of_a_template(stream, code):
    with pytest.raises(TypeError, match=r"^times\(\) parameter 2 'f' is a double; got str$"):
        launch(stream, ONE, code.get_kernel("times<double>"), None, "2")


@pytest.mark.requires(cuda=(12, 4))
def test_kernel_nodes_convert_their_arguments(stream, code):
    memory = HostMemory(4)
    ctypes.memmove(memory.address, np.float32(3).tobytes(), 4)
    graph = GraphDefinition()
    node = graph.launch(ONE, code.get_kernel("scale"), memory.buffer, 2)
    graph.instantiate().launch(stream)
    stream.sync()
    assert memory.array(np.float32)[0] == 6
    assert str(node.kernel.signature) == "(x: 'float*', f: 'float')"
    with pytest.raises(TypeError, match=r"scale\(\) parameter 2 'f' is a float; got str"):
        graph.launch(ONE, code.get_kernel("scale"), memory.buffer, "2")
        graph.instantiate()


# --- vectors, bfloat16, 128-bit integers ---


@pytest.mark.parametrize(
    ("c_type", "argument", "expected"),
    [
        ("float2", (1, 2.5), struct.pack("ff", 1, 2.5)),
        ("float2", 1 + 2j, struct.pack("ff", 1, 2)),
        ("float3", np.array([1.0, 2.0, 3.0]), struct.pack("fff", 1, 2, 3)),
        ("int4", (1, -2, np.int64(3), True), struct.pack("iiii", 1, -2, 3, 1)),
        ("int4", np.arange(4), struct.pack("iiii", 0, 1, 2, 3)),
        ("int4", np.arange(4, dtype=np.int32).view("V16")[0], struct.pack("iiii", 0, 1, 2, 3)),
        ("uchar4", (1, 2, 3, 255), b"\1\2\3\xff"),
        ("float1", (1.5,), struct.pack("f", 1.5)),
        ("dim3", (1, 2, 3), struct.pack("III", 1, 2, 3)),
        ("__half2", (0.5, 1), struct.pack("ee", 0.5, 1)),
        ("std::complex<float>", 2, struct.pack("ff", 2, 0)),
        ("std::complex<double>", 2.5, struct.pack("dd", 2.5, 0)),
        ("float2", (ctypes.c_float * 2)(1, 2), struct.pack("ff", 1, 2)),
        ("__half", 0.1, np.float16(0.1).tobytes()),
        ("__nv_bfloat16", 1.5, b"\xc0\x3f"),
        ("__nv_bfloat16", 1, b"\x80\x3f"),
        ("__nv_bfloat16", np.float32(-2), b"\x00\xc0"),
        ("__nv_bfloat16", 1.00390625, b"\x80\x3f"),  # halfway to the next one: to the even one
        ("__nv_bfloat16", 1.01171875, b"\x82\x3f"),
        ("__nv_bfloat16", 1.0039062500001, b"\x81\x3f"),
        ("__nv_bfloat16", math.inf, b"\x80\x7f"),
        ("__nv_bfloat16", -0.0, b"\x00\x80"),
        ("__nv_bfloat16", 1e-40, struct.pack("<f", 1e-40)[2:]),
        ("__nv_bfloat162", (1, 1.5), b"\x80\x3f\xc0\x3f"),
        ("__int128", -5, (-5).to_bytes(16, "little", signed=True)),
        ("unsigned __int128", 2**128 - 1, b"\xff" * 16),
        ("char", -1, b"\xff"),
        ("char", 255, b"\xff"),
    ],
    ids=lambda value: re.sub(r" object at 0x[0-9a-f]+", "", str(value)),
)
def test_vectors_and_unusual_numbers_convert(c_type, argument, expected):
    assert packed(argument, c_type) == expected


def test_bfloat16_nan_stays_nan():
    bits = int.from_bytes(packed(math.nan, "__nv_bfloat16"), "little")
    assert bits & 0x7F80 == 0x7F80
    assert bits & 0x7F


@pytest.mark.parametrize(
    ("c_type", "argument", "error"),
    [
        ("float2", (1, 2, 3), TypeError),
        ("float2", 2.0, TypeError),
        ("float2", (1, "2"), TypeError),
        ("float2", (1, 1e300), OverflowError),
        ("float2", np.ones((1, 2)), TypeError),
        ("float2", [1, 2], TypeError),
        ("int2", 1j, TypeError),
        ("int2", (1, 2.0), TypeError),
        ("int2", (1, 2**31), OverflowError),
        ("float", (1,), TypeError),
        ("float", np.ones(1), TypeError),
        ("__nv_bfloat16", 3.4e38, OverflowError),
        ("__nv_bfloat16", 1e300, OverflowError),
        ("__half", 65520.0, OverflowError),
        ("__half", 1j, TypeError),
        ("__int128", 2**127, OverflowError),
        ("unsigned __int128", -1, OverflowError),
        ("char", 256, OverflowError),
        ("float*", 1.0, TypeError),
        ("float*", True, TypeError),
        ("float*", np.int32(64), TypeError),
        ("float*", np.float64(64), TypeError),
        ("float*", (ctypes.c_float * 2)(1, 2), TypeError),
        ("long", None, TypeError),
        ("long", Buffer.from_handle(64, 8), TypeError),
    ],
    ids=lambda value: re.sub(r" object at 0x[0-9a-f]+", "", str(value)),
)
def test_unconvertible_values_are_rejected(c_type, argument, error):
    with pytest.raises(error, match=r"^f\(\) parameter 2 is an? "):
        packed(argument, c_type)


@pytest.mark.parametrize(
    ("c_type", "argument"),
    [
        ("float*", 0x1000),
        ("float*", np.uint64(0x1000)),
        ("float*", np.int64(0x1000)),
        ("float*", ctypes.c_void_p(0x1000)),
        ("float*", ctypes.c_uint64(0x1000)),
        ("float*", Buffer.from_handle(0x1000, 8)),
        ("float*", struct.pack("Q", 0x1000)),
        ("unsigned long", Buffer.from_handle(0x1000, 8)),
        ("unsigned long long", ctypes.c_void_p(0x1000)),
        ("unsigned long long", b"\0\x10" + bytes(6)),
        ("long", struct.pack("q", 0x1000)),
        ("double", struct.pack("Q", 0x1000)),
        ("double", np.void(struct.pack("Q", 0x1000))),
    ],
    ids=lambda value: re.sub(r" object at 0x[0-9a-f]+", "", str(value)),
)
def test_addresses_and_bytes_are_passed_as_they_are(c_type, argument):
    assert packed(argument, c_type) == struct.pack("Q", 0x1000)


@pytest.mark.requires(module="ml_dtypes")
def test_bfloat16_of_another_package_converts():
    import ml_dtypes

    assert packed(ml_dtypes.bfloat16(1.5), "__nv_bfloat16") == b"\xc0\x3f"
    assert packed(ml_dtypes.bfloat16(1.5), "float") == struct.pack("f", 1.5)


# --- arrays ---


class Array:
    """An array in device memory."""

    def __init__(self, buffer, typestr, readonly=False):
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (1,), "typestr": typestr, "data": (int(buffer.handle), readonly)
        }  # fmt: skip


@pytest.mark.parametrize(
    ("c_type", "typestr", "problem"),
    [
        ("float*", "<f4", None),
        ("float*", "<f8", "an array of float64"),
        ("float*", "<i4", "an array of int32"),
        ("float*", "<c8", "an array of complex64"),
        ("float*", ">f4", "an array of >f4"),
        ("float*", "|V4", None),
        ("int*", "<u4", "an array of uint32"),
        ("bool*", "|b1", None),
        ("bool*", "|u1", "an array of uint8"),
        ("unsigned char*", "<f4", None),
        ("char*", "<f4", None),
        ("std::byte*", "<f4", None),
        ("void*", "<f4", None),
        ("Pair*", "<f4", None),
        ("float**", "<i8", None),
        ("float4*", "<f4", None),
        ("float2*", "<c8", None),
        ("float4*", "<i4", "an array of int32"),
        ("std::complex<double>*", "<c16", None),
        ("__half*", "<f2", None),
        ("__nv_bfloat16*", "<u2", None),
        ("__nv_bfloat16*", "<f2", "an array of float16"),
        ("const float*", "<f8", "an array of float64"),
        ("signed char*", "|i1", None),
        ("signed char*", "<f4", "an array of float32"),
    ],
)
def test_array_elements_match_the_pointer(device, stream, c_type, typestr, problem):
    array = Array(device.allocate(64, stream=stream), typestr)
    if problem is None:
        assert packed(array, c_type) == struct.pack("Q", array.__cuda_array_interface__["data"][0])
    else:
        with pytest.raises(TypeError, match=rf"^f\(\) parameter 2 is an? .*\*; got {problem}$"):
            packed(array, c_type)


def test_arrays_of_other_kinds_are_also_checked(device, stream):
    memory = HostMemory(64)
    array = np.from_dlpack(memory.buffer).view(np.float32)
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    for argument in (array, view):
        assert packed(argument, "float*") == struct.pack("Q", memory.address)
        with pytest.raises(TypeError, match="is an int\\*; got an array of float32"):
            packed(argument, "int*")
    assert packed(memory.buffer, "int*") == struct.pack("Q", memory.address)


def test_read_only_array_is_rejected_for_a_writable_pointer(device, stream):
    buffer = device.allocate(64, stream=stream)
    pinned = np.from_dlpack(HostMemory(64).buffer)
    pinned.flags.writeable = False
    for array in (Array(buffer, "|i1", True), pinned, StridedMemoryView.from_any_interface(pinned, stream_ptr=-1)):
        assert len(packed(array, "const void*")) == 8
        with pytest.raises(TypeError, match=r"is a void\*; got a read-only array"):
            packed(array, "void*")


class Index:
    """An integer of another class."""

    def __index__(self):
        return 9


def test_object_with_an_index_is_an_integer():
    for c_type, expected in [
        ("int", struct.pack("i", 9)), ("unsigned long", struct.pack("Q", 9)), ("char", b"\x09"),
        ("float", struct.pack("f", 9)), ("__half", struct.pack("e", 9)), ("int2", struct.pack("ii", 9, 1)),
    ]:  # fmt: skip
        assert packed((Index(), 1) if c_type == "int2" else Index(), c_type) == expected


def test_object_whose_index_does_not_fit_is_rejected():
    class Large(Index):
        def __index__(self):
            return 300

    class Array(Index):
        __dlpack__ = None

    with pytest.raises(OverflowError, match="does not fit"):
        packed(Large(), "unsigned char")
    for argument, c_type in ((Index(), "int*"), (Index, "int"), (Array(), "int")):
        with pytest.raises(TypeError):
            packed(argument, c_type)


def test_pointer_to_pointers_takes_arrays_of_addresses(device, stream):
    for dtype in ("u8", "i8"):
        array = device.zeros(4, dtype, stream=stream)
        assert packed(array, "float**") == packed(array, "const void**") == struct.pack("Q", array.ptr)
    for dtype in ("f4", "u4", "f8"):
        with pytest.raises(TypeError, match=r"is a float\*\*; got an array of"):
            packed(device.zeros(4, dtype, stream=stream), "float**")


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    "source",
    [
        "template <class T> __global__ void f(T a, T b, int* o) { *o = a - b; }\n"
        "template <> __global__ void f<int>(int b, int a, int* o) { *o = b - a; }",
        "__global__ void f(int b, int a, int* o) { *o = b - a; }\n"
        "__global__ void f(int a, float b, int* o) { *o = a - b; }",
        '#if 0\nextern "C" __global__ void f(int a, int b, int* o) {}\n#else\n'
        'extern "C" __global__ void f(int b, int a, int* o) { *o = b - a; }\n#endif',
    ],
    ids=["specialization", "overload", "condition"],
)
def test_keywords_need_names_without_doubt(device, stream, source):
    name = {"t": "f<int>", "_": "(void(*)(int, int, int*))f", "#": "f"}[source[0]]
    kernel = Program(source, "c++").compile("cubin", name_expressions=[name]).get_kernel(name)
    out = device.zeros(1, np.int32, stream=stream)
    with pytest.raises(TypeError, match="got the name 'a', but the names of its parameters are unknown"):
        launch(stream, ONE, kernel, a=5, b=3, o=out)
    launch(stream, ONE, kernel, 5, 3, out)
    assert out.to_host(stream=stream).tolist() == [2]


# --- where signatures come from ---


@pytest.mark.requires(cuda=(12, 4))
def test_signatures_have_names_and_types(code):
    assert str(code.get_kernel("scale").signature) == "(x: 'float*', f: 'float')"
    signature = code.get_kernel("many").signature
    assert isinstance(signature, inspect.Signature)
    assert {name: item.annotation for name, item in signature.parameters.items()} == {
        "in": "const float*", "v": "float2", "h": "__half*", "pair": "Pair", "pairs": "Pair*", "u": "unsigned char",
        "b": "bool",
    }  # fmt: skip
    assert signature.parameters["in"].kind is inspect.Parameter.POSITIONAL_ONLY


@pytest.mark.requires(cuda=(12, 4))
def test_foreign_code_gets_its_signature_from_the_symbol(code):
    names = code.symbol_mapping
    bare = ObjectCode.from_cubin(code.code)
    assert str(bare.get_kernel("scale").signature) == "(arg1, arg2)"
    assert str(bare.get_kernel(names["times<float>"]).signature) == "(arg1: 'float*', arg2: 'float')"
    with pytest.raises(TypeError, match="only the size of this parameter is known"):
        launch(LEGACY_DEFAULT_STREAM, ONE, bare.get_kernel("scale"), None, 2.0)


@pytest.mark.requires(cuda=(12, 4))
def test_kernel_from_handle_gets_its_types_from_the_symbol(code):
    kernel = code.get_kernel("times<float>")
    assert str(Kernel.from_handle(int(kernel.handle)).signature) == "(arg1: 'float*', arg2: 'float')"


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_signatures_are_kept_by_targets_pickles_and_links(device, target):
    options = ProgramOptions(relocatable_device_code=True)
    main = Program('extern "C" __device__ int g(); extern "C" __global__ void f(int* x) { *x = g(); }', "c++", options)
    part = Program('extern "C" __device__ int g() { return 1; }', "c++", options)
    inputs = [pickle.loads(pickle.dumps(program.compile(target))) for program in (main, part)]
    linked = Linker(*inputs, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    assert str(linked.get_kernel("f").signature) == "(x: 'int*')"


@pytest.mark.requires(cuda=(12, 4))
def test_signatures_are_kept_by_the_program_cache(device):
    cache = InMemoryProgramCache()
    found = [Program(SCALE, "c++").compile("cubin", cache=cache).get_kernel("scale").signature for _ in range(2)]
    assert str(found[0]) == str(found[1]) == "(x: 'float*', f: 'float')"


@pytest.mark.requires(cuda=(12, 4))
def test_type_of_another_size_makes_all_types_unknown(device):
    # As if a header had a macro of this name.
    source = 'extern "C" __global__ void f(float x, int* y) {}'
    code = Program(source.replace("float", "double"), "c++").compile("cubin")
    known = Program(source, "c++").compile("cubin")
    mixed = ObjectCode._init(code.code, "cubin", declarations=known.__reduce__()[1][4])
    assert str(known.get_kernel("f").signature) == "(x: 'float', y: 'int*')"
    assert str(mixed.get_kernel("f").signature) == "(arg1, arg2)"


def test_every_known_type_has_a_size():
    assert all(size_of(c_type) >= 1 for c_type in C_TYPES)


# --- 0-dimensional arrays, dataclasses and views ---


@pytest.mark.parametrize(
    ("c_type", "array", "expected"),
    [
        ("float", np.array(2.5), struct.pack("f", 2.5)),
        ("float", np.array(2), struct.pack("f", 2)),
        ("int", np.array(-3, np.int8), struct.pack("i", -3)),
        ("unsigned long", np.array(2**63, np.uint64), struct.pack("Q", 2**63)),
        ("double2", np.array(1 + 2j), struct.pack("dd", 1, 2)),
    ],
)
def test_0_dimensional_array_is_its_scalar(c_type, array, expected):
    assert packed(array, c_type) == expected


@pytest.mark.parametrize(
    ("c_type", "array", "error"),
    [
        ("int", np.array(2.5), TypeError),
        ("unsigned long", np.array(-1), OverflowError),
        ("float", np.array(1e300), OverflowError),
        ("float*", np.array(1.0, np.float32), TypeError),
        ("float", np.array([1.0]), TypeError),
    ],
)
def test_0_dimensional_array_that_does_not_convert_is_rejected(c_type, array, error):
    with pytest.raises(error):
        packed(array, c_type)


def test_0_dimensional_array_of_a_structure_is_its_bytes():
    dtype = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    content = pack_arguments([(0, 16)], [np.array((1, 2.5), dtype)])
    assert np.frombuffer(content, dtype)[0].tolist() == (1, 2.5)


@dataclasses.dataclass
class Camera:
    position: np.float32
    width: np.int16
    zoom: np.float64
    is_on: bool
    count: ctypes.c_uint16


@pytest.mark.requires(cuda=(12, 4))
def test_dataclass_of_scalars_is_a_c_struct(device, stream):
    source = """struct Camera { float position; short width; double zoom; bool is_on; unsigned short count; };
    extern "C" __global__ void show(Camera c, double* out)
    { out[0] = c.position; out[1] = c.width; out[2] = c.zoom; out[3] = c.is_on; out[4] = c.count; }"""
    show = Program(source, "c++").compile("cubin").get_kernel("show")
    out = device.zeros(5, np.float64, stream=stream)
    launch(stream, ONE, show, Camera(1.5, -2, 3, True, 65535), out)
    assert out.to_host(stream=stream).tolist() == [1.5, -2, 3, 1, 65535]


def test_dataclass_padding_matches_c():
    expected = struct.pack("fhd?xH4x", 1.5, -2, 3, True, 7)
    assert len(expected) == 24
    assert pack_arguments([(0, 24)], [Camera(1.5, -2, 3, True, 7)]) == expected


@pytest.mark.parametrize(
    ("value", "size", "error", "text"),
    [
        (Camera(1, 2, 3, True, 4), 20, TypeError, "has 20 bytes, but a Camera has 24 bytes in the layout of C"),
        (
            Camera(1, 2.5, 3, True, 4),
            24,
            TypeError,
            "field 'width' of Camera is of type short, but its value is a float",
        ),
        (Camera(1, 2**20, 3, True, 4), 24, OverflowError, "field 'width' of Camera"),
        (Camera(1, 2, 3, True, -4), 24, OverflowError, "field 'count' of Camera"),
    ],
)
def test_dataclass_that_does_not_fit_is_rejected(value, size, error, text):
    with pytest.raises(error, match=text):
        pack_arguments([(0, size)], [value])


@pytest.mark.parametrize("hint", [int, float, list, "np.complex64", np.complex128, np.str_])
def test_field_without_a_size_in_c_is_rejected(hint):
    cls = dataclasses.make_dataclass("Open", [("x", eval(hint) if isinstance(hint, str) else hint)])
    with pytest.raises(TypeError, match="field 'x' of Open must be annotated with a NumPy or ctypes scalar type"):
        pack_arguments([(0, 8)], [cls(1)])


def test_views_are_checked_against_the_pointer(device, stream):
    for c_type, dtype, problem in [
        ("float*", "f4", None), ("float*", "i4", "an array of int32"), ("const double*", "f8", None),
        ("float2*", "c8", None), ("float2*", "f4", None), ("float2*", "f8", "an array of float64"),
        ("void*", "f8", None), ("unsigned char*", "f8", None), ("bool*", "?", None), ("__half*", "f2", None),
        ("__nv_bfloat16*", "u2", None),
        ("long*", "u8", "an array of uint64"), ("int**", "f4", "an array of float32"),
    ]:  # fmt: skip
        array = device.zeros(4, dtype, stream=stream)
        for _ in range(2):  # the second time, the class is known
            if problem is None:
                assert packed(array, c_type) == struct.pack("Q", array.ptr)
            else:
                with pytest.raises(TypeError, match=problem):
                    packed(array, c_type)


def test_read_only_views_need_a_pointer_to_const(device, stream):
    buffer = device.allocate(4, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (1,), dtype=np.dtype("f4"), is_readonly=True)
    assert packed(view, "const float*") == struct.pack("Q", view.ptr)
    with pytest.raises(TypeError, match="a read-only array"):
        packed(view, "float*")


def test_host_array_is_an_error_that_names_to_device():
    with pytest.raises(TypeError, match=r"in host memory \(ndarray\).*Device.to_device\(array, stream=stream\)"):
        packed(np.zeros(3, np.float32), "float*")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.longdouble("1e4000"), OverflowError),
        (-np.longdouble("1e4000"), OverflowError),
        (np.clongdouble(1 + 2j), TypeError),
        (np.timedelta64(3, "h"), TypeError),
        (np.timedelta64(3, "ns"), TypeError),
        (np.datetime64(3, "ns"), TypeError),
    ],
)
@pytest.mark.parametrize("c_type", ["float", "double"])
def test_extended_and_temporal_scalars_are_not_silently_changed(c_type, value, error):
    with pytest.raises(error):
        converted(c_type, value)
    if error is TypeError:
        with pytest.raises(TypeError):
            converted("long long", value)


def test_extended_scalars_that_survive_convert():
    assert struct.unpack("f", converted("float", np.longdouble(2))) == (2.0,)
    assert struct.unpack("ff", converted("float2", np.clongdouble(1 + 2j))) == (1.0, 2.0)
    assert np.isinf(struct.unpack("d", converted("double", np.longdouble("inf")))[0])


@pytest.mark.requires(cuda=(12, 4))
def test_size_of_a_packed_structure_in_a_message_is_its_own(stream):
    source = 'struct P { char c; double d; };\nextern "C" __global__ void f(P p) {}'
    kernel = Program(source, "c++").compile("cubin").get_kernel("f")
    packed = np.zeros((), np.dtype([("c", "i1"), ("d", "f8")]))
    with pytest.raises(TypeError, match="has 16 bytes, but the ndarray given has 9"):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, packed)


STRUCTURES = """
struct Pair { int a; float b; };
typedef struct { int a; float b; } Old;
typedef Pair Alias;
template <class T> struct Two { T a, b; };
enum Mode { OFF, ON = 2 };
enum class Level : short { LOW = -1 };
namespace inner { union Bits { unsigned a; float b; }; }
extern "C" __global__ void c_pair(Pair p, float* out) { *out = p.a + p.b; }
extern "C" __global__ void c_old(Old p, float* out) { *out = p.a + p.b; }
extern "C" __global__ void c_alias(Alias p, float* out) { *out = p.a + p.b; }
extern "C" __global__ void c_bits(inner::Bits p, float* out) { *out = p.a; }
extern "C" __global__ void c_mode(Mode p, float* out) { *out = p; }
extern "C" __global__ void c_level(Level p, float* out) { *out = (int)p; }
namespace inner { __global__ void pair(Pair p, float* out) { *out = p.a + p.b; } }
template <class T> __global__ void two(Two<T> p, T* out) { *out = p.a + p.b; }
__global__ void mode(Mode p, float* out) { *out = p; }
"""


@pytest.fixture
def structures(device):
    return Program(STRUCTURES, "c++").compile("cubin", name_expressions=("inner::pair", "two<float>", "mode"))


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("name", ["c_pair", "c_old", "c_alias", "c_bits", "inner::pair", "two<float>"])
@pytest.mark.parametrize("value", [5, 2.5, True, None])
def test_python_numbers_are_rejected_for_structures(structures, device, stream, name, value):
    kernel = structures.get_kernel(name)
    out = device.zeros(1, np.float32, stream=stream)
    with pytest.raises(TypeError, match=rf"parameter 1 'p' is an? .*; got {type(value).__name__}; pass bytes, numpy"):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, value, out)
    stream.sync()


@pytest.mark.parametrize("name", ["c_pair", "c_old", "c_alias", "inner::pair"])
def test_structures_are_passed_as_their_bytes(structures, device, stream, name):
    out = device.zeros(1, np.float32, stream=stream)
    value = np.array((2, 0.5), [("a", np.int32), ("b", np.float32)])[()]
    for argument in (value, value.tobytes()):
        launch(stream, LaunchConfig(grid=1, block=1), structures.get_kernel(name), argument, out)
        assert out.to_host(stream=stream).tolist() == [2.5]


@pytest.mark.parametrize(("name", "value"), [("c_mode", 2), ("c_level", -1), ("mode", 2), ("c_bits", np.uint32(7))])
def test_enums_and_numpy_scalars_are_passed_by_size(structures, device, stream, name, value):
    out = device.zeros(1, np.float32, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), structures.get_kernel(name), value, out)
    assert out.to_host(stream=stream).tolist() == [value]


@pytest.mark.requires(cuda=(12, 4))
def test_pointer_to_an_array_is_a_pointer(device, stream):
    source = """template <class T> struct S { T x; };
    extern "C" __global__ void f(const float (*p)[2], int (*q)[2]) { (*q)[1] = (*p)[1]; }
    extern "C" __global__ void g(S<void (*)(int)> s) {}"""
    code = Program(source, "c++").compile("cubin")
    kernel, config = code.get_kernel("f"), LaunchConfig(grid=1, block=1)
    assert kernel.dtype(0) == np.dtype("u8")
    given = device.to_device(np.array([2.5, 3.5], np.float32), stream=stream)
    out = device.zeros(2, np.int32, stream=stream)
    launch(stream, config, kernel, given, out)
    assert out.to_host(stream=stream).tolist() == [0, 3]
    with pytest.raises(TypeError, match="parameter 2 .*is an int .*; got float"):
        launch(stream, config, kernel, given, 2.5)
    with pytest.raises(TypeError, match="got float; pass bytes"):
        launch(stream, config, code.get_kernel("g"), 2.5)
