# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# One thread for each job, each with a context of its own that it makes, uses and pops; and a class that shares one context.
import threading
from queue import Queue
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

drv.init()
SOURCE = """
__global__ void scale(float *a, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= f;
}
"""


class GPUThread(threading.Thread):
    def __init__(self, number, array, results):
        threading.Thread.__init__(self)
        self.number, self.array, self.results = number, array, results

    def run(self):
        self.dev = drv.Device(self.number % drv.Device.count())
        self.ctx = self.dev.make_context()
        try:
            self.array_gpu = drv.mem_alloc(self.array.nbytes)
            drv.memcpy_htod(self.array_gpu, self.array)
            f = SourceModule(SOURCE).get_function("scale")
            f(self.array_gpu, np.float32(self.number), np.int32(self.array.size), block=(64, 1, 1), grid=(2, 1))
            out = np.empty_like(self.array)
            drv.memcpy_dtoh(out, self.array_gpu)
            self.results.put((self.number, out))
            del self.array_gpu, f
        finally:
            self.ctx.pop()
            self.ctx.detach()
            del self.ctx


some_array = np.ones(100, np.float32)
results = Queue()
threads = [GPUThread(i, some_array, results) for i in range(1, 5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
got = dict(results.get() for _ in threads)
assert sorted(got) == [1, 2, 3, 4] and all((got[i] == i).all() for i in got)


class Worker:
    """A context made in the main thread, pushed in those that use it."""

    def __init__(self):
        self.ctx = drv.Device(0).make_context()
        self.mod = SourceModule(SOURCE)
        self.func = self.mod.get_function("scale")
        self.lock = threading.Lock()
        drv.Context.pop()

    def process(self, array, factor):
        with self.lock:
            self.ctx.push()
            try:
                buffer = drv.to_device(array)
                self.func(buffer, np.float32(factor), np.int32(array.size), block=(128, 1, 1))
                result = drv.from_device_like(buffer, array)
                buffer.free()
                return result
            finally:
                self.ctx.pop()

    def close(self):
        self.ctx.push()
        del self.func, self.mod
        self.ctx.pop()
        self.ctx.detach()


worker = Worker()
outputs = {}


def job(k):
    outputs[k] = worker.process(np.full(100, k, np.float32), 10)


jobs = [threading.Thread(target=job, args=(k,)) for k in range(6)]
for j in jobs:
    j.start()
for j in jobs:
    j.join()
assert all((outputs[k] == 10 * k).all() for k in range(6))
worker.close()
print("workers done")
