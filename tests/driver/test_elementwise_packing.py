# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""User code compiled for packs of 16 bytes, and code that needs the elements one by one."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel, packing_of
from cuda.core.driver.tools import get_or_register_dtype, parse_c_arg


def packing(arguments, operation, preamble="", loop_prep="", after_loop=""):
    return packing_of(
        [parse_c_arg(argument) for argument in arguments.split(",")], operation, preamble, loop_prep, after_loop
    )


def names_of(found):
    return found and ([item.name for item in found.loads], [item.name for item in found.stores])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("z[i] = a * x[i] + y[i]", (["x", "y"], ["z"])),
        ("z [ i ]=x[i]", (["x"], ["z"])),
        ("z[i] = x[i] > 0 && y[i] != 2 ? x[i] : 0", (["x", "y"], ["z"])),
        ("x[i] *= 2; z[i] = x[i]", (["x"], ["x", "z"])),
        ("x[i] <<= 2", (["x"], ["x"])),
        ("++x[i]; y[i]--", (["x", "y"], ["x", "y"])),
        ("z[i] = y[i] = x[i]", (["x"], ["y", "z"])),
        ("float t = x[i] == 1; { z[i] = t; }", (["x"], ["z"])),
        ("z[i] = f(x[i]) // y[i + 1] is not read\n", (["x"], ["z"])),
        ("z[i] = 3; y[i] = z[i]", (["z"], ["y", "z"])),
        ("y[i] = int(x[i]) & int(y[i]) | int(z[i])", (["x", "y", "z"], ["y"])),
        ("z[i] = i + n", ([], ["z"])),
    ],
)
def test_code_that_uses_only_its_own_element_is_packed(operation, expected):
    assert names_of(packing("float a, float *x, float *y, float *z", operation)) == expected


@pytest.mark.parametrize(
    "operation",
    [
        "z[i] = x[i - 1]",
        "z[i] = x[(int)y[i]]",
        "z[i] = *x",
        "z[n - i - 1] = x[i]",
        "if (x[i] > 0) z[i] = 1",
        "x[i] > 0 && (z[i] = 1)",
        "x[i] > 0 ? z[i] = 1 : 0",
        "a = 1 == z[i]",
        "atomicAdd(&z[i], x[i])",
        "float *p = &z[i]; *p = 3; x[i] = 1",
        "z[i] = 1 && &x[i]",
        "for (int k = 0; k < 3; ++k) z[i] = k",
        "if (i > 3) return; z[i] = 1",
        "z[i] = threadIdx.x",
        "z[i] = tid",
        "z[i] = 1; i += 2",
        "z[i] = 1; ++i",
        "int i = 3; z[i] = 2",
        "s.z[i] = 1",
        "z[i].re = x[i]",
        "z[i][0] = 1",
        'printf("%d", i); z[i] = 1',
        "\n#define Q 1\nz[i] = Q",
    ],
)
def test_code_that_needs_elements_one_by_one_is_not_packed(operation):
    assert packing("float a, float *x, float *y, float *z", operation) is None


def test_packing_depends_on_preamble_loop_code_and_types():
    arguments, text = "float *x, float *y", "y[i] = x[i]"
    assert packing(arguments, text, preamble="#define X x[i]") is None
    assert packing(arguments, text, preamble="__device__ float f(float x) { return x; }") is not None
    assert packing(arguments, text, loop_prep="float first = x[0]") is None
    assert packing(arguments, text, loop_prep="float sum = 0") is not None
    assert packing(arguments, text, after_loop="i = 0") is None
    assert packing("pycuda::complex<double> *z", "z[i] = 1") is None
    assert [packing(f"{kind} *x", "x[i] = 1").width for kind in ("char", "short", "int", "double")] == [16, 8, 4, 2]
    mixed = packing("char *x, double *y", "y[i] = x[i]")
    assert (mixed.width, mixed.mask) == (2, 15)
    get_or_register_dtype("packing_pair", np.dtype([("a", "i4"), ("b", "i4")]))
    assert packing("packing_pair *x", "x[i] = x[i]") is None


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1023, 1024, 4099])
def test_packed_kernels_compute_all_elements(context, size):
    kernel = ElementwiseKernel("float a, float *x, double *y, char *z", "z[i] = i % 7; y[i] += a * x[i] + z[i]")
    host = np.arange(size, dtype="f4")
    x, y, z = gpuarray.to_gpu(host), gpuarray.to_gpu(host.astype("f8")), gpuarray.zeros(size, "i1")
    kernel(2, x, y, z)
    assert (z.get() == np.arange(size) % 7).all()
    assert (y.get() == 3 * host + np.arange(size) % 7).all()
    assert [key[1] for key in kernel._kernels] == (["packed"] if size > 1 else [False])


def test_arrays_that_share_memory_are_processed_one_by_one(context):
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = 1; z[i] += x[i]")
    x = gpuarray.to_gpu(np.arange(8, dtype="f4"))
    kernel(x, x)
    assert x.get().tolist() == [2.0] * 8
    assert [key[1] for key in kernel._kernels] == [False]
    reads = ElementwiseKernel("float *x, float *y, float *z", "z[i] = x[i] + y[i]")
    z = gpuarray.zeros(8, "f4")
    reads(x, x, z)
    assert z.get().tolist() == [4.0] * 8 and [key[1] for key in reads._kernels] == ["packed"]


def test_arrays_at_unaligned_addresses_are_processed_one_by_one(context):
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = 2 * x[i]")
    x, z = gpuarray.to_gpu(np.arange(9, dtype="f4")), gpuarray.zeros(8, "f4")
    kernel(x[1:], z)
    assert z.get().tolist() == [2.0 * k for k in range(1, 9)]
    assert [key[1] for key in kernel._kernels] == [False]


def test_code_that_writes_through_a_reference_is_not_packed(context):
    kernel = ElementwiseKernel("float *x, float *z", "float &r = x[i]; r = 3; z[i] = 1")
    x, z = gpuarray.zeros(8, "f4"), gpuarray.zeros(8, "f4")
    for _ in range(2):
        kernel(x, z)
    assert x.get().tolist() == [3.0] * 8
    assert [(key[1], found is None) for key, found in kernel._kernels.items()] == [("packed", True), (False, False)]


def test_large_sizes_use_a_packed_kernel_with_64_bit_index():
    kernel = ElementwiseKernel("float *x", "x[i] = 1")
    assert "const unsigned long i" in kernel.packed_source(True)
    assert "const unsigned int i" in kernel.packed_source()
