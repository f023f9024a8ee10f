# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The package and functions of the CUDA runtime work on the same device, streams and memory."""

import numpy as np
from cuda.bindings import runtime

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = 'extern "C" __global__ void triple(int* value) { value[threadIdx.x] *= 3; }'
LATER, TO_DEVICE, TO_HOST = runtime.cudaStreamNonBlocking, *(runtime.cudaMemcpyKind(kind) for kind in (1, 2))


def get(result):
    assert result[0] == runtime.cudaError_t.cudaSuccess, result[0]
    return result[1] if len(result) == 2 else None


device = Device()
device.set_current()
assert get(runtime.cudaGetDevice()) == device.device_id
assert get(runtime.cudaDeviceGetPCIBusId(13, device.device_id)).rstrip(b"\0").decode() in device.pci_bus_id
kernel = Program(SOURCE, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("triple")

stream = device.create_stream(get(runtime.cudaStreamCreateWithFlags(LATER)))
values, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
memory = get(runtime.cudaMallocAsync(values.nbytes, int(stream.handle)))
get(runtime.cudaMemcpyAsync(memory, values.ctypes.data, values.nbytes, TO_DEVICE, int(stream.handle)))
launch(stream, LaunchConfig(grid=1, block=64), kernel, int(memory))
get(runtime.cudaMemcpyAsync(out.ctypes.data, memory, out.nbytes, TO_HOST, int(stream.handle)))
device.sync()
assert (out == 3 * values).all()

assert runtime.cudaSetDevice(99)[0] == runtime.cudaError_t.cudaErrorInvalidDevice
assert get(runtime.cudaGetErrorName(runtime.cudaGetLastError()[0])) == b"cudaErrorInvalidDevice"
print("checks: 5")
