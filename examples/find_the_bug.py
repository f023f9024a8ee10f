# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Find two mistakes in a kernel: one that the compiler reports, and one that `printf` shows."""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, NVRTCError, Program, launch

SOURCE = r"""
extern "C" __global__ void mean(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = max(i - 1, 0), right = min(i + 1, n - 1);
    y[i] = (x[left] + x[i] + x[last]) / 3;
    if (i == WATCHED) printf("thread %d reads %d, %d and %d\n", i, left, i, right);
}
"""
N = 100

device = Device()
device.set_current()
stream = device.create_stream()
try:
    Program(SOURCE, "c++", {"define_macro": [("WATCHED", "99")]}).compile("cubin")
except NVRTCError as error:
    print(f"line {error.diagnostics[0].line}: {error.diagnostics[0].message}")
mended = SOURCE.replace("last", "right")
mean = Program(mended, "c++", {"define_macro": [("WATCHED", "99")]}).compile("cubin").get_kernel("mean")
buffers = [LegacyPinnedMemoryResource().allocate(4 * N) for _ in range(2)]
x, y = [np.asarray(buffer).view(np.float32) for buffer in buffers]
x[:] = np.arange(N)
sys.stdout.flush()  # the device prints beside Python
launch(stream, LaunchConfig(grid=1, block=128), mean, *buffers, N)
stream.sync()  # prints

padded = np.pad(x, 1, mode="edge")
if not np.allclose(y, (padded[:-2] + x + padded[2:]) / 3):
    raise SystemExit("the means are wrong")
print("verified: the last thread reads no element after the end, and the means are NumPy's")
