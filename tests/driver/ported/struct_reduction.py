# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Reductions to structs: minimum and maximum with their places; and sums in a wider type.
import numpy as np
import pycuda.autoinit
import pycuda.gpuarray as gpuarray
from pycuda.reduction import ReductionKernel
from pycuda.tools import dtype_to_ctype, get_or_register_dtype

best_dtype = np.dtype([("value", np.float32), ("place", np.int32)])
best_dtype = get_or_register_dtype("best_of", best_dtype)
assert dtype_to_ctype(best_dtype) == "best_of"
preamble = r"""
struct best_of
{
    float value;
    int place;
    __device__ best_of() {}
    __device__ best_of(float v, int p) : value(v), place(p) {}
    __device__ best_of(best_of const &src) : value(src.value), place(src.place) {}
    __device__ best_of(best_of const volatile &src) : value(src.value), place(src.place) {}
    __device__ best_of volatile &operator=(best_of const &src) volatile
    {
        value = src.value;
        place = src.place;
        return *this;
    }
};
__device__ best_of agg(best_of a, best_of b) { return a.value >= b.value ? a : b; }
"""
argmax = ReductionKernel(best_dtype, neutral="best_of(-1e30f, -1)", reduce_expr="agg(a, b)",
                         map_expr="best_of(x[i], i)", arguments="float *x", preamble=preamble)
x = np.random.RandomState(2).rand(20000).astype(np.float32)
x[12345] = 5
found = argmax(gpuarray.to_gpu(x)).get()
print("largest", found["value"], "at", found["place"])
assert found["value"] == 5 and found["place"] == 12345

total = ReductionKernel(np.float64, neutral="0", reduce_expr="a+b", map_expr="(double) x[i]", arguments="const float *x")
assert np.isclose(total(gpuarray.to_gpu(x)).get(), x.astype(np.float64).sum())
count = ReductionKernel(np.int32, neutral="0", reduce_expr="a+b", map_expr="x[i] > limit ? 1 : 0",
                        arguments="const float *x, float limit")
assert count(gpuarray.to_gpu(x), 0.5).get() == (x > 0.5).sum()
norm = ReductionKernel(np.float32, neutral="0", reduce_expr="fmaxf(a, b)", map_expr="fabsf(x[i] - y[i])",
                       arguments="float *x, float *y")
assert np.isclose(norm(gpuarray.to_gpu(x), gpuarray.to_gpu(x[::-1].copy())).get(), abs(x - x[::-1]).max())
krnl = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")
out = gpuarray.empty((), np.float32)
krnl(gpuarray.to_gpu(x), gpuarray.to_gpu(x), out=out)
assert np.isclose(out.get(), x.dot(x), rtol=1e-4)
