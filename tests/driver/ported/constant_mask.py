# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A convolution with its mask in constant memory, pitched rows, and copies of rectangles.
import numpy as np
import pycuda.driver as cuda
from pycuda.autoinit import context, device
from pycuda.compiler import SourceModule

RADIUS = 2
template = """
#include <stdio.h>
#define RADIUS {radius}
__device__ __constant__ float mask[2 * RADIUS + 1];
__device__ unsigned int calls;

__global__ void rows(float *dest, const float *src, int width, int height, size_t pitch)
{{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 && y == 0) atomicAdd(&calls, 1);
    if (x >= width || y >= height) return;
    const float *row = (const float *)((const char *)src + y * pitch);
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; ++k)
    {{
        const int at = min(max(x + k, 0), width - 1);
        sum += row[at] * mask[k + RADIUS];
    }}
    ((float *)((char *)dest + y * pitch))[x] = sum;
}}
"""
mod = SourceModule(template.format(radius=RADIUS))
rows = mod.get_function("rows")
mask = np.array([1, 4, 6, 4, 1], np.float32) / 16
mask_ptr, mask_size = mod.get_global("mask")
assert mask_size == mask.nbytes
cuda.memcpy_htod(mask_ptr, mask)
calls_ptr, calls_size = mod.get_global("calls")
cuda.memset_d32(calls_ptr, 0, 1)

image = np.random.rand(37, 53).astype(np.float32)
height, width = image.shape
src, pitch = cuda.mem_alloc_pitch(width * 4, height, 4)
dest, _ = cuda.mem_alloc_pitch(width * 4, height, 4)

copy = cuda.Memcpy2D()
copy.set_src_host(image)
copy.src_pitch = image.strides[0]
copy.set_dst_device(src)
copy.dst_pitch = pitch
copy.width_in_bytes = width * 4
copy.height = height
copy(aligned=False)

block = (16, 16, 1)
grid = (int(np.ceil(width / 16)), int(np.ceil(height / 16)))
rows(dest, src, np.int32(width), np.int32(height), np.uintp(pitch), block=block, grid=grid)
context.synchronize()

result = np.empty_like(image)
copy = cuda.Memcpy2D()
copy.set_src_device(dest)
copy.src_pitch = pitch
copy.set_dst_host(result)
copy.dst_pitch = result.strides[0]
copy.width_in_bytes = width * 4
copy.height = height
copy(aligned=True)

padded = np.pad(image, ((0, 0), (RADIUS, RADIUS)), "edge")
expected = sum(padded[:, k : k + width] * mask[k] for k in range(2 * RADIUS + 1))
assert np.allclose(result, expected, atol=1e-6)
calls = np.zeros(1, np.uint32)
cuda.memcpy_dtoh(calls, calls_ptr)
assert calls[0] == 1
print(device.name(), "ok")
