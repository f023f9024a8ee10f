# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Change a constant of a kernel between launches."""

import numpy as np

from cuda.core import Device, utils

weigh = utils.kernel("""
__constant__ float weights[3];
__global__ void weigh(float* x) { x[threadIdx.x] *= weights[threadIdx.x % 3]; }""", "weigh")  # fmt: skip
x = Device().to_device(np.ones(6, np.float32))
weigh.get_global("weights").copy_from(np.array([1, 10, 100], np.float32), stream=Device().default_stream)
weigh(x, grid=1, block=6)
assert x.tolist() == [1, 10, 100] * 2
print("constants: verified")
