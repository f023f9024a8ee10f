# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Blur an image with a 3 by 3 box."""

import numpy as np

from cuda.core import Device, utils

blur = utils.kernel("""
__global__ void blur(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= w - 1 || y >= h - 1) return;
    int sum = 0;
    for (int v = y - 1; v <= y + 1; ++v) for (int u = x - 1; u <= x + 1; ++u) sum += in[v * w + u];
    out[y * w + x] = sum / 9;
}""", "blur")  # fmt: skip
image = np.random.default_rng(1).integers(0, 256, (48, 64), np.uint8)
source, out = Device().to_device(image), Device().zeros(image.shape, image.dtype)
blur(source, out, 64, 48, grid=(utils.cdiv(64, 16), utils.cdiv(48, 16)), block=(16, 16))
boxes = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).sum((2, 3)) // 9
assert np.array_equal(out[1:-1, 1:-1].to_host(), boxes)
print("blur: verified")
