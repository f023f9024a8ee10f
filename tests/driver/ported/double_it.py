# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Double all entries of a 4x4 matrix, in three ways.
import pycuda.driver as cuda
import pycuda.autoinit
from pycuda.compiler import SourceModule

import numpy

a = numpy.random.randn(4, 4)
a = a.astype(numpy.float32)

a_gpu = cuda.mem_alloc(a.size * a.dtype.itemsize)
cuda.memcpy_htod(a_gpu, a)

mod = SourceModule("""
  __global__ void doublify(float *a)
  {
    int idx = threadIdx.x + threadIdx.y*4;
    a[idx] *= 2;
  }
  """)

func = mod.get_function("doublify")
func(a_gpu, block=(4, 4, 1))

a_doubled = numpy.empty_like(a)
cuda.memcpy_dtoh(a_doubled, a_gpu)
print(a_doubled)
print(a)
assert numpy.allclose(a_doubled, 2 * a)

# the memory is given to the kernel by the library
b = a.copy()
func(cuda.InOut(b), block=(4, 4, 1), grid=(1, 1))
assert (b == a_doubled).all()

# the same as an array
import pycuda.gpuarray as gpuarray

a_gpu = gpuarray.to_gpu(a)
a_doubled = (2 * a_gpu).get()
assert (b == a_doubled).all()
free, total = cuda.mem_get_info()
print("%.1f of %.1f MB are free" % (free / 1e6, total / 1e6))
