# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Each thread has a device and a context of its own.
import threading

import numpy
import pycuda
import pycuda.driver as cuda
from pycuda.compiler import SourceModule


class GPUThread(threading.Thread):
    def __init__(self, number, some_array):
        threading.Thread.__init__(self)
        self.number = number
        self.some_array = some_array
        self.output_array = None

    def run(self):
        self.dev = cuda.Device(self.number)
        self.ctx = self.dev.make_context()

        self.array_gpu = cuda.mem_alloc(self.some_array.nbytes)
        cuda.memcpy_htod(self.array_gpu, self.some_array)

        self.output_array = test_kernel(self.array_gpu, self.some_array)
        print("successful exit from thread %d" % self.number)
        self.ctx.pop()

        del self.array_gpu
        del self.ctx


def test_kernel(input_array_gpu, some_array):
    mod = SourceModule("""
    __global__ void f(float * out, float * in)
    {
        int idx = threadIdx.x;
        out[idx] = in[idx] + 6;
    }
    """)
    func = mod.get_function("f")

    output_array = numpy.zeros((1, 512), dtype=numpy.float32)
    output_array_gpu = cuda.mem_alloc(output_array.nbytes)

    func(output_array_gpu, input_array_gpu, block=(512, 1, 1))
    cuda.memcpy_dtoh(output_array, output_array_gpu)
    return output_array


cuda.init()
some_array = numpy.ones((1, 512), dtype=numpy.float32)
num = cuda.Device.count()

gpu_thread_list = []
for i in range(num):
    for _ in range(2):
        gpu_thread = GPUThread(i, some_array)
        gpu_thread.start()
        gpu_thread_list.append(gpu_thread)
for gpu_thread in gpu_thread_list:
    gpu_thread.join()
    assert (gpu_thread.output_array == 7).all()

# a context that is made in one thread and used in another
ctx = cuda.Device(0).make_context()
ctx.pop()
result = []


def work():
    ctx.push()
    try:
        data = cuda.to_device(numpy.arange(5, dtype=numpy.float32))
        result.append(cuda.from_device(data, (5,), numpy.float32))
        data.free()
    finally:
        cuda.Context.pop()


t = threading.Thread(target=work)
t.start()
t.join()
assert result[0].tolist() == [0, 1, 2, 3, 4]
ctx.detach()
