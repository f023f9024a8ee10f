# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Separable convolution with the filter in constant memory."""

import numpy

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

RADIUS = 4
WIDTH, HEIGHT = 96, 64

source = (
    """
#include <stdio.h>
#define RADIUS %d
__device__ __constant__ float d_Kernel[2 * RADIUS + 1];

__global__ void rows(float *out, const float *in, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (x + k >= 0 && x + k < w) sum += in[y * w + x + k] * d_Kernel[RADIUS - k];
    out[y * w + x] = sum;
}

__global__ void columns(float *out, const float *in, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (y + k >= 0 && y + k < h) sum += in[(y + k) * w + x] * d_Kernel[RADIUS - k];
    out[y * w + x] = sum;
}
"""
    % RADIUS
)

module = SourceModule(source, options=["-O3", "--use_fast_math"])
rows, columns = module.get_function("rows"), module.get_function("columns")
d_Kernel, size = module.get_global("d_Kernel")

weights = numpy.exp(-(numpy.linspace(-2, 2, 2 * RADIUS + 1) ** 2)).astype(numpy.float32)
weights /= weights.sum()
assert size == weights.nbytes
cuda.memcpy_htod(d_Kernel, weights)

image = numpy.random.rand(HEIGHT, WIDTH).astype(numpy.float32)
source_gpu = cuda.to_device(image)
middle_gpu = cuda.mem_alloc(image.nbytes)
result_gpu = cuda.mem_alloc_like(image)

block = (16, 8, 1)
grid = ((WIDTH + 15) // 16, (HEIGHT + 7) // 8)
for function in (rows, columns):
    function.prepare("PPii")
rows.prepared_call(grid, block, middle_gpu, source_gpu, WIDTH, HEIGHT)
columns.prepared_call(grid, block, result_gpu, middle_gpu, WIDTH, HEIGHT)
result = cuda.from_device_like(result_gpu, image)

reference = image.astype(numpy.float64)
reference = numpy.apply_along_axis(lambda line: numpy.convolve(line, weights, "same"), 1, reference)
reference = numpy.apply_along_axis(lambda line: numpy.convolve(line, weights, "same"), 0, reference)
assert numpy.abs(result - reference).max() < 1e-4
print("convolution OK")
