# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A histogram with atomics in shared memory, of characters."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
#include <stdio.h>
__global__ void histogram(const unsigned char *text, unsigned int *bins, long n)
{
    __shared__ unsigned int mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[text[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
    if (n < 0) printf("cannot be\\n");
}
""")
function = mod.get_function("histogram")
assert function.shared_size_bytes >= 1024 and function.num_regs > 0

text = bytes(np.random.randint(32, 127, 20000).astype(np.uint8))
text_gpu = cuda.to_device(text)
bins_gpu = cuda.mem_alloc(256 * 4)
cuda.memset_d32(bins_gpu, 0, 256)
multiprocessors = cuda.Context.get_device().get_attributes()[cuda.device_attribute.MULTIPROCESSOR_COUNT]
function(text_gpu, bins_gpu, np.int64(len(text)), block=(128, 1, 1), grid=(min(multiprocessors, 8), 1))
bins = cuda.from_device(bins_gpu, (256,), np.uint32)
assert (bins == np.bincount(np.frombuffer(text, np.uint8), minlength=256)).all()
print("histogram OK")
