# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Split one computation among all devices of this machine, even if there is only one.

Each device gets a slice of the numbers, its own stream and its own copy of the kernel. All work is
enqueued before the first wait, so the devices run concurrently.
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void square(const double* in, double* out, size_t count)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] * in[i];
}
"""
COUNT = 1_000_003


class Share:
    """One device's share: its stream, its memory and its slice of the numbers."""

    def __init__(self, device, numbers):
        self.device = device
        self.count = numbers.size
        device.set_current()
        self.stream = device.create_stream()
        program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
        self.kernel = program.compile("cubin").get_kernel("square")
        self.host = LegacyPinnedMemoryResource().allocate(numbers.nbytes)
        self.values = np.from_dlpack(self.host).view(np.float64)
        self.values[:] = numbers

    def start(self) -> None:
        """Enqueue this device's work."""
        self.device.set_current()
        source, result = [self.device.allocate(self.host.size, stream=self.stream) for _ in range(2)]
        source.copy_from(self.host, stream=self.stream)
        config = LaunchConfig(grid=(self.count + 255) // 256, block=256)
        launch(self.stream, config, self.kernel, source, result, np.uint64(self.count))
        result.copy_to(self.host, stream=self.stream)

    def finish(self):
        """Synchronize this device's stream and return its result."""
        self.stream.sync()
        return self.values


def main() -> int:
    devices = Device.get_all_devices()
    numbers = np.random.default_rng(seed=3).random(COUNT)
    parts = np.array_split(numbers, len(devices))
    shares = [Share(device, part) for device, part in zip(devices, parts, strict=True)]
    for share in shares:
        share.start()
    squares = np.concatenate([share.finish() for share in shares])

    if not np.array_equal(squares, numbers * numbers):
        print("the squares are wrong", file=sys.stderr)
        return 1
    print(f"squares of {COUNT:,} numbers on {len(devices)} device(s): verified")
    return 0


if __name__ == "__main__":
    sys.exit(main())
