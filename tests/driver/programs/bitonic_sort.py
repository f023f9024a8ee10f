# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Bitonic sort with a launch for each step."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver import compiler

source = """
__global__ void bitonic_step(float *values, int j, int k)
{
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
    unsigned int partner = i ^ j;
    if (partner > i) {
        bool ascending = (i & k) == 0;
        if ((values[i] > values[partner]) == ascending) {
            float t = values[i]; values[i] = values[partner]; values[partner] = t;
        }
    }
}
"""
cubin = compiler.compile(source)
module = cuda.module_from_buffer(cubin)
step = module.get_function("bitonic_step")
step.prepare("Pii")

n = 1024
values = np.random.rand(n).astype(np.float32)
values_gpu = cuda.mem_alloc(values.nbytes)
cuda.memcpy_htod(values_gpu, values)
k = 2
while k <= n:
    j = k >> 1
    while j > 0:
        step.prepared_call((n // 256, 1), (256, 1, 1), values_gpu, j, k)
        j >>= 1
    k <<= 1
result = np.empty_like(values)
cuda.memcpy_dtoh(result, values_gpu)
assert (result == np.sort(values)).all()
print("bitonic sort OK")
