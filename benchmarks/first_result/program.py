# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The steps to a first result, as a user would write them, for any ``cuda.core``.

python program.py            compile the kernel
python program.py CACHE      look it up in the file cache CACHE, or compile it and store it there
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void twice(float* x, size_t count)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = 2 * x[i];
}
"""
COUNT = 1024

device = Device()
device.set_current()
stream = device.create_stream()
program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
if len(sys.argv) > 1:
    from cuda.core.utils import FileStreamProgramCache

    code = program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1]))
else:
    code = program.compile("cubin")
kernel = code.get_kernel("twice")
buffer = LegacyPinnedMemoryResource().allocate(COUNT * 4)
x = np.from_dlpack(buffer).view(np.float32)
x[:] = np.arange(COUNT)
launch(stream, LaunchConfig(grid=COUNT // 256, block=256), kernel, buffer, np.uint64(COUNT))
stream.sync()
if not np.array_equal(x, 2 * np.arange(COUNT)):
    sys.exit("the result is wrong")
