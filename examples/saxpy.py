# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile a kernel from CUDA C++, run it on a million numbers, and verify the result.

The kernel computes ``out = a * x + y``. The program shows every step: a device, a stream, a kernel
compiled at run time, host and device memory, copies and a launch.
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t count)
{
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        out[i] = a * x[i] + y[i];
}
"""
COUNT = 1_000_000


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()

    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
    kernel = program.compile("cubin").get_kernel("saxpy")

    # Copies of page-locked host memory are asynchronous. NumPy views the memory through DLPack.
    pinned = LegacyPinnedMemoryResource()
    host_x, host_y, host_out = [pinned.allocate(COUNT * 4) for _ in range(3)]
    x, y, out = [np.from_dlpack(buffer).view(np.float32) for buffer in (host_x, host_y, host_out)]
    rng = np.random.default_rng(seed=1)
    x[:] = rng.random(COUNT, dtype=np.float32)
    y[:] = rng.random(COUNT, dtype=np.float32)

    device_x, device_y, device_out = [device.allocate(COUNT * 4, stream=stream) for _ in range(3)]
    device_x.copy_from(host_x, stream=stream)
    device_y.copy_from(host_y, stream=stream)
    a = np.float32(2.5)
    config = LaunchConfig(grid=(COUNT + 255) // 256, block=256)
    launch(stream, config, kernel, a, device_x, device_y, device_out, np.uint64(COUNT))
    device_out.copy_to(host_out, stream=stream)
    stream.sync()

    # The GPU rounds once, after multiplying and adding, but NumPy rounds twice.
    error = float(np.max(np.abs(out - (a * x + y))))
    if error > 1e-6:
        print(f"saxpy is wrong by up to {error:.3g}", file=sys.stderr)
        return 1
    print(f"saxpy of {COUNT:,} numbers on {device.name}: verified, largest difference to NumPy {error:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
