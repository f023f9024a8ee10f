# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Types of elementwise functions. test_array_operators.py compares the results of all with NumPy."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray

pytestmark = pytest.mark.usefixtures("context")


def test_result_types_match_numpy():
    single = gpuarray.zeros(3, "f4")
    assert (single + 1.0).dtype == np.float32
    assert (gpuarray.zeros(3, "i4") + single).dtype == np.float64
    with pytest.raises(TypeError):
        single + gpuarray.zeros(3, "V4")


def test_expressions_are_chosen_by_the_kind_of_the_type():
    yes, no = gpuarray.to_gpu(np.array([True])), gpuarray.to_gpu(np.array([False]))
    assert (yes + yes).get().tolist() == [True] and (no + no).get().tolist() == [False]
    with pytest.raises(TypeError, match="bitwise_and.* not supported"):
        gpuarray.zeros(3, "f4") & gpuarray.zeros(3, "f4")
