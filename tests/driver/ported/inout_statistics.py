# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# In, Out and InOut: the quick way to try a kernel on arrays of the host, on streams too.
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

mod = SourceModule("""
__global__ void normalize(float *data, const float *weights, float *moments, int rows, int cols)
{
    int c = threadIdx.x + blockIdx.x * blockDim.x;
    if (c >= cols) return;
    float total = 0, squares = 0, weight = 0;
    for (int r = 0; r < rows; r++)
    {
        float x = data[r * cols + c];
        total += weights[r] * x; squares += weights[r] * x * x; weight += weights[r];
    }
    float mean = total / weight, deviation = sqrt(squares / weight - mean * mean);
    for (int r = 0; r < rows; r++)
        data[r * cols + c] = (data[r * cols + c] - mean) / deviation;
    moments[c] = mean; moments[cols + c] = deviation;
}
""")
normalize = mod.get_function("normalize")

rng = np.random.RandomState(0)
table = rng.rand(50, 20).astype(np.float32)
weights = rng.rand(50).astype(np.float32)
mean = np.average(table, axis=0, weights=weights)
deviation = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))
expected = (table - mean) / deviation

data = table.copy()
moments = np.zeros((2, 20), np.float32)
normalize(drv.InOut(data), drv.In(weights), drv.Out(moments), np.int32(50), np.int32(20),
          block=(32, 1, 1), grid=(1, 1))
assert np.allclose(data, expected, atol=1e-3)
assert np.allclose(moments[0], mean, atol=1e-5) and np.allclose(moments[1], deviation, atol=1e-3)

stream = drv.Stream()
data = table.copy()
normalize(drv.InOut(data), drv.In(weights), drv.Out(moments), np.int32(50), np.int32(20),
          block=(8, 1, 1), grid=(3, 1), stream=stream)
stream.synchronize()
assert np.allclose(data, expected, atol=1e-3)

seconds = normalize(drv.InOut(data), drv.In(weights), drv.Out(moments), np.int32(50), np.int32(20),
                    block=(32, 1, 1), time_kernel=True)
print("kernel took %.6f seconds" % seconds)
assert seconds > 0 and np.allclose(moments[0], 0, atol=1e-3) and np.allclose(moments[1], 1, atol=1e-2)
