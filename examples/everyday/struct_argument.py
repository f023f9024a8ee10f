# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pass a structure by value."""

import numpy as np

from cuda.core import Device, utils

LINE = np.dtype([("slope", np.float64), ("count", np.int16), ("start", np.float32)], align=True)
evaluate = utils.kernel("""
struct Line { double slope; short count; float start; };
__global__ void evaluate(Line line, double* y) {
    if (threadIdx.x < line.count) y[threadIdx.x] = line.start + line.slope * threadIdx.x;
}""", "evaluate")  # fmt: skip
y = Device().zeros(8, np.float64)
evaluate(np.array((0.5, 5, 2), LINE), y, grid=1, block=8)
assert y.to_host().tolist() == [2, 2.5, 3, 3.5, 4, 0, 0, 0]
print("struct argument: verified")
