# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A default context made by hand, pools, memoized kernels, and everything freed at the end.
import atexit

import numpy as np
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
import pycuda.tools as tools
from pycuda.compiler import SourceModule

cuda.init()
context = tools.make_default_context()
device = context.get_device()
atexit.register(context.pop)

compiled = []


@tools.context_dependent_memoize
def get_kernel(ctype, factor):
    compiled.append((ctype, factor))
    source = """
    __global__ void f(%(ctype)s *x, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] *= %(factor)d;
    }
    """ % {"ctype": ctype, "factor": factor}
    return SourceModule(source).get_function("f")


pool = tools.DeviceMemoryPool()
host_pool = tools.PageLockedMemoryPool()
for repeat in range(3):
    for dtype in (np.float32, np.int32):
        staging = host_pool.allocate((100,), dtype)
        staging[:] = np.arange(100)
        array = gpuarray.to_gpu(staging, allocator=pool.allocate)
        kernel = get_kernel(tools.dtype_to_ctype(dtype), repeat + 1)
        kernel(array, np.int32(100), block=(32, 1, 1), grid=(4, 1))
        assert (array.get() == np.arange(100) * (repeat + 1)).all()
        doubled = array + array
        assert (doubled.get() == 2 * np.arange(100) * (repeat + 1)).all()
assert len(compiled) == 6 and get_kernel("int", 1) is get_kernel("int", 1) and len(compiled) == 6
assert pool.active_blocks <= 2 and pool.held_blocks > 0
del array, doubled, staging
pool.free_held()
assert pool.active_blocks == 0 and pool.held_blocks == 0
pool.stop_holding()
host_pool.stop_holding()

free, total = cuda.mem_get_info()
assert 0 < free <= total == device.total_memory()
data = tools.DeviceData(device)
record = tools.OccupancyRecord(data, 128, shared_mem=1024, registers=32)
assert 0 < record.occupancy <= 1 and record.tb_per_mp >= 1
tools.clear_context_caches()
get_kernel("int", 1)
assert len(compiled) == 7
