# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Let one stream wait for two others."""

import numpy as np

from cuda.core import Device, utils

set_value, add = utils.kernel("""
__global__ void set_value(int* x, int value) { *x = value; }
__global__ void add(const int* x, const int* y, int* z) { *z = *x + *y; }""", ["set_value", "add"])  # fmt: skip
with Device() as device:
    first, second, last = [device.create_stream() for _ in range(3)]
    x, y, z = [device.zeros(1, np.int32, stream=stream) for stream in (first, second, last)]
    set_value[1, 1, 0, first](x, 40)
    set_value[1, 1, 0, second](y, 2)
    last.wait(first)
    last.wait(second)
    with last.use():
        add[1, 1](x, y, z)
        assert z.tolist() == [42]
print("several streams: verified")
