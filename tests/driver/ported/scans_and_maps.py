# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

# running sum and running maximum
seq = np.array([1, 2, 3, 4], dtype=np.int32)
seq_gpu = gpuarray.to_gpu(seq)
sum_gpu = InclusiveScanKernel(np.int32, "a+b")
print(sum_gpu(seq_gpu).get())
assert (seq_gpu.get() == np.cumsum(seq)).all()

seq = np.array([1, 100, -3, -10000, 4, 10000, 66, 14, 21], dtype=np.int32)
seq_gpu = gpuarray.to_gpu(seq)
max_gpu = InclusiveScanKernel(np.int32, "a > b ? a : b")
assert max_gpu(seq_gpu).get()[-1] == np.max(seq)

# the places of those that pass a test, by an exclusive scan of the flags
values = np.random.randint(0, 100, size=5000).astype(np.int32)
values_gpu = gpuarray.to_gpu(values)
flags = gpuarray.empty_like(values_gpu)
flag = ElementwiseKernel("int *v, int *f, int bound", "f[i] = v[i] < bound", "flag")
flag(values_gpu, flags, 30)
places = flags.copy()
ExclusiveScanKernel(np.int32, "a+b", neutral=0)(places)
count = int(gpuarray.sum(flags).get())
picked = gpuarray.empty(count, dtype=np.int32)
compact = ElementwiseKernel("int *v, int *f, int *p, int *out", "if (f[i]) out[p[i]] = v[i]", "compact")
compact(values_gpu, flags, places, picked)
assert (picked.get() == values[values < 30]).all()

# dot product and the largest distance
dot_prod = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")
far = ReductionKernel(np.float32, neutral="0", reduce_expr="fmaxf(a, b)", map_expr="fabsf(x[i]-y[i])", arguments="float *x, float *y")
x = np.random.rand(10000).astype(np.float32)
y = np.random.rand(10000).astype(np.float32)
x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
assert np.allclose(dot_prod(x_gpu, y_gpu).get(), x.dot(y), rtol=1e-4)
assert np.allclose(far(x_gpu, y_gpu).get(), abs(x - y).max())
assert np.allclose(gpuarray.dot(x_gpu, y_gpu).get(), x.dot(y), rtol=1e-4)
print("ok")
