# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernels with user code."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.tools import VectorArg

pytestmark = pytest.mark.usefixtures("context")


def test_arguments_become_allocations_addresses_and_numbers():
    kernel = ElementwiseKernel("int k, float *x, double d, complex64 z", "x[i] = k + d + z.real()")
    x = gpuarray.zeros(3, "f4")
    kernel(2.9, x, 1, 3)
    assert x.get().tolist() == [6] * 3
    kernel(2, x[1:], 1, 4 + 1j)
    assert x.get().tolist() == [6, 7, 7]


def test_arguments_of_custom_classes_are_passed_unchanged():
    class Custom:
        name, struct_char, dtype = "custom", "i", np.dtype("i4")

        def declarator(self):
            return "int custom"

    x = gpuarray.zeros(1, "f4")
    ElementwiseKernel([Custom(), VectorArg(np.float32, "x")], "x[i] = custom")(np.int32(5), x)
    assert x.get().tolist() == [5]


def test_numbers_out_of_range_raise_overflow_error():
    with pytest.raises(OverflowError):
        ElementwiseKernel("char k, float *x", "x[i] = k")(300, gpuarray.zeros(1, "f4"))


def test_names_must_be_c_identifiers():
    assert ElementwiseKernel("float *x", "x[i] = 0", "good_1").name == "good_1"
    for name in ("", "1x", "a b", "ä"):
        with pytest.raises(ValueError, match="must be a C identifier"):
            ElementwiseKernel("float *x", "x[i] = 0", name)


@pytest.mark.parametrize(
    ("arguments", "operation", "header"),
    [
        ("float *x, pycuda::complex<float> z", "x[i] = 0", "pycuda-complex"),
        ("complex64 *x", "x[i] = 0", "pycuda-complex"),
        ("float *x", "int half = n / 2; x[i] = half", None),
    ],
)
def test_headers_are_included_where_code_or_types_need_them(arguments, operation, header):
    source = ElementwiseKernel(arguments, operation).packed_source()
    assert header in source if header else "include" not in source
