# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Let one stream wait for two others."""

import numpy as np

from cuda.core import Device, utils

set_value = utils.kernel("__global__ void set_value(int* x, int value) { *x = value; }", "set_value")
add = utils.kernel("__global__ void add(const int* x, const int* y, int* z) { *z = *x + *y; }", "add")
with Device() as device:
    streams = [device.create_stream() for _ in range(3)]
    x, y, z = [device.zeros(1, np.int32, stream=stream) for stream in streams]
    set_value(x, 40, grid=1, block=1, stream=streams[0])
    set_value(y, 2, grid=1, block=1, stream=streams[1])
    for stream in streams[:2]:
        streams[2].wait(stream)
    add(x, y, z, grid=1, block=1, stream=streams[2])
    assert z.to_host(stream=streams[2])[0] == 42
print("several streams: verified")
