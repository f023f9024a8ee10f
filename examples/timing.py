# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time a kernel with events, compare two kernels in a table, and write a trace for Perfetto.

The kernels transpose a matrix: one writes with a stride, the other goes through shared memory.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.utils import benchmark, trace

SOURCE = """
constexpr int tile = 16;

extern "C" __global__ void transpose_strided(const float* in, float* out, int size)
{
    const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    out[x * size + y] = in[y * size + x];
}

extern "C" __global__ void transpose_tiled(const float* in, float* out, int size)
{
    __shared__ float part[tile][tile + 1];
    const int column = blockIdx.x * tile, row = blockIdx.y * tile;
    part[threadIdx.y][threadIdx.x] = in[(row + threadIdx.y) * size + column + threadIdx.x];
    __syncthreads();
    out[(column + threadIdx.y) * size + row + threadIdx.x] = part[threadIdx.x][threadIdx.y];
}
"""
SIZE = 128
CONFIG = LaunchConfig(grid=(SIZE // 16, SIZE // 16), block=(16, 16))


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "transpose.json")
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(SOURCE, "c++").compile("cubin")
    kernels = {name: code.get_kernel(name) for name in ("transpose_strided", "transpose_tiled")}
    pinned = LegacyPinnedMemoryResource()
    host_in, host_out = [pinned.allocate(4 * SIZE * SIZE) for _ in range(2)]
    matrix, result = [np.from_dlpack(buffer).view(np.float32).reshape(SIZE, SIZE) for buffer in (host_in, host_out)]
    matrix[:] = np.random.default_rng(seed=1).random((SIZE, SIZE), dtype=np.float32)
    source, target = [device.allocate(4 * SIZE * SIZE, stream=stream) for _ in range(2)]
    source.copy_from(host_in, stream=stream)

    for name, kernel in kernels.items():
        with stream.timed() as timer:
            launch(stream, CONFIG, kernel, source, target, SIZE)
        print(f"{name}: the first launch took {timer.ms:.3f} ms")
        target.copy_to(host_out, stream=stream)
        stream.sync()
        if not np.array_equal(result, matrix.T):
            print(f"{name} is wrong", file=sys.stderr)
            return 1

    for name, kernel in kernels.items():
        print(benchmark(lambda k=kernel: launch(stream, CONFIG, k, source, target, SIZE), stream=stream, name=name))

    with trace(path):
        for kernel in kernels.values():
            launch(stream, CONFIG, kernel, source, target, SIZE)
    names = [row["name"] for row in json.loads(path.read_text())["traceEvents"]]
    if not set(kernels) <= set(names):
        print(f"the trace has {names}", file=sys.stderr)
        return 1
    print(f"transpose on {device.name}: verified, trace in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
