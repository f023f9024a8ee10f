# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Use a C++ template to compile one kernel per element type from one source.

A template has no symbol until it is instantiated. ``name_expressions`` lists the instantiations to
compile, and ``get_kernel`` looks a kernel up by the same expression.
"""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
template <typename T>
__global__ void vector_add(const T* a, const T* b, T* sum, size_t count)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}
"""
C_TYPES: dict[np.dtype, str] = {
    np.dtype(np.int32): "int",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
COUNT = 50_000


def add(device, stream, kernel, a, b):
    """Return ``a + b``, computed by the kernel."""
    pinned = LegacyPinnedMemoryResource()
    host = [pinned.allocate(a.nbytes) for _ in range(3)]
    host_a, host_b, host_sum = [np.from_dlpack(buffer).view(a.dtype) for buffer in host]
    host_a[:] = a
    host_b[:] = b

    on_device = [device.allocate(a.nbytes, stream=stream) for _ in range(3)]
    on_device[0].copy_from(host[0], stream=stream)
    on_device[1].copy_from(host[1], stream=stream)
    config = LaunchConfig(grid=(a.size + 127) // 128, block=128)
    launch(stream, config, kernel, *on_device, np.uint64(a.size))
    on_device[2].copy_to(host[2], stream=stream)
    stream.sync()
    return host_sum


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()

    expressions = {dtype: f"vector_add<{c_type}>" for dtype, c_type in C_TYPES.items()}
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
    code = program.compile("cubin", name_expressions=tuple(expressions.values()))

    rng = np.random.default_rng(seed=2)
    for dtype, expression in expressions.items():
        a, b = (rng.integers(-1000, 1000, size=(2, COUNT)) / 4).astype(dtype)
        total = add(device, stream, code.get_kernel(expression), a, b)
        if not np.array_equal(total, a + b):
            print(f"{expression} is wrong", file=sys.stderr)
            return 1
        print(f"{expression} of {COUNT:,} numbers: verified")
    return 0


if __name__ == "__main__":
    sys.exit(main())
