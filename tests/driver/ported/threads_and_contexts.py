# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# One worker per device: each makes a context in its thread, works there, and pops it, as solvers for several GPUs did.
import queue
import threading

import numpy
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

cuda.init()
results = queue.Queue()


class Worker(threading.Thread):
    def __init__(self, number, data):
        threading.Thread.__init__(self)
        self.number, self.data, self.error = number, data, None

    def run(self):
        try:
            self.context = cuda.Device(self.number % cuda.Device.count()).make_context()
            try:
                self.work()
            finally:
                self.context.pop()
                self.context.detach()
        except Exception as error:
            self.error = error

    def work(self):
        mod = SourceModule("""
        __global__ void square(float *a, int n)
        {
            const int i = threadIdx.x + blockIdx.x * blockDim.x;
            if (i < n) a[i] = a[i] * a[i];
        }
        """)
        array = gpuarray.to_gpu(self.data)
        mod.get_function("square")(array, numpy.int32(array.size), block=(64, 1, 1), grid=(8, 1))
        total = gpuarray.sum(array).get()
        stream, event = cuda.Stream(), cuda.Event()
        back = array.get_async(stream=stream)
        event.record(stream).synchronize()
        stream.synchronize()
        assert (back == self.data**2).all() and event.query()
        results.put((self.number, float(total)))


data = [numpy.arange(k, k + 300).astype(numpy.float32) for k in range(4)]
workers = [Worker(k, data[k]) for k in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
    if worker.error is not None:
        raise worker.error
found = dict(results.get() for _ in workers)
for k in range(4):
    assert numpy.isclose(found[k], (data[k].astype(float) ** 2).sum(), rtol=1e-5)
