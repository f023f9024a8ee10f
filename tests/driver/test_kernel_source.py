# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What generated sources share."""

import numpy as np
import pytest

from cuda.core.driver import _kernel_source as source


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("?", "bool"),
        ("i8", "long long"),
        ("f2", "cuda_core::half"),
        ("c8", "pycuda::complex<float>"),
        ("V12", "cuda_core::record<unsigned int, 3>"),
        ("V7", "cuda_core::record<unsigned char, 7>"),
        ("V16", "cuda_core::record<unsigned long long, 2>"),
    ],
)
def test_elements_in_memory_have_a_type_in_c(dtype, name):
    assert source.storage_name(np.dtype(dtype)) == name


def test_halves_are_computed_as_floats():
    assert source.compute_dtype(np.dtype("f2")) == np.float32
    assert source.compute_dtype(np.dtype("i2")) == np.int16
    assert source.COMPUTE_TYPES[np.dtype("f2")] == "float"


def test_definitions_come_where_they_are_needed():
    assert "struct half" in source.prelude(np.dtype("f2")) and "complex" not in source.prelude(np.dtype("f2"))
    assert source.prelude(np.dtype("c8")).startswith(source.COMPLEX_HEADER)
    assert "half" not in source.prelude(np.dtype("f4"))
