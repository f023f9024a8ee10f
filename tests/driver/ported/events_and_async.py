# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Double buffering: page-locked and mapped memory, events between streams, asynchronous arrays, the async form of fills.
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

mod = SourceModule("""
__global__ void step(float *v, float add, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) v[i] += add; }
""")
step = mod.get_function("step")
n = 4096
upload, compute, download = cuda.Stream(), cuda.Stream(), cuda.Stream()
host_in = [cuda.pagelocked_empty(n, np.float32) for _ in range(2)]
host_out = [cuda.pagelocked_zeros((n,), dtype=np.float32) for _ in range(2)]
device = [cuda.mem_alloc(4 * n) for _ in range(2)]
uploaded = [cuda.Event() for _ in range(2)]
computed = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(2)]
downloaded = [cuda.Event() for _ in range(2)]
for k in range(6):
    slot = k % 2
    if k >= 2:
        downloaded[slot].synchronize()
        assert (host_out[slot] == (k - 2) + 0.5).all()
    host_in[slot][:] = k
    cuda.memcpy_htod_async(device[slot], host_in[slot], upload)
    uploaded[slot].record(upload)
    compute.wait_for_event(uploaded[slot])
    step(device[slot], np.float32(0.5), np.int32(n), block=(256, 1, 1), grid=(n // 256, 1), stream=compute)
    computed[slot].record(compute)
    download.wait_for_event(computed[slot])
    cuda.memcpy_dtoh_async(host_out[slot], device[slot], download)
    downloaded[slot].record(download)
cuda.Context.synchronize()
assert (host_out[0] == 4.5).all() and (host_out[1] == 5.5).all()

a = cuda.pagelocked_empty((50, 20), np.float32)
a[:] = np.random.RandomState(1).rand(50, 20)
stream = cuda.Stream()
g = gpuarray.to_gpu_async(a, stream=stream)
result = g.get_async(stream=stream)
stream.synchronize()
assert (result == a).all() and result.shape == a.shape
g.set_async(a * 0 + 3, stream=stream)
stream.synchronize()
assert (g.get() == 3).all()

raw = cuda.mem_alloc(1024)
cuda.memset_d32_async(raw, 0x01020304, 256, stream)
cuda.memset_d8_async(raw, 9, 4, stream)
back = cuda.pagelocked_empty(256, np.uint32)
cuda.memcpy_dtoh_async(back, raw, stream)
stream.synchronize()
assert back[0] == 0x09090909 and (back[1:] == 0x01020304).all()

mapped = cuda.pagelocked_zeros(256, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
pointer = np.intp(mapped.base.get_device_pointer())
step(pointer, np.float32(2), np.int32(256), block=(256, 1, 1))
cuda.Context.synchronize()
assert (mapped == 2).all()
managed = cuda.managed_zeros(shape=100, dtype=np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
step(managed, np.float32(4), np.int32(100), block=(128, 1, 1))
cuda.Context.synchronize()
assert (managed == 4).all()
start, end = cuda.Event(), cuda.Event()
start.record(); end.record(); end.synchronize()
assert end.time_since(start) >= 0 and start.time_till(end) >= 0
try:
    cuda.Event().time_till(end)
except cuda.Error as error:
    print("as expected:", type(error).__name__)
free, total = cuda.mem_get_info()
assert 0 < free <= total
