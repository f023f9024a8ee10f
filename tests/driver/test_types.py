# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""C names of types, and parameters of kernels."""

import numpy as np
import pytest

from cuda.core.driver import _types as types
from cuda.core.driver.gpuarray import vec
from cuda.core.driver.tools import ScalarArg, VectorArg


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.bool_, "bool"),
        (np.int8, "signed char"),
        (np.uint16, "unsigned short"),
        (np.int32, "int"),
        (np.int64, "long"),
        (np.uint64, "unsigned long"),
        (np.float32, "float"),
        ("f8", "double"),
        (np.float16, "__half"),
        (np.complex64, "pycuda::complex<float>"),
        (complex, "pycuda::complex<double>"),
        (vec.float4, "float4"),
    ],
)
def test_types_have_names_in_c(dtype, name):
    assert types.dtype_to_ctype(dtype) == name
    assert types.dtype_of_name(name) == np.dtype(dtype)


def test_texture_types_have_their_own_names():
    assert types.dtype_to_ctype(np.float64, with_fp_tex_hack=True) == "fp_tex_double"
    assert types.dtype_to_ctype(np.complex64, with_fp_tex_hack=True) == "fp_tex_cfloat"
    assert types.dtype_to_ctype(np.float32, with_fp_tex_hack=True) == "float"


@pytest.mark.parametrize("dtype", [None, "S3", [("q", "f4"), ("r", "i2")], object])
def test_type_without_a_name_is_rejected(dtype):
    with pytest.raises(ValueError, match="has no C name|must be a data type"):
        types.dtype_to_ctype(dtype)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float *x", VectorArg(np.float32, "x")),
        ("const float* __restrict__ x", VectorArg(np.float32, "x")),
        ("double x[]", VectorArg(np.float64, "x")),
        ("volatile int x[16]", VectorArg(np.int32, "x")),
        ("unsigned n", ScalarArg(np.uint32, "n")),
        ("long unsigned int n", ScalarArg(np.uint64, "n")),
        ("unsigned long long n", ScalarArg(np.uint64, "n")),
        ("long long int n", ScalarArg(np.int64, "n")),
        ("short int n", ScalarArg(np.int16, "n")),
        ("size_t n", ScalarArg(np.uint64, "n")),
        ("char c", ScalarArg(np.int8, "c")),
        ("uint8_t *p", VectorArg(np.uint8, "p")),
        ("uchar *p", VectorArg(np.uint8, "p")),
        ("pycuda::complex<double> *z", VectorArg(np.complex128, "z")),
        ("pycuda::complex< float > z", ScalarArg(np.complex64, "z")),
        ("float3 *v", VectorArg(vec.float3, "v")),
        ("__half *h", VectorArg(np.float16, "h")),
        ("bool flag", ScalarArg(np.bool_, "flag")),
    ],
)
def test_declarations_are_parsed(text, expected):
    assert types.parse_c_arg(text) == expected


@pytest.mark.parametrize("text", ["", "x", "float **x", "struct unknown *x", "float x, float y", "12 x", "float *"])
def test_invalid_declarations_are_rejected(text):
    with pytest.raises(ValueError, match=r"parameter|pointer to a pointer|unknown type"):
        types.parse_c_arg(text)


def test_format_characters_match_prepare():
    assert types.get_arg_type("float *x") == "P"
    assert types.get_arg_type("double a") == "d"
    assert types.get_arg_type("float2 a") == vec.float2
    assert ScalarArg(np.int64, "n").declarator() == "long n"
    assert VectorArg(np.float32, "x").declarator() == "float *x"
    assert repr(VectorArg(np.float32, "x")) == "VectorArg('float', 'x')"
    assert VectorArg(np.float32, "x") != ScalarArg(np.float32, "x")
    assert len({VectorArg(np.float32, "x"), VectorArg("f4", "x")}) == 1


def test_parameter_lists_are_strings_or_objects():
    items = types.parse_argument_list("float a, pycuda::complex<float> *z,int n")
    assert [item.name for item in items] == ["a", "z", "n"]
    assert types.parse_argument_list([items[0], "double *d"]) == [items[0], VectorArg(np.float64, "d")]
    assert types.parse_argument_list("") == []
    with pytest.raises(ValueError, match="declared 2 times"):
        types.parse_argument_list("float a, int a")
    with pytest.raises(TypeError, match="VectorArg and ScalarArg"):
        types.parse_argument_list([3])


def test_structures_are_registered_under_names():
    dtype = np.dtype([("registered", "f4"), ("here", "i4")])
    assert types.get_or_register_dtype("registered_here", dtype) == dtype
    assert types.get_or_register_dtype(["registered_here", "another_name"], dtype) == dtype
    assert types.get_or_register_dtype("another_name") == dtype
    assert types.dtype_to_ctype(dtype) == "registered_here"
    assert types.parse_c_arg("registered_here *p") == VectorArg(dtype, "p")
    with pytest.raises(RuntimeError, match="already registered for"):
        types.get_or_register_dtype("registered_here", np.dtype([("other", "f4")]))


def test_unknown_name_is_rejected():
    with pytest.raises(ValueError, match="unknown type"):
        types.get_or_register_dtype("never_registered")
    with pytest.raises(types.TypeNameNotKnown):
        types.get_or_register_dtype("never_registered")
    with pytest.raises(ValueError, match="at least one name"):
        types.get_or_register_dtype([])


def test_older_registration_accepts_each_name_once():
    dtype = np.dtype([("older", "f8")])
    types.register_dtype(dtype, "older_name")
    with pytest.raises(RuntimeError, match="already"):
        types.register_dtype(dtype, "older_name")


def test_vector_types_have_fields_and_makers():
    value = vec.make_float3(1, 2)
    assert value.dtype == vec.float3 and value.shape == ()
    assert value.tolist() == (1.0, 2.0, 0.0)
    assert vec.double2.itemsize == 16 and vec.ulong4.itemsize == 32
    assert vec.uchar4.names == ("x", "y", "z", "w")
    assert not hasattr(vec, "double4")
    assert "vector types" in repr(vec)
    with pytest.raises(TypeError, match="at most 2"):
        vec.make_int2(1, 2, 3)
