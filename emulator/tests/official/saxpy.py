# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A kernel is compiled, launched on arrays, and linked from two parts."""

from importlib import metadata

import numpy as np

from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

assert metadata.version("cuda-core") == "1.2.2"
SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned long long n) {
    unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
CALLER = """
extern "C" __device__ int next(int);
extern "C" __global__ void twice(int* out) { out[threadIdx.x] = next(next(threadIdx.x)); }
"""
CALLEE = """
extern "C" __device__ int next(int value) { return value + 1; }
"""
device = Device()
device.set_current()
assert device.name == "CUDA software device (cuda.emulator)", device.name
stream = device.create_stream()
arch = f"sm_{device.arch}"

count = 10_000
memory = LegacyPinnedMemoryResource()
buffers = [memory.allocate(4 * count) for _ in range(2)]
x, y = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
x[:], y[:] = np.arange(count), 1
kernel = Program(SAXPY, "c++", options=ProgramOptions(arch=arch)).compile("cubin").get_kernel("saxpy")
config = LaunchConfig(grid=(count + 255) // 256, block=256)
launch(stream, config, kernel, np.float32(2), *buffers, np.uint64(count))
stream.sync()
assert (y == 2 * np.arange(count) + 1).all()

options = ProgramOptions(arch=arch, relocatable_device_code=True)
parts = [Program(source, "c++", options=options).compile("ptx") for source in (CALLER, CALLEE)]
kernel = Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin").get_kernel("twice")
launch(stream, LaunchConfig(grid=1, block=64), kernel, buffers[0])
stream.sync()
assert (x.view(np.int32)[:64] == np.arange(2, 66)).all()
print("checks: 4")
