# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Test a kernel with pytest: ``pytest test_scale.py``."""

import numpy as np
import pytest

from cuda.core import Device, utils

scale = utils.kernel("template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }", "scale<double>")


@pytest.mark.parametrize("by", [0, 1, -2.5])
def test_scale_multiplies(by):
    x = Device().to_device(np.arange(8.0))
    scale(x, by, grid=1, block=8)
    assert x.to_host().tolist() == (np.arange(8.0) * by).tolist()
