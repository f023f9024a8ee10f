# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Copy, compute, copy back: four streams with page-locked memory, timed by events (after a chapter on concurrency).
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

N_STREAMS, SIZE = 4, 1 << 14
mod = SourceModule("""
__global__ void mult_ker(float *array, int array_len)
{
    int thd = blockIdx.x*blockDim.x + threadIdx.x;
    int num_iters = array_len / blockDim.x;
    for (int j = 0; j < num_iters; j++) {
        int i = j * blockDim.x + thd;
        for (int k = 0; k < 10; k++) { array[i] *= 2.0; array[i] /= 2.0; }
    }
}
""")
mult_ker = mod.get_function("mult_ker")
mult_ker.prepare("Pi")

data = []
data_dev = []
data_out = []
streams = []
start_events = []
end_events = []
for _ in range(N_STREAMS):
    streams.append(cuda.Stream())
    start_events.append(cuda.Event())
    end_events.append(cuda.Event())
    page = cuda.pagelocked_empty(SIZE, np.float32)
    page[:] = np.random.randn(SIZE)
    data.append(page)
    data_dev.append(cuda.mem_alloc(page.nbytes))
    data_out.append(cuda.pagelocked_empty_like(page))

t_start = cuda.Event()
t_end = cuda.Event()
t_start.record()
for k in range(N_STREAMS):
    cuda.memcpy_htod_async(data_dev[k], data[k], stream=streams[k])
for k in range(N_STREAMS):
    start_events[k].record(streams[k])
    mult_ker.prepared_async_call((1, 1), (64, 1, 1), streams[k], data_dev[k], np.int32(SIZE))
for k in range(N_STREAMS):
    end_events[k].record(streams[k])
for k in range(N_STREAMS):
    cuda.memcpy_dtoh_async(data_out[k], data_dev[k], streams[k])
t_end.record()
t_end.synchronize()
for k in range(N_STREAMS):
    streams[k].synchronize()
    assert np.allclose(data_out[k], data[k])
    assert end_events[k].query()
    assert start_events[k].time_till(end_events[k]) >= 0
    assert streams[k].is_done()
print("Total time: %f" % t_start.time_till(t_end))
