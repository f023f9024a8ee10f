# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# tools: kernels memoized by context, the best block by occupancy, pools, and types registered for kernels.
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda import tools
from pycuda.compiler import SourceModule

builds = []


@tools.context_dependent_memoize
def get_axpy(dtype, block):
    builds.append(block)
    ctype = tools.dtype_to_ctype(dtype)
    mod = SourceModule("""
    #define BLOCK %(block)d
    __global__ void axpy(%(type)s a, const %(type)s *x, %(type)s *y, int n)
    {
        for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) y[i] += a * x[i];
    }
    """ % {"block": block, "type": ctype})
    f = mod.get_function("axpy")
    f.prepare([np.dtype(dtype).type, np.intp, np.intp, np.int32])
    return f


device = cuda.Context.get_device()
data = tools.DeviceData(device)
best = max((tools.OccupancyRecord(data, block, shared_mem=512, registers=24).occupancy, block) for block in range(32, 513, 32))
block = best[1]
print("occupancy", best[0], "with blocks of", block, "limited by",
      tools.OccupancyRecord(data, block, shared_mem=512, registers=24).limited_by)
assert 0 < best[0] <= 1
pool = tools.DeviceMemoryPool()
for dtype in (np.float32, np.float64, np.float32):
    x = gpuarray.arange(0, 1000, 1, dtype=dtype)
    y = gpuarray.zeros(1000, dtype, allocator=pool.allocate)
    f = get_axpy(np.dtype(dtype), block)
    f.prepared_call((4, 1), (block, 1, 1), 2, x.gpudata, y.gpudata, 1000)
    seconds = f.prepared_timed_call((4, 1), (block, 1, 1), 1, x.gpudata, y.gpudata, 1000)()
    assert seconds >= 0 and (y.get() == 3 * np.arange(1000)).all()
assert builds == [block, block]
held = pool.held_blocks
del y
assert pool.held_blocks == held + 1 and pool.active_blocks == 0
pool.free_held()
assert pool.held_blocks == 0
host_pool = tools.PageLockedMemoryPool()
a = host_pool.allocate((10, 10), np.float32)
a.fill(2)
assert a.flags.c_contiguous and a.sum() == 200 and host_pool.active_blocks == 1
try:
    tools.OccupancyRecord(data, 10**6)
except ValueError as error:
    print("refused:", error)
else:
    raise AssertionError("too many threads")
try:
    cuda.mem_alloc(10**15)
except cuda.MemoryError as error:
    print("refused:", error)
tools.clear_context_caches()
