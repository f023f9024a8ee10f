# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each driver call of a typical program of ``cuda.core`` fails in turn."""

import pytest

# Compiles and runs a kernel and checks its result, with streams, events and two memory pools.
PROGRAM = """
import concurrent.futures
import numpy as np
import cuda.emulator
from cuda.core import (
    Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LaunchConfig, LegacyPinnedMemoryResource,
    Program, ProgramOptions, launch,
)

# The kernel takes long enough that each wait really waits.
SOURCE = '''extern "C" __global__ void scale(float factor, float* x, int n)
{
    __nanosleep(2000000);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}'''
COUNT = 256
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
            pinned.allocate(4 * COUNT) as host,
            device.allocate(4 * COUNT, stream=stream) as first,
            own_pool.allocate(4 * COUNT, stream=stream) as second,
        ):
            numbers = np.from_dlpack(host).view(np.float32)
            numbers[:] = 3
            try:
                first.copy_from(host, stream=stream)
                config = LaunchConfig(grid=1, block=COUNT)
                launch(stream, config, kernel, np.float32(2), first, COUNT)
                stream.sync()
                launch(stream, config, kernel, np.float32(2), first, COUNT)
                recorded = stream.record()
                recorded.sync()
                other.wait(recorded)
                second.fill(0, stream=other)
                second.copy_from(first, stream=other)
                launch(other, config, kernel, np.float32(2), second, COUNT)
                second.copy_to(host, stream=other)
                other.sync()
                assert recorded.is_done
                results.append(float(numbers.sum()))
            finally:
                device.sync()  # nothing is freed while it is in use
                del numbers
                second.close()
                first.close()
                device.sync()  # without pending work each run closes the rest by the same calls
    finally:
        stream.close()
        other.close()
        own_pool.close()

# On the main thread a wait polls, with a different number of calls in each run.
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    failed = pool.submit(cuda.emulator.sweep, program, CODE).result()
program()
assert set(results) == {24.0 * COUNT}, results
print(len(results), *failed)
assert not cuda.emulator.unsupported_calls(), cuda.emulator.unsupported_calls()
"""

TYPICAL_CALLS = {
    "cuCtxSetCurrent", "cuDeviceGetAttribute", "cuStreamCreateWithPriority",
    "cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetAttribute", "cuMemPoolCreate", "cuMemAllocFromPoolAsync",
    "cuMemAllocHost_v2", "cuMemcpyAsync", "cuMemsetD8Async", "cuLaunchKernelEx", "cuEventCreate", "cuEventRecord",
    "cuStreamWaitEvent", "cuEventSynchronize", "cuStreamSynchronize", "cuCtxRecordEvent", "cuMemFreeAsync",
    "cuMemFreeHost", "cuMemPoolDestroy", "cuEventDestroy_v2", "cuStreamDestroy_v2", "cuLibraryUnload",
}  # fmt: skip


@pytest.mark.parametrize("code", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
def test_no_failure_is_ignored_and_nothing_leaks(child, code):
    out = child(f"CODE = {code!r}\n{PROGRAM}")
    runs, *failed = out.splitlines()[0].split()  # the errors that destructors cannot raise are printed below
    assert set(failed) >= TYPICAL_CALLS, TYPICAL_CALLS - set(failed)
    assert int(runs) >= 2


START = """
import cuda.emulator
from cuda.core import Device

def start():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    stream.sync()
    stream.close()
    return device.name

with cuda.emulator.fail(CALL, "CUDA_ERROR_UNKNOWN", nth=1) as plan:
    try:
        start()
    except Exception as error:
        print(type(error).__name__, error)
assert plan.fired
assert start() and not cuda.emulator.leaks()
print("and then it worked")
"""


# A process makes these calls once.
@pytest.mark.parametrize("call", ["cuInit", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"])
def test_process_whose_start_fails_can_try_again(child, call):
    out = child(f"CALL = {call!r}\n{START}")
    assert f"CUDAError CUDA_ERROR_UNKNOWN: unknown error ({call})" in out
    assert out.endswith("and then it worked\n")
