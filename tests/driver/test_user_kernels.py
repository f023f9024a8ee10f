# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernels with user code."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver._user_kernels import Parameters, checked_name, user_prelude
from cuda.core.driver.tools import VectorArg

pytestmark = pytest.mark.usefixtures("context")


def test_arguments_become_allocations_addresses_and_numbers():
    parameters = Parameters("int k, float *x, double d, complex64 z")
    x = gpuarray.zeros(3, "f4")
    arrays, values = parameters.convert("f", (2.9, x, 1, 3))
    assert len(arrays) == 1 and arrays[0] is x
    assert values == [2, x.gpudata, 1.0, 3 + 0j]
    kinds = [np.int32, drv.DeviceAllocation, np.float64, np.complex64]
    assert all(isinstance(value, kind) for value, kind in zip(values, kinds, strict=True))
    assert parameters.convert("f", (2, x[1:], 1, 3))[1][1] == x.ptr + 4
    assert parameters.first == 1 and parameters.declarators[1] == "float *x"


def test_arguments_of_custom_classes_are_passed_unchanged():
    class Custom:
        name, struct_char = "custom", "i"

        def declarator(self):
            return "int custom"

    parameters = Parameters([Custom(), VectorArg(np.float32, "x")])
    assert parameters.convert("f", (5, gpuarray.zeros(1, "f4")))[1][0] == 5


def test_numbers_out_of_range_raise_overflow_error():
    parameters = Parameters("char k, float *x")
    with pytest.raises(OverflowError):
        parameters.convert("f", (300, gpuarray.zeros(1, "f4")))


def test_names_must_be_c_identifiers():
    assert checked_name("good_1") == "good_1"
    for name in ("", "1x", "a b", "ä"):
        with pytest.raises(ValueError, match="must be a C identifier"):
            checked_name(name)


def test_headers_are_included_where_code_or_types_need_them():
    assert "pycuda-complex" in user_prelude(["pycuda::complex<float> z"], [])
    assert "pycuda-complex" in user_prelude([], [np.dtype("c8")])
    assert "cuda_fp16" in user_prelude([], [np.dtype("f2")])
    assert "include" not in user_prelude(["x[i] = 0", "int half = n / 2"], [np.dtype("f4")])
