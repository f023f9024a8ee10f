# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A transpose with shared memory, prepared and timed, and memory from a pool.
import atexit

import numpy
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
import pycuda.tools
from pycuda.compiler import SourceModule

drv.init()
context = pycuda.tools.make_default_context()
atexit.register(context.pop)

block_size = 16


@pycuda.tools.context_dependent_memoize
def _get_transpose_kernel():
    mod = SourceModule("""
    #define BLOCK_SIZE %(block_size)d
    #define A_BLOCK_STRIDE (BLOCK_SIZE * a_width)
    #define A_T_BLOCK_STRIDE (BLOCK_SIZE * a_height)

    __global__ void transpose(float *A_t, float *A, int a_width, int a_height)
    {
        // Base indices in A and A_t
        int base_idx_a   = blockIdx.x * BLOCK_SIZE + blockIdx.y * A_BLOCK_STRIDE;
        int base_idx_a_t = blockIdx.y * BLOCK_SIZE + blockIdx.x * A_T_BLOCK_STRIDE;
        // Global indices in A and A_t
        int glob_idx_a   = base_idx_a + threadIdx.x + a_width * threadIdx.y;
        int glob_idx_a_t = base_idx_a_t + threadIdx.x + a_height * threadIdx.y;

        __shared__ float A_shared[BLOCK_SIZE][BLOCK_SIZE+1];
        A_shared[threadIdx.y][threadIdx.x] = A[glob_idx_a];
        __syncthreads();
        A_t[glob_idx_a_t] = A_shared[threadIdx.x][threadIdx.y];
    }
    """ % {"block_size": block_size})
    func = mod.get_function("transpose")
    func.prepare("PPii")
    print("registers: %d, local: %d, shared: %d" % (func.num_regs, func.local_size_bytes, func.shared_size_bytes))
    return func


def _transpose(tgt, src):
    krnl = _get_transpose_kernel()
    w, h = src.shape
    assert tgt.shape == (h, w)
    assert w % block_size == 0 and h % block_size == 0
    return krnl.prepared_timed_call((w // block_size, h // block_size), (block_size, block_size, 1), tgt.gpudata, src.gpudata, w, h)


pool = pycuda.tools.DeviceMemoryPool()
for size in (64, 128):
    source = numpy.random.rand(size, size).astype(numpy.float32)
    source_gpu = gpuarray.to_gpu(source, allocator=pool.allocate)
    result = gpuarray.empty((size, size), dtype=source.dtype, allocator=pool.allocate)
    seconds = _transpose(result, source_gpu)()
    mem_bw = source_gpu.nbytes / seconds * 2
    print("size %d: %g GB/s, the pool has %d bytes" % (size, mem_bw / 1e9, pool.managed_bytes))
    assert (result.get() == source.T).all()
    del source_gpu, result
assert pool.active_blocks == 0 and pool.held_blocks > 0
pool.stop_holding()
