# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Buffers as programs for inference keep them: page-locked on the host, a raw address for the engine.
import ctypes

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule


class HostDeviceMem(object):
    def __init__(self, host_mem, device_mem):
        self.host = host_mem
        self.device = device_mem

    def __str__(self):
        return "Host:\n" + str(self.host) + "\nDevice:\n" + str(self.device)

    def __repr__(self):
        return self.__str__()


class Engine:
    """Takes addresses and the handle of a stream, as an engine does."""

    def __init__(self):
        self.module = SourceModule("""
        __global__ void relu(const float *in, float *out, int n)
        {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = fmaxf(in[i], 0.f);
        }""")
        self.relu = self.module.get_function("relu")

    def get_binding_shape(self, name):
        return (1, 3, 8, 8)

    def execute_async_v2(self, bindings, stream_handle):
        assert isinstance(stream_handle, int) and all(isinstance(b, int) for b in bindings)
        n = 192
        self.relu.prepare("PPi")
        self.relu.prepared_async_call(((n + 63) // 64, 1), (64, 1, 1), stream, bindings[0], bindings[1], n)


def allocate_buffers(engine):
    inputs, outputs, bindings = [], [], []
    stream = cuda.Stream()
    for name in ("input", "output"):
        size = int(np.prod(engine.get_binding_shape(name)))
        host_mem = cuda.pagelocked_empty(size, np.float32)
        device_mem = cuda.mem_alloc(host_mem.nbytes)
        bindings.append(int(device_mem))
        (inputs if name == "input" else outputs).append(HostDeviceMem(host_mem, device_mem))
    return inputs, outputs, bindings, stream


def do_inference(context, bindings, inputs, outputs, stream):
    [cuda.memcpy_htod_async(inp.device, inp.host, stream) for inp in inputs]
    context.execute_async_v2(bindings=bindings, stream_handle=stream.handle)
    [cuda.memcpy_dtoh_async(out.host, out.device, stream) for out in outputs]
    stream.synchronize()
    return [out.host for out in outputs]


engine = Engine()
inputs, outputs, bindings, stream = allocate_buffers(engine)
image = np.random.randn(1, 3, 8, 8).astype(np.float32)
for _ in range(3):
    np.copyto(inputs[0].host, image.ravel())
    (result,) = do_inference(engine, bindings, inputs, outputs, stream)
    assert (result.reshape(image.shape) == np.maximum(image, 0)).all()
    image = image - 0.1
print("the largest is", result.max(), "at", hex(ctypes.c_void_p(bindings[1]).value))
