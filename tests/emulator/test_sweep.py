# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every driver call behind an everyday program of ``cuda.core`` fails in turn."""

import pytest

# From the source of a kernel to its verified result: streams, events, both kinds of memory pool.
PROGRAM = """
import numpy as np
import cuda.emulator
from cuda.core import (
    Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LaunchConfig, LegacyPinnedMemoryResource,
    Program, ProgramOptions, launch,
)

SOURCE = '''extern "C" __global__ void scale(float factor, float* x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= factor; }'''
COUNT = 1000
results = []

def program():
    device = Device(0)
    device.set_current()
    assert device.properties.max_threads_per_block >= 256
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    stream, other = device.create_stream(), device.create_stream()
    own_pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 22))
    pinned = LegacyPinnedMemoryResource()
    try:
        kernel = code.get_kernel("scale")
        assert kernel.attributes.num_regs >= 0
        with (
            pinned.allocate(4 * COUNT) as here,
            device.allocate(4 * COUNT, stream=stream) as first,
            own_pool.allocate(4 * COUNT, stream=stream) as second,
        ):
            numbers = np.from_dlpack(here).view(np.float32)
            numbers[:] = 3
            first.copy_from(here, stream=stream)
            launch(stream, LaunchConfig(grid=4, block=256), kernel, np.float32(2), first, COUNT)
            recorded = stream.record()
            other.wait(recorded)
            second.fill(0, stream=other)
            second.copy_from(first, stream=other)
            second.copy_to(here, stream=other)
            done = other.record()
            done.sync()
            stream.sync()
            assert recorded.is_done
            results.append(float(numbers.sum()))
            del numbers
        device.sync()
    finally:
        stream.close()
        other.close()
        own_pool.close()

failed = cuda.emulator.sweep(program, CODE)
program()
assert set(results) == {6.0 * COUNT}, results
print(len(results), *failed)
assert not cuda.emulator.unsupported_calls(), cuda.emulator.unsupported_calls()
"""

EVERYDAY = {
    "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuDeviceGetAttribute", "cuStreamCreateWithPriority",
    "cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetAttribute", "cuMemPoolCreate", "cuMemAllocFromPoolAsync",
    "cuMemAllocHost_v2", "cuMemcpyAsync", "cuMemsetD8Async", "cuLaunchKernelEx", "cuEventCreate", "cuEventRecord",
    "cuStreamWaitEvent", "cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize", "cuMemFreeAsync",
    "cuMemFreeHost", "cuMemPoolDestroy", "cuEventDestroy_v2", "cuStreamDestroy_v2", "cuLibraryUnload",
}  # fmt: skip


@pytest.mark.parametrize("code", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
def test_no_failure_is_swallowed_and_nothing_is_left_over(child, code):
    runs, *failed = child(f"CODE = {code!r}\n{PROGRAM}").split()
    assert set(failed) >= EVERYDAY, EVERYDAY - set(failed)
    assert int(runs) >= 2
