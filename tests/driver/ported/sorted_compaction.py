# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Keeps what meets a condition: flags, a scan for the places, and a kernel that writes; and a running maximum.
import numpy as np
import pycuda.autoinit
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

n = 20000
rng = np.random.RandomState(11)
values = rng.randint(-1000, 1000, n).astype(np.int32)
d_values = gpuarray.to_gpu(values)

flags = gpuarray.empty(n, np.int32)
ElementwiseKernel("int *v, int *f", "f[i] = v[i] % 7 == 0", "mark")(d_values, flags)
places = flags.copy()
ExclusiveScanKernel(np.int32, "a+b", 0)(places)
kept = int(places[-1].get() + flags[-1].get())
assert kept == (values % 7 == 0).sum()

mod = SourceModule("""
__global__ void scatter(const int *v, const int *flags, const int *places, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (flags[i]) out[places[i]] = v[i];
}
""")
out = gpuarray.zeros(kept, np.int32)
mod.get_function("scatter")(d_values, flags, places, out, np.int32(n), block=out._block, grid=out._grid)
assert (out.get() == values[values % 7 == 0]).all()

largest = InclusiveScanKernel(np.int32, "a > b ? a : b")(d_values.copy())
assert (largest.get() == np.maximum.accumulate(values)).all()

clipped = gpuarray.if_positive(d_values, d_values, gpuarray.zeros_like(d_values))
assert (clipped.get() == np.maximum(values, 0)).all()
assert gpuarray.subset_max(places[:1], d_values).get() == values[0]
