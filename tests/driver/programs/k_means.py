# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""k-means clustering: a kernel assigns points, another one sums them up."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
#include <float.h>

__global__ void assign(const float2 *points, const float2 *centers, int *labels, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = FLT_MAX;
    int label = 0;
    for (int c = 0; c < k; ++c) {
        float dx = points[i].x - centers[c].x, dy = points[i].y - centers[c].y;
        float d = dx * dx + dy * dy;
        if (d < best) { best = d; label = c; }
    }
    labels[i] = label;
}

__global__ void accumulate(const float2 *points, const int *labels, float2 *sums, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = labels[i];
    atomicAdd(&sums[c].x, points[i].x);
    atomicAdd(&sums[c].y, points[i].y);
    atomicAdd(&counts[c], 1);
}
""")
assign, accumulate = mod.get_function("assign"), mod.get_function("accumulate")

rng = np.random.RandomState(1)
true_centers = np.array([[0, 0], [6, 0], [0, 6], [6, 6]], dtype=np.float32)
n, k = 600, 4
points = (true_centers[np.arange(n) % k] + rng.randn(n, 2) * 0.5).astype(np.float32)

points_gpu = gpuarray.to_gpu(points)
centers_gpu = gpuarray.to_gpu(points[:k])
labels_gpu = gpuarray.empty(n, np.int32)
sums_gpu = gpuarray.zeros((k, 2), np.float32)
counts_gpu = gpuarray.zeros(k, np.int32)
block, grid = (128, 1, 1), ((n + 127) // 128, 1)

for _ in range(10):
    assign(points_gpu, centers_gpu, labels_gpu, np.int32(n), np.int32(k), block=block, grid=grid)
    sums_gpu.fill(0)
    counts_gpu.fill(0)
    accumulate(points_gpu, labels_gpu, sums_gpu, counts_gpu, np.int32(n), block=block, grid=grid)
    centers = sums_gpu.get() / counts_gpu.get()[:, np.newaxis]
    centers_gpu.set(centers.astype(np.float32))

found = np.array(sorted(centers_gpu.get().round().tolist()))
assert (found == np.array(sorted(true_centers.tolist()))).all(), found
labels = labels_gpu.get()
assert all(len(set(labels[c::k])) == 1 for c in range(k))
print("k-means OK")
