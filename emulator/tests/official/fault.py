# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An access out of range fails as on a GPU, and is reported with its line; other threads are unharmed."""

import subprocess
import sys

PROGRAM = '''
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void fill(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = 1;
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(SOURCE, "c++", options=options).compile("cubin").get_kernel("fill")
out = device.allocate(4 * 100, stream=stream)
launch(stream, LaunchConfig(grid=1, block=128), kernel, out, 100)
try:
    stream.sync()
except Exception as error:
    print(type(error).__name__, error)
'''
done = subprocess.run([sys.executable, "-m", "cuda.emulator", "-c", PROGRAM], capture_output=True, text=True)
output = done.stdout + done.stderr
assert "CUDAError CUDA_ERROR_ILLEGAL_ADDRESS" in done.stdout, output
assert "kernel fill: illegal address: store of 4 bytes" in done.stderr, output
assert "just past the end of the 400 bytes of device memory" in done.stderr, output
assert ":5 in fill" in done.stderr, output
print("checks: 4")
