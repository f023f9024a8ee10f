# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time a kernel: one launch, and many in a table."""

import numpy as np

from cuda.core import Device, utils

square = utils.kernel("""
__global__ void square(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= x[i];
}""", "square")  # fmt: skip
with Device() as device:
    stream = device.create_stream()
    x = device.to_device(np.full(100_000, 2, np.float32), stream=stream)
    with stream.timed() as timer:
        square["resident", 256, 0, stream](x, x.size)
    assert timer.ms > 0 and set(x.to_host(stream=stream)) == {4}
    print(utils.benchmark(lambda: square["resident", 256, 0, stream](x, x.size), stream=stream))
print("timing: verified")
