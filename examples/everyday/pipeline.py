# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Process batches in two streams, so that copies and kernels overlap."""

import numpy as np

from cuda.core import Device, utils

square = utils.kernel("""
__global__ void square(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}""", "square")  # fmt: skip
with Device() as device:
    streams = [device.create_stream() for _ in range(2)]
    batches = device.empty((8, 1024), np.float32, pinned=True)
    np.asarray(batches)[...] = np.arange(8 * 1024).reshape(8, 1024) / 1024
    for batch, stream in zip(batches, streams * 4, strict=True):
        x = device.to_device(batch, stream=stream)
        square(x, 1024, grid=4, block=256, stream=stream)
        x.copy_to(batch, stream, blocking=False)
    device.sync()
    assert np.allclose(np.asarray(batches).ravel(), (np.arange(8 * 1024) / 1024) ** 2)
print("pipeline: verified")
