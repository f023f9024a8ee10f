# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pass a buffer around a ring of processes, each of which adds its number: memory shared without copies."""

import multiprocessing

import numpy as np

from cuda.core import Device, DeviceMemoryResource, LaunchConfig, Program, launch

SOURCE = 'extern "C" __global__ void add(int* x, int number) { x[threadIdx.x] += number; }'
PROCESSES, N = 3, 64


def work(number: int, buffer) -> None:
    """Run in a process of the ring: add its number to the buffer of the parent."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    add = Program(SOURCE, "c++").compile("cubin").get_kernel("add")
    launch(stream, LaunchConfig(grid=1, block=N), add, buffer, number)
    stream.sync()
    print(f"process {number} added {number}", flush=True)


if __name__ == "__main__":
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = DeviceMemoryResource(device, {"ipc_enabled": True}).allocate(4 * N, stream=stream)
    buffer.fill(0, stream=stream)
    stream.sync()
    context = multiprocessing.get_context("spawn")
    for number in range(1, PROCESSES + 1):
        process = context.Process(target=work, args=(number, buffer))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"process {number} failed")
    result = np.empty(N, np.int32)
    buffer.copy_to(result, stream=stream)
    stream.sync()
    if not np.all(result == sum(range(1, PROCESSES + 1))):
        raise SystemExit("the sum is wrong")
    print(f"verified: {PROCESSES} processes added {result[0]} in one buffer")
