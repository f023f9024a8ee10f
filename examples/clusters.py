# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Smooth an array with the neighbors of each block read from the shared memory of the blocks beside it.

Blocks of a cluster run at the same time, and can read each other's shared memory. Needs compute capability 9.0.
"""

import numpy as np
from cuda.pathfinder import find_nvidia_header_directory

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void smooth(const float* in, float* out) {
    __shared__ float tile[128];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), i = threadIdx.x, at = blockIdx.x * 128 + i;
    tile[i] = in[at];
    cluster.sync();
    float left = tile[i], right = tile[i];
    if (i > 0) left = tile[i - 1];
    else if (rank > 0) left = cluster.map_shared_rank(tile, rank - 1)[127];
    if (i < 127) right = tile[i + 1];
    else if (rank + 1 < cluster.num_blocks()) right = cluster.map_shared_rank(tile, rank + 1)[0];
    out[at] = (left + 2 * tile[i] + right) / 4;
    cluster.sync();  // before a block ends, its neighbors have read its memory
}
"""
BLOCKS = 4
N = 128 * BLOCKS

device = Device()
device.set_current()
if device.compute_capability < (9, 0):
    raise SystemExit(f"{device.name} has no clusters, which need compute capability 9.0 or higher")
stream = device.create_stream()
headers = [find_nvidia_header_directory(name) for name in ("cudart", "cccl")]  # cooperative_groups.h includes both
options = ProgramOptions(include_path=[path for path in headers if path])
smooth = Program(SOURCE, "c++", options).compile("cubin").get_kernel("smooth")
buffers = [LegacyPinnedMemoryResource().allocate(4 * N) for _ in range(2)]
x, y = [np.asarray(buffer).view(np.float32) for buffer in buffers]
x[:] = np.random.default_rng(9).random(N, np.float32)
launch(stream, LaunchConfig(grid=1, cluster=BLOCKS, block=128), smooth, *buffers)
stream.sync()
padded = np.pad(x, 1, mode="edge")
if not np.allclose(y, (padded[:-2] + 2 * x + padded[2:]) / 4):
    raise SystemExit("the result differs from NumPy's")
print(f"verified: {BLOCKS} blocks of a cluster exchanged their borders")
