# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Let another process double numbers in the memory of this one."""

import multiprocessing

import numpy as np

from cuda.core import Device, DeviceMemoryResource, utils


def double(buffer):
    with Device():
        twice = utils.kernel("__global__ void twice(int* x) { x[threadIdx.x] *= 2; }", "twice")
        twice(buffer.view(dtype=np.int32), grid=1, block=8)
        Device().sync()


if __name__ == "__main__":
    with Device() as device:
        stream = device.create_stream()
        buffer = DeviceMemoryResource(device, {"ipc_enabled": True}).allocate(32, stream=stream)
        x = buffer.view(dtype=np.int32)
        x.copy_from(np.arange(8, dtype=np.int32), stream)
        process = multiprocessing.get_context("spawn").Process(target=double, args=(buffer,))
        process.start()
        process.join()
        assert x.to_host(stream=stream).tolist() == list(range(0, 16, 2))
    print("ipc: verified")
