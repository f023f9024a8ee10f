# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Tables and counters at file scope, filled and read by get_global.
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

mod = SourceModule("""
#include <stdint.h>
__constant__ float coefficients[8];
__device__ unsigned int histogram[256];
__device__ double total;
struct settings { int offset; float scale; };
__device__ settings current = { 1, 2.0f };

extern "C" __global__ void evaluate(const uint8_t *data, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = (data[i] + current.offset) * current.scale, value = 0;
    for (int k = 7; k >= 0; k--) value = value * x + coefficients[k];
    out[i] = value;
    atomicAdd(&histogram[data[i]], 1);
    if (i == 0) total = n;
}
""", no_extern_c=True)
evaluate = mod.get_function("evaluate")

table, size = mod.get_global("coefficients")
assert size == 32
coefficients = np.array([1, 0.5, -0.25, 0.125, 0, 0, 0, 0], np.float32)
cuda.memcpy_htod(table, coefficients)

counters, size = mod.get_global("histogram")
cuda.memset_d32(counters, 0, size // 4)
settings, size = mod.get_global("current")
assert size == 8
cuda.memcpy_htod(int(settings) + 4, np.float32(0.01))

rng = np.random.RandomState(5)
data = rng.randint(0, 256, 3000).astype(np.uint8)
out = np.empty(3000, np.float32)
evaluate(cuda.In(data), cuda.Out(out), np.int32(data.size), block=(128, 1, 1), grid=(24, 1))
x = (data + 1.0) * 0.01
assert np.allclose(out, np.polyval(coefficients[::-1], x), rtol=1e-4)

counted = np.empty(256, np.uint32)
cuda.memcpy_dtoh(counted, counters)
assert (counted == np.bincount(data, minlength=256)).all()
total = np.zeros(1)
cuda.memcpy_dtoh(total, mod.get_global("total")[0])
assert total[0] == 3000
try:
    mod.get_global("missing")
except cuda.LogicError as error:
    print("as expected:", error)
else:
    raise AssertionError("a global that is not there was found")
