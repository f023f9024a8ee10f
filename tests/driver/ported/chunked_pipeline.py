# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A large array in chunks through page-locked memory and two streams, so that copies and kernels overlap.
import numpy
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray, to_gpu_async

mod = SourceModule("""
__global__ void polynomial(const double *x, double *y, const int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = ((2 * x[i] - 3) * x[i] + 5) * x[i] - 7;
}
""", options=["-O2"])
polynomial = mod.get_function("polynomial")
polynomial.prepare("PPi")

chunks, size = 6, 5000
x = numpy.linspace(-2, 2, chunks * size)
y = numpy.empty_like(x)

streams = [cuda.Stream() for _ in range(2)]
inputs = [cuda.pagelocked_empty(size, numpy.float64) for _ in streams]
outputs = [cuda.pagelocked_empty(size, numpy.float64, mem_flags=cuda.host_alloc_flags.PORTABLE) for _ in streams]
d_in = [cuda.mem_alloc(inputs[0].nbytes) for _ in streams]
d_out = [cuda.mem_alloc(outputs[0].nbytes) for _ in streams]
done = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in streams]
pending = [None, None]

for k in range(chunks + 2):
    lane = k % 2
    if pending[lane] is not None:
        done[lane].synchronize()
        y[pending[lane]] = outputs[lane]
        pending[lane] = None
    if k < chunks:
        part = slice(k * size, (k + 1) * size)
        inputs[lane][:] = x[part]
        cuda.memcpy_htod_async(d_in[lane], inputs[lane], streams[lane])
        polynomial.prepared_async_call((4, 1), (128, 1, 1), streams[lane], d_in[lane], d_out[lane], size)
        cuda.memcpy_dtoh_async(outputs[lane], d_out[lane], streams[lane])
        done[lane].record(streams[lane])
        pending[lane] = part

assert numpy.allclose(y, 2 * x**3 - 3 * x**2 + 5 * x - 7)

# The same with arrays of the device.
first = to_gpu_async(x, stream=streams[0])
second = GPUArray(x.shape, x.dtype)
polynomial(first, second, numpy.int32(x.size), block=(128, 1, 1), grid=(16, 1), stream=streams[0])
back = second.get_async(stream=streams[0])
streams[0].synchronize()
assert numpy.allclose(back, y)
for memory in d_in + d_out:
    memory.free()
